// Plans on a partitioned lake: which files each statement opens, and where its filters stand (design.md §4 rule 6,
// lake.md acceptance 14).
#include "core/text.h"
#include "query/lake_testing.h"
#include "query/profile.h"
#include "query/sql_events.h"
#include "query/sql_latest.h"
#include "query/sql_signals.h"

namespace dq::query {
namespace {

constexpr int kDays = 6;

class Plans : public LakeTest {
  protected:
    // Six days of three subjects in three buckets, a day's rows in one file a bucket.
    void SetUp() override {
        LakeTest::SetUp();
        if (lake_ == nullptr) return;
        for (int day = 0; day < kDays; ++day) {
            std::vector<SignalRow> rows;
            std::vector<EventRow> events;
            for (const char* suffix : {":1", ":2", ":42"}) {
                for (const char* name : {"speed", "odo"}) {
                    rows.push_back(numberRow(name, kDay + day * kMicrosPerDay + 5, day));
                    rows.back().subject = kSubject.substr(0, kSubject.rfind(':')) + suffix;
                }
                events.push_back({"a.x", kDay + day * kMicrosPerDay + 5});
                events.back().subject = rows.back().subject;
            }
            lake_->add(rows);
            lake_->add(events);
        }
        lake_->recompute();
    }
    std::string explain(const engine::Sql& sql, const std::string& head) {
        auto lease = lake_->lake().acquire();
        auto result = (*lease)->query(engine::Sql{head + sql.text, sql.binds});
        EXPECT_TRUE(result.ok()) << result.status() << sql.text;
        if (!result.ok()) return "";
        std::string out;
        while (auto chunk = *result->next()) {
            for (idx_t row = 0; row < chunk->size(); ++row) out += chunk->strings(1)[row];
        }
        return out;
    }
    std::uint64_t files(const engine::Sql& sql) {
        return filesReadOf(explain(sql, "EXPLAIN (ANALYZE, FORMAT json) ")).value_or(0);
    }
    static SignalsQuestion twoDays() {
        SignalsQuestion q;
        q.subject = kSubject;
        q.from = kDay + kMicrosPerDay;
        q.to = kDay + 3 * kMicrosPerDay;
        q.interval = kMicrosPerDay;
        q.floats = {{"speed", FloatAggregation::kAvg, {}}};
        return q;
    }
};

TEST_P(Plans, SignalsOpenTheBucketsDaysOnly) {
    EXPECT_EQ(files(signalsSql(twoDays()).sql), 2u);
    SignalsQuestion q = twoDays();
    q.source = "s1";
    q.strings = {{"odo", StringAggregation::kTop}};
    q.locations = {{kCoordinatesName, LocationAggregation::kLast, LocationFilter{Circle{{1, 1}, 5}, {}}}};
    EXPECT_EQ(files(signalsSql(q).sql), 2u);
    q.from = kDay;
    q.to = kDay + kDays * kMicrosPerDay;
    EXPECT_EQ(files(signalsSql(q).sql), 6u);
}

TEST_P(Plans, LatestOpensOneBucket) {
    EXPECT_LE(files(latestRollupSql(kSubject, true)), 2u);
    EXPECT_EQ(files(latestRollupSql(kSubject, false)), 1u);
    EXPECT_EQ(files(latestScanSql(kSubject, std::nullopt, kDay + 4 * kMicrosPerDay)),
              2u);  // the tail since a watermark
    EXPECT_EQ(files(latestScanSql(kSubject, "s1", std::nullopt)), 6u);
}

TEST_P(Plans, EventsOpenTheBucketsDaysOnly) {
    EventsQuestion q;
    q.subject = kSubject;
    q.from = kDay + kMicrosPerDay;
    q.to = kDay + 2 * kMicrosPerDay;
    EXPECT_EQ(files(eventsSql(q)), 1u);
    EXPECT_EQ(files(eventSummariesRollupSql(kSubject)), 1u);
    EXPECT_EQ(files(eventSummariesScanSql(kSubject)), 6u);
}

TEST_P(Plans, LakeAcceptance14_FiltersReachTheScan) {
    SignalsQuestion q = twoDays();
    q.source = "s1";
    const std::string plan = explain(signalsSql(q).sql, "EXPLAIN (FORMAT json) ");
    const std::size_t scan = plan.find("\"Filters\"");
    ASSERT_NE(scan, std::string::npos) << plan;
    EXPECT_EQ(plan.find("subject_bucket"), plan.find("subject_bucket=219")) << plan;  // no filter above the scan
    for (const char* filter : {"subject_bucket=219", "source='s1'", "name='speed'", "timestamp>="}) {
        EXPECT_GT(plan.find(filter), scan) << filter << plan;
        EXPECT_NE(plan.find(filter), std::string::npos) << filter << plan;
    }
    q.floats.push_back({"odo", FloatAggregation::kAvg, {}});
    const std::string two = explain(signalsSql(q).sql, "EXPLAIN (FORMAT json) ");
    EXPECT_NE(two.find("name IN ('odo', 'speed')"), std::string::npos) << two;
}

// What the rule is for: the same bucket outside of the collapse opens every bucket's files.
TEST_P(Plans, LakeAcceptance14_ControlOutsideTheWindow) {
    const std::string window =
        "SELECT * FROM lake.signals QUALIFY row_number() OVER (PARTITION BY subject, name, \"timestamp\" ORDER BY "
        "cloud_event_id) = 1";
    EXPECT_EQ(files({strCat("SELECT count(value_number) FROM (", window, ") WHERE subject_bucket = 219"), {}}), 18u);
}

INSTANTIATE_TEST_SUITE_P(Lakes, Plans, testing::ValuesIn(plainModes()), ModeName());

}  // namespace
}  // namespace dq::query
