#include "engine/error_patterns.h"

#include <absl/strings/ascii.h>
#include <duckdb.h>

#include <algorithm>
#include <span>
#include <utility>

namespace dq::engine {
namespace {

constexpr std::size_t kMaxMessage = 600;

// Heads of messages: "<name> Error: ".
constexpr std::pair<std::string_view, int> kTypeNames[] = {
    {"Binder", DUCKDB_ERROR_BINDER},
    {"Catalog", DUCKDB_ERROR_CATALOG},
    {"Connection", DUCKDB_ERROR_CONNECTION},
    {"Constraint", DUCKDB_ERROR_CONSTRAINT},
    {"Conversion", DUCKDB_ERROR_CONVERSION},
    {"Dependency", DUCKDB_ERROR_DEPENDENCY},
    {"FATAL", DUCKDB_ERROR_FATAL},
    {"HTTP", DUCKDB_ERROR_HTTP},
    {"INTERNAL", DUCKDB_ERROR_INTERNAL},
    {"INTERRUPT", DUCKDB_ERROR_INTERRUPT},
    {"IO", DUCKDB_ERROR_IO},
    {"Invalid Input", DUCKDB_ERROR_INVALID_INPUT},
    {"Missing Extension", DUCKDB_ERROR_MISSING_EXTENSION},
    {"Network", DUCKDB_ERROR_NETWORK},
    {"Not implemented", DUCKDB_ERROR_NOT_IMPLEMENTED},
    {"Out of Memory", DUCKDB_ERROR_OUT_OF_MEMORY},
    {"Out of Range", DUCKDB_ERROR_OUT_OF_RANGE},
    {"Parser", DUCKDB_ERROR_PARSER},
    {"Permission", DUCKDB_ERROR_PERMISSION},
    {"Serialization", DUCKDB_ERROR_SERIALIZATION},
    {"Settings", DUCKDB_ERROR_SETTINGS},
    {"Syntax", DUCKDB_ERROR_SYNTAX},
    {"TransactionContext", DUCKDB_ERROR_TRANSACTION},
};

// The instance, or a database file attached to it, refuses all work until it is opened again.
constexpr std::string_view kInvalidated[] = {"database has been invalidated", "has been invalidated because"};
// The instance was dead before this statement began, so the statement did nothing.
constexpr std::string_view kInvalidatedBefore = "because of a previous fatal error";
constexpr std::string_view kSessionAbortedText = "transaction is aborted";
constexpr std::string_view kNoTransaction = "no transaction is active";

// Conflicts that DuckLake found itself: nothing landed.
constexpr std::string_view kLakeConflict[] = {"Transaction conflict", "Exceeded the maximum retry count"};
// Conflicts inside an attached DuckDB file or PostgreSQL (side database).
constexpr std::string_view kStoreConflict[] = {"Conflict on ", "write-write conflict", "could not serialize access",
                                               "deadlock detected"};

// The catalog server went away while the statement ran.
constexpr std::string_view kConnectionLost[] = {"Failed to execute query \"ROLLBACK",
                                                "Failed to execute query \"COMMIT",
                                                "server closed the connection",
                                                "terminating connection",
                                                "could not receive data from server",
                                                "could not send data to server",
                                                "SSL connection has been closed",
                                                "no connection to the server",
                                                "Connection reset by peer",
                                                "Connection timed out",
                                                "Broken pipe"};
constexpr std::string_view kUnreachable[] = {"Unable to connect to Postgres", "Connection refused"};
constexpr std::string_view kNotFoundByAppender = "\" could not be found";
constexpr std::string_view kMissingSnapshot = "No snapshot found at ";

bool contains(std::string_view text, std::string_view pattern) { return text.find(pattern) != std::string_view::npos; }

bool containsAny(std::string_view text, std::span<const std::string_view> patterns) {
    for (std::string_view pattern : patterns) {
        if (contains(text, pattern)) return true;
    }
    return false;
}

bool isMissingTable(int type, std::string_view message) {
    if (contains(message, kMissingSnapshot)) return true;
    if (message.starts_with("Table \"") && message.ends_with(kNotFoundByAppender)) return true;
    return type == DUCKDB_ERROR_CATALOG && contains(message, "Table with name") && contains(message, "does not exist");
}

// Types whose text may quote data of ours: patterns must not be looked for in them.
bool quotesData(int type) {
    return type == DUCKDB_ERROR_CONVERSION || type == DUCKDB_ERROR_PARSER || type == DUCKDB_ERROR_SYNTAX ||
           type == DUCKDB_ERROR_BINDER || type == DUCKDB_ERROR_OUT_OF_RANGE;
}

std::size_t findIgnoringCase(std::string_view text, std::string_view lower, std::size_t from) {
    auto same = [](char a, char b) { return absl::ascii_tolower(static_cast<unsigned char>(a)) == b; };
    auto found =
        std::search(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), lower.begin(), lower.end(), same);
    return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

bool endsValue(char c) {
    return absl::ascii_isspace(static_cast<unsigned char>(c)) || c == '\'' || c == '"' || c == ',' || c == ';' ||
           c == ')';
}

// Keyword form: password=x, password = 'x y', …?password=x&…; likewise the secrets of object stores.
void maskKeyword(std::string& text, std::string_view keyword) {
    for (std::size_t at = 0; (at = findIgnoringCase(text, keyword, at)) != std::string::npos;) {
        at += keyword.size();
        std::size_t begin = at;
        while (begin < text.size() && text[begin] == ' ') ++begin;
        bool assigned = begin < text.size() && text[begin] == '=';
        if (assigned) ++begin;
        while (begin < text.size() && text[begin] == ' ') ++begin;
        if (begin >= text.size() || (!assigned && text[begin] != '\'')) continue;
        std::size_t end = begin;
        if (text[begin] == '\'') {
            ++begin;
            end = begin;
            while (end < text.size() && text[end] != '\'') end += text[end] == '\\' ? 2 : 1;
            end = std::min(end, text.size());
        } else {
            while (end < text.size() && !endsValue(text[end]) && text[end] != '&') ++end;
        }
        text.replace(begin, end - begin, "***");
        at = begin + 3;
    }
}

// URL form: scheme://user:password@host. A password may hold '@': the last one before the host's end counts.
void maskUrlPasswords(std::string& text) {
    for (std::size_t at = 0; (at = text.find("://", at)) != std::string::npos;) {
        at += 3;
        std::size_t end = at;
        while (end < text.size() && !endsValue(text[end])) ++end;
        std::size_t sign = text.substr(at, end - at).rfind('@');
        if (sign == std::string::npos) continue;
        std::size_t colon = text.find(':', at);
        if (colon == std::string::npos || colon >= at + sign) continue;
        text.replace(colon + 1, at + sign - colon - 1, "***");
        at = colon + 4;
    }
}

void maskVehicleIds(std::string& text) {
    for (std::size_t at = 0; (at = text.find("did:", at)) != std::string::npos;) {
        at += 4;
        std::size_t end = at;
        while (end < text.size() && !endsValue(text[end])) ++end;
        text.replace(at, end - at, "***");
        at += 3;
    }
}

// Failed to execute query "INSERT INTO … kilobytes …": cause  ->  Failed to execute query "INSERT (…)": cause
// The last `":` ends the statement: one before it may be part of the rows.
void cutSentStatement(std::string& text, std::string_view head) {
    std::size_t begin = text.find(head);
    if (begin == std::string::npos) return;
    begin += head.size();
    std::size_t end = text.rfind("\":");
    if (end == std::string::npos || end < begin) end = text.size();
    std::size_t word = begin;
    while (word < end && absl::ascii_isalpha(static_cast<unsigned char>(text[word]))) ++word;
    if (word < end) text.replace(word, end - word, " (…)");
}

void cutConvertedValue(std::string& text) {
    constexpr std::string_view kHead = "Could not convert string '";
    std::size_t begin = text.find(kHead);
    if (begin == std::string::npos) return;
    begin += kHead.size();
    std::size_t end = text.rfind("' to ");
    if (end == std::string::npos || end < begin) end = text.size();
    text.replace(begin, end - begin, "…");
}

}  // namespace

int errorTypeOfText(std::string_view message) {
    for (const auto& [name, type] : kTypeNames) {
        if (message.starts_with(name) && message.substr(name.size()).starts_with(" Error: ")) return type;
    }
    return DUCKDB_ERROR_INVALID;
}

ErrorClass classifyError(int type, std::string_view message) {
    if (type == DUCKDB_ERROR_INVALID) type = errorTypeOfText(message);
    if (type == DUCKDB_ERROR_FATAL) return ErrorClass::kEngineDead;
    if (type == DUCKDB_ERROR_INTERRUPT) return ErrorClass::kInterrupted;
    if (type == DUCKDB_ERROR_OUT_OF_MEMORY) return ErrorClass::kOutOfMemory;
    if (quotesData(type)) return ErrorClass::kOther;
    if (containsAny(message, kInvalidated)) return ErrorClass::kEngineDead;
    if (contains(message, kSessionAbortedText)) return ErrorClass::kSessionAborted;
    bool committing = type == DUCKDB_ERROR_TRANSACTION && contains(message, "Failed to commit");
    if (containsAny(message, kConnectionLost))
        return committing ? ErrorClass::kOutcomeUnknown : ErrorClass::kUnavailable;
    if (containsAny(message, kStoreConflict)) return ErrorClass::kConflict;
    if (committing || type == DUCKDB_ERROR_TRANSACTION) {
        if (containsAny(message, kLakeConflict)) return ErrorClass::kConflict;
        if (isCommitConflictText(message)) return ErrorClass::kOutcomeUnknown;
    }
    if (isMissingTable(type, message)) return ErrorClass::kMissingTable;
    if (type == DUCKDB_ERROR_IO || type == DUCKDB_ERROR_HTTP || type == DUCKDB_ERROR_NETWORK ||
        type == DUCKDB_ERROR_CONNECTION || containsAny(message, kUnreachable)) {
        return ErrorClass::kUnavailable;
    }
    return ErrorClass::kOther;
}

ErrorClass classifyCommitError(int type, std::string_view message) {
    if (type == DUCKDB_ERROR_INVALID) type = errorTypeOfText(message);
    ErrorClass error_class = classifyError(type, message);
    switch (error_class) {
        case ErrorClass::kConflict:
        case ErrorClass::kSessionAborted: return error_class;
        case ErrorClass::kEngineDead:
            return contains(message, kInvalidatedBefore) ? error_class : ErrorClass::kOutcomeUnknown;
        case ErrorClass::kOther:
            if (type == DUCKDB_ERROR_CONSTRAINT || contains(message, kNoTransaction)) return error_class;
            if (type == DUCKDB_ERROR_TRANSACTION && contains(message, "constraint violation")) return error_class;
            return ErrorClass::kOutcomeUnknown;
        default: return ErrorClass::kOutcomeUnknown;
    }
}

std::string cleanMessage(std::string_view message) {
    message = message.substr(0, message.find("\n\n"));
    std::string text(message.substr(0, message.find_last_not_of(" \t\r\n") + 1));
    for (std::string_view head : {"Failed to execute query \"", "Failed to prepare COPY \""})
        cutSentStatement(text, head);
    cutConvertedValue(text);
    maskUrlPasswords(text);
    for (std::string_view keyword : {"password", "secret", "key_id", "session_token"}) maskKeyword(text, keyword);
    maskVehicleIds(text);
    if (text.size() > kMaxMessage) {
        std::size_t end = kMaxMessage - 3;  // room for the ellipsis
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
        text.resize(end);
        text += "…";
    }
    return text;
}

bool isCommitConflictText(std::string_view message) {
    return contains(message, "Transaction conflict") || contains(message, "Failed to commit DuckLake transaction");
}

}  // namespace dq::engine
