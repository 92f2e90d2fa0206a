#include "cloudevent/json_scanner.h"

#include <absl/strings/charconv.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace dq::cloudevent {
namespace {

constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::uint64_t kExactIntegers = 1ull << 53;

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isHexDigit(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void convertSlowly(JsonNumber& number) {
    const char* start = number.text.data();
    const char* end = start + number.text.size();
    double value = 0;
    if (std::from_chars(start, end, value).ec != std::errc::result_out_of_range) {
        number.value = value;
        return;
    }
    // absl says which way it went: a huge value for overflow, a tiny one for underflow.
    absl::from_chars(start, end, value);
    number.overflow = std::fabs(value) > 1;
    number.value =
        std::copysign(number.overflow ? std::numeric_limits<double>::infinity() : 0.0, *start == '-' ? -1.0 : 1.0);
}

}  // namespace

// With at most 19 digits the digits are an exact integer m; m up to 2^53 times or over an exact power of ten rounds
// once.
bool JsonScanner::readNumber(JsonNumber& out) {
    const char* start = p_;
    if (p_ < end_ && *p_ == '-') ++p_;
    if (p_ == end_ || !isDigit(*p_)) return damage();
    std::uint64_t digits = 0;
    const char* first = p_;
    if (*p_ == '0') {
        ++p_;
    } else {
        for (; p_ < end_ && isDigit(*p_); ++p_) digits = digits * 10 + static_cast<std::uint64_t>(*p_ - '0');
    }
    std::ptrdiff_t count = p_ - first;
    std::int64_t exponent = 0;
    if (p_ < end_ && *p_ == '.') {
        const char* fraction = ++p_;
        for (; p_ < end_ && isDigit(*p_); ++p_) digits = digits * 10 + static_cast<std::uint64_t>(*p_ - '0');
        if (p_ == fraction) return damage();
        count += p_ - fraction;
        exponent = -(p_ - fraction);
    }
    if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
        ++p_;
        bool negative = p_ < end_ && *p_ == '-';
        if (p_ < end_ && (*p_ == '-' || *p_ == '+')) ++p_;
        if (p_ == end_ || !isDigit(*p_)) return damage();
        std::int64_t written = 0;
        for (; p_ < end_ && isDigit(*p_); ++p_) {
            if (written < 1'000'000) written = written * 10 + (*p_ - '0');
        }
        exponent += negative ? -written : written;
    }
    out.text = std::string_view(start, static_cast<std::size_t>(p_ - start));
    out.overflow = false;
    if (count <= 19 && digits <= kExactIntegers && exponent >= -22 && exponent <= 22) {
        double value = static_cast<double>(digits);
        value = exponent < 0 ? value / kPowers[-exponent] : value * kPowers[exponent];
        out.value = *start == '-' ? -value : value;
        return true;
    }
    convertSlowly(out);
    return true;
}

bool JsonScanner::readLiteral() {
    auto is = [&](std::string_view word) {
        if (static_cast<std::size_t>(end_ - p_) < word.size() || std::memcmp(p_, word.data(), word.size()) != 0)
            return false;
        p_ += word.size();
        return true;
    };
    return is("null") || is("true") || is("false") || damage();
}

bool JsonScanner::readEscape() {
    if (end_ - p_ < 2) return damage();
    char c = p_[1];
    if (c == 'u') {
        if (end_ - p_ < 6) return damage();
        for (int i = 2; i < 6; ++i) {
            if (!isHexDigit(p_[i])) return damage();
        }
        p_ += 6;
        return true;
    }
    if (std::string_view("\"\\/bfnrt").find(c) == std::string_view::npos) return damage();
    p_ += 2;
    return true;
}

bool JsonScanner::skipScalar(JsonKind kind) {
    JsonString text;
    JsonNumber number;
    switch (kind) {
        case JsonKind::kString: return readString(text);
        case JsonKind::kNumber:
            if (!readNumber(number)) return false;
            overflow_ = overflow_ || (watch_ && number.overflow);
            return true;
        case JsonKind::kTrue:
        case JsonKind::kFalse:
        case JsonKind::kNull: return readLiteral();
        default: return damage();
    }
}

bool JsonScanner::skip() {
    JsonKind next = kind();
    return next == JsonKind::kObject || next == JsonKind::kArray ? skipNested() : skipScalar(next);
}

// No recursion, since nesting is bounded by 10000 only: one bit a level says whether it is an object.
bool JsonScanner::skipNested() {
    std::uint64_t objects[kMaxDepth / 64 + 1];
    std::size_t outside = depth_;
    auto inObject = [&] { return (objects[(depth_ - outside) / 64] >> ((depth_ - outside) % 64) & 1) != 0; };
    do {
        JsonKind next = kind();
        if (next == JsonKind::kObject || next == JsonKind::kArray) {
            if (!open(*p_)) return false;
            std::uint64_t bit = 1ull << ((depth_ - outside) % 64);
            std::uint64_t& word = objects[(depth_ - outside) / 64];
            word = next == JsonKind::kObject ? word | bit : word & ~bit;
        } else if (!skipScalar(next)) {
            return false;
        }
        JsonString key;
        while (depth_ > outside && !(inObject() ? nextMember(key) : nextElement())) {
            if (damaged_) return false;
        }
    } while (depth_ > outside);
    return true;
}

bool JsonScanner::atEnd() {
    skipSpace();
    return p_ == end_ && !damaged_ && depth_ == 0;
}

bool isJson(std::string_view text) {
    JsonScanner scan(text);
    return scan.skip() && scan.atEnd();
}

}  // namespace dq::cloudevent
