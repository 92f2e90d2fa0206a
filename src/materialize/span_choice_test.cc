#include "materialize/span_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dq::materialize {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

lake::Snapshot inserting(std::int64_t id, std::int64_t rows = 0) {
    return {.id = id, .committed = 0, .inserted = true, .rewrote = false, .raw_rows = rows};
}
lake::Snapshot other(std::int64_t id) { return {.id = id}; }
lake::Snapshot rewriting(std::int64_t id) { return {.id = id, .committed = 0, .inserted = false, .rewrote = true}; }

lake::SnapshotList listOf(std::vector<lake::Snapshot> snapshots, std::optional<std::int64_t> feed_start) {
    lake::SnapshotList list;
    list.snapshots = std::move(snapshots);
    list.feed_start = feed_start;
    list.raw_events_exists = true;
    return list;
}

TEST(SpanChoice, EndsAtTheLastInsertingSnapshot) {
    const auto span = chooseSpan(listOf({inserting(4), other(5), inserting(6), other(7)}, 4), 3, {});
    ASSERT_TRUE(span.has_value());
    EXPECT_EQ(span->from, 3);
    EXPECT_EQ(span->to, 6);
    EXPECT_EQ(span->feed_from, 4);
    EXPECT_FALSE(span->expired);
}

TEST(SpanChoice, NothingInserted) {
    EXPECT_FALSE(chooseSpan(listOf({}, 3), 3, {}));
    EXPECT_FALSE(chooseSpan(listOf({other(4), other(5)}, 4), 3, {}));
}

TEST(SpanChoice, GrowsWithTheBacklogUpToItsRows) {
    const lake::SnapshotList list = listOf({inserting(1, 400), inserting(2, 400), inserting(3, 400)}, 1);
    EXPECT_EQ(chooseSpan(list, 0, {.max_snapshots = 0, .max_raw_rows = 10'000})->to, 3);
    EXPECT_EQ(chooseSpan(list, 0, {.max_snapshots = 0, .max_raw_rows = 800})->to, 2);
    EXPECT_EQ(chooseSpan(list, 0, {.max_snapshots = 0, .max_raw_rows = 1})->to, 1);
    EXPECT_EQ(chooseSpan(list, 0, {.max_snapshots = 2, .max_raw_rows = 10'000})->to, 2);
}

TEST(SpanChoice, RewritesAreLeftOutOnlyWhenEveryIdBeforeThemIsRetained) {
    const auto all = chooseSpan(listOf({inserting(4), rewriting(5), inserting(6)}, 4), 3, {});
    EXPECT_EQ(all->to, 6);
    EXPECT_THAT(all->without, ElementsAre(5));
    EXPECT_FALSE(chooseSpan(listOf({rewriting(4), other(5)}, 4), 3, {}));
    // 5 has expired: the rewrite may hold the only copy of its rows.
    const auto hole = chooseSpan(listOf({inserting(4), rewriting(6)}, 4), 3, {});
    EXPECT_EQ(hole->to, 6);
    EXPECT_THAT(hole->without, IsEmpty());
}

TEST(SpanChoice, AnExpiredStartIsReadFromTheBaseTable) {
    const auto span = chooseSpan(listOf({inserting(50), inserting(51)}, std::nullopt), 10, {});
    EXPECT_TRUE(span->expired);
    EXPECT_EQ(span->to, 50);
    lake::SnapshotList late = listOf({other(50), inserting(51)}, std::nullopt);
    late.raw_events_since = 51;
    EXPECT_EQ(chooseSpan(late, 10, {})->to, 51);
}

}  // namespace
}  // namespace dq::materialize
