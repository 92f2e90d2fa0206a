#include "engine/error.h"

#include <absl/strings/ascii.h>
#include <absl/strings/cord.h>
#include <duckdb.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/status.h"
#include "engine/error_internal.h"
#include "engine/error_patterns.h"

namespace dq::engine {
namespace {

constexpr char kPayload[] = "dq/engine-error";

constexpr std::pair<ErrorClass, std::string_view> kNames[] = {
    {ErrorClass::kNone, "none"},
    {ErrorClass::kConflict, "conflict"},
    {ErrorClass::kOutcomeUnknown, "outcome_unknown"},
    {ErrorClass::kEngineDead, "engine_dead"},
    {ErrorClass::kSessionAborted, "session_aborted"},
    {ErrorClass::kInterrupted, "interrupted"},
    {ErrorClass::kOutOfMemory, "out_of_memory"},
    {ErrorClass::kUnavailable, "unavailable"},
    {ErrorClass::kMissingTable, "missing_table"},
    {ErrorClass::kOther, "other"},
};

absl::StatusCode codeOf(ErrorClass error_class, int type) {
    switch (error_class) {
        case ErrorClass::kNone: return absl::StatusCode::kOk;
        case ErrorClass::kConflict: return absl::StatusCode::kAborted;
        case ErrorClass::kOutcomeUnknown: return absl::StatusCode::kUnknown;
        case ErrorClass::kEngineDead: return absl::StatusCode::kDataLoss;
        case ErrorClass::kSessionAborted: return absl::StatusCode::kInternal;
        case ErrorClass::kInterrupted: return absl::StatusCode::kCancelled;
        case ErrorClass::kOutOfMemory: return absl::StatusCode::kResourceExhausted;
        case ErrorClass::kUnavailable: return absl::StatusCode::kUnavailable;
        case ErrorClass::kMissingTable: return absl::StatusCode::kNotFound;
        case ErrorClass::kOther: break;
    }
    bool caller = type == DUCKDB_ERROR_PARSER || type == DUCKDB_ERROR_SYNTAX || type == DUCKDB_ERROR_BINDER;
    return caller ? absl::StatusCode::kInvalidArgument : absl::StatusCode::kInternal;
}

absl::Status withClass(absl::Status status, ErrorClass error_class) {
    status.SetPayload(kPayload, absl::Cord(abslView(errorClassName(error_class))));
    return status;
}

}  // namespace

std::string_view errorClassName(ErrorClass error_class) {
    auto found = std::find_if(std::begin(kNames), std::end(kNames),
                              [&](const auto& entry) { return entry.first == error_class; });
    return found == std::end(kNames) ? "other" : found->second;
}

ErrorClass errorClass(const absl::Status& status) {
    if (status.ok()) return ErrorClass::kNone;
    auto payload = status.GetPayload(kPayload);
    if (!payload) return ErrorClass::kOther;
    for (const auto& [error_class, name] : kNames) {
        if (*payload == abslView(name)) return error_class;
    }
    return ErrorClass::kOther;
}

bool isEngineError(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

absl::Status makeClassifiedError(ErrorClass error_class, int type, std::string_view message) {
    std::string text = cleanMessage(message);
    if (text.empty()) text = "engine error without a message";
    return withClass(absl::Status(codeOf(error_class, type), text), error_class);
}

absl::Status makeError(int type, std::string_view message) {
    if (type == DUCKDB_ERROR_INVALID) type = errorTypeOfText(message);
    return makeClassifiedError(classifyError(type, message), type, message);
}

absl::Status makeCommitError(int type, std::string_view message) {
    if (type == DUCKDB_ERROR_INVALID) type = errorTypeOfText(message);
    return makeClassifiedError(classifyCommitError(type, message), type, message);
}

absl::Status checkCancel(const Cancel& cancel) {
    absl::Status reason = cancel.check();
    return reason.ok() ? reason : withClass(std::move(reason), ErrorClass::kInterrupted);
}

absl::Status makeStatementError(int type, std::string_view message, const Cancel& cancel) {
    absl::Status error = makeError(type, message);
    if (errorClass(error) != ErrorClass::kInterrupted) return error;
    absl::Status reason = checkCancel(cancel);
    return reason.ok() ? error : reason;
}

std::string redactStatement(std::string_view statement) {
    std::string upper = absl::AsciiStrToUpper(abslView(statement));
    if (upper.find("SECRET") == std::string::npos && upper.find("ATTACH") == std::string::npos)
        return std::string(statement);
    std::size_t end = std::min(statement.find_first_of("('"), statement.find("$$"));
    if (end == std::string_view::npos) return std::string(statement);
    return std::string(statement.substr(0, end)) + "(…)";
}

}  // namespace dq::engine
