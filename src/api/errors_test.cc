#include "api/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/log.h"

namespace dq::api {
namespace {

using testing::HasSubstr;

constexpr char kLate[] = "request exceeded or is estimated to exceed the maximum execution time";

TEST(Errors, BadRequestKeepsTheReasonThatClientsKnow) {
    const auto error = badRequest("subject is required");
    EXPECT_EQ(error.message, "invalid argument: subject is required");
    EXPECT_EQ(error.code, "BAD_REQUEST");
    EXPECT_EQ(error.reason, "Internal Server Error");
}

TEST(Errors, EveryClassOfAFailedReadHasItsCode) {
    struct Case {
        absl::Status status;
        std::string_view message, code, reason;
    };
    constexpr char kFailed[] = "failed to query db", kInternal[] = "INTERNAL_SERVER_ERROR";
    for (const Case& c : {Case{absl::CancelledError("c"), kLate, "SERVICE_UNAVAILABLE", "Service Unavailable"},
                          Case{absl::DeadlineExceededError("d"), kLate, "SERVICE_UNAVAILABLE", "Service Unavailable"},
                          Case{absl::UnavailableError("u"), kFailed, kInternal, "Internal Server Error"},
                          Case{absl::InternalError("i"), kFailed, kInternal, "Internal Server Error"},
                          Case{absl::DataLossError("l"), kFailed, kInternal, "Internal Server Error"},
                          Case{absl::NotFoundError("n"), kFailed, kInternal, "Internal Server Error"},
                          Case{absl::ResourceExhaustedError("r"), kFailed, kInternal, "Internal Server Error"},
                          Case{absl::InvalidArgumentError("a"), kFailed, kInternal, "Internal Server Error"}}) {
        LogCapture capture;
        const auto error = readFailure(c.status, "signals");
        EXPECT_EQ(error.message, c.message) << c.status;
        EXPECT_EQ(error.code, c.code) << c.status;
        EXPECT_EQ(error.reason, c.reason) << c.status;
    }
}

TEST(Errors, TheCauseOfAFailedReadGoesToTheLogOnly) {
    LogCapture capture;
    const auto error = readFailure(absl::InternalError("table is gone"), "events");
    EXPECT_THAT(error.message, Not(HasSubstr("table is gone")));
    EXPECT_THAT(capture.text(), HasSubstr("table is gone"));
    EXPECT_THAT(capture.text(), HasSubstr("\"gqlPath\":\"events\""));
    EXPECT_THAT(capture.text(), HasSubstr("\"level\":\"error\""));
}

TEST(Errors, AFieldOfALaterBuildSaysSo) {
    const auto error = notInThisBuild("segments");
    EXPECT_EQ(error.message, "segments is not available in this build");
    EXPECT_EQ(error.code, "NOT_AVAILABLE");
    EXPECT_EQ(error.reason, "");
}

}  // namespace
}  // namespace dq::api
