#include "materialize/backfill.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "engine/fault.h"
#include "lake/progress.h"
#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

constexpr Micros kHour = 3600 * kMicrosPerSecond;

class BackfillTest : public MaterializeTest {
  protected:
    static std::vector<cloudevent::Row> readings(int vehicle, int count, Micros start) {
        std::vector<cloudevent::Row> rows;
        for (int i = 0; i < count; ++i)
            rows.push_back(lake::statusRow(vehicle, strCat("e", i), start + i * kMicrosPerSecond, "speed", i));
        return rows;
    }
    absl::StatusOr<BackfillResult> run(Micros from, Micros to, BackfillOptions options = {},
                                       const std::string& subject = "", const Cancel& cancel = Cancel::root()) {
        options.limits.window_rows = 4;
        Metrics metrics;
        decode_.clock = &clock_;
        return backfill(lake_->writer(), decode_, {from, to, subject}, options, metrics, cancel, clock_);
    }
    std::string note() {
        return lake_->value(R"(SELECT coalesce(max("cursor"), '') FROM lake.ingest_progress)"
                            R"( WHERE "partition" = 'lake.raw_events#backfill')");
    }
};
INSTANTIATE_TEST_SUITE_P(Catalogs, BackfillTest,
                         testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres), lake::catalogName);

TEST_P(BackfillTest, Acceptance24_RowsNeverDecodedLandOnce) {
    append(readings(1, 3, kStart));
    auto result = run(kStart, kStart + kHour);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->raw_rows, 3);
    EXPECT_TRUE(result->rollups_done);
    EXPECT_EQ(cursor(), "0");
    EXPECT_EQ(count("signals"), 3);
    EXPECT_EQ(rollupDifference(), "");
    result = run(kStart, kStart + kHour);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->raw_rows, 3);
    EXPECT_EQ(count("signals"), 3);
    EXPECT_EQ(lake_->number("SELECT \"count\" FROM lake.signals_latest"), 3);
}

