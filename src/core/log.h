// Structured logs: one JSON object a line with level, time (RFC 3339, seconds), message, app, and the fields given.
//
//   logWarn("slow lake read", {{"op", op}, {"duration", millis}});
//
// Never a secret, token, DSN password, vehicle id or payload in a field. Threads: any. Severities below the level cost
// a branch.
#pragma once
#include <absl/strings/string_view.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace dq {

enum class LogLevel { kTrace, kDebug, kInfo, kWarn, kError, kFatal, kPanic, kDisabled };

struct LogField {
    std::string_view name;
    std::variant<std::string_view, std::int64_t, double, bool> value;
    LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
    LogField(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
    LogField(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
    LogField(std::string_view n, absl::string_view v) : name(n), value(std::string_view(v.data(), v.size())) {}
    LogField(std::string_view n, double v) : name(n), value(v) {}
    LogField(std::string_view n, bool v) : name(n), value(v) {}
    template <typename I>
    requires std::is_integral_v<I> LogField(std::string_view n, I v) : name(n), value(static_cast<std::int64_t>(v)) {}
};
using LogFields = std::initializer_list<LogField>;

// Names of LOG_LEVEL in any case, or an integer (-1 trace .. 5 panic, 7 disabled). False when unknown.
bool parseLogLevel(std::string_view text, LogLevel& out);
void setLogLevel(LogLevel level);
// Servers log to stdout (the default); commands whose stdout is an answer log to stderr.
void logToStderr();
bool logEnabled(LogLevel level);
void log(LogLevel level, std::string_view message, LogFields fields = {});

inline void logDebug(std::string_view m, LogFields f = {}) { log(LogLevel::kDebug, m, f); }
inline void logInfo(std::string_view m, LogFields f = {}) { log(LogLevel::kInfo, m, f); }
inline void logWarn(std::string_view m, LogFields f = {}) { log(LogLevel::kWarn, m, f); }
inline void logError(std::string_view m, LogFields f = {}) { log(LogLevel::kError, m, f); }
inline void logFatal(std::string_view m, LogFields f = {}) {
    log(LogLevel::kFatal, m, f);
}  // logs only; the caller ends the process

// Tests capture every line instead of writing it. Not for concurrent use of two captures.
class LogCapture {
  public:
    LogCapture();
    ~LogCapture();
    std::string text() const;
};

}  // namespace dq
