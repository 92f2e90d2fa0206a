// Errors are absl::Status; the canonical code says what the caller does next:
//   InvalidArgument   the input breaks a rule; the message names thing and rule
//   Aborted           a lake commit conflict: repeat the whole transaction
//   Unavailable       try again later (catalog, key service or object store away)
//   DeadlineExceeded, Cancelled   the request's time is up, or its caller left
//   ResourceExhausted a limit of this process was hit
//   DataLoss          with the engine-dead payload: restart the engine
//   Internal          a bug, or an engine error nobody classified
// Nothing is dropped unread: Status is [[nodiscard]], and ignore() spells out why an outcome does not matter.
#pragma once
#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <absl/strings/string_view.h>

#include <string_view>

namespace dq {

using absl::Status;
using absl::StatusOr;

// Abseil built for C++14 has a string_view of its own that does not convert to or from the standard one.
inline absl::string_view abslView(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view stdView(absl::string_view text) { return {text.data(), text.size()}; }

// Drops an outcome on purpose. `why` is for the reader of the call.
inline void ignore(const Status& /*outcome*/, std::string_view /*why*/) {}

// Prefixes the message, keeps code and payloads.
Status annotate(const Status& status, std::string_view prefix);

// Ends the process with a reason when an invariant of our own code is broken. Never on outside input.
[[noreturn]] void checkFailed(const char* expression, const char* file, int line, std::string_view reason);

}  // namespace dq

#define DQ_CHECK(condition, reason)                                                  \
    do {                                                                             \
        if (!(condition)) ::dq::checkFailed(#condition, __FILE__, __LINE__, reason); \
    } while (0)

#define DQ_CONCAT_INNER(a, b) a##b
#define DQ_CONCAT(a, b) DQ_CONCAT_INNER(a, b)
// Returns from the enclosing function when `expression` (a Status) is not OK.
#define DQ_RETURN_IF_ERROR(expression)            \
    do {                                          \
        ::absl::Status dq_status_ = (expression); \
        if (!dq_status_.ok()) return dq_status_;  \
    } while (0)
// DQ_ASSIGN_OR_RETURN(auto rows, read()): declares or assigns on success, returns the error otherwise.
#define DQ_ASSIGN_OR_RETURN(lhs, expression) DQ_ASSIGN_OR_RETURN_IMPL(DQ_CONCAT(dq_or_, __LINE__), lhs, expression)
#define DQ_ASSIGN_OR_RETURN_IMPL(temporary, lhs, expression) \
    auto temporary = (expression);                           \
    if (!temporary.ok()) return temporary.status();          \
    lhs = std::move(temporary).value()
