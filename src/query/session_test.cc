// Sessions: one snapshot, interruption, metrics, the slow-read line, profiles.
#include <unistd.h>

#include <filesystem>

#include "core/log.h"
#include "core/text.h"
#include "query/lake_testing.h"

namespace dq::query {
namespace {

class Sessions : public LakeTest {
  protected:
    static SignalsQuestion speeds() {
        SignalsQuestion q;
        q.subject = kSubject;
        q.from = kDay;
        q.to = kDay + kMicrosPerDay;
        q.interval = kMicrosPerDay;
        q.floats = {{"speed", FloatAggregation::kMax, {}}};
        return q;
    }
    bool shows(const std::string& series) {
        const std::string text = lake_->metrics().render();
        return text.find(series) != std::string::npos;
    }
};

TEST_P(Sessions, OneSnapshotForAllReads) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    lake_->recompute();
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    ASSERT_TRUE(session.ok());
    EXPECT_EQ((*session->signals(speeds()))[0].values[0].number, 1);
    lake_->add({numberRow("speed", at(0, 1), 2)});
    lake_->add({EventRow{"a.x", at(1, 0)}});
    lake_->recompute();
    EXPECT_EQ((*session->signals(speeds()))[0].values[0].number, 1);
    EXPECT_EQ((*session->latest(kSubject, std::nullopt, "allLatest"))->at(0).count, 1u);
    EXPECT_TRUE(session->eventSummaries(kSubject)->empty());
    EXPECT_EQ(signals(speeds())[0].values[0].number, 2);  // another session sees it
}

TEST_P(Sessions, LatestIsReadOnceASession) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    lake_->recompute();
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    const auto first = session->latest(kSubject, std::nullopt, "allLatest");
    const auto second = session->latest(kSubject, std::nullopt, "signalSummaries");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(first->get(), second->get());
    EXPECT_NE(session->latest(kSubject, "s1", "allLatest")->get(), first->get());
    EXPECT_TRUE(shows("dq_lake_latest_served_total{path=\"rollup\"} 2"));
    EXPECT_TRUE(shows("dq_lake_latest_served_total{path=\"scan\"} 1"));
    EXPECT_TRUE(shows("dq_lake_latest_query_seconds_count{op=\"allLatest\",path=\"rollup\"} 1"));
    EXPECT_TRUE(shows("dq_lake_latest_query_seconds_count{op=\"allLatest\",path=\"scan\"} 1"));
    EXPECT_FALSE(shows("op=\"signalSummaries\",path=\"rollup\""));
}

TEST_P(Sessions, MetricsOfARange) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    signals(speeds());
    SignalsQuestion nothing = speeds();
    nothing.floats.clear();
    signals(nothing);  // ends before the store
    EXPECT_TRUE(shows("dq_lake_read_seconds_count{op=\"signalsRange\"} 1"));
    EXPECT_TRUE(shows("dq_lake_rows_returned_sum{op=\"signalsRange\"} 1"));
    EXPECT_TRUE(shows("dq_lake_read_seconds_bucket{op=\"signalsRange\",le=\"32.768"));
}

TEST_P(Sessions, Acceptance27_DeadlineInterruptsTheStore) {
    lake_->run(strCat("INSERT INTO lake.signals SELECT ", engine::quoteLiteral(kSubject), ", ", 219, ", 'speed', ",
                      engine::timestampLiteral(kDay),
                      " + to_microseconds(i), 's1', 'p', 'e' || i, i, '', 0, 0, 0, 0 FROM range(400000) t(i)"));
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root().withTimeout(20'000));
    if (session.ok()) {  // else the time was up before the transaction began
        SignalsQuestion q = speeds();
        for (int i = 0; i < 200; ++i) {
            FloatFilter filter;
            filter.gt = i;
            q.floats.push_back({"speed", FloatAggregation::kMed, filter});
        }
        const auto rows = session->signals(q);
        ASSERT_FALSE(rows.ok());
        EXPECT_EQ(rows.status().code(), absl::StatusCode::kDeadlineExceeded) << rows.status();
        EXPECT_EQ(session->events({kSubject, 0, 1, {}, {}, {}}).status().code(), absl::StatusCode::kDeadlineExceeded);
    } else {
        EXPECT_EQ(session.status().code(), absl::StatusCode::kDeadlineExceeded);
    }
    EXPECT_EQ(signals(speeds())[0].values[0].number, 399'999);  // the pool is whole
    Cancel cancelled = Cancel::root().child();
    cancelled.cancel();
    EXPECT_EQ(reader.begin(cancelled).status().code(), absl::StatusCode::kCancelled);
}

TEST_P(Sessions, ConnectionsComeBack) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    Reader reader = makeReader();
    for (int i = 0; i < 20; ++i) {  // more than the pool holds
        auto session = reader.begin(Cancel::root());
        ASSERT_TRUE(session.ok());
        Session moved = std::move(*session);
        ASSERT_TRUE(moved.signals(speeds()).ok());
    }
}

TEST_P(Sessions, AFailedReadEndsTheSession) {
    spoil();
    lake_->run("DROP TABLE lake.signals");
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    ASSERT_TRUE(session.ok());
    EXPECT_FALSE(session->signals(speeds()).ok());
    EXPECT_FALSE(reader.probe(Cancel::root()).ok());
    EXPECT_TRUE(session->latest(kSubject, std::nullopt, "allLatest").ok());  // a missing table harms no other read
}

TEST_P(Sessions, RowsThatMaintenanceTookAwayAreReadFromANewSnapshot) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    spoil();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(lake_->folder() + "/data")) {
        if (entry.path().extension() == ".parquet") std::filesystem::remove(entry.path());
    }
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    const auto rows = session->signals(speeds());
    EXPECT_FALSE(rows.ok());  // gone for good: repeated once, then the error
    EXPECT_TRUE(shows("dq_lake_rows_returned_count{op=\"signalsRange\"} 2"));
    EXPECT_EQ(rows.status().message().find(kSubject), std::string::npos);
    EXPECT_EQ(session->signals(speeds()).status(), rows.status());
}

