// Instants and durations of dq, and their text forms.
//
// Micros is µs since 1970-01-01T00:00:00Z, signed, UTC: the resolution of the lake. Instant keeps the nanoseconds that
// a payload may carry (needed to tell readings apart below 1 µs). Years 0000..9999 fit both.
#pragma once
#include <absl/status/statusor.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dq {

using Micros = std::int64_t;

inline constexpr Micros kMicrosPerSecond = 1'000'000;
inline constexpr Micros kMicrosPerDay = 86'400 * kMicrosPerSecond;
// 0001-01-01T00:00:00Z, the "zero time": an absent time in CloudEvents and an empty Time argument.
inline constexpr Micros kZeroTime = -62'135'596'800LL * kMicrosPerSecond;

struct Instant {
    Micros micros = 0;       // floor to µs
    std::int32_t nanos = 0;  // 0..999 above `micros`
    auto operator<=>(const Instant&) const = default;
};

// Largest whole number of `unit` not above `value` (floor also below zero).
constexpr std::int64_t floorDiv(std::int64_t value, std::int64_t unit) {
    return value / unit - ((value % unit != 0 && (value < 0) != (unit < 0)) ? 1 : 0);
}
constexpr Micros floorToDay(Micros t) { return floorDiv(t, kMicrosPerDay) * kMicrosPerDay; }

// Text of a time in payloads and CloudEvents: `YYYY-MM-DDTh[h]:mm:ss[(.|,)digits](Z|±hh:mm)`; capital T and Z; existing
// date; fraction beyond 9 digits cut; offset hour ≤ 24, minute ≤ 60; second 0–59. Nothing else; no allocation.
std::optional<Instant> parseRfc3339(std::string_view text);

// RFC 3339 in UTC with `Z`, fraction with trailing zeros cut, none if 0: "2026-11-29T12:00:00.5Z".
std::string formatRfc3339(Micros time);
std::string formatRfc3339(Instant time);
// TIMESTAMPTZ literal text with all six digits, for SQL: "2026-11-29 12:00:00.500000+00". Years 0001..9999.
std::string formatSqlTimestamp(Micros time);

// Civil date of an instant in UTC.
struct CivilDate {
    int year, month, day;
};
CivilDate civilDate(Micros time);

// Duration text of Go's time.ParseDuration: optional sign, then decimals with units ns us µs ms s m h; bare "0". Result
// in nanoseconds. The error texts are Go's (`time: invalid duration "x"`, `time: missing unit in duration "1"`, `time:
// unknown unit "d" in duration "1d"`), since callers see them.
absl::StatusOr<std::int64_t> parseGoDuration(std::string_view text);

}  // namespace dq
