// Classes of engine errors. From duckdb_error_type first; texts are matched only in error_patterns.cc, each pattern
// with a test that provokes the real message.
//
// Every absl::Status made by engine/ carries its class as a payload; errorClass() reads it back (kOther when there is
// none).
//   kConflict         Aborted            commit conflict, or DuckLake's retries used up: repeat the whole transaction
//   kOutcomeUnknown   Unknown            COMMIT failed without saying whether it landed: look before repeating
//   kEngineDead       DataLoss           the instance is invalidated: restart it
//   kSessionAborted   Internal           "transaction is aborted": roll back and recycle the connection
//   kInterrupted      Cancelled or DeadlineExceeded, after the reason of the Cancel that interrupted
//   kOutOfMemory      ResourceExhausted
//   kUnavailable      Unavailable        catalog server, network, HTTP 5xx, I/O
//   kMissingTable     NotFound           table or snapshot does not exist
//   kOther            Internal (InvalidArgument for parser and binder errors)
#pragma once
#include <absl/status/status.h>

#include <string_view>

namespace dq::engine {

enum class ErrorClass {
    kNone,
    kConflict,
    kOutcomeUnknown,
    kEngineDead,
    kSessionAborted,
    kInterrupted,
    kOutOfMemory,
    kUnavailable,
    kMissingTable,
    kOther
};

ErrorClass errorClass(const absl::Status& status);
// True for an error that engine/ made.
bool isEngineError(const absl::Status& status);
std::string_view errorClassName(ErrorClass error_class);

// `type` is a duckdb_error_type. The message is cut to its first lines (a commit error may carry a statement of
// kilobytes) and passwords of connection strings are masked.
absl::Status makeError(int type, std::string_view message);
// True for the texts of lake.md §7 ("Transaction conflict", "Failed to commit DuckLake transaction").
bool isCommitConflictText(std::string_view message);
// Statement text for an error message: anything with SECRET or ATTACH is cut at its first ( or ' and suffixed with (…).
std::string redactStatement(std::string_view statement);

}  // namespace dq::engine
