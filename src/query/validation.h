// Rules on arguments of questions that need no store (queries.md §3, §9.2). Pure; api/ turns them into errors of its
// own.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <string_view>

#include "core/time.h"

namespace dq::query {

// Go duration text → whole µs, cut toward zero (may be 0 or negative: the caller refuses those). InvalidArgument with
// the text that callers see: `failed parsing interval: time: invalid duration "x"`.
absl::StatusOr<std::int64_t> parseInterval(std::string_view text);

// True when the window holds more buckets than the store may be asked for: with W = the window in µs (its nanoseconds
// saturate at 2⁶³ − 1), W > 0 and interval < floor(W / 100000).
bool bucketCapExceeded(Micros from, Micros to, std::int64_t interval);

// ^[a-zA-Z][a-zA-Z0-9]*\.[a-zA-Z][a-zA-Z0-9]*$
bool isNamespacedEventName(std::string_view text);
// ^[a-zA-Z][a-zA-Z0-9]*\.([a-zA-Z][a-zA-Z0-9]*)?$
bool isNamespacedEventPrefix(std::string_view text);

}  // namespace dq::query
