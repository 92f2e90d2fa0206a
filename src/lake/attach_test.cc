#include "lake/attach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/hash.h"
#include "core/text.h"
#include "engine/error.h"

namespace dq::lake {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> texts(const LakeConfig& config, bool query_side, bool writer) {
    std::vector<std::string> out;
    for (const auto& statement : bootstrapStatements(config, query_side, writer)) out.push_back(statement.text);
    return out;
}

TEST(Attach, Acceptance03_MemoryLimitOfEachSide) {
    LakeConfig config;
    config.catalog_dsn = "postgres://h/db";
    config.memory_limit = "6GiB";
    config.query_memory_limit = "1GiB";
    EXPECT_EQ(texts(config, true, false).front(), "SET memory_limit = '6GiB'");
    EXPECT_EQ(texts(config, true, true).front(), "SET memory_limit = '1GiB'");
    EXPECT_EQ(texts(config, false, true).front(), "SET memory_limit = '6GiB'");
    config.query_memory_limit.clear();
    EXPECT_EQ(texts(config, true, true).front(), "SET memory_limit = '6GiB'");
    // One instance serves both sides of a catalog file.
    config.catalog_dsn = "/lake/catalog.ducklake";
    config.query_memory_limit = "1GiB";
    EXPECT_EQ(texts(config, true, true).front(), "SET memory_limit = '6GiB'");
}

TEST(Attach, Acceptance07_Secret) {
    S3Config s3{true, "us-east-1", "AKIA123", "shh's", "http://localhost:9000"};
    EXPECT_EQ(createSecretStatement(s3),
              "CREATE OR REPLACE SECRET dq_s3 (TYPE s3, KEY_ID 'AKIA123', SECRET 'shh''s', REGION 'us-east-1', "
              "ENDPOINT 'localhost:9000', URL_STYLE 'path', USE_SSL false)");
    s3.access_key_id.clear();
    s3.endpoint = "https://minio.internal:9000";
    EXPECT_THAT(createSecretStatement(s3), HasSubstr("PROVIDER credential_chain"));
    EXPECT_THAT(createSecretStatement(s3), HasSubstr("ENDPOINT 'minio.internal:9000', URL_STYLE 'path', USE_SSL true"));
}

TEST(Attach, Acceptance08_ConnectTimeout) {
    EXPECT_EQ(withConnectTimeout("postgres://u:p@h:5432/db"), "postgres://u:p@h:5432/db?connect_timeout=10");
    EXPECT_EQ(withConnectTimeout("postgres://u:p@h:5432/db?sslmode=require"),
              "postgres://u:p@h:5432/db?sslmode=require&connect_timeout=10");
    EXPECT_EQ(withConnectTimeout("host=h dbname=db user=u"), "host=h dbname=db user=u connect_timeout=10");
    EXPECT_EQ(withConnectTimeout("host=h connect_timeout=3"), "host=h connect_timeout=3");
    EXPECT_EQ(withConnectTimeout("/var/lib/dq/catalog.db"), "/var/lib/dq/catalog.db");
}

TEST(Attach, Acceptance09_AttachTexts) {
    LakeConfig config;
    config.catalog_dsn = "postgresql://primary/dq";
    config.catalog_read_dsn = "postgresql://replica/dq";
    config.data_path = "s3://b/lake/";
    EXPECT_EQ(attachLakeStatement(config),
              "ATTACH IF NOT EXISTS 'ducklake:postgres:postgresql://primary/dq?connect_timeout=10' AS lake "
              "(DATA_PATH 's3://b/lake/', DATA_INLINING_ROW_LIMIT 0)");
    EXPECT_EQ(attachMetaStatement(config),
              "ATTACH IF NOT EXISTS 'postgresql://primary/dq?connect_timeout=10' AS meta (TYPE postgres)");
    config.read_only = true;
    EXPECT_THAT(attachLakeStatement(config), HasSubstr("replica"));
    EXPECT_THAT(attachLakeStatement(config), Not(HasSubstr("primary")));
    EXPECT_THAT(attachLakeStatement(config), HasSubstr("READ_ONLY"));
    EXPECT_EQ(attachMetaStatement(config),
              "ATTACH IF NOT EXISTS 'postgresql://replica/dq?connect_timeout=10' AS meta (TYPE postgres, READ_ONLY)");
    config.catalog_dsn = "/x/c.ducklake";
    config.catalog_read_dsn.clear();
    EXPECT_EQ(attachMetaStatement(config), "ATTACH IF NOT EXISTS '/x/c.ducklake.progress.db' AS meta (READ_ONLY)");
}

TEST(Attach, Acceptance10_EncryptedOnWritableAttachOnly) {
    LakeConfig config;
    config.catalog_dsn = "/x/c.ducklake";
    EXPECT_THAT(attachLakeStatement(config), Not(HasSubstr("ENCRYPTED")));
    config.encryption = true;
    EXPECT_THAT(attachLakeStatement(config), HasSubstr("ENCRYPTED"));
    config.read_only = true;
    EXPECT_THAT(attachLakeStatement(config), Not(HasSubstr("ENCRYPTED")));
    EXPECT_THAT(attachLakeStatement(config), HasSubstr("READ_ONLY"));
}

TEST(Attach, Acceptance11_SecretsAreCutFromErrors) {
    LakeConfig config;
    config.catalog_dsn = "postgresql://u:hunter2@h/db";
    config.s3 = {true, "", "AKIA123", "topsecret", ""};
    for (const std::string& text : texts(config, true, false)) {
        const std::string shown = engine::redactStatement(text);
        EXPECT_THAT(shown, Not(HasSubstr("hunter2")));
        EXPECT_THAT(shown, Not(HasSubstr("topsecret")));
        EXPECT_THAT(shown, Not(HasSubstr("AKIA123")));
    }
    EXPECT_EQ(engine::redactStatement("SET threads = 4"), "SET threads = 4");
}

TEST(Attach, Acceptance13_Buckets) {
    EXPECT_EQ(subjectBucket(""), 197);
    EXPECT_EQ(subjectBucket("a"), 44);
    EXPECT_EQ(subjectBucket("\xC3\xA9"), 193);
    EXPECT_EQ(subjectBucket("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1"), 219);
    EXPECT_EQ(subjectBucket("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:42"), 82);
}

TEST(Attach, Acceptance28_LakePathAloneDecidesS3) {
    LakeConfig config;
    config.catalog_dsn = "/x/c.ducklake";
    for (const std::string& text : texts(config, true, false)) EXPECT_THAT(text, Not(HasSubstr("SECRET")));
    config.s3.enabled = true;
    const auto with = texts(config, true, false);
    EXPECT_TRUE(
        std::any_of(with.begin(), with.end(), [](const std::string& text) { return contains(text, "SECRET dq_s3"); }));
}

}  // namespace
}  // namespace dq::lake
