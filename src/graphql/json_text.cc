#include "graphql/json_text.h"

#include <array>
#include <charconv>
#include <cmath>

#include "dq_rust.h"
#include "graphql/executor.h"

namespace dq::graphql {

namespace {

constexpr std::string_view kHex = "0123456789abcdef";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Bytes that do not pass as they are: controls, quotes, HTML characters, and everything above ASCII.
constexpr std::array<bool, 256> specialBytes() {
    std::array<bool, 256> special{};
    for (std::size_t c = 0; c < 0x20; ++c) special[c] = true;
    for (std::size_t c = 0x80; c < 0x100; ++c) special[c] = true;
    for (const char c : {'"', '\\', '<', '>', '&'}) special[static_cast<unsigned char>(c)] = true;
    return special;
}
constexpr std::array<bool, 256> kSpecial = specialBytes();

void appendEscape(std::string& out, unsigned code) {
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += kHex[(code >> shift) & 0xF];
}

// Length of the UTF-8 sequence at the start of `text`, 0 when it is none.
std::size_t sequenceLength(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xC0) != 0x80) return 0;
    }
    const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

// Line and paragraph separator, U+2028 and U+2029: they end lines in JavaScript.
bool isSeparator(std::string_view sequence) { return sequence == "\xE2\x80\xA8" || sequence == "\xE2\x80\xA9"; }

// Appends the character above ASCII at the start of `text`; returns the bytes read.
std::size_t appendWide(std::string& out, std::string_view text) {
    const std::size_t length = sequenceLength(text);
    if (length == 0) {
        out += kReplacement;
        return 1;
    }
    const std::string_view sequence = text.substr(0, length);
    if (isSeparator(sequence)) {
        appendEscape(out, sequence.back() == '\xA8' ? 0x2028 : 0x2029);
    } else {
        out += sequence;
    }
    return length;
}

template <typename Integer>
void appendNumber(std::string& out, Integer value) {
    std::array<char, 24> buffer;
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
    out.append(buffer.data(), end);
}

bool isJson(std::string_view json) {
    return rust::json_is_valid({reinterpret_cast<const std::uint8_t*>(json.data()), json.size()});
}

}  // namespace

void appendJsonString(std::string& out, std::string_view text) {
    out += '"';
    std::size_t start = 0;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i]);
        if (!kSpecial[c]) {
            ++i;
            continue;
        }
        out.append(text, start, i - start);
        if (c >= 0x80) {
            i += appendWide(out, text.substr(i));
        } else {
            if (c == '"' || c == '\\') {
                out += '\\';
                out += static_cast<char>(c);
            } else {
                appendEscape(out, c);
            }
            ++i;
        }
        start = i;
    }
    out.append(text, start);
    out += '"';
}

void appendInteger(std::string& out, std::int64_t value) { appendNumber(out, value); }
void appendUnsigned(std::string& out, std::uint64_t value) { appendNumber(out, value); }

void appendFloat(std::string& out, double value) {
    std::array<char, 32> buffer;
    char* const first = buffer.data();
    char* const last = first + buffer.size();
    const double magnitude = std::fabs(value);
    const bool plain = value == 0 || (magnitude >= 1e-4 && magnitude < 1e6);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    out.append(first, std::to_chars(first, last, value, format).ptr);
}

void appendTrustedJson(std::string& out, std::string_view json) {
    bool quoted = false;
    for (std::size_t i = 0; i < json.size();) {
        const char c = json[i];
        if (static_cast<unsigned char>(c) >= 0x80) {
            i += appendWide(out, json.substr(i));
            continue;
        }
        ++i;
        if (!quoted && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) continue;
        if (c == '"') quoted = !quoted;
        if (c == '<' || c == '>' || c == '&') {
            appendEscape(out, static_cast<unsigned char>(c));
            continue;
        }
        out += c;
        if (quoted && c == '\\' && i < json.size()) out += json[i++];
    }
}

bool appendStoredJson(std::string& out, std::string_view json) {
    if (!isJson(json)) return false;
    appendTrustedJson(out, json);
    return true;
}

std::string formatFloat(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
    std::string text;
    appendFloat(text, value);
    return text;
}

}  // namespace dq::graphql
