// Acceptance cases of queries.md §6–§8 and rollups.md §11 about the latest state.
#include "core/hash.h"
#include "core/log.h"
#include "core/text.h"
#include "query/lake_testing.h"

namespace dq::query {
namespace {

constexpr Micros kD1 = kDay, kW = kDay + kMicrosPerDay;
const std::string kWatermark = "2026-06-02T00:00:00Z";
constexpr const char* kWatermarkKey = "lake.signals_latest#daily_watermark";
constexpr const char* kMaintainerKey = "lake.signals_latest#maintainer";

class Latest : public LakeTest {
  protected:
    static ReaderOptions daily() {
        ReaderOptions options;
        options.daily_serving = true;
        return options;
    }
    void record(const std::string& maintainer) {
        lake_->setProgress(kMaintainerKey, maintainer);
        lake_->setProgress("lake.rollups#through", "12");
        lake_->setProgress("lake.raw_events#snapshot", "12");
    }
    // Rows of two days around the watermark, the rollup as the daily refresh to W leaves it.
    void addTwoDays() {
        lake_->add({numberRow("speed", kD1 + 1, 1), numberRow("speed", kD1 + 2, 2), numberRow("speed", kD1 + 2, 2, "b"),
                    numberRow("odo", kD1 + 3, 7), fixRow(kD1 + 4, 1, 2), numberRow("speed", kW, 9),
                    numberRow("speed", kW, 8, "b"), numberRow("range", kW + 5, 3), fixRow(kW + 6, 0, 0)});
        lake_->recompute(kW);
    }
    // What a full recompute would serve.
    std::vector<LatestSignal> complete() {
        lake_->recompute();
        record("fold");
        return latest();
    }
};

void expectSame(const std::vector<LatestSignal>& a, const std::vector<LatestSignal>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        SCOPED_TRACE(a[i].name);
        EXPECT_EQ(a[i].name, b[i].name);
        EXPECT_EQ(a[i].timestamp, b[i].timestamp);
        EXPECT_EQ(a[i].value_number, b[i].value_number);
        EXPECT_EQ(a[i].value_string, b[i].value_string);
        EXPECT_EQ(a[i].location.latitude, b[i].location.latitude);
        EXPECT_EQ(a[i].location.longitude, b[i].location.longitude);
        EXPECT_EQ(a[i].location.hdop, b[i].location.hdop);
        EXPECT_EQ(a[i].location.heading, b[i].location.heading);
        EXPECT_EQ(a[i].location_time, b[i].location_time);
        EXPECT_EQ(a[i].count, b[i].count);
        EXPECT_EQ(a[i].first_seen, b[i].first_seen);
        EXPECT_EQ(a[i].last_seen, b[i].last_seen);
    }
}

TEST_P(Latest, Acceptance01_SummariesCountOnce) {
    lake_->add({numberRow("speed", at(0, 0), 60, "a"), numberRow("speed", at(0, 0), 60, "b"),
                numberRow("speed", at(0, 1), 80)});
    lake_->recompute();
    for (const auto& rows : {latest(), latest("s1")}) {
        ASSERT_EQ(rows.size(), 1u);
        EXPECT_EQ(rows[0].count, 2u);
        EXPECT_EQ(rows[0].value_number, 80);
        EXPECT_EQ(rows[0].first_seen, at(0, 0));
        EXPECT_EQ(rows[0].last_seen, at(0, 1));
    }
}

TEST_P(Latest, Acceptance02_SourceDecidesBeforeTheCollapse) {
    lake_->add({numberRow("speed", at(0, 0), 999, "a", "X"), numberRow("speed", at(0, 0), 42, "b", "Y")});
    lake_->recompute();
    const auto all = latest(), of_y = latest("Y");
    ASSERT_EQ(of_y.size(), 1u);
    EXPECT_EQ(of_y[0].value_number, 42);
    EXPECT_EQ(of_y[0].count, 1u);
    EXPECT_EQ(rowOf(all, "speed").value_number, 999);
    EXPECT_EQ(all[0].count, 1u);
    EXPECT_TRUE(latest("nobody").empty());
}

TEST_P(Latest, Acceptance06_UnknownSubjectHasNoRows) {
    EXPECT_TRUE(latest(std::nullopt, {}, "did:unknown").empty());
    EXPECT_TRUE(latest("s1", {}, "did:unknown").empty());
    EXPECT_TRUE(latest(std::nullopt, daily(), "").empty());
}

TEST_P(Latest, Acceptance12_13_FixBeatsNullIslandAndKeepsItsTime) {
    lake_->add({fixRow(at(0, 0), 0, 0, 9, 9, "a", "X"), fixRow(at(0, 0), 40, -70, 1, 2, "b", "Y"),
                fixRow(at(0, 5), 0, 0, 0, 0, "c", "Y")});
    lake_->recompute();
    for (const auto& rows : {latest(), latest("Y")}) {
        const LatestSignal row = rowOf(rows, kCoordinatesName);
        EXPECT_EQ(row.location.latitude, 40);
        EXPECT_EQ(row.location.longitude, -70);
        EXPECT_EQ(row.location_time, at(0, 0));
        EXPECT_EQ(row.timestamp, at(0, 5));
        EXPECT_EQ(row.last_seen, at(0, 5));
        EXPECT_EQ(row.count, 2u);
    }
    const LatestSignal of_x = rowOf(latest("X"), kCoordinatesName);  // the (0,0) source: no fix
    EXPECT_EQ(of_x.location.latitude, 0);
    EXPECT_EQ(of_x.location_time, 0);
}

TEST_P(Latest, Acceptance14_NeverAFix) {
    lake_->add({fixRow(at(0, 0), 0, 0)});
    lake_->recompute();
    for (const auto& rows : {latest(), latest("s1")}) {
        const LatestSignal row = rowOf(rows, kCoordinatesName);
        EXPECT_EQ(row.location_time, 0);
        EXPECT_EQ(row.location.latitude, 0);
        EXPECT_EQ(row.timestamp, at(0, 0));
    }
}

TEST_P(Latest, Acceptance26b_NullsInTheScan) {
    SignalRow fix = fixRow(at(0, 0), 3, 4);
    fix.hdop = std::nullopt;
    lake_->add({numberRow("speed", at(0, 0, 1), 5), numberRow("speed", at(0, 0, 2), std::nullopt),
                textRow("t", at(0, 0), std::nullopt), fixRow(at(0, 0) - 1, 1, 1, 7), fix});
    const auto rows = latest("s1");
    EXPECT_EQ(rowOf(rows, "speed").value_number, 5);
    EXPECT_EQ(rowOf(rows, "speed").timestamp, at(0, 0, 2));
    EXPECT_EQ(rowOf(rows, "t").value_string, "");
    EXPECT_EQ(rowOf(rows, kCoordinatesName).location.latitude, 3);
    EXPECT_EQ(rowOf(rows, kCoordinatesName).location.hdop, 0);  // of the same row as the latitude
}

TEST_P(Latest, RollupRowsWithNullsAndDoubledKeys) {
    const std::string head = strCat("INSERT INTO lake.signals_latest VALUES (", engine::quoteLiteral(kSubject), ", ",
                                    subjectBucket(kSubject));
    const auto time = [](int second) { return engine::timestampLiteral(at(0, 0, second)); };
    lake_->run(strCat(head, ", 'b', ", time(1), ", NULL, NULL, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL)"));
    lake_->run(strCat(head, ", 'a', ", time(3), ", 3, '', 0, 0, 0, 0, NULL, 5, ", time(1), ", ", time(3), ")"));
    lake_->run(strCat(head, ", 'a', ", time(3), ", 4, '', 0, 0, 0, 0, NULL, 7, ", time(1), ", ", time(3), ")"));
    lake_->run(strCat(head, ", 'a', ", time(2), ", 5, '', 0, 0, 0, 0, NULL, 99, ", time(1), ", ", time(2), ")"));
    const auto rows = latest();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].name, "a");
    EXPECT_EQ(rows[0].value_number, 4);  // newest, then the greatest count
    EXPECT_EQ(rows[0].count, 7u);
    EXPECT_EQ(rows[0].location_time, 0);
    EXPECT_EQ(rows[1].value_string, "");
    EXPECT_EQ(rows[1].count, 0u);
}

