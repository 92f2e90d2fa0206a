#include "lake/window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/hash.h"
#include "core/text.h"
#include "lake/tables.h"
#include "lake/temp_lake_testing.h"

namespace dq::lake {
namespace {

using testing::ElementsAre;

constexpr Micros kNoon = 1'792'497'600LL * kMicrosPerSecond;  // 2026-10-20T12:00:00Z

struct Signal {
    std::string_view subject = "s1";
    std::int32_t subject_bucket = subjectBucket("s1");
    std::string_view name = "speed";
    Micros timestamp = kNoon;
    std::string_view source = "x", producer = "p", cloud_event_id = "e1";
    double value_number = 1;
    std::string_view value_string;
    double loc_lat = 0, loc_lon = 0, loc_hdop = 0, loc_heading = 0;
};
struct Event {
    std::string_view subject = "s1";
    std::int32_t subject_bucket = subjectBucket("s1");
    std::string_view source = "x", producer = "p", cloud_event_id = "e1", data_version = "v",
                     name = "behavior.harshBraking";
    Micros timestamp = kNoon;
    std::uint64_t duration_ns = 18'446'744'073'709'551'615u;
    std::string_view metadata = "{}";
};

class WindowTest : public testing::TestWithParam<CatalogKind> {
  protected:
    void SetUp() override {
        if (TempLake::unavailable(GetParam())) GTEST_SKIP() << "no PostgreSQL: DQ_TEST_POSTGRES_DSN is not set";
        lake_.emplace(GetParam());
        ASSERT_TRUE(ensureDecodedTables(lake_->writer(), Cancel::root()).ok());
        connection_.emplace(*lake_->writer().acquire());
    }
    void TearDown() override { connection_.reset(); }

