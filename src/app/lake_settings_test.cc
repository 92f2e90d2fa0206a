#include "app/lake_settings.h"

#include <gtest/gtest.h>

namespace dq::app {
namespace {

settings::Settings lakeAt(std::string path) {
    settings::Settings settings;
    settings.ducklake_data_path = std::move(path);
    return settings;
}

TEST(LakeSettings, TheSchemeOfTheLakePathDecidesAboutS3) {
    for (const char* path : {"s3://bucket/lake", "s3a://bucket/lake", "gs://bucket/lake", "r2://bucket/lake"}) {
        EXPECT_TRUE(lakeConfig(lakeAt(path)).s3.enabled) << path;
    }
    for (const char* path : {"", "dq-data/lake", "/var/s3://lake", "file:///lake", "S3"}) {
        settings::Settings settings = lakeAt(path);
        settings.blob_bucket = "s3://blobs";
        EXPECT_FALSE(lakeConfig(settings).s3.enabled) << path;
    }
}

TEST(LakeSettings, Acceptance02_TheLakesEndpointIsItsOwnElseTheGeneralOne) {
    const auto endpoint = [](std::string general, std::string own) {
        settings::Settings settings = lakeAt("s3://bucket");
        settings.s3_endpoint = std::move(general);
        settings.duckdb_s3_endpoint = std::move(own);
        return lakeConfig(settings).s3.endpoint;
    };
    EXPECT_EQ(endpoint("general", ""), "general");
    EXPECT_EQ(endpoint("general", "own"), "own");
    EXPECT_EQ(endpoint("", "own"), "own");
    EXPECT_EQ(endpoint("", ""), "");
}

// Acceptance 3: which limit each engine instance gets is seen in the statements that prepare it.
TEST(LakeSettings, Acceptance03_MemoryLimitsOfTheInstances) {
    settings::Settings settings = lakeAt("lake");
    settings.ducklake_catalog_dsn = "postgres://host/db";
    settings.duckdb_memory_limit = "6GiB";
    const auto limit = [&](bool query_side, bool writer_process) {
        for (const auto& statement : lake::bootstrapStatements(lakeConfig(settings), query_side, writer_process)) {
            if (statement.text.find("memory_limit") != std::string::npos) return statement.text;
        }
        return std::string();
    };
    EXPECT_NE(limit(true, true).find("6GiB"), std::string::npos);
    settings.duckdb_query_memory_limit = "1GiB";
    EXPECT_NE(limit(true, false).find("6GiB"), std::string::npos);
    EXPECT_NE(limit(true, true).find("1GiB"), std::string::npos);
    EXPECT_NE(limit(false, true).find("6GiB"), std::string::npos);
}

TEST(LakeSettings, AMaterializerIsNeverReadOnly) {
    settings::Settings settings = lakeAt("lake");
    settings.ducklake_read_only = true;
    EXPECT_TRUE(lakeConfig(settings).read_only);
    settings.materializer_enabled = true;
    EXPECT_FALSE(lakeConfig(settings).read_only);
}

TEST(LakeSettings, EveryOtherValueIsHandedOn) {
    settings::Settings settings = lakeAt("path");
    settings.ducklake_catalog_dsn = "dsn";
    settings.ducklake_catalog_read_dsn = "replica";
    settings.lake_encryption_enabled = true;
    settings.duckdb_temp_directory = "spill";
    settings.duckdb_extension_dir = "extensions";
    settings.duckdb_threads = 3;
    settings.duckdb_max_conns = 9;
    settings.s3_aws_region = "eu";
    settings.s3_aws_access_key_id = "id";
    settings.s3_aws_secret_access_key = "key";
    const lake::LakeConfig config = lakeConfig(settings);
    EXPECT_EQ(config.catalog_dsn, "dsn");
    EXPECT_EQ(config.catalog_read_dsn, "replica");
    EXPECT_EQ(config.data_path, "path");
    EXPECT_TRUE(config.encryption);
    EXPECT_EQ(config.temp_directory, "spill");
    EXPECT_EQ(config.extension_directory, "extensions");
    EXPECT_EQ(config.threads, 3);
    EXPECT_EQ(config.max_connections, 9);
    EXPECT_EQ(config.s3.region, "eu");
    EXPECT_EQ(config.s3.access_key_id, "id");
    EXPECT_EQ(config.s3.secret_access_key, "key");
}

TEST(LakeSettings, DecodeOptions) {
    settings::Settings settings;
    settings.dimo_registry_chain_id = 137;
    settings.vehicle_nft_address = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    EXPECT_EQ(decodeOptions(settings).compat, decode::Compat::kRepair);
    EXPECT_EQ(decodeOptions(settings).chain_id, 137U);
    EXPECT_EQ(decodeOptions(settings).vehicle_address_hex, "ba5738a18d83d41847dffbdc6101d37c69c9b0cf");
    settings.materializer_decode_compat = settings::DecodeCompat::kExact;
    EXPECT_EQ(decodeOptions(settings).compat, decode::Compat::kExact);
}

TEST(LakeSettings, MaterializerOptions) {
    settings::Settings settings;
    settings.materializer_poll_interval = 5 * kMicrosPerSecond;
    settings.materializer_workers = 3;
    settings.lake_rebuild_rollup_on_boot = true;
    EXPECT_EQ(materializerOptions(settings).poll_interval, 5 * kMicrosPerSecond);
    EXPECT_EQ(materializerOptions(settings).rollup_interval, 5 * kMicrosPerSecond);
    EXPECT_EQ(materializerOptions(settings).span.max_snapshots, 0);
    EXPECT_EQ(materializerOptions(settings).limits.workers, 3);
    EXPECT_TRUE(materializerOptions(settings).rebuild_rollups);
    settings.materializer_rollup_interval = 60 * kMicrosPerSecond;
    EXPECT_EQ(materializerOptions(settings).rollup_interval, 60 * kMicrosPerSecond);
    for (const auto& [told, taken] : {std::pair<std::int64_t, int>{-1, 0}, {7, 7}, {INT64_MAX, 1'000'000}}) {
        settings.materializer_max_snapshot_span = told;
        EXPECT_EQ(materializerOptions(settings).span.max_snapshots, taken);
    }
}

}  // namespace
}  // namespace dq::app
