// The attached lake on both catalogs: bootstrap, cursor rows, raw events, feed, windows.
#include "lake/lake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "core/text.h"
#include "lake/feed.h"
#include "lake/progress.h"
#include "lake/raw_events.h"
#include "lake/tables.h"
#include "lake/temp_lake_testing.h"

namespace dq::lake {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr Micros kStart = 1'792'454'400LL * kMicrosPerSecond;  // 2026-10-20

class LakeTest : public testing::TestWithParam<CatalogKind> {
  protected:
    void SetUp() override {
        if (TempLake::unavailable(GetParam())) GTEST_SKIP() << "no PostgreSQL: DQ_TEST_POSTGRES_DSN is not set";
        lake_.emplace(GetParam());
    }
    BootstrapFindings bootstrap() {
        auto findings = ensureDecodedTables(lake_->writer(), Cancel::root());
        EXPECT_TRUE(findings.ok()) << findings.status();
        return findings.value_or(BootstrapFindings{});
    }
    std::int64_t snapshots() { return lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')"); }
    std::optional<TempLake> lake_;
};
INSTANTIATE_TEST_SUITE_P(Catalogs, LakeTest, testing::Values(CatalogKind::kFile, CatalogKind::kPostgres), catalogName);

TEST_P(LakeTest, Acceptance02_BadLimitNamesTheStatement) {
    LakeConfig config = lake_->config();
    config.memory_limit = "not-a-size";
    const auto opened = Lakes::open(config, false);
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr("memory_limit"));
}

TEST_P(LakeTest, SessionsAreUtcAndSettingsReadBack) {
    LakeConfig config = lake_->config();
    config.memory_limit = "512MiB";
    config.threads = 2;
    config.temp_directory = lake_->folder() + "/spill";
    auto opened = Lakes::open(config, true);
    ASSERT_TRUE(opened.ok()) << opened.status();
    for (int i = 0; i < 2; ++i) {  // every connection, not only the first
        auto first = (*opened)->writer().acquire();
        auto second = (*opened)->writer().acquire();
        ASSERT_TRUE(second.ok());
        auto result = (*second)->query(
            "SELECT current_setting('TimeZone'), current_setting('threads')::VARCHAR, "
            "current_setting('temp_directory')");
        ASSERT_TRUE(result.ok()) << result.status();
        auto chunk = result->next();
        EXPECT_EQ((*chunk)->strings(0)[0], "UTC");
        EXPECT_EQ((*chunk)->strings(1)[0], "2");
        EXPECT_EQ((*chunk)->strings(2)[0], config.temp_directory);
    }
}

TEST_P(LakeTest, Acceptance15_SecondBootMintsNothing) {
    const auto first = bootstrap();
    EXPECT_FALSE(first.signals_rollup_incomplete);
    EXPECT_FALSE(first.events_rollup_incomplete);
    EXPECT_FALSE(first.raw_events_exists);
    const std::int64_t before = snapshots();
    bootstrap();
    lake_->close();
    bootstrap();
    EXPECT_EQ(snapshots(), before);
}

TEST_P(LakeTest, Acceptance16_ColumnsInOrder) {
    bootstrap();
    ASSERT_TRUE(ensureRawEvents(lake_->writer(), Cancel::root()).ok());
    const auto columns = [&](const std::string& table) {
        return lake_->value(
            strCat("SELECT string_agg(column_name || ' ' || data_type, ',' ORDER BY column_index) FROM "
                   "duckdb_columns() WHERE database_name = 'lake' AND table_name = '",
                   table, "'"));
    };
    EXPECT_EQ(columns("signals"),
              "subject VARCHAR,subject_bucket INTEGER,name VARCHAR,timestamp TIMESTAMP WITH TIME ZONE,source "
              "VARCHAR,producer VARCHAR,"
              "cloud_event_id VARCHAR,value_number DOUBLE,value_string VARCHAR,loc_lat DOUBLE,loc_lon DOUBLE,loc_hdop "
              "DOUBLE,loc_heading DOUBLE");
    EXPECT_EQ(columns("events"),
              "subject VARCHAR,subject_bucket INTEGER,source VARCHAR,producer VARCHAR,cloud_event_id VARCHAR,type "
              "VARCHAR,data_version VARCHAR,"
              "name VARCHAR,timestamp TIMESTAMP WITH TIME ZONE,duration_ns UBIGINT,metadata VARCHAR,tags VARCHAR[]");
    EXPECT_EQ(
        columns("raw_events"),
        "subject VARCHAR,time TIMESTAMP WITH TIME ZONE,type VARCHAR,id VARCHAR,source VARCHAR,producer "
        "VARCHAR,data_content_type VARCHAR,"
        "data_version VARCHAR,extras VARCHAR,data VARCHAR,data_base64 BLOB,data_index_key VARCHAR,voids_id VARCHAR");
}

TEST_P(LakeTest, MutableTablesNeverInline) {
    bootstrap();
    EXPECT_THAT(lake_->rows("SELECT scope_entry FROM ducklake_options('lake') WHERE option_name = "
                            "'data_inlining_row_limit' AND scope = 'TABLE' AND value = '0' ORDER BY 1"),
                ElementsAre("main.events_dirty_subjects", "main.events_latest", "main.ingest_progress",
                            "main.signals_dirty_subjects", "main.signals_latest"));
}

TEST_P(LakeTest, Acceptance25_HalfAppliedLayoutIsCompleted) {
    lake_->run(
        R"(CREATE TABLE lake.signals_latest (subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp"
            TIMESTAMPTZ, value_number DOUBLE,
        value_string VARCHAR, loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop DOUBLE, loc_heading DOUBLE, "count" BIGINT,
        first_seen TIMESTAMPTZ, last_seen TIMESTAMPTZ))");
    bootstrap();
    EXPECT_EQ(lake_->number(R"(SELECT count(*) FROM __ducklake_metadata_lake.ducklake_partition_info p
        JOIN __ducklake_metadata_lake.ducklake_table t ON t.table_id = p.table_id AND t.end_snapshot IS NULL
        WHERE p.end_snapshot IS NULL AND t.table_name = 'signals_latest')"),
              1);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM duckdb_columns() WHERE database_name = 'lake' AND table_name = "
                            "'signals_latest' AND column_name = 'loc_ts'"),
              1);
    const std::int64_t before = snapshots();
    bootstrap();
    EXPECT_EQ(snapshots(), before);
}

