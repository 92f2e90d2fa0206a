#include "core/backoff.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace dq {
namespace {

TEST(Backoff, WaitsLieBelowADoublingBoundAndFillIt) {
    for (const auto& [attempt, bound] : {std::pair{0, 1000}, {1, 2000}, {3, 8000}, {4, 10'000}, {1'000'000, 10'000}}) {
        std::int64_t least = INT64_MAX, most = 0;
        for (int i = 0; i < 2000; ++i) {
            const std::int64_t wait = backoffMicros(1000, 10'000, attempt);
            least = std::min(least, wait);
            most = std::max(most, wait);
        }
        EXPECT_GE(least, 0);
        EXPECT_LT(least, bound / 10) << attempt;
        EXPECT_LE(most, bound) << attempt;
        EXPECT_GT(most, bound * 9 / 10) << attempt;
    }
    EXPECT_EQ(backoffMicros(0, 10'000, 5), 0);
}

}  // namespace
}  // namespace dq
