// The decode loop on both catalogs; numbers are those of the acceptance cases of materializer.md.
#include "materialize/materializer.h"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include "lake/progress.h"

#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

using lake::payloadRow;
using lake::statusRow;
using testing::ElementsAre;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Catalogs, MaterializeTest,
                         testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres), lake::catalogName);

std::vector<cloudevent::Row> readings(int vehicle, int count, int first = 0) {
    std::vector<cloudevent::Row> rows;
    for (int i = first; i < first + count; ++i)
        rows.push_back(statusRow(vehicle, strCat("e", i), kStart + i * kMicrosPerSecond, "speed", i));
    return rows;
}

TEST_P(MaterializeTest, Acceptance01_EachRowOnceAndReported) {
    boot();
    for (const double speed : {40.0, 80.0, 65.0})
        append({statusRow(1, strCat("e", speed), kStart + static_cast<Micros>(speed), "speed", speed)});
    EXPECT_EQ(drain(), 3);
    EXPECT_EQ(lake_->value("SELECT count(*), max(value_number) FROM lake.signals"), "3|80.0");
    EXPECT_EQ(drain(), 0);
    EXPECT_EQ(count("signals"), 3);
    append({statusRow(1, "e4", kStart + 99, "speed", 1)});
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(lake_->value("SELECT snapshot_id FROM meta.din_consumer_progress WHERE consumer = 'dq'"), cursor());
}

TEST_P(MaterializeTest, Acceptance02_NoTableYet) {
    boot();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(pass().state, PassResult::State::kNoTable);
    append(readings(1, 1));
    EXPECT_EQ(drain(), 1);
}

TEST_P(MaterializeTest, Acceptance03_DeletedCursorRowIsSeededAgain) {
    boot();
    append(readings(1, 1));
    drain();
    lake_->run(R"(DELETE FROM lake.ingest_progress WHERE "partition" = 'lake.raw_events#snapshot')");
    drain();
    EXPECT_EQ(
        lake_->number(R"(SELECT count(*) FROM lake.ingest_progress WHERE "partition" = 'lake.raw_events#snapshot')"),
        1);
    EXPECT_EQ(count("signals"), 1);
}

TEST_P(MaterializeTest, Acceptance04_SpanLimit) {
    MaterializerOptions options;
    options.span.max_snapshots = 1;
    boot(options);
    for (int i = 0; i < 3; ++i) append(readings(1, 1, i));
    EXPECT_EQ(pass().rows, 1);
    drain();
    EXPECT_EQ(count("signals"), 3);
}

TEST_P(MaterializeTest, Acceptance05_Acceptance08_WindowsOfOneSpan) {
    MaterializerOptions options;
    options.limits.window_rows = 2;
    boot(options);
    append(readings(1, 6));
    const PassResult result = pass();
    EXPECT_EQ(result.rows, 6);
    EXPECT_EQ(result.intermediate_windows, 2);
    EXPECT_EQ(count("signals"), 6);
    drain();
    EXPECT_EQ(count("signals"), 6);
    boot();
    append(readings(1, 3, 10));
    EXPECT_EQ(pass().intermediate_windows, 0);
    EXPECT_EQ(count("signals"), 9);
}

TEST_P(MaterializeTest, Acceptance06_Acceptance07_CrashBetweenWindows) {
    for (const int crash_after : {0, 3}) {
        MaterializerOptions options;
        options.limits.window_rows = 2;
        options.limits.after_window = [&](int window) {
            return window == crash_after ? absl::InternalError("killed") : absl::OkStatus();
        };
        boot(options);
        const std::string before = cursor();
        append(readings(crash_after + 1, 9));
        EXPECT_FALSE(materializer_->pass(Cancel::root()).ok());
        EXPECT_EQ(lake_->number(strCat("SELECT count(*) FROM lake.signals WHERE subject = '",
                                       lake::subjectOf(crash_after + 1), "'")),
                  2 * (crash_after + 1));
        EXPECT_EQ(cursor(), before);
        boot();
        drain();
        flush();
        EXPECT_EQ(lake_->number(strCat("SELECT count(*) FROM lake.signals WHERE subject = '",
                                       lake::subjectOf(crash_after + 1), "'")),
                  9);
        EXPECT_EQ(rollupDifference(), "");
    }
}

