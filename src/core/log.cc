#include "core/log.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <array>
#include <atomic>
#include <cmath>
#include <memory>
#include <mutex>
#include <optional>

#include "core/clock.h"
#include "core/status.h"

namespace dq {
namespace {

constexpr std::array<std::string_view, 8> kLevelNames = {"trace", "debug", "info",  "warn",
                                                         "error", "fatal", "panic", "disabled"};

std::atomic<LogLevel> minimum_level{LogLevel::kInfo};

// Where lines go. Never destroyed, since threads may log while the process ends.
class Output {
  public:
    static Output& instance() {
        static Output* output = new Output();
        return *output;
    }
    void write(std::string_view line) {
        std::lock_guard lock(mutex_);
        if (captured_) {
            captured_->append(line).push_back('\n');
        } else {
            logger_->log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
        }
    }
    void toStderr() {
        std::lock_guard lock(mutex_);
        logger_ = makeLogger(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    }
    void startCapture() {
        std::lock_guard lock(mutex_);
        captured_.emplace();
    }
    void stopCapture() {
        std::lock_guard lock(mutex_);
        captured_.reset();
    }
    std::string captured() const {
        std::lock_guard lock(mutex_);
        return captured_.value_or("");
    }

  private:
    Output() : logger_(makeLogger(std::make_shared<spdlog::sinks::stdout_sink_mt>())) {}
    static std::unique_ptr<spdlog::logger> makeLogger(spdlog::sink_ptr sink) {
        auto logger = std::make_unique<spdlog::logger>("dq", std::move(sink));
        logger->set_level(spdlog::level::trace);
        logger->set_formatter(std::make_unique<spdlog::pattern_formatter>("%v"));
        return logger;
    }

    mutable std::mutex mutex_;  // guards all below
    std::unique_ptr<spdlog::logger> logger_;
    std::optional<std::string> captured_;
};

// Size of the UTF-8 character at the front of a text that is not empty; 0 when it is none (overlong, surrogate, cut).
std::size_t utf8SequenceSize(std::string_view text) {
    const auto byte = [&](std::size_t i) -> unsigned {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    };
    const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
    const unsigned first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool in_range = !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F);
        return follows(1) && follows(2) && in_range ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool in_range = !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
        return follows(1) && follows(2) && follows(3) && in_range ? 4 : 0;
    }
    return 0;
}

// A JSON string; bytes that are not UTF-8 become U+FFFD.
void appendQuoted(std::string& out, std::string_view text) {
    out += '"';
    while (!text.empty()) {
        const std::size_t size = utf8SequenceSize(text);
        if (size == 0) {
            out += "\\ufffd";
            text.remove_prefix(1);
            continue;
        }
        const char c = text.front();
        switch (c) {
            case '"': out += "\\\""; break;
            case '\\': out += "\\\\"; break;
            case '\n': out += "\\n"; break;
            case '\r': out += "\\r"; break;
            case '\t': out += "\\t"; break;
            default:
                if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
                } else {
                    out.append(text.substr(0, size));
                }
        }
        text.remove_prefix(size);
    }
    out += '"';
}

struct AppendValue {
    std::string& out;
    void operator()(std::string_view text) const { appendQuoted(out, text); }
    void operator()(std::int64_t number) const { out += fmt::to_string(number); }
    void operator()(bool flag) const { out += flag ? "true" : "false"; }
    void operator()(double number) const {
        if (std::isfinite(number)) {
            out += fmt::format("{}", number);
        } else {
            appendQuoted(out, fmt::format("{}", number));  // JSON has no such number
        }
    }
};

}  // namespace

bool parseLogLevel(std::string_view text, LogLevel& out) {
    const std::string lower = absl::AsciiStrToLower(abslView(text));
    for (std::size_t i = 0; i < kLevelNames.size(); ++i) {
        if (lower == kLevelNames[i]) {
            out = static_cast<LogLevel>(i);
            return true;
        }
    }
    int number = 0;
    if (!absl::SimpleAtoi(lower, &number)) return false;
    if (number == 7) {
        out = LogLevel::kDisabled;
        return true;
    }
    if (number < -1 || number > 5) return false;
    out = static_cast<LogLevel>(number + 1);
    return true;
}

void setLogLevel(LogLevel level) { minimum_level = level; }
void logToStderr() { Output::instance().toStderr(); }
bool logEnabled(LogLevel level) {
    return level != LogLevel::kDisabled && level >= minimum_level.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view message, LogFields fields) {
    if (!logEnabled(level)) return;
    const Micros now = floorDiv(systemClock().now(), kMicrosPerSecond) * kMicrosPerSecond;
    std::string line;
    line.reserve(160 + message.size());
    line.append("{\"level\":\"").append(kLevelNames[static_cast<std::size_t>(level)]);
    line.append("\",\"app\":\"dq\",");
#ifdef DQ_COMMIT
    line.append("\"commit\":\"" DQ_COMMIT "\",");
#endif
    line.append("\"time\":\"").append(formatRfc3339(now)).append("\"");
    for (const LogField& field : fields) {
        line += ',';
        appendQuoted(line, field.name);
        line += ':';
        std::visit(AppendValue{line}, field.value);
    }
    line += ",\"message\":";
    appendQuoted(line, message);
    line += '}';
    Output::instance().write(line);
}

LogCapture::LogCapture() { Output::instance().startCapture(); }
LogCapture::~LogCapture() { Output::instance().stopCapture(); }
std::string LogCapture::text() const { return Output::instance().captured(); }

}  // namespace dq