    WindowOutcome write(const std::vector<Signal>& signals, WindowPlan plan, const std::vector<Event>& events = {}) {
        auto block = std::make_shared<RowBlock>();
        for (const Signal& row : signals) block->addSignal(row);
        for (const Event& row : events) block->addEvent(row, std::vector<std::string_view>{"a", "b"});
        block->seal();
        Stage stage;
        stage.add(block, {}, {static_cast<std::uint32_t>(signals.size()), static_cast<std::uint32_t>(events.size())});
        stage.sort();
        return writeWindow(**connection_, stage, plan, Cancel::root());
    }
    static WindowPlan plan(std::string from, std::string to, std::optional<CursorMove> move = std::nullopt) {
        WindowPlan out;
        out.lease_from = std::move(from);
        out.lease_to = std::move(to);
        out.move = move;
        return out;
    }
    std::string progress(std::string_view key) {
        return lake_->value(strCat(R"(SELECT "cursor" FROM lake.ingest_progress WHERE "partition" = ')", key, "'"));
    }
    std::optional<TempLake> lake_;
    std::optional<engine::Pool::Lease> connection_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, WindowTest, testing::Values(CatalogKind::kFile, CatalogKind::kPostgres),
                         catalogName);

TEST_P(WindowTest, LastWindowMovesLeaseCursorAndThrough) {
    const auto outcome = write({Signal{}}, plan("-/0", "me/1", CursorMove{0, 12}), {Event{}});
    ASSERT_EQ(outcome.result, WindowResult::kCommitted) << outcome.status;
    EXPECT_EQ(progress(kLeaseKey), "me/1");
    EXPECT_EQ(progress(kCursorKey), "12");
    EXPECT_EQ(progress(kThroughKey), "12");
    EXPECT_EQ(lake_->value("SELECT duration_ns, tags, type FROM lake.events"),
              "18446744073709551615|[a, b]|dimo.event");
}

TEST_P(WindowTest, FencedAndCursorMovedWriteNothing) {
    EXPECT_EQ(write({Signal{}}, plan("other/3", "other/4")).result, WindowResult::kFenced);
    EXPECT_EQ(write({Signal{}}, plan("-/0", "me/1", CursorMove{5, 9})).result, WindowResult::kCursorMoved);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM lake.signals"), 0);
    EXPECT_EQ(progress(kLeaseKey), "-/0");
    EXPECT_EQ(progress(kCursorKey), "0");
}

TEST_P(WindowTest, AntiJoinComparesSubjectAndSourceToo) {
    ASSERT_EQ(write({Signal{}}, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    Signal other_source;
    other_source.source = "y";
    Signal other_subject;
    other_subject.subject = "s2";
    other_subject.subject_bucket = subjectBucket("s2");
    Signal again;
    again.value_number = 9;
    ASSERT_EQ(write({again, other_source, other_subject}, plan("me/1", "me/2")).result, WindowResult::kCommitted);
    EXPECT_THAT(lake_->rows("SELECT subject, source, value_number FROM lake.signals ORDER BY ALL"),
                ElementsAre("s1|x|1.0", "s1|y|1.0", "s2|x|1.0"));
}

TEST_P(WindowTest, Acceptance46_OneRowPerIdentityHoweverOld) {
    Signal old;
    old.timestamp = kNoon - 40 * kMicrosPerDay;
    Signal seven = old, five = old;
    seven.value_number = 7;
    five.value_number = 5;
    ASSERT_EQ(write({seven, five}, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    EXPECT_THAT(lake_->rows("SELECT value_number FROM lake.signals"), ElementsAre("5.0"));
    ASSERT_EQ(write({seven}, plan("me/1", "me/2")).result, WindowResult::kCommitted);
    EXPECT_THAT(lake_->rows("SELECT value_number FROM lake.signals"), ElementsAre("5.0"));
}

TEST_P(WindowTest, ManyDaysAndYearOneLandOnce) {
    std::vector<Signal> rows;
    for (int day = 0; day < 20; ++day) {
        Signal row;
        row.timestamp = kNoon - day * kMicrosPerDay;
        rows.push_back(row);
    }
    Signal year_one;
    year_one.timestamp = kZeroTime;
    rows.push_back(year_one);
    ASSERT_EQ(write(rows, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    ASSERT_EQ(write(rows, plan("me/1", "me/2")).result, WindowResult::kCommitted);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM lake.signals"), 21);
}

// What the table option sort_on_insert = false rests on.
TEST_P(WindowTest, FilesHoldTheirRowsBySubjectAndTime) {
    std::vector<std::string> subjects;
    for (int i = 0; i < 40; ++i) subjects.push_back(strCat("vehicle ", (i * 7) % 40));
    std::vector<Signal> rows;
    for (int i = 0; i < 12'000; ++i) {
        Signal row;
        row.subject = subjects[static_cast<std::size_t>(i) % subjects.size()];
        row.subject_bucket = i % 2 == 0 ? 3 : 4;
        row.timestamp = kNoon - (i * 37 % 3'000) * kMicrosPerSecond;
        row.value_number = i;
        rows.push_back(row);
    }
    ASSERT_EQ(write(rows, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    EXPECT_EQ(lake_->number("SELECT count(DISTINCT (subject, subject_bucket, \"timestamp\")) FROM lake.signals"),
              lake_->number("SELECT count(*) FROM lake.signals"));
    EXPECT_EQ(lake_->number(strCat(
                  "SELECT count(*) FROM (SELECT (subject, \"timestamp\") AS place, lag((subject, \"timestamp\")) "
                  "OVER (PARTITION "
                  "BY filename ORDER BY file_row_number) AS before FROM read_parquet('",
                  lake_->config().data_path,
                  "/main/signals/**/*.parquet', filename = true, file_row_number = true)) WHERE place < before")),
              0);
}

// Some rows of a window are at rest, in the middle of it.
TEST_P(WindowTest, RowsAtRestAreLeftOutOneByOne) {
    std::vector<Signal> all, third;
    for (int i = 0; i < 9'000; ++i) {
        Signal row;
        row.timestamp = kNoon + i * kMicrosPerSecond;
        row.value_number = i;
        all.push_back(row);
        if (i % 3 == 0) third.push_back(row);
    }
    ASSERT_EQ(write(third, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    ASSERT_EQ(write(all, plan("me/1", "me/2")).result, WindowResult::kCommitted);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM lake.signals"), 9'000);
    EXPECT_EQ(lake_->number("SELECT count(DISTINCT \"timestamp\") FROM lake.signals"), 9'000);
    ASSERT_EQ(write(all, plan("me/2", "me/3")).result, WindowResult::kCommitted);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM lake.signals"), 9'000);
}

TEST_P(WindowTest, OverlappingWritersExcludeEachOther) {
    auto other = lake_->writer().acquire();
    ASSERT_TRUE(other.ok());
    // The other transaction has seen the lake before our window commits, and updates the lease after it.
    auto transaction = engine::Transaction::begin(**other);
    ASSERT_TRUE(transaction.ok());
    ASSERT_TRUE((*other)->execute(touchLeaseSql()).ok());
    ASSERT_EQ(write({Signal{}}, plan("-/0", "me/1")).result, WindowResult::kCommitted);
    const auto late = transaction->commit();
    EXPECT_EQ(engine::errorClass(late), engine::ErrorClass::kConflict) << late;
    EXPECT_EQ(progress(kLeaseKey), "me/1");
}

TEST_P(WindowTest, MarksAreDurableWithTheRows) {
    WindowPlan marked = plan("-/0", "me/1");
    marked.signal_marks = {{"s1", 3}};
    marked.event_marks = {{"s2", 4}};
    ASSERT_EQ(write({Signal{}}, marked).result, WindowResult::kCommitted);
    EXPECT_THAT(lake_->rows("FROM lake.signals_dirty_subjects"), ElementsAre("s1|3"));
    EXPECT_THAT(lake_->rows("FROM lake.events_dirty_subjects"), ElementsAre("s2|4"));
    WindowPlan fenced = plan("nobody/1", "nobody/2");
    fenced.signal_marks = {{"s9", 3}};
    EXPECT_EQ(write({Signal{}}, fenced).result, WindowResult::kFenced);
    EXPECT_THAT(lake_->rows("FROM lake.signals_dirty_subjects"), ElementsAre("s1|3"));
}

}  // namespace
}  // namespace dq::lake