TEST_P(MaterializeTest, Acceptance09_BytesCloseWindows) {
    MaterializerOptions options;
    options.limits.window_bytes = 20'000;
    boot(options);
    append(readings(1, 1100));
    EXPECT_GT(pass().intermediate_windows, 0);
    flush();
    EXPECT_EQ(count("signals"), 1100);
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(MaterializeTest, Acceptance10_ForeignChainsAreConsumed) {
    decode_.chain_id = 137;
    decode_.vehicle_address_hex = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    MaterializerOptions options;
    options.limits.window_rows = 3;
    boot(options);
    std::vector<cloudevent::Row> rows = readings(1, 12);
    for (std::size_t i = 1; i < rows.size(); i += 2) rows[i].subject.replace(11, 3, "999");
    const std::int64_t snapshot = append(rows);
    EXPECT_EQ(drain(), 12);
    EXPECT_EQ(count("signals"), 6);
    EXPECT_EQ(cursor(), strCat(snapshot));
}

TEST_P(MaterializeTest, Acceptance11_Redelivery) {
    boot();
    append({statusRow(1, "same", kStart, "speed", 1)});
    append({statusRow(1, "same", kStart, "speed", 1)});
    EXPECT_EQ(drain(), 2);
    EXPECT_EQ(count("signals"), 1);
}

// Bulk mode leaves out the anti-join only where the rows are known to be new.
TEST_P(MaterializeTest, Acceptance11_BulkModeDoublesOnlyBehindItsOwnSpan) {
    MaterializerOptions options;
    options.bulk = true;
    boot(options);
    append({statusRow(1, "same", kStart, "speed", 1)});
    EXPECT_EQ(drain(), 1);
    append({statusRow(1, "same", kStart, "speed", 1)});
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(count("signals"), 2);
    boot(options);  // the first span of a process compares
    append({statusRow(1, "same", kStart, "speed", 1)});
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(count("signals"), 2);
    flush();
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(MaterializeTest, Acceptance25_PruneRemovesOldRowsAndOrphans) {
    MaterializerOptions options;
    options.retention = 7 * kMicrosPerDay;
    boot(options);
    append({statusRow(1, "old", clock_.now() - 30 * kMicrosPerDay, "speed", 1),
            statusRow(1, "new", clock_.now() - 3600 * kMicrosPerSecond, "speed", 2),
            statusRow(2, "old", clock_.now() - 30 * kMicrosPerDay, "speed", 3),
            payloadRow(2, "dimo.events", "e", clock_.now() - 30 * kMicrosPerDay,
                       R"({"events":[{"name":"behavior.harshBraking","timestamp":"2026-10-01T00:00:00Z"}]})")});
    drain();
    flush();
    EXPECT_EQ(count("events"), 1);
    const auto pruned = materializer_->prune(Cancel::root());
    ASSERT_TRUE(pruned.ok()) << pruned.status();
    EXPECT_EQ(*pruned, 3);
    EXPECT_THAT(lake_->rows("SELECT cloud_event_id FROM lake.signals"), ElementsAre("new"));
    EXPECT_EQ(count("events"), 0);
    EXPECT_EQ(count("events_latest"), 0);
    EXPECT_THAT(lake_->rows("SELECT subject FROM lake.signals_latest"), ElementsAre(lake::subjectOf(1)));
    const auto snapshots = lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')");
    EXPECT_EQ(*materializer_->prune(Cancel::root()), 0);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')"), snapshots);
    EXPECT_EQ(metric("dq_materializer_prune_errors_total"), 0);
}

// Deletes exclude inserts into their table: within one process they take turns, and nobody loses.
TEST_P(MaterializeTest, Acceptance48_PruneAndWindowsDoNotFailEachOther) {
    MaterializerOptions options;
    options.retention = 7 * kMicrosPerDay;
    options.limits.window_rows = 3;
    boot(options);
    std::atomic<bool> done{false};
    std::jthread pruning([&] {
        while (!done) EXPECT_TRUE(materializer_->prune(Cancel::root()).ok());
    });
    for (int i = 0; i < 12; ++i) {
        append({statusRow(i, "old", clock_.now() - 30 * kMicrosPerDay, "speed", 1),
                statusRow(i, "a", clock_.now() - 3600 * kMicrosPerSecond, "speed", 2),
                statusRow(i, "b", clock_.now() - 3601 * kMicrosPerSecond, "speed", 2),
                statusRow(i, "c", clock_.now() - 3602 * kMicrosPerSecond, "speed", 2)});
        EXPECT_GT(drain(), 0);
    }
    done = true;
    pruning.join();
    EXPECT_TRUE(materializer_->prune(Cancel::root()).ok());
    EXPECT_EQ(count("signals"), 36);
    EXPECT_EQ(metric(R"(dq_materializer_lost_races_total{reason="conflict"})"), -1);
}

// Two reporters of one consumer row fail each other, and a standby's position is not the one that counts.
TEST_P(MaterializeTest, AStandbyReportsAndPrunesOnlyOnceTheOwnerIsSilent) {
    if (GetParam() == lake::CatalogKind::kFile) GTEST_SKIP() << "a file catalog admits one process";
    boot();
    append({statusRow(1, "a", kStart, "speed", 1)});
    drain();
    lake_->run("UPDATE meta.din_consumer_progress SET updated_at = TIMESTAMPTZ 'epoch'");
    const auto stamped = [&] {
        return lake_->value("SELECT updated_at > TIMESTAMPTZ '2000-01-01' FROM meta.din_consumer_progress") == "true";
    };
    Metrics metrics;
    Materializer standby(lake_->writer(), decode_, {}, metrics, clock_);
    ASSERT_TRUE(standby.prepare(Cancel::root()).ok());
    for (int poll = 0; poll < 2; ++poll) {  // caught up, though: the owner has decoded everything
        EXPECT_EQ(standby.pass(Cancel::root())->state, PassResult::State::kCaughtUp);
        EXPECT_FALSE(stamped());
        clock_.advance(10 * kMicrosPerSecond);
    }
    append({statusRow(1, "b", kStart, "speed", 2)});
    drain();  // the owner lives: its lease has another text
    lake_->run("UPDATE meta.din_consumer_progress SET updated_at = TIMESTAMPTZ 'epoch'");
    clock_.advance(25 * kMicrosPerSecond);
    EXPECT_EQ(standby.pass(Cancel::root())->state, PassResult::State::kCaughtUp);
    EXPECT_FALSE(stamped());
    clock_.advance(31 * kMicrosPerSecond);
    EXPECT_EQ(standby.pass(Cancel::root())->state, PassResult::State::kCaughtUp);
    EXPECT_TRUE(stamped());
}

// Operators' alerts rely on absence in a process that only answers queries.
TEST_P(MaterializeTest, Acceptance15_SeriesExistOnlyWithAMaterializer) {
    EXPECT_EQ(Metrics().render().find("dq_materializer_"), std::string::npos);
    boot();
    for (const char* name :
         {"dq_materializer_cursor_snapshot_id", "dq_materializer_head_snapshot_id",
          "dq_materializer_commit_lag_seconds", "dq_materializer_errors_total", "dq_materializer_pass_errors_total",
          "dq_materializer_cursor_resets_total", "dq_materializer_last_cursor_reset_gap_snapshots",
          "dq_materializer_blob_missing_total", "dq_materializer_progress_report_errors_total",
          "dq_materializer_prune_errors_total", "dq_materializer_rollup_refresh_seconds",
          "dq_materializer_event_rollup_refresh_seconds", "dq_materializer_rollup_flush_errors_total",
          "dq_materializer_event_rollup_flush_errors_total", "dq_materializer_standby",
          "dq_materializer_landed_commits_total", "dq_blob_prefix_anomaly_total"}) {
        EXPECT_EQ(metric(name), 0) << name;
    }
}

TEST_P(MaterializeTest, Acceptance13_Acceptance14_Lags) {
    boot();
    clock_.set(systemClock().now());
    append({statusRow(1, "a", clock_.now() - 600 * kMicrosPerSecond, "speed", 1),
            statusRow(1, "b", clock_.now() - 60 * kMicrosPerSecond, "speed", 1)});
    pass();
    EXPECT_NEAR(metric(R"(dq_materializer_lag_seconds{type="ducklake"})"), 600, 5);
    EXPECT_LT(metric("dq_materializer_commit_lag_seconds"), 3600);
    EXPECT_EQ(metric("dq_materializer_event_age_seconds_count"), 2);
    drain();
    EXPECT_EQ(metric("dq_materializer_commit_lag_seconds"), 0);
    EXPECT_EQ(metric(R"(dq_materializer_lag_seconds{type="ducklake"})"), 0);
}

TEST_P(MaterializeTest, Acceptance28_Acceptance30_ExpiredFeedIsReadFromTheBaseTable) {
    boot();
    append(readings(1, 1, 0));
    drain();
    const std::int64_t from = std::stoll(cursor());
    append(readings(1, 1, 1));
    append(readings(1, 1, 2));
    const std::int64_t last = append(readings(1, 1, 3));
    lake_->run(strCat(
        "CALL ducklake_expire_snapshots('lake', versions => [",
        [&] {
            std::string ids;
            for (std::int64_t id = 0; id < last; ++id) strAppend(&ids, id == 0 ? "" : ", ", id);
            return ids;
        }(),
        "])"));
    EXPECT_EQ(drain(), 3);
    EXPECT_EQ(count("signals"), 4);
    EXPECT_EQ(metric("dq_materializer_cursor_resets_total"), 1);
    EXPECT_EQ(metric("dq_materializer_last_cursor_reset_gap_snapshots"), static_cast<double>(last - 1 - from));
}

TEST_P(MaterializeTest, Acceptance31_TableBornLate) {
    boot();
    for (int i = 0; i < 30; ++i) lake_->run(strCat("INSERT INTO lake.ingest_progress VALUES ('filler', '", i, "')"));
    append(readings(1, 2));
    EXPECT_EQ(drain(), 2);
    EXPECT_EQ(count("signals"), 2);
}

TEST_P(MaterializeTest, Acceptance33_NullHeaderColumnsAreCounted) {
    boot();
    append(readings(1, 1));
    for (const char* column : {"subject", "id", "source", "\"time\""}) {
        lake_->run(strCat("INSERT INTO lake.raw_events BY NAME SELECT * REPLACE (NULL AS ", column,
                          ") FROM lake.raw_events WHERE id = 'e0' LIMIT 1"));
    }
    lake_->run(
        "INSERT INTO lake.raw_events BY NAME SELECT * REPLACE (NULL AS producer, NULL AS data_version, 'e9' AS id) "
        "FROM lake.raw_events WHERE id = 'e0' AND subject IS NOT NULL AND source IS NOT NULL AND \"time\" IS NOT NULL "
        "LIMIT 1");
    EXPECT_EQ(drain(), 6);
    EXPECT_EQ(metric("dq_materializer_errors_total"), 4);
    EXPECT_THAT(lake_->rows("SELECT cloud_event_id, producer = '' FROM lake.signals ORDER BY 1"),
                ElementsAre("e0|false", "e9|true"));
}

TEST_P(MaterializeTest, Acceptance35_IdleMintsNothingAndStampsTheReport) {
    boot();
    append(readings(1, 1));
    drain();
    flush();
    drain();
    const auto snapshots = [&] { return lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')"); };
    const std::int64_t before = snapshots();
    lake_->run("UPDATE meta.din_consumer_progress SET updated_at = TIMESTAMPTZ 'epoch'");
    for (int poll = 0; poll < 24; ++poll) {
        clock_.advance(15 * kMicrosPerSecond);
        EXPECT_EQ(pass().state, PassResult::State::kCaughtUp);
    }
    EXPECT_EQ(snapshots(), before);
    EXPECT_EQ(lake_->value("SELECT updated_at > TIMESTAMPTZ '2000-01-01' FROM meta.din_consumer_progress"), "true");
}

TEST_P(MaterializeTest, Acceptance50_MalformedCursorStopsThePassByName) {
    boot();
    append(readings(1, 1));
    lake_->run(R"(UPDATE lake.ingest_progress SET "cursor" = '007' WHERE "partition" = 'lake.raw_events#snapshot')");
    const auto result = materializer_->pass(Cancel::root());
    ASSERT_FALSE(result.ok());
    EXPECT_THAT(std::string(result.status().message()), HasSubstr("lake.raw_events#snapshot"));
    EXPECT_EQ(cursor(), "007");
    EXPECT_EQ(count("signals"), 0);
}

TEST_P(MaterializeTest, Acceptance52_AnyWindowSizeLeavesTheSameRows) {
    std::vector<std::string> expected;
    int vehicle = 0;
    for (const std::size_t rows : {1000u, 7u, 1u}) {
        MaterializerOptions options;
        options.limits.window_rows = rows;
        options.limits.workers = 3;
        boot(options);
        std::vector<cloudevent::Row> bundle = readings(++vehicle, 40);
        for (const auto& row : readings(vehicle, 10, 5)) bundle.push_back(row);  // redelivered in the same snapshot
        append(bundle);
        drain();
        const auto stored = lake_->rows(
            strCat("SELECT name, \"timestamp\", cloud_event_id, value_number FROM lake.signals WHERE subject = '",
                   lake::subjectOf(vehicle), "' ORDER BY ALL"));
        EXPECT_EQ(stored.size(), 40u);
        if (expected.empty()) expected = stored;
        EXPECT_EQ(stored, expected) << rows;
    }
}

TEST_P(MaterializeTest, MalformedExtrasCountAndDecode) {
    boot();
    auto rows = readings(1, 3);
    rows[0].extras = "{broken";
    rows[1].extras = "[1]";
    rows[2].extras = R"({"tags":["ok",42,null]})";
    append(rows);
    drain();
    EXPECT_EQ(count("signals"), 3);
    EXPECT_EQ(metric("dq_materializer_errors_total"), 2);
}

TEST_P(MaterializeTest, EventsAreStoredOnceWithTheirTags) {
    boot();
    const std::string payload = R"({"events":[{"name":"behavior.harshBraking","timestamp":"2026-10-20T00:00:01Z",)"
                                R"("durationNs":5,"metadata":"{}","tags":["a","b"]}]})";
    append({payloadRow(1, "dimo.events", "e1", kStart, payload), payloadRow(1, "dimo.events", "e1", kStart, payload)});
    drain();
    EXPECT_THAT(lake_->rows("SELECT name, duration_ns, metadata, tags, type FROM lake.events"),
                ElementsAre("behavior.harshBraking|5|{}|[a, b]|dimo.event"));
}

TEST_P(MaterializeTest, CleanStopFreesTheLease) {
    boot();
    append(readings(1, 1));
    drain();
    const auto lease = [&] {
        return lake_->value(
            R"(SELECT "cursor" FROM lake.ingest_progress WHERE "partition" = 'lake.raw_events#writer')");
    };
    EXPECT_NE(lease(), "-/0");
    materializer_->release();
    EXPECT_EQ(lease(), "-/0");
}

}  // namespace
}  // namespace dq::materialize