TEST_P(LakeTest, Acceptance19_Acceptance27_OneCursorRowAfterRacingBoots) {
    bootstrap();
    // Two first boots leave doubled rows: inserts never exclude each other.
    lake_->run(
        "INSERT INTO lake.ingest_progress VALUES ('lake.raw_events#snapshot', '7'), ('lake.raw_events#writer', '-/0')");
    bootstrap();
    EXPECT_THAT(
        lake_->rows(
            R"(SELECT "partition", "cursor" FROM lake.ingest_progress WHERE "partition" LIKE 'lake.raw_events#%' ORDER
                BY 1)"),
        ElementsAre("lake.raw_events#snapshot|0", "lake.raw_events#writer|-/0"));
}

TEST_P(LakeTest, Acceptance26_EncryptionMismatchIsNamedBeforeAnyWrite) {
    {
        auto created = Lakes::open(lake_->config(), true);
        ASSERT_TRUE(created.ok()) << created.status();
    }
    LakeConfig config = lake_->config();
    config.encryption = true;
    const auto opened = Lakes::open(config, true);
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr("LAKE_ENCRYPTION_ENABLED is true"));
    EXPECT_THAT(std::string(opened.status().message()), HasSubstr("not encrypted"));
}

TEST_P(LakeTest, Acceptance24_WriterAndReaderSeeOneLake) {
    bootstrap();
    lake_->run("INSERT INTO lake.ingest_progress VALUES ('x', 'y')");
    auto reading = lake_->lakes().reader().acquire();
    ASSERT_TRUE(reading.ok());
    auto result = (*reading)->query("SELECT count(*) FROM lake.ingest_progress WHERE \"partition\" = 'x'");
    ASSERT_TRUE(result.ok());
    auto chunk = result->next();
    EXPECT_EQ((*chunk)->column<std::int64_t>(0)[0], 1);
}

