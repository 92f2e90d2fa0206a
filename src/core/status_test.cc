#include "core/status.h"

#include <absl/strings/cord.h>
#include <gtest/gtest.h>

#include <memory>

namespace dq {
namespace {

Status failing() {
    Status status = absl::DataLossError("gone");
    status.SetPayload("type", absl::Cord("engine"));
    return status;
}
StatusOr<std::unique_ptr<int>> made(bool ok) {
    if (!ok) return failing();
    return std::make_unique<int>(7);
}
StatusOr<int> doubled(bool ok) {
    DQ_ASSIGN_OR_RETURN(const auto value, made(ok));
    DQ_RETURN_IF_ERROR(absl::OkStatus());
    return *value * 2;
}

TEST(Status, AnnotateKeepsCodeAndPayload) {
    const Status status = annotate(failing(), "opening");
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_EQ(status.message(), "opening: gone");
    EXPECT_EQ(status.GetPayload("type"), absl::Cord("engine"));
    EXPECT_TRUE(annotate(absl::OkStatus(), "opening").ok());
}

TEST(Status, MacrosPassErrorsOnAndMoveValues) {
    EXPECT_EQ(doubled(true).value(), 14);
    EXPECT_EQ(doubled(false).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StatusDeathTest, ABrokenInvariantEndsTheProcessWithItsReason) {
    EXPECT_DEATH(DQ_CHECK(1 > 2, "order of numbers"), "broken invariant \\(1 > 2\\): order of numbers");
}

}  // namespace
}  // namespace dq
