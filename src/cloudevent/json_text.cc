#include "cloudevent/json_text.h"

#include <cstring>

#include "cloudevent/utf8.h"

namespace dq::cloudevent {
namespace {

constexpr std::size_t kLongestName = 32;  // of the ASCII names that callers compare with

char32_t hexValue(std::string_view four) {
    char32_t value = 0;
    for (char c : four) {
        char32_t digit = c <= '9' ? static_cast<char32_t>(c - '0') : static_cast<char32_t>((c | 0x20) - 'a' + 10);
        value = value << 4 | digit;
    }
    return value;
}

bool startsEscapedRune(std::string_view text) { return text.size() >= 6 && text[0] == '\\' && text[1] == 'u'; }

// Code point of the \u escape at the front of `text`, a surrogate pair taken as one; `text` moves behind it.
char32_t takeEscapedRune(std::string_view& text) {
    char32_t rune = hexValue(text.substr(2, 4));
    text.remove_prefix(6);
    if (rune < 0xD800 || rune > 0xDFFF) return rune;
    if (rune <= 0xDBFF && startsEscapedRune(text)) {
        char32_t low = hexValue(text.substr(2, 4));
        if (low >= 0xDC00 && low <= 0xDFFF) {
            text.remove_prefix(6);
            return 0x10000 + ((rune - 0xD800) << 10) + (low - 0xDC00);
        }
    }
    return 0xFFFD;
}

char shortEscape(char c) {
    switch (c) {
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return c;
    }
}

char lowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool isVerbatim(const JsonString& text) { return !text.escaped && (!text.high || isValidUtf8(text.raw)); }

std::size_t decodeText(const JsonString& text, char* out, BadBytes bad) {
    char* start = out;
    for (std::string_view left = text.raw; !left.empty();) {
        if (left[0] != '\\') {
            char32_t rune;
            int length = decodeRune(left, rune);
            std::string_view source = left.substr(0, length > 0 ? static_cast<std::size_t>(length) : 1);
            std::string_view piece = length > 0 || bad == BadBytes::kKeep ? source : kReplacement;
            std::memcpy(out, piece.data(), piece.size());
            out += piece.size();
            left.remove_prefix(source.size());
        } else if (startsEscapedRune(left)) {
            out += encodeRune(takeEscapedRune(left), out);
        } else {
            *out++ = shortEscape(left[1]);
            left.remove_prefix(2);
        }
    }
    return static_cast<std::size_t>(out - start);
}

std::string textOf(const JsonString& text) {
    if (isVerbatim(text)) return std::string(text.raw);
    std::string out(textBound(text), '\0');
    out.resize(decodeText(text, out.data()));
    return out;
}

void appendQuoted(std::string& out, std::string_view text) {
    out += '"';
    for (char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += "\\u00";
            out += "0123456789abcdef"[c >> 4];
            out += "0123456789abcdef"[c & 15];
        } else {
            out += c;
        }
    }
    out += '"';
}

bool textEquals(const JsonString& text, std::string_view name) {
    if (!text.escaped) return text.raw == name;
    if (text.raw.size() > 6 * name.size()) return false;
    char buffer[3 * 6 * kLongestName];
    if (name.size() > kLongestName) return textOf(text) == name;
    return std::string_view(buffer, decodeText(text, buffer)) == name;
}

bool textEqualsFolded(const JsonString& text, std::string_view name) {
    auto same = [&](std::string_view decoded) {
        std::size_t at = 0;
        for (char want : name) {
            char32_t rune;
            int length = at < decoded.size() ? decodeRune(decoded.substr(at), rune) : 0;
            if (length == 0) return false;
            if (rune == 0x17F) rune = 's';
            if (rune == 0x212A) rune = 'k';
            if (rune >= 0x80 || lowerAscii(static_cast<char>(rune)) != lowerAscii(want)) return false;
            at += static_cast<std::size_t>(length);
        }
        return at == decoded.size();
    };
    if (text.plain()) return text.raw.size() == name.size() && (text.raw == name || same(text.raw));
    if (text.raw.size() > 6 * name.size() || name.size() > kLongestName) return false;
    char buffer[3 * 6 * kLongestName];
    return same(std::string_view(buffer, decodeText(text, buffer)));
}

}  // namespace dq::cloudevent
