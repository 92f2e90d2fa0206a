#include "cloudevent/utf8.h"

#include <simdjson.h>

namespace dq::cloudevent {

bool isValidUtf8(std::string_view text) { return isAscii(text) || simdjson::validate_utf8(text.data(), text.size()); }

int decodeRune(std::string_view text, char32_t& rune) {
    auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    auto continues = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
    unsigned char first = byte(0);
    if (first < 0x80) {
        rune = first;
        return 1;
    }
    if (first >= 0xC2 && first <= 0xDF && continues(1)) {
        rune = static_cast<char32_t>((first & 0x1F) << 6 | (byte(1) & 0x3F));
        return 2;
    }
    if ((first & 0xF0) == 0xE0 && continues(1) && continues(2)) {
        rune = static_cast<char32_t>((first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F));
        return rune >= 0x800 && (rune < 0xD800 || rune > 0xDFFF) ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4 && continues(1) && continues(2) && continues(3)) {
        rune = static_cast<char32_t>((first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 |
                                     (byte(3) & 0x3F));
        return rune >= 0x10000 && rune <= 0x10FFFF ? 4 : 0;
    }
    return 0;
}

std::size_t encodeRune(char32_t rune, char* out) {
    if (rune < 0x80) {
        out[0] = static_cast<char>(rune);
        return 1;
    }
    if (rune < 0x800) {
        out[0] = static_cast<char>(0xC0 | rune >> 6);
        out[1] = static_cast<char>(0x80 | (rune & 0x3F));
        return 2;
    }
    if (rune < 0x10000) {
        out[0] = static_cast<char>(0xE0 | rune >> 12);
        out[1] = static_cast<char>(0x80 | (rune >> 6 & 0x3F));
        out[2] = static_cast<char>(0x80 | (rune & 0x3F));
        return 3;
    }
    out[0] = static_cast<char>(0xF0 | rune >> 18);
    out[1] = static_cast<char>(0x80 | (rune >> 12 & 0x3F));
    out[2] = static_cast<char>(0x80 | (rune >> 6 & 0x3F));
    out[3] = static_cast<char>(0x80 | (rune & 0x3F));
    return 4;
}

std::size_t repairedSize(std::string_view text) {
    std::size_t size = 0;
    char32_t rune;
    while (!text.empty()) {
        int length = decodeRune(text, rune);
        size += length > 0 ? static_cast<std::size_t>(length) : kReplacement.size();
        text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
    }
    return size;
}

void repairTo(std::string_view text, char* out) {
    char32_t rune;
    while (!text.empty()) {
        int length = decodeRune(text, rune);
        std::string_view piece = length > 0 ? text.substr(0, static_cast<std::size_t>(length)) : kReplacement;
        std::memcpy(out, piece.data(), piece.size());
        out += piece.size();
        text.remove_prefix(length > 0 ? static_cast<std::size_t>(length) : 1);
    }
}

std::string repaired(std::string_view text) {
    if (isValidUtf8(text)) return std::string(text);
    std::string out(repairedSize(text), '\0');
    repairTo(text, out.data());
    return out;
}

}  // namespace dq::cloudevent