TEST_P(Sessions, LakeAcceptance06_SlowReadsAreLoggedWithoutTheirSubject) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    lake_->recompute();
    LogCapture capture;
    ReaderOptions options;
    options.slow_read_micros = 0;
    Reader reader = makeReader(options);
    auto session = reader.begin(Cancel::root());
    ASSERT_TRUE(session->signals(speeds()).ok());
    ASSERT_TRUE(session->latest(kSubject, "s1", "allLatest").ok());
    ASSERT_TRUE(session->latest(kSubject, std::nullopt, "signalsLatest").ok());
    ASSERT_TRUE(session->eventSummaries(kSubject).ok());
    const std::string text = capture.text();
    EXPECT_NE(text.find("slow lake read"), std::string::npos);
    EXPECT_NE(text.find("signalsRange"), std::string::npos);
    EXPECT_NE(text.find("signalsLatest"), std::string::npos);
    EXPECT_NE(text.find("rows_returned"), std::string::npos);
    EXPECT_EQ(text.find("did:"), std::string::npos);
    EXPECT_EQ(text.find("0xbA57"), std::string::npos);
    EXPECT_EQ(text.find("219"), std::string::npos);  // nor its bucket
}

TEST_P(Sessions, NegativeThresholdSwitchesTheLineOff) {
    lake_->add({numberRow("speed", at(0, 0), 1)});
    LogCapture capture;
    ReaderOptions options;
    options.slow_read_micros = -1;
    Reader reader = makeReader(options);
    auto session = reader.begin(Cancel::root());
    ASSERT_TRUE(session->signals(speeds()).ok());
    EXPECT_EQ(capture.text(), "");
}

TEST_P(Sessions, LakeAcceptance04_ProfilesCountFilesAndLeaveNothing) {
    lake_->add({numberRow("speed", at(0, 0), 1), numberRow("speed", at(30, 0), 2)});  // two days, two files
    ReaderOptions options;
    options.profile_reads = true;
    Reader reader = makeReader(options);
    SignalsQuestion q = speeds();
    q.to += kMicrosPerDay;
    testing::internal::CaptureStdout();
    {
        auto session = reader.begin(Cancel::root());
        ASSERT_TRUE(session->signals(q).ok());
        ASSERT_TRUE(session->latest(kSubject, std::nullopt, "allLatest").ok());
    }
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    EXPECT_TRUE(shows("dq_lake_files_read_sum{op=\"signalsRange\"} 2"));
    EXPECT_FALSE(shows("dq_lake_files_read_count{op=\"allLatest\"}"));  // an empty table has no file
    EXPECT_TRUE(shows("dq_lake_profile_disabled_total 0"));
    auto lease = lake_->lake().acquire();
    auto result = (*lease)->query(
        "SELECT current_setting('enable_profiling') IS NULL AND current_setting('profiling_output') = ''");
    EXPECT_TRUE((*result->next())->column<bool>(0)[0]);
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::temp_directory_path())) {
        EXPECT_EQ(entry.path().filename().string().find(strCat("dq-profile-", ::getpid(), "-")), std::string::npos);
    }
}

TEST_P(Sessions, ReadinessProbe) {
    Reader reader = makeReader();
    EXPECT_TRUE(reader.probe(Cancel::root()).ok());
}

INSTANTIATE_TEST_SUITE_P(Lakes, Sessions, testing::ValuesIn(plainModes()), ModeName());

}  // namespace
}  // namespace dq::query
