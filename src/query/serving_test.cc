#include "query/serving.h"

#include <gtest/gtest.h>

namespace dq::query {
namespace {

constexpr Micros kW = 1'780'272'000LL * kMicrosPerSecond;  // 2026-06-01

ServingRows recorded(std::string maintainer, std::string through = "7", std::string cursor = "7") {
    return {std::move(maintainer), std::move(through), std::move(cursor), std::nullopt};
}

TEST(Serving, RecordDecidesWhateverTheSetting) {
    for (const bool setting : {false, true}) {
        const auto fold = chooseServing(recorded("fold"), setting);
        ASSERT_TRUE(fold.ok());
        EXPECT_EQ(fold->tail_from, std::nullopt);
        EXPECT_EQ(fold->contradicts_setting, setting);
        const auto daily = chooseServing(recorded("daily 2026-06-01T00:00:00Z"), setting);
        ASSERT_TRUE(daily.ok());
        EXPECT_EQ(daily->tail_from, kW);
        EXPECT_EQ(daily->contradicts_setting, !setting);
    }
}

TEST(Serving, RecordedWatermarkBeatsTheRow) {
    ServingRows rows = recorded("daily 2026-06-01T00:00:00Z");
    rows.watermark = "yesterday";  // not even parsed
    const auto choice = chooseServing(rows, true);
    ASSERT_TRUE(choice.ok()) << choice.status();
    EXPECT_EQ(choice->tail_from, kW);
}

TEST(Serving, RecordThatDoesNotCountLeavesTheSettingToDecide) {
    const ServingRows other_cursor = recorded("fold", "7", "8"), no_through{"fold", std::nullopt, "7", std::nullopt};
    const ServingRows unknown = recorded("nightly"), bad_time = recorded("daily soon");
    for (ServingRows rows : {other_cursor, no_through, unknown, bad_time, ServingRows{}}) {
        rows.watermark = "2026-06-01T00:00:00Z";
        const auto off = chooseServing(rows, false), on = chooseServing(rows, true);
        ASSERT_TRUE(off.ok() && on.ok());
        EXPECT_EQ(off->tail_from, std::nullopt);
        EXPECT_EQ(on->tail_from, kW);
        EXPECT_FALSE(off->contradicts_setting || on->contradicts_setting);
    }
}

TEST(Serving, NullCursorIsZero) {
    const auto choice = chooseServing(recorded("daily 2026-06-01T00:00:00Z", "0", ""), true);
    ASSERT_TRUE(choice.ok());
    EXPECT_EQ(choice->tail_from, kW);
}

TEST(Serving, RollupAcceptance56_WatermarkAbsentOrBad) {
    ServingRows rows;
    EXPECT_EQ(chooseServing(rows, true)->tail_from, std::nullopt);
    rows.watermark = "yesterday";
    EXPECT_FALSE(chooseServing(rows, true).ok());
    EXPECT_TRUE(chooseServing(rows, false).ok());
}

LatestSignal row(std::string name, Micros timestamp, double number, std::uint64_t count, Location location = {},
                 Micros location_time = 0) {
    return {std::move(name), timestamp, number, "", location, location_time, count, timestamp, timestamp};
}

TEST(Serving, MergeTakesTheNewerValueAndTheNewerFix) {
    const auto merged = mergeTail({row("b", 10, 1, 2, {1, 2, 3, 4}, 9), row("d", 10, 5, 1)},
                                  {row("a", 20, 7, 1), row("b", 20, 2, 3), row("e", 21, 8, 1, {5, 6, 7, 8}, 21)});
    ASSERT_EQ(merged.size(), 4u);
    EXPECT_EQ(merged[0].name, "a");
    EXPECT_EQ(merged[1].name, "b");
    EXPECT_EQ(merged[1].timestamp, 20);
    EXPECT_EQ(merged[1].value_number, 2);
    EXPECT_EQ(merged[1].count, 5u);
    EXPECT_EQ(merged[1].first_seen, 10);
    EXPECT_EQ(merged[1].last_seen, 20);
    EXPECT_EQ(merged[1].location_time, 9);  // a tail without a fix moves the value only
    EXPECT_EQ(merged[1].location.latitude, 1);
    EXPECT_EQ(merged[2].name, "d");
    EXPECT_EQ(merged[3].location.longitude, 6);
    EXPECT_EQ(
        mergeTail({row("b", 10, 1, 2, {1, 2, 3, 4}, 9)}, {row("b", 20, 2, 3, {9, 9, 9, 9}, 20)})[0].location.latitude,
        9);
    EXPECT_TRUE(mergeTail({}, {}).empty());
}

TEST(Serving, KeepFirstOfName) {
    std::vector<LatestSignal> rows = {row("a", 3, 1, 5), row("a", 3, 2, 4), row("b", 1, 3, 1)};
    keepFirstOfName(rows);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].count, 5u);
}

}  // namespace
}  // namespace dq::query
