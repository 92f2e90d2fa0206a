// Command lines: the flags of the service that dq replaces, and exit codes.
#include "app/legacy_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/command_line.h"
#include "core/log.h"

namespace dq::app {
namespace {

using testing::HasSubstr;

TEST(LegacyFlags, DefaultsWithoutAny) {
    const auto flags = parseLegacyFlags({});
    ASSERT_TRUE(flags.ok());
    EXPECT_EQ(flags->settings, "settings.yaml");
    EXPECT_EQ(flags->backfill_from, "");
    EXPECT_EQ(flags->backfill_to, "");
    EXPECT_FALSE(flags->help);
}

TEST(LegacyFlags, OneOrTwoDashesAndBothWaysOfGivingAValue) {
    for (const std::vector<std::string>& line : {std::vector<std::string>{"-settings", "a=b.yaml"},
                                                 {"--settings", "a=b.yaml"},
                                                 {"-settings=a=b.yaml"},
                                                 {"--settings=a=b.yaml"}}) {
        const auto flags = parseLegacyFlags(line);
        ASSERT_TRUE(flags.ok()) << line[0];
        EXPECT_EQ(flags->settings, "a=b.yaml") << line[0];
    }
    const auto both =
        parseLegacyFlags({"-backfill-from=2026-01-01T00:00:00Z", "-backfill-to", "2026-01-02T00:00:00Z", "-settings="});
    ASSERT_TRUE(both.ok());
    EXPECT_EQ(both->backfill_from, "2026-01-01T00:00:00Z");
    EXPECT_EQ(both->backfill_to, "2026-01-02T00:00:00Z");
    EXPECT_EQ(both->settings, "");
}

TEST(LegacyFlags, HelpEndsTheReading) {
    for (const char* flag : {"-h", "--h", "-help", "--help"}) {
        const auto flags = parseLegacyFlags({flag, "-nope"});
        ASSERT_TRUE(flags.ok()) << flag;
        EXPECT_TRUE(flags->help) << flag;
    }
}

TEST(LegacyFlags, TheFirstWrongFlagIsNamed) {
    const auto message = [](const std::vector<std::string>& line) {
        const auto flags = parseLegacyFlags(line);
        EXPECT_FALSE(flags.ok()) << line[0];
        return std::string(flags.status().message());
    };
    EXPECT_THAT(message({"-nope", "-worse"}), HasSubstr("-nope"));
    EXPECT_THAT(message({"--nope=1"}), HasSubstr("-nope"));
    EXPECT_THAT(message({"-settings"}), HasSubstr("needs an argument: -settings"));
    EXPECT_THAT(message({"-settings=a", "file"}), HasSubstr("unexpected argument: file"));
    EXPECT_THAT(message({"-"}), HasSubstr("unexpected argument: -"));
}

int run(std::vector<std::string> line) {
    line.insert(line.begin(), "dq");
    std::vector<char*> argv;
    for (std::string& argument : line) argv.push_back(argument.data());
    argv.push_back(nullptr);
    return runCommandLine(static_cast<int>(line.size()), argv.data());
}

TEST(CommandLine, HelpAndVersionEndWithZero) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run({"-h"}), 0);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("-backfill-from"));
    testing::internal::CaptureStdout();
    EXPECT_EQ(run({"version"}), 0);
    EXPECT_EQ(run({"serve", "--help"}), 0);
    EXPECT_EQ(run({"ingest", "--help"}), 0);
    EXPECT_THAT(testing::internal::GetCapturedStdout(), testing::AllOf(testing::StartsWith("dq "), HasSubstr("--dev")));
}

TEST(CommandLine, WrongFlagsEndWithTwo) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(run({"-nope"}), 2);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::AllOf(HasSubstr("-nope"), HasSubstr("Usage")));
    testing::internal::CaptureStderr();
    EXPECT_EQ(run({"serve", "--nope"}), 2);
    EXPECT_EQ(run({"nonsense"}), 2);
    EXPECT_EQ(run({""}), 2);
    EXPECT_EQ(run({"ingest"}), 2);
    testing::internal::GetCapturedStderr();
}

TEST(CommandLine, Acceptance17_BackfillEndsWithOneWithoutABoundOrWithBoth) {
    LogCapture capture;
    EXPECT_EQ(run({"-backfill-from", "2026-01-01T00:00:00Z"}), 1);
    EXPECT_EQ(run({"-backfill-to", "2026-01-01T00:00:00Z"}), 1);
    EXPECT_EQ(run({"-backfill-from", "2026-01-02T00:00:00Z", "-backfill-to", "2026-01-01T00:00:00Z"}), 1);
    EXPECT_THAT(capture.text(), HasSubstr("\"level\":\"fatal\""));
}

}  // namespace
}  // namespace dq::app