TEST_P(Latest, RowsOfOtherSubjectsOfTheBucketStayOut) {
    SignalRow other = numberRow("speed", at(0, 0), 1);
    other.subject = "other";
    lake_->add({other, numberRow("odo", at(0, 0), 2)});
    lake_->run(strCat("UPDATE lake.signals SET subject_bucket = ", subjectBucket(kSubject)));
    lake_->recompute();
    EXPECT_EQ(latest().size(), 1u);
    EXPECT_EQ(latest("s1").size(), 1u);
}

TEST_P(Latest, ScanEqualsRollup) {
    addTwoDays();
    const auto stored = complete();
    expectSame(latest("s1"), stored);
}

TEST_P(Latest, Acceptance21_RollupAcceptance55_UnionIsExact) {
    addTwoDays();
    lake_->setProgress(kWatermarkKey, kWatermark);
    const auto plain = latest();  // the setting is off: as of W
    EXPECT_EQ(plain.size(), 3u);
    EXPECT_EQ(rowOf(plain, "speed").count, 2u);
    const auto merged = latest(std::nullopt, daily());
    const LatestSignal speed = rowOf(merged, "speed");
    EXPECT_EQ(speed.count, 3u);
    EXPECT_EQ(speed.value_number, 9);  // lowest id of the instant W
    EXPECT_EQ(speed.first_seen, kD1 + 1);
    EXPECT_EQ(rowOf(merged, "odo").count, 1u);
    EXPECT_EQ(rowOf(merged, "range").first_seen, kW + 5);
    EXPECT_EQ(rowOf(merged, kCoordinatesName).location.latitude, 1);
    EXPECT_EQ(rowOf(merged, kCoordinatesName).timestamp, kW + 6);
    expectSame(merged, complete());
}