TEST(Cursor, OnlyPlainDecimalsAreRead) {
    EXPECT_EQ(*parseCursor("0"), 0);
    EXPECT_EQ(*parseCursor(""), 0);
    EXPECT_EQ(*parseCursor("9223372036854775807"), INT64_MAX);
    for (const char* text : {" 5", "007", "0x1f", "5abc", "-1", "9223372036854775808", "sharded:3"}) {
        EXPECT_EQ(parseCursor(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
        EXPECT_THAT(std::string(parseCursor(text).status().message()), HasSubstr("lake.raw_events#snapshot"));
    }
}

TEST_P(LakeTest, RawEventsKeepEveryColumn) {
    ASSERT_TRUE(ensureRawEvents(lake_->writer(), Cancel::root()).ok());
    cloudevent::Row inline_row = statusRow(1, "a", kStart, "speed", 5);
    cloudevent::Row binary = statusRow(2, "b", kStart + 1'000, "speed", 6);
    binary.data.reset();
    binary.data_base64 = "SGVsbG8gV29ybGQ=";
    binary.voids_id = "v";
    const std::vector<cloudevent::Row> bundle = {inline_row, binary};
    const auto snapshot = appendRawEvents(lake_->writer(), bundle, Cancel::root());
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    EXPECT_EQ(*snapshot, lake_->number("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"));
    EXPECT_THAT(lake_->rows("SELECT id, \"time\", data IS NULL, data_base64::VARCHAR, data_index_key, voids_id, extras "
                            "FROM lake.raw_events ORDER BY id"),
                ElementsAre("a|2026-10-20 00:00:00+00|false|-|-|-|{}",
                            "b|2026-10-20 00:00:00.001+00|true|SGVsbG8gV29ybGQ=|-|v|{}"));
    EXPECT_EQ(*appendRawEvents(lake_->writer(), {}, Cancel::root()), 0);
    EXPECT_EQ(lake_->number("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"), *snapshot);
}

TEST_P(LakeTest, FeedDeliversEachInsertOnceFromAnyStart) {
    bootstrap();
    ASSERT_TRUE(ensureRawEvents(lake_->writer(), Cancel::root()).ok());
    std::vector<std::int64_t> ids;
    for (int i = 0; i < 3; ++i) {
        const std::vector<cloudevent::Row> bundle = {statusRow(i, strCat("e", i), kStart, "speed", i)};
        ids.push_back(*appendRawEvents(lake_->writer(), bundle, Cancel::root()));
        lake_->run("INSERT INTO lake.ingest_progress VALUES ('other', 'table')");  // snapshots of other tables between
    }
    auto connection = lake_->writer().acquire();
    const auto list = snapshotsAfter(**connection, ids[0] - 1, Cancel::root());
    ASSERT_TRUE(list.ok()) << list.status();
    EXPECT_TRUE(list->raw_events_exists);
    std::vector<std::int64_t> touching;
    for (const Snapshot& snapshot : list->snapshots) {
        if (snapshot.inserted) touching.push_back(snapshot.id);
    }
    EXPECT_EQ(touching, ids);
    for (const std::int64_t start : {std::int64_t{0}, ids[0], ids[0] + 1}) {
        auto stream = streamInsertions(**connection, start, ids[0], ids[2], {}, Cancel::root());
        ASSERT_TRUE(stream.ok()) << stream.status();
        std::vector<std::string> seen;
        while (true) {
            auto chunk = stream->next();
            ASSERT_TRUE(chunk.ok()) << chunk.status();
            if (!chunk->has_value()) break;
            for (idx_t row = 0; row < (*chunk)->size(); ++row) seen.emplace_back((*chunk)->strings(kFeedId)[row]);
        }
        std::sort(seen.begin(), seen.end());
        EXPECT_THAT(seen, ElementsAre("e1", "e2")) << "start " << start;
    }
}

TEST_P(LakeTest, ConsumerReportIsOneRow) {
    bootstrap();
    auto connection = lake_->writer().acquire();
    ASSERT_TRUE(reportConsumerProgress(**connection, 5, Cancel::root()).ok());
    ASSERT_TRUE(reportConsumerProgress(**connection, 9, Cancel::root()).ok());
    EXPECT_THAT(lake_->rows("SELECT consumer, snapshot_id FROM meta.din_consumer_progress"), ElementsAre("dq|9"));
}

}  // namespace
}  // namespace dq::lake