TEST_P(BackfillTest, Acceptance24_RangesAndEmptiness) {
    EXPECT_EQ(run(kStart, kStart).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(run(kStart + 1, kStart).status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(run(kStart, kStart + kHour)->raw_rows, 0);  // no raw_events yet
    append(readings(1, 3, kStart));
    EXPECT_EQ(run(kStart + kHour, kStart + 2 * kHour)->raw_rows, 0);
    EXPECT_EQ(run(kStart + kMicrosPerSecond, kStart + 2 * kMicrosPerSecond)->raw_rows, 1);  // from ≤ time < to
}

TEST_P(BackfillTest, Acceptance24_ASkippedDayAddsExactlyItsRows) {
    boot();
    append(readings(1, 3, kStart));
    append(readings(1, 2, kStart + kMicrosPerDay));
    drain();
    flush();
    const std::string before = cursor();
    lake_->run(
        strCat("DELETE FROM lake.signals WHERE \"timestamp\" >= ", engine::timestampLiteral(kStart + kMicrosPerDay)));
    materializer_->release();
    const auto result = run(kStart + kMicrosPerDay, kStart + 2 * kMicrosPerDay);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->raw_rows, 2);
    EXPECT_EQ(count("signals"), 5);
    EXPECT_EQ(cursor(), before);
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(BackfillTest, OneSubjectOnly) {
    append(readings(1, 3, kStart));
    append(readings(2, 3, kStart));
    const auto result = run(kStart, kStart + kHour, {}, lake::subjectOf(2));
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_EQ(result->raw_rows, 3);
    EXPECT_EQ(lake_->number(strCat("SELECT count(*) FROM lake.signals WHERE subject = '", lake::subjectOf(1), "'")), 0);
}

TEST_P(BackfillTest, GoesOnWhereAnEarlierRunStopped) {
    std::vector<cloudevent::Row> rows;
    for (int day = 0; day < 3; ++day) {
        for (const auto& row : readings(1, 2, kStart + day * kMicrosPerDay)) rows.push_back(row);
    }
    append(rows);
    const Cancel cancel = Cancel::root();
    BackfillOptions options;
    int pages = 0;
    options.progress = [&](const BackfillProgress& progress) {
        EXPECT_EQ(progress.total, 6);
        if (++pages == 2) cancel.cancel();
    };
    const Micros to = kStart + 10 * kMicrosPerDay;
    EXPECT_EQ(run(kStart, to, options, "", cancel).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(count("signals"), 4);
    EXPECT_NE(note(), "");
    EXPECT_EQ(run(kStart, kStart + kHour)->raw_rows, 2);
    // Another range has taken the note's place, so this one begins anew, and is cut short again.
    pages = 0;
    const Cancel again = Cancel::root();
    options.progress = [&](const BackfillProgress&) {
        if (++pages == 2) again.cancel();
    };
    EXPECT_FALSE(run(kStart, to, options, "", again).ok());
    const auto rest = run(kStart, to);
    ASSERT_TRUE(rest.ok()) << rest.status();
    EXPECT_EQ(rest->raw_rows, 2);
    EXPECT_EQ(count("signals"), 6);
    EXPECT_EQ(note(), "");
    BackfillOptions restart;
    restart.restart = true;
    EXPECT_EQ(run(kStart, to, restart)->raw_rows, 6);
    EXPECT_EQ(rollupDifference(), "");
}

// Cancelled at one statement after the other: whole windows are at rest, or nothing of them.
TEST_P(BackfillTest, Acceptance34_AStopLeavesNoPartialTransaction) {
    class CancelAt : public engine::FaultInjector {
      public:
        CancelAt(int nth, const Cancel& cancel) : nth_(nth), cancel_(cancel) {}
        Status before(engine::Call call, std::string_view) override {
            if (call == engine::Call::kStatement && calls_++ == nth_) cancel_.cancel();
            return absl::OkStatus();
        }
        Status after(engine::Call, std::string_view) override { return absl::OkStatus(); }

      private:
        const int nth_;
        const Cancel cancel_;
        std::atomic<int> calls_{0};
    };
    boot();
    append(readings(1, 40, kStart));
    int stopped = 0;
    std::int64_t before = 0;
    for (int nth = 0; nth < 400; nth += 9) {
        const Cancel cancel = Cancel::root();
        CancelAt fault(nth, cancel);
        const engine::FaultScope scope(fault);
        const auto result = run(kStart, kStart + kHour, {}, "", cancel);
        if (result.ok()) break;
        ++stopped;
        EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
        const std::int64_t rows = count("signals");
        EXPECT_EQ(rows % 4, 0) << nth;
        EXPECT_GE(rows, before);
        before = rows;
    }
    EXPECT_GT(stopped, 5);
    ASSERT_TRUE(run(kStart, kStart + kHour).ok());
    EXPECT_EQ(count("signals"), 40);
    EXPECT_EQ(rollupDifference(), "");
}

// The live writer keeps its lease and never sees a fenced window; rows land once whoever writes them first.
TEST_P(BackfillTest, Acceptance49_BesideALiveWriter) {
    MaterializerOptions options;
    options.limits.window_rows = 5;
    boot(options);
    for (int i = 0; i < 6; ++i) append(readings(i + 1, 10, kStart + i * kHour));
    pass();  // owner from here on
    std::jthread tool([&] {
        const auto result = run(kStart, kStart + kMicrosPerDay);
        EXPECT_TRUE(result.ok()) << result.status();
    });
    for (int i = 6; i < 10; ++i) {
        append(readings(i + 1, 10, kStart + i * kHour));
        drain();
    }
    tool.join();
    drain();
    flush();
    EXPECT_EQ(count("signals"), 100);
    // A file catalog admits one process: there the tool would find the lease of a dead one.
    if (GetParam() == lake::CatalogKind::kPostgres) {
        EXPECT_EQ(metric(R"(dq_materializer_lost_races_total{reason="fenced"})"), -1);
    }
    EXPECT_EQ(rollupDifference(), "");
}

// Marks are in the transaction of the rows: a tool that dies after it leaves nothing wrong without a mark.
TEST_P(BackfillTest, MarksAreDurableThoughTheToolNeverFlushes) {
    boot();
    append(readings(1, 3, kStart));
    pass();  // a live owner: the tool leaves the rollups to it
    if (GetParam() == lake::CatalogKind::kFile) GTEST_SKIP() << "a file catalog's lease is always free for its process";
    append(readings(2, 3, kStart + kHour));
    const auto result = run(kStart, kStart + kMicrosPerDay);
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_FALSE(result->rollups_done);
    EXPECT_GT(lake_->number(strCat("SELECT count(*) FROM lake.signals_dirty_subjects WHERE subject = '",
                                   lake::subjectOf(2), "'")),
              0);
    drain();
    flush();
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(BackfillTest, LateMarksWhereTheTableExists) {
    append(readings(1, 3, kStart));
    lake_->run("CREATE TABLE lake.rollup_late_subjects (subject VARCHAR)");
    ASSERT_TRUE(run(kStart, kStart + kHour).ok());
    EXPECT_EQ(lake_->value("SELECT subject FROM lake.rollup_late_subjects LIMIT 1"), lake::subjectOf(1));
}

}  // namespace
}  // namespace dq::materialize
