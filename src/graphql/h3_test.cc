#include "graphql/h3.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dq::graphql {
namespace {

TEST(H3, FixedPoints) {
    using Point = std::pair<double, double>;
    const std::pair<Point, Point> cases[] = {
        {{40.7128, -74.0060}, {40.704167908350385, -74.01600847979245}},
        {{40.7, -74.0}, {40.704167908350385, -74.01600847979245}},
        {{42.33, -83.05}, {42.32310374494884, -83.04682957459683}},
        {{0, 0}, {0.011345352958216995, -0.014717663054053597}},
    };
    for (const auto& [point, center] : cases) {
        const auto got = h3CellCenter(point.first, point.second);
        ASSERT_TRUE(got.has_value());
        // Two H3 libraries differ in the last bits of their trigonometry: 1e-13 degrees are 10 nm.
        EXPECT_NEAR(got->first, center.first, 1e-13);
        EXPECT_NEAR(got->second, center.second, 1e-13);
        EXPECT_EQ(h3CellCenter(got->first, got->second), got);
    }
}

TEST(H3, NotFiniteHasNoCell) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    EXPECT_FALSE(h3CellCenter(nan, 0).has_value());
    EXPECT_FALSE(h3CellCenter(0, inf).has_value());
    EXPECT_FALSE(h3CellCenter(-inf, nan).has_value());
    EXPECT_TRUE(h3CellCenter(90, 180).has_value());
}

}  // namespace
}  // namespace dq::graphql