TEST_P(Latest, RollupAcceptance56_WatermarkAbsentAndBad) {
    addTwoDays();
    EXPECT_EQ(latest(std::nullopt, daily()).size(), 3u);
    EXPECT_EQ(latest("s1", daily()).size(), 4u);  // a source never takes the union
    lake_->setProgress(kWatermarkKey, "yesterday");
    Reader reader = makeReader(daily());
    auto session = reader.begin(Cancel::root());
    ASSERT_TRUE(session.ok());
    EXPECT_FALSE(session->latest(kSubject, std::nullopt, "allLatest").ok());
    EXPECT_EQ(latest().size(), 3u);
}

TEST_P(Latest, RollupAcceptance66_TheRecordBeatsTheSetting) {
    addTwoDays();
    record("daily " + kWatermark);
    LogCapture capture;
    Reader reader = makeReader();
    for (int i = 0; i < 3; ++i) {
        auto session = reader.begin(Cancel::root());
        const auto rows = session->latest(kSubject, std::nullopt, "allLatest");
        ASSERT_TRUE(rows.ok()) << rows.status();
        EXPECT_EQ(rowOf(**rows, "speed").count, 3u);
    }
    const std::string text = capture.text();
    EXPECT_EQ(text.find("LAKE_ROLLUP_DAILY_SERVING"), text.rfind("LAKE_ROLLUP_DAILY_SERVING"));
    EXPECT_NE(text.find("LAKE_ROLLUP_DAILY_SERVING"), std::string::npos);
    // `fold`: the stored rows are complete, whatever the setting and a left-over watermark say.
    lake_->recompute();
    record("fold");
    lake_->setProgress(kWatermarkKey, kWatermark);
    EXPECT_EQ(rowOf(latest(std::nullopt, daily()), "speed").count, 3u);
}

TEST_P(Latest, RollupAcceptance65_RecordOutlivesTheWatermarkRow) {
    addTwoDays();
    record("daily " + kWatermark);
    lake_->setProgress(kWatermarkKey, std::nullopt);
    EXPECT_EQ(rowOf(latest(std::nullopt, daily()), "speed").count, 3u);
    lake_->setProgress(kWatermarkKey, "yesterday");
    EXPECT_EQ(rowOf(latest(std::nullopt, daily()), "speed").count, 3u);
}

TEST_P(Latest, RollupAcceptance64_AnotherWriterMovedTheCursor) {
    lake_->add({numberRow("speed", kD1, 1), numberRow("speed", kW, 2)});
    lake_->recompute();
    record("daily " + kWatermark);
    lake_->setProgress("lake.raw_events#snapshot", "13");
    EXPECT_EQ(rowOf(latest(), "speed").count, 2u);  // the record does not count; the setting is off
}

TEST_P(Latest, NoProgressTable) {
    lake_->add({numberRow("speed", kD1, 1)});
    lake_->recompute();
    spoil();
    lake_->run("DROP TABLE lake.ingest_progress");
    EXPECT_EQ(latest(std::nullopt, daily()).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(Lakes, Latest, testing::ValuesIn(modes()), ModeName());

}  // namespace
}  // namespace dq::query
