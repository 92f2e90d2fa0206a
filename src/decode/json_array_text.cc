#include "decode/json_array_text.h"

#include <cstring>

#include "cloudevent/utf8.h"

namespace dq::decode {
namespace {

// Short escapes of JSON; empty where there is none.
std::string_view shortEscape(char c) {
    switch (c) {
        case '"': return "\\\"";
        case '\\': return "\\\\";
        case '\b': return "\\b";
        case '\f': return "\\f";
        case '\n': return "\\n";
        case '\r': return "\\r";
        case '\t': return "\\t";
        default: return {};
    }
}

bool needsHex(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '<' || c == '>' || c == '&'; }

}  // namespace

void JsonArrayText::put(std::string_view text) {
    std::memcpy(end_, text.data(), text.size());
    end_ += text.size();
}

void JsonArrayText::add(std::string_view text) {
    put(end_ == start_ ? "[\"" : ",\"");
    while (!text.empty()) {
        char32_t rune = 0;
        int length = cloudevent::decodeRune(text, rune);
        std::size_t size = length > 0 ? static_cast<std::size_t>(length) : 1;
        if (length == 0) {
            put("\\ufffd");
        } else if (rune == 0x2028 || rune == 0x2029) {
            put(rune == 0x2028 ? "\\u2028" : "\\u2029");
        } else if (length > 1) {
            put(text.substr(0, size));
        } else if (std::string_view escape = shortEscape(text[0]); !escape.empty()) {
            put(escape);
        } else if (needsHex(text[0])) {
            const char hex[] = {
                '\\', 'u', '0', '0', "0123456789abcdef"[text[0] >> 4], "0123456789abcdef"[text[0] & 15]};
            put(std::string_view(hex, sizeof hex));
        } else {
            *end_++ = text[0];
        }
        text.remove_prefix(size);
    }
    put("\"");
}

std::string_view JsonArrayText::finish() {
    put(end_ == start_ ? "[]" : "]");
    return std::string_view(start_, static_cast<std::size_t>(end_ - start_));
}

}  // namespace dq::decode
