#include "query/literals.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/text.h"

namespace dq::query {
namespace {

constexpr Micros kLastTime = 253'402'300'799LL * kMicrosPerSecond + 999'999;  // 9999-12-31T23:59:59.999999Z

}  // namespace

std::string doubleLiteral(double value) {
    if (std::isnan(value)) return "'NaN'::DOUBLE";
    if (std::isinf(value)) return value > 0 ? "'Infinity'::DOUBLE" : "'-Infinity'::DOUBLE";
    std::array<char, 40> text;  // the exponent makes it a DOUBLE; without one the engine would read a DECIMAL
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific);
    return std::string(text.data(), end.ptr);
}

std::vector<std::string> sortedDistinct(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

std::string literalList(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) strAppend(&out, out.empty() ? "" : ", ", engine::quoteLiteral(name));
    return out;
}

std::string timeBound(Micros time) { return engine::timestampLiteral(std::clamp(time, kZeroTime, kLastTime)); }

std::string parameter(std::vector<engine::Value>& binds, engine::Value value) {
    binds.push_back(std::move(value));
    return strCat("$", binds.size());
}

}  // namespace dq::query
