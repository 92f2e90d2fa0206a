#include "core/log.h"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <thread>
#include <vector>

namespace dq {
namespace {

class Log : public testing::Test {
  protected:
    ~Log() override { setLogLevel(LogLevel::kInfo); }
};

// The line without its commit and with T in place of its time, which must be RFC 3339 in whole seconds.
std::string normalised(std::string line) {
    line = std::regex_replace(line, std::regex(R"("commit":"[0-9a-f]{7}",)"), "");
    return std::regex_replace(line, std::regex(R"("time":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")"), R"("time":T)");
}

TEST_F(Log, WritesOneJsonObjectALine) {
    LogCapture capture;
    logInfo("started", {{"port", 8080}, {"ratio", 0.5}, {"on", true}, {"name", "x"}, {"text", std::string("y")}});
    logError("failed");
    EXPECT_EQ(normalised(capture.text()), R"({"level":"info","app":"dq","time":T,"port":8080,"ratio":0.5,"on":true,)"
                                          R"("name":"x","text":"y","message":"started"})"
                                          "\n"
                                          R"({"level":"error","app":"dq","time":T,"message":"failed"})"
                                          "\n");
}

TEST_F(Log, EscapesWhateverATextHolds) {
    LogCapture capture;
    logWarn("a\"b\\c\nd\re\tf", {{"k\"", std::string_view("\0\x01\x1f\x7f", 4)}, {"utf", "é€😀"}});
    EXPECT_EQ(normalised(capture.text()), R"({"level":"warn","app":"dq","time":T,"k\"":"\u0000\u0001\u001f\u007f",)"
                                          R"("utf":"é€😀","message":"a\"b\\c\nd\re\tf"})"
                                          "\n");
}

TEST_F(Log, ReplacesBytesThatAreNotUtf8) {
    LogCapture capture;
    logWarn("m", {{"lone", "\x80 \xff"},
                  {"cut", "\xE2\x82"},
                  {"overlong", "\xC0\xAF"},
                  {"surrogate", "\xED\xA0\x80"},
                  {"high", "\xF4\x90\x80\x80"}});
    EXPECT_EQ(
        normalised(capture.text()),
        R"({"level":"warn","app":"dq","time":T,"lone":"\ufffd \ufffd","cut":"\ufffd\ufffd","overlong":"\ufffd\ufffd",)"
        R"("surrogate":"\ufffd\ufffd\ufffd","high":"\ufffd\ufffd\ufffd\ufffd","message":"m"})"
        "\n");
}

TEST_F(Log, WritesNumbersThatReadBack) {
    LogCapture capture;
    logWarn("m", {{"min", std::numeric_limits<std::int64_t>::min()},
                  {"tenth", 0.1},
                  {"huge", 1e300},
                  {"none", std::numeric_limits<double>::quiet_NaN()},
                  {"inf", std::numeric_limits<double>::infinity()}});
    EXPECT_EQ(
        normalised(capture.text()),
        R"({"level":"warn","app":"dq","time":T,"min":-9223372036854775808,"tenth":0.1,"huge":1e+300,"none":"nan",)"
        R"("inf":"inf","message":"m"})"
        "\n");
}

TEST_F(Log, LeavesOutWhatIsBelowTheLevel) {
    LogCapture capture;
    logDebug("no");
    setLogLevel(LogLevel::kError);
    logWarn("no");
    logFatal("yes");
    setLogLevel(LogLevel::kDisabled);
    log(LogLevel::kPanic, "no");
    log(LogLevel::kDisabled, "no");
    setLogLevel(LogLevel::kTrace);
    log(LogLevel::kTrace, "yes");
    EXPECT_EQ(normalised(capture.text()),
              "{\"level\":\"fatal\",\"app\":\"dq\",\"time\":T,\"message\":\"yes\"}\n"
              "{\"level\":\"trace\",\"app\":\"dq\",\"time\":T,\"message\":\"yes\"}\n");
}

TEST_F(Log, LinesOfThreadsDoNotMix) {
    LogCapture capture;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
            for (int i = 0; i < 50; ++i) logInfo("m", {{"i", i}});
        });
    }
    for (auto& thread : threads) thread.join();
    const std::string text = capture.text();
    const std::regex line(
        R"(\{"level":"info","app":"dq",("commit":"\w{7}",)?"time":"[^"]+","i":\d+,"message":"m"\}\n)");
    EXPECT_EQ(std::regex_replace(text, line, "").size(), 0u);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 200);
}

TEST(LogLevel, Names) {
    const std::pair<const char*, LogLevel> cases[] = {
        {"trace", LogLevel::kTrace}, {"DEBUG", LogLevel::kDebug},
        {"Info", LogLevel::kInfo},   {"warn", LogLevel::kWarn},
        {"error", LogLevel::kError}, {"fatal", LogLevel::kFatal},
        {"panic", LogLevel::kPanic}, {"disabled", LogLevel::kDisabled},
        {"-1", LogLevel::kTrace},    {"0", LogLevel::kDebug},
        {"1", LogLevel::kInfo},      {"5", LogLevel::kPanic},
        {"7", LogLevel::kDisabled},
    };
    for (const auto& [text, level] : cases) {
        LogLevel parsed = LogLevel::kInfo;
        EXPECT_TRUE(parseLogLevel(text, parsed)) << text;
        EXPECT_EQ(parsed, level) << text;
    }
    for (const char* text : {"", "loud", "warning", "-2", "6", "8", "1.0", "1x"}) {
        LogLevel untouched = LogLevel::kFatal;
        EXPECT_FALSE(parseLogLevel(text, untouched)) << text;
        EXPECT_EQ(untouched, LogLevel::kFatal);
    }
}

}  // namespace
}  // namespace dq
