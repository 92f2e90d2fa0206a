#include "query/validation.h"

#include <absl/strings/ascii.h>

#include <limits>

#include "core/status.h"
#include "core/text.h"

namespace dq::query {
namespace {

constexpr std::int64_t kMaxBuckets = 100'000;
constexpr std::int64_t kMaxWindow = std::numeric_limits<std::int64_t>::max() / 1000;  // 2⁶³ − 1 ns in µs

bool isWord(std::string_view text) {
    if (text.empty() || !absl::ascii_isalpha(static_cast<unsigned char>(text[0]))) return false;
    for (char c : text) {
        if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) return false;
    }
    return true;
}

}  // namespace

absl::StatusOr<std::int64_t> parseInterval(std::string_view text) {
    absl::StatusOr<std::int64_t> nanos = parseGoDuration(text);
    if (!nanos.ok()) return absl::InvalidArgumentError(strCat("failed parsing interval: ", nanos.status().message()));
    return *nanos / 1000;
}

bool bucketCapExceeded(Micros from, Micros to, std::int64_t interval) {
    if (to <= from) return false;
    const auto exact = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);  // cannot wrap: to > from
    const std::int64_t window =
        exact > static_cast<std::uint64_t>(kMaxWindow) ? kMaxWindow : static_cast<std::int64_t>(exact);
    return interval < window / kMaxBuckets;
}

bool isNamespacedEventName(std::string_view text) {
    const std::size_t dot = text.find('.');
    return dot != std::string_view::npos && isWord(text.substr(0, dot)) && isWord(text.substr(dot + 1));
}

bool isNamespacedEventPrefix(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos || !isWord(text.substr(0, dot))) return false;
    return dot + 1 == text.size() || isWord(text.substr(dot + 1));
}

}  // namespace dq::query
