#include "decode/float_text.h"

#include <absl/strings/charconv.h>

#include <array>
#include <limits>
#include <string>

namespace dq::decode {
namespace {

bool isDigit(char c, bool hex) { return (c >= '0' && c <= '9') || (hex && ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

bool equalsFolded(std::string_view text, std::string_view name) {
    if (text.size() != name.size()) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (lower(text[i]) != name[i]) return false;
    }
    return true;
}

// Digits with optional point, then an exponent (mandatory after hexadecimal digits).
bool isNumber(std::string_view text, bool hex) {
    std::size_t at = 0, digits = 0;
    auto run = [&](bool with_letters) {
        std::size_t start = at;
        while (at < text.size() && isDigit(text[at], with_letters)) ++at;
        return at - start;
    };
    digits += run(hex);
    if (at < text.size() && text[at] == '.') {
        ++at;
        digits += run(hex);
    }
    if (digits == 0) return false;
    if (at == text.size()) return !hex;
    if (lower(text[at++]) != (hex ? 'p' : 'e')) return false;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    return run(false) > 0 && at == text.size();
}

// Does every `_` stand between two digits? The prefix 0x counts as a digit before one.
bool underscoresSeparate(std::string_view text, bool hex) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '_') continue;
        bool before = i == 0 ? hex : isDigit(text[i - 1], hex);
        if (!before || i + 1 == text.size() || !isDigit(text[i + 1], hex)) return false;
    }
    return true;
}

// `digits` has passed isNumber(), so only its range can be wrong.
std::optional<double> convert(std::string_view digits, bool hex, bool negative) {
    double value = 0;
    auto format = hex ? absl::chars_format::hex : absl::chars_format::general;
    auto result = absl::from_chars(digits.data(), digits.data() + digits.size(), value, format);
    if (result.ec == std::errc::result_out_of_range && value > 1) return std::nullopt;  // else underflow, value is 0
    return negative ? -value : value;
}

}  // namespace

std::optional<double> parseFloatText(std::string_view text) {
    std::string_view body = text;
    bool negative = !body.empty() && body[0] == '-';
    bool is_signed = negative || (!body.empty() && body[0] == '+');
    if (is_signed) body.remove_prefix(1);
    if (equalsFolded(body, "inf") || equalsFolded(body, "infinity")) {
        double infinity = std::numeric_limits<double>::infinity();
        return negative ? -infinity : infinity;
    }
    if (!is_signed && equalsFolded(body, "nan")) return std::numeric_limits<double>::quiet_NaN();
    bool hex = body.size() > 2 && body[0] == '0' && lower(body[1]) == 'x';
    if (hex) body.remove_prefix(2);
    if (body.find('_') == std::string_view::npos)
        return isNumber(body, hex) ? convert(body, hex, negative) : std::nullopt;
    if (!underscoresSeparate(body, hex)) return std::nullopt;
    std::array<char, 256> fixed;
    std::string large;  // only for absurdly long text
    char* digits = fixed.data();
    if (body.size() > fixed.size()) {
        large.resize(body.size());
        digits = large.data();
    }
    std::size_t size = 0;
    for (char c : body) {
        if (c != '_') digits[size++] = c;
    }
    std::string_view plain(digits, size);
    return isNumber(plain, hex) ? convert(plain, hex, negative) : std::nullopt;
}

}  // namespace dq::decode
