#include "settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "settings/parse.h"

namespace dq::settings {
namespace {

using testing::HasSubstr;
using testing::Not;
using Variables = std::map<std::string, std::string>;

const std::string kNoFile = "/nonexistent/settings.yaml";

StatusOr<Settings> load(const Variables& variables, const std::string& path = kNoFile) {
    return loadSettings(path, [&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    });
}

// The least a server starts with.
Variables server(const Variables& more = {}) {
    Variables out = {{"PORT", "8080"},
                     {"GRPC_PORT", "8086"},
                     {"MON_PORT", "8888"},
                     {"DIMO_REGISTRY_CHAIN_ID", "137"},
                     {"TOKEN_EXCHANGE_ISSUER_URL", "https://auth.example"},
                     {"DUCKLAKE_CATALOG_DSN", "/var/lib/dq/catalog.db"}};
    for (const auto& [name, value] : more) out[name] = value;
    return out;
}

std::string loadError(const Variables& variables, const std::string& path = kNoFile) {
    const auto loaded = load(variables, path);
    if (loaded.ok()) return "";
    EXPECT_EQ(loaded.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(loaded.status().message());
}

std::string serverError(const Variables& more) {
    const auto loaded = load(server(more));
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    if (!loaded.ok()) return "";
    const Status status = loaded->checkServer();
    EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
    return std::string(status.message());
}

class SettingsFile : public testing::Test {
  protected:
    SettingsFile() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dq_settings_XXXXXX").string();
        folder_ = mkdtemp(pattern.data());
    }
    ~SettingsFile() override { std::filesystem::remove_all(folder_); }
    std::string write(const std::string& text) {
        const std::string path = folder_ / "settings.yaml";
        std::ofstream(path) << text;
        return path;
    }
    std::filesystem::path folder_;
};

TEST(Settings, Acceptance01_PortsAndChainIdAreRequired) {
    EXPECT_EQ(serverError({}), "");
    for (const std::string& name : std::vector<std::string>{"PORT", "GRPC_PORT", "MON_PORT"}) {
        EXPECT_EQ(serverError({{name, "0"}}), name + " must be > 0, got 0 (missing or malformed env?)");
        EXPECT_EQ(serverError({{name, "-1"}}), name + " must be > 0, got -1 (missing or malformed env?)");
        EXPECT_EQ(serverError({{name, "65536"}}), name + " must be <= 65535, got 65536");
        EXPECT_THAT(loadError(server({{name, "abc"}})),
                    HasSubstr(name + " must be a whole number of 64 bits, got \"abc\""));
    }
    EXPECT_THAT(serverError({{"DIMO_REGISTRY_CHAIN_ID", "0"}}), HasSubstr("DIMO_REGISTRY_CHAIN_ID must be > 0, got 0"));
    EXPECT_THAT(loadError(server({{"DIMO_REGISTRY_CHAIN_ID", "-1"}})),
                HasSubstr("DIMO_REGISTRY_CHAIN_ID must be a whole number"));
    EXPECT_EQ(serverError({{"MON_PORT", "8080"}}), "PORT and MON_PORT are both 8080");
}

TEST(Settings, Acceptance02_S3EndpointOfTheLake) {
    EXPECT_EQ(load({{"S3_ENDPOINT", "http://a"}})->lakeS3Endpoint(), "http://a");
    EXPECT_EQ(load({{"S3_ENDPOINT", "http://a"}, {"DUCKDB_S3_ENDPOINT", "http://b"}})->lakeS3Endpoint(), "http://b");
    EXPECT_EQ(load({})->lakeS3Endpoint(), "");
    EXPECT_EQ(load({{"DUCKDB_S3_ENDPOINT", "http://b"}})->lakeS3Endpoint(), "http://b");
}

TEST(Settings, Acceptance03_MemoryLimitsOfTheTwoInstances) {
    const Variables both = {{"DUCKDB_MEMORY_LIMIT", "6GiB"}, {"DUCKDB_QUERY_MEMORY_LIMIT", "1GiB"}};
    EXPECT_EQ(load(both)->queryMemoryLimit(), "6GiB");
    Variables materializer = both;
    materializer["MATERIALIZER_ENABLED"] = "true";
    EXPECT_EQ(load(materializer)->queryMemoryLimit(), "1GiB");
    EXPECT_EQ(load(materializer)->decodeMemoryLimit(), "6GiB");
    materializer.erase("DUCKDB_QUERY_MEMORY_LIMIT");
    EXPECT_EQ(load(materializer)->queryMemoryLimit(), "6GiB");
    EXPECT_EQ(load(materializer)->decodeMemoryLimit(), "6GiB");
}

TEST(Settings, Acceptance04_SlowReadThresholdNeverStopsTheBoot) {
    const auto threshold = [](const char* text) {
        return load({{"DUCKDB_SLOW_READ_THRESHOLD", text}})->duckdb_slow_read_threshold;
    };
    EXPECT_EQ(threshold("3s"), 3 * kMicrosPerSecond);
    EXPECT_EQ(threshold("nope"), 1'500'000);
    EXPECT_EQ(threshold(""), 1'500'000);
    EXPECT_EQ(threshold("0"), 1'500'000);
    EXPECT_EQ(threshold("-1s"), std::nullopt);
    EXPECT_THAT(load({{"DUCKDB_SLOW_READ_THRESHOLD", "nope"}})->warnings,
                testing::ElementsAre("invalid DUCKDB_SLOW_READ_THRESHOLD \"nope\", using the default"));
    EXPECT_TRUE(load({{"DUCKDB_SLOW_READ_THRESHOLD", "3s"}})->warnings.empty());
}

TEST(Settings, Acceptance05_MaxRequestDuration) {
    EXPECT_EQ(load({{"MAX_REQUEST_DURATION", ""}})->max_request_duration, 300 * kMicrosPerSecond);
    EXPECT_EQ(load({{"MAX_REQUEST_DURATION", "30s"}})->max_request_duration, 30 * kMicrosPerSecond);
    EXPECT_EQ(load({{"MAX_REQUEST_DURATION", "1ns"}})->max_request_duration, 1);
    EXPECT_THAT(loadError({{"MAX_REQUEST_DURATION", "banana"}}), HasSubstr("couldn't parse duration \"banana\""));
    EXPECT_THAT(loadError({{"MAX_REQUEST_DURATION", "-1s"}}), HasSubstr("duration -1s was not positive"));
    EXPECT_THAT(loadError({{"MAX_REQUEST_DURATION", "0"}}), HasSubstr("duration 0 was not positive"));
}

TEST(Settings, Acceptance19_MalformedBooleansAreRefusedByName) {
    EXPECT_EQ(loadError({{"MATERIALIZER_ENABLED", "ture"}}),
              "MATERIALIZER_ENABLED must be a boolean (true or false), got \"ture\"");
    for (const char* text : {"yes", "on", "tRUE", "2", " true", "true "}) {
        EXPECT_THAT(loadError({{"ENABLE_PPROF", text}}), HasSubstr("ENABLE_PPROF must be a boolean")) << text;
    }
    for (const char* text : {"1", "t", "T", "TRUE", "true", "True"})
        EXPECT_TRUE(load({{"ENABLE_PPROF", text}})->enable_pprof) << text;
    for (const char* text : {"0", "f", "F", "FALSE", "false", "False", ""}) {
        EXPECT_FALSE(load({{"ENABLE_PPROF", text}})->enable_pprof) << text;
    }
}

TEST(Settings, NamesEveryMalformedVariableInOneMessage) {
    const std::string message = loadError({{"PORT", "http"},
                                           {"ENABLE_PPROF", "y"},
                                           {"MATERIALIZER_POLL_INTERVAL", "15"},
                                           {"MATERIALIZER_ROLLUP_INTERVAL", "x"},
                                           {"MATERIALIZER_DAILY_ROLLUP_DELAY", "1d"},
                                           {"MATERIALIZER_DAILY_ROLLUP_MODE", "maybe"},
                                           {"LAKE_DECODED_RETENTION", "365d"},
                                           {"LATEST_KV_READ_MODE", "on"},
                                           {"MATERIALIZER_DECODE_COMPAT", "Exact"},
                                           {"LOG_LEVEL", "loud"},
                                           {"VEHICLE_NFT_ADDRESS", "0x12"},
                                           {"DUCKDB_THREADS", "1.5"},
                                           {"DIMO_REGISTRY_CHAIN_ID", "99999999999999999999"},
                                           {"DUCKDB_MAX_CONNS", "9223372036854775808"}});
    for (const char* part :
         {"PORT must be a whole number of 64 bits, got \"http\"", "ENABLE_PPROF must be a boolean",
          "invalid MATERIALIZER_POLL_INTERVAL \"15\": time: missing unit in duration \"15\"",
          "invalid MATERIALIZER_ROLLUP_INTERVAL \"x\": time: invalid duration \"x\"",
          "invalid MATERIALIZER_DAILY_ROLLUP_DELAY \"1d\": time: unknown unit \"d\" in duration \"1d\"",
          "invalid MATERIALIZER_DAILY_ROLLUP_MODE \"maybe\" (off|shadow|on)", "invalid LAKE_DECODED_RETENTION \"365d\"",
          "invalid LATEST_KV_READ_MODE \"on\" (want off, shadow, or serve)",
          "invalid MATERIALIZER_DECODE_COMPAT \"Exact\" (repair|exact)", "LOG_LEVEL must be trace, debug,",
          "VEHICLE_NFT_ADDRESS must be an address of 40 hex digits", "DUCKDB_THREADS must be a whole number",
          "DIMO_REGISTRY_CHAIN_ID must be a whole number", "DUCKDB_MAX_CONNS must be a whole number"}) {
        EXPECT_THAT(message, HasSubstr(part));
    }
}

TEST(Settings, EveryRowOfTheTableIsAMemberAndEveryMemberARow) {
    std::set<std::string> rows;
    for (const SettingInfo& info : settingInfos()) {
        EXPECT_TRUE(isKnownSetting(info.name)) << info.name;
        EXPECT_TRUE(rows.insert(info.name).second) << info.name;
        EXPECT_FALSE(info.meaning.empty()) << info.name;
        const Binding* binding = findBinding(info.name);
        EXPECT_EQ(binding != nullptr && binding->is_bool, info.type == "bool") << info.name;
    }
    for (const Binding& binding : bindings()) EXPECT_TRUE(rows.contains(std::string(binding.name))) << binding.name;
    EXPECT_FALSE(isKnownSetting("PATH"));
    EXPECT_EQ(settingInfos()[0].name, "LOG_LEVEL");
    EXPECT_EQ(settingInfos()[0].default_text, "info");
}

// A text that every type of the table takes, and that is not the default.
std::string otherValue(const SettingInfo& info) {
    if (info.name == "LOG_LEVEL") return "error";
    if (info.name == "BLOB_ENCRYPTION_KEY") return "x";
    if (info.name == "MATERIALIZER_DECODE_COMPAT") return "exact";
    if (info.type == "bool") return "true";
    if (info.type == "int" || info.type == "uint64") return "77";
    if (info.type == "duration") return "77s";
    if (info.type == "enum") return "shadow";
    if (info.type == "hex address") return "0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF";
    return "other";
}

TEST(Settings, EveryVariableChangesItsOwnMember) {
    std::vector<Settings> seen = {*load({})};
    for (const SettingInfo& info : settingInfos()) {
        const auto changed = load({{info.name, otherValue(info)}});
        ASSERT_TRUE(changed.ok()) << info.name << ": " << changed.status();
        for (const Settings& other : seen) EXPECT_FALSE(*changed == other) << info.name;
        seen.push_back(*changed);
    }
}

TEST(Settings, TheDefaultsOfTheTableAreThoseOfTheProgram) {
    const Settings unset = *load({});
    int compared = 0;
    for (const SettingInfo& info : settingInfos()) {
        const std::string& text = info.default_text;
        if (text.starts_with("none") || text.starts_with("engine default") || text.starts_with("empty")) continue;
        if (text == "S3_ENDPOINT" || text == "MATERIALIZER_POLL_INTERVAL" || text == "number of CPUs") continue;
        const auto explicit_default = load({{info.name, text}});
        ASSERT_TRUE(explicit_default.ok()) << info.name << ": " << explicit_default.status();
        EXPECT_TRUE(*explicit_default == unset) << info.name << " " << text;
        ++compared;
    }
    EXPECT_GT(compared, 25);
    EXPECT_EQ(unset.rollupInterval(), 15 * kMicrosPerSecond);
    EXPECT_GE(unset.workers(), 1);
    EXPECT_EQ(unset.duckdb_max_conns, 6);
}

TEST(Settings, ZeroAndLessMeanTheDefaultWhereTheTableSaysSo) {
    const Settings unset = *load({});
    for (const char* name :
         {"DUCKDB_MAX_CONNS", "DUCKDB_THREADS", "MATERIALIZER_WORKERS", "MATERIALIZER_MAX_SNAPSHOT_SPAN"}) {
        EXPECT_TRUE(*load({{name, "0"}}) == unset) << name;
        EXPECT_TRUE(*load({{name, "-3"}}) == unset) << name;
    }
    for (const char* name : {"MATERIALIZER_POLL_INTERVAL", "MATERIALIZER_ROLLUP_INTERVAL",
                             "MATERIALIZER_DAILY_ROLLUP_DELAY", "LAKE_DECODED_RETENTION"}) {
        EXPECT_TRUE(*load({{name, "0"}}) == unset) << name;
        EXPECT_TRUE(*load({{name, "-3h"}}) == unset) << name;
    }
    EXPECT_EQ(load({{"LAKE_DECODED_RETENTION", "8760h"}})->lake_decoded_retention, 365 * kMicrosPerDay);
    EXPECT_EQ(load({{"MATERIALIZER_POLL_INTERVAL", "60s"}})->rollupInterval(), 60 * kMicrosPerSecond);
    EXPECT_EQ(load({{"MAX_CONCURRENT_REQUESTS", "-1"}})->max_concurrent_requests, -1);
    EXPECT_EQ(load({{"PORT", "+8080"}})->port, 8080);
}

TEST(Settings, ReadOnlyAndReplica) {
    Variables reader = {{"DUCKLAKE_CATALOG_DSN", "primary"}, {"DUCKLAKE_CATALOG_READ_DSN", "replica"}};
    EXPECT_EQ(load(reader)->catalogDsn(), "primary");
    reader["DUCKLAKE_READ_ONLY"] = "true";
    EXPECT_TRUE(load(reader)->readOnly());
    EXPECT_EQ(load(reader)->catalogDsn(), "replica");
    reader["MATERIALIZER_ENABLED"] = "true";
    EXPECT_FALSE(load(reader)->readOnly());
    EXPECT_EQ(load(reader)->catalogDsn(), "primary");
    EXPECT_EQ(load({{"DUCKLAKE_CATALOG_DSN", "primary"}, {"DUCKLAKE_READ_ONLY", "true"}})->catalogDsn(), "primary");
}

TEST(Settings, AddressesAreKeptInLowerCaseWithoutPrefix) {
    const std::string hex = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    EXPECT_EQ(load({{"VEHICLE_NFT_ADDRESS", "0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF"}})->vehicle_nft_address, hex);
    EXPECT_EQ(load({{"SYNTHETIC_NFT_ADDRESS", hex}})->synthetic_nft_address, hex);
    EXPECT_THAT(loadError({{"AFTERMARKET_NFT_ADDRESS", "0x" + hex.substr(1) + "g"}}),
                HasSubstr("AFTERMARKET_NFT_ADDRESS"));
}

TEST(SettingsCheck, RefusesWhatAServerCannotStartWith) {
    const std::string empty = std::string(load({})->checkServer().message());
    for (const char* part :
         {"PORT must be > 0", "GRPC_PORT must be > 0", "MON_PORT must be > 0", "DIMO_REGISTRY_CHAIN_ID must be > 0",
          "issuer url is required but was empty", "DUCKLAKE_CATALOG_DSN is empty: "}) {
        EXPECT_THAT(empty, HasSubstr(part));
    }
    for (const char* url : {"auth.example", "ftp://auth.example", "https://", "https:///path", "https://a b"}) {
        EXPECT_EQ(serverError({{"TOKEN_EXCHANGE_ISSUER_URL", url}}),
                  "TOKEN_EXCHANGE_ISSUER_URL must be an http or https URL")
            << url;
        EXPECT_EQ(serverError({{"TOKEN_EXCHANGE_JWK_KEY_SET_URL", url}}),
                  "TOKEN_EXCHANGE_JWK_KEY_SET_URL must be an http or https URL");
    }
    EXPECT_EQ(serverError({{"TOKEN_EXCHANGE_JWK_KEY_SET_URL", "http://127.0.0.1:9/keys?a=b"}}), "");
}

TEST(SettingsCheck, CacheModes) {
    using V = Variables;
    const V nats = {{"NATS_URL", "nats://n"}};
    const auto with = [&](V more) {
        more.insert(nats.begin(), nats.end());
        return serverError(more);
    };
    EXPECT_EQ(serverError({{"LATEST_KV_READ_MODE", "serve"}}), "LATEST_KV_READ_MODE=serve but NATS_URL is empty");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE", "serve"}}), "");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE_EXTENDED", "serve"}}),
              "LATEST_KV_READ_MODE_EXTENDED=serve requires LATEST_KV_READ_MODE to not be off");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE", "shadow"}, {"LATEST_KV_READ_MODE_EXTENDED", "serve"}}), "");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE", "shadow"}, {"LATEST_KV_NEGATIVE", "serve"}}),
              "LATEST_KV_NEGATIVE=serve requires LATEST_KV_READ_MODE=serve (got \"shadow\")");
    EXPECT_EQ(with({{"LATEST_KV_NEGATIVE", "shadow"}}),
              "LATEST_KV_NEGATIVE=shadow requires LATEST_KV_READ_MODE=serve (got \"off\")");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE", "serve"}, {"LATEST_KV_NEGATIVE", "serve"}}), "");
    EXPECT_EQ(serverError({{"MATERIALIZER_ENABLED", "true"}, {"LATEST_KV_WRITE_ENABLED", "true"}}),
              "LATEST_KV_WRITE_ENABLED is set but NATS_URL is empty");
    EXPECT_EQ(serverError({{"LATEST_KV_WRITE_ENABLED", "true"}}), "");
    EXPECT_EQ(with({{"LATEST_KV_READ_MODE", "serve"}, {"LATEST_KV_BUCKET", "a.b"}}),
              "LATEST_KV_BUCKET must consist of letters, digits, _ and -");
    EXPECT_EQ(load({{"LATEST_KV_BUCKET", ""}})->latest_kv_bucket, "signals-latest");
}

TEST(SettingsCheck, CoverageWithoutWritesIsIgnoredWithAWarning) {
    const Settings s = *load(server({{"MATERIALIZER_ENABLED", "true"}, {"LATEST_KV_COVERAGE", "true"}}));
    EXPECT_TRUE(s.checkServer().ok());
    EXPECT_FALSE(s.kvCoverage());
    EXPECT_EQ(s.warnings.size(), 1u);
    EXPECT_TRUE(load({{"LATEST_KV_COVERAGE", "true"}, {"LATEST_KV_WRITE_ENABLED", "true"}})->kvCoverage());
}

TEST(SettingsCheck, Sharding) {
    EXPECT_THAT(serverError({{"MATERIALIZER_ENABLED", "true"}, {"MATERIALIZER_SHARD_COUNT", "2"}}),
                HasSubstr("MATERIALIZER_SHARD_COUNT=2 is not supported"));
    EXPECT_EQ(serverError({{"MATERIALIZER_ENABLED", "true"}, {"MATERIALIZER_SHARD_COUNT", "1"}}), "");
    EXPECT_EQ(serverError({{"MATERIALIZER_SHARD_COUNT", "2"}}), "");
    EXPECT_THAT(std::string(load(server({{"MATERIALIZER_SHARD_COUNT", "2"}}))->checkDecoding().message()),
                HasSubstr("MATERIALIZER_SHARD_COUNT=2 is not supported"));
}

TEST(SettingsCheck, DecodingNeedsNoServer) {
    EXPECT_TRUE(load({{"DUCKLAKE_CATALOG_DSN", "c"}, {"DIMO_REGISTRY_CHAIN_ID", "137"}})->checkDecoding().ok());
    const std::string message = std::string(load({})->checkDecoding().message());
    EXPECT_THAT(message, HasSubstr("DUCKLAKE_CATALOG_DSN is empty"));
    EXPECT_THAT(message, HasSubstr("DIMO_REGISTRY_CHAIN_ID"));
}

TEST(SettingsCheck, BlobKeyIsStandardBase64Of32Bytes) {
    const std::string good = "//////////////////////////////////////////8=";
    EXPECT_EQ(serverError({{"BLOB_ENCRYPTION_KEY", good}}), "");
    EXPECT_EQ(load({{"BLOB_ENCRYPTION_KEY", good}})->blobKey(), std::string(32, '\xFF'));
    EXPECT_EQ(load({{"BLOB_ENCRYPTION_KEY", good + "\n"}})->blobKey(), std::string(32, '\xFF'));
    EXPECT_EQ(load({})->blobKey(), std::nullopt);
    for (const std::string& bad : {std::string("AAAA"), std::string(43, '/'), std::string(42, '_') + "8=",
                                   std::string(44, 'A'), " " + good.substr(1), std::string(42, '/') + "8."}) {
        const std::string message = serverError({{"BLOB_ENCRYPTION_KEY", bad}});
        EXPECT_EQ(message, "BLOB_ENCRYPTION_KEY must be standard base64 of exactly 32 bytes");
    }
}

TEST(SettingsCheck, MessagesShowNoSecret) {
    const std::string secret = "hunter2hunter2";
    Variables all;
    for (const SettingInfo& info : settingInfos()) {
        if (info.type.starts_with("string")) all[info.name] = secret;
    }
    all.erase("LOG_LEVEL");
    all.erase("MATERIALIZER_DECODE_COMPAT");
    const auto loaded = load(all);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    const std::string message = std::string(loaded->checkServer().message());
    EXPECT_THAT(message, HasSubstr("BLOB_ENCRYPTION_KEY"));
    EXPECT_THAT(message, HasSubstr("TOKEN_EXCHANGE_ISSUER_URL"));
    EXPECT_THAT(message, Not(HasSubstr(secret)));
}

TEST(SettingsCheck, ValuesInMessagesAreEscapedAndCut) {
    EXPECT_EQ(shown("a\n\"b"), R"("a\n\"b")");
    EXPECT_EQ(shown(std::string(100, 'x')), '"' + std::string(60, 'x') + "…\"");
}

TEST_F(SettingsFile, ValuesOfEveryType) {
    const auto s =
        load({}, write("PORT: 8080\nGRPC_PORT: \"8086\"\nENABLE_PPROF: yes\nMAX_REQUEST_DURATION: 60s\n"
                       "LATEST_KV_READ_MODE: off\nMATERIALIZER_DAILY_ROLLUP_MODE: on\nS3_AWS_REGION: # none\n"
                       "FETCH_GRPC_REQUIRE_JWT: true\nNOT_OURS: [1, 2]\n? [a, b]\n: c\n"));
    ASSERT_TRUE(s.ok()) << s.status();
    EXPECT_EQ(s->port, 8080);
    EXPECT_EQ(s->grpc_port, 8086);
    EXPECT_TRUE(s->enable_pprof);
    EXPECT_TRUE(s->fetch_grpc_require_jwt);
    EXPECT_EQ(s->max_request_duration, 60 * kMicrosPerSecond);
    EXPECT_EQ(s->latest_kv_read_mode, KvMode::kOff);
    EXPECT_EQ(s->materializer_daily_rollup_mode, DailyRollupMode::kOn);
    EXPECT_EQ(s->s3_aws_region, "");
    EXPECT_EQ(s->file_note, "");
}

TEST_F(SettingsFile, TheEnvironmentWinsEvenWhenEmpty) {
    const std::string path = write("PORT: 1\nDUCKDB_MAX_CONNS: 9\nMATERIALIZER_ENABLED: true\nS3_AWS_REGION: eu\n");
    const auto s = load({{"PORT", "2"}, {"DUCKDB_MAX_CONNS", ""}, {"MATERIALIZER_ENABLED", ""}}, path);
    ASSERT_TRUE(s.ok());
    EXPECT_EQ(s->port, 2);
    EXPECT_EQ(s->duckdb_max_conns, 6);
    EXPECT_FALSE(s->materializer_enabled);
    EXPECT_EQ(s->s3_aws_region, "eu");
    EXPECT_EQ(load({{"PORT", "2"}}, write("PORT: abc\n"))->port, 2);
}

TEST_F(SettingsFile, AMissingFileIsANote) {
    const auto s = load({}, (folder_ / "none.yaml").string());
    ASSERT_TRUE(s.ok());
    EXPECT_THAT(s->file_note, HasSubstr("none.yaml"));
    EXPECT_TRUE(load({}, write(""))->file_note.empty());
    EXPECT_TRUE(load({}, write("# nothing\n")).ok());
}

TEST_F(SettingsFile, RefusesWhatIsNoFlatMap) {
    EXPECT_THAT(loadError({}, write("PORT: [8080]\nMON_PORT: {a: 1}\n")),
                testing::AllOf(HasSubstr("PORT must be one value"), HasSubstr("MON_PORT must be one value")));
    EXPECT_THAT(loadError({}, write("- PORT\n")), HasSubstr("is not a map of settings"));
    EXPECT_THAT(loadError({}, write("just text\n")), HasSubstr("is not a map of settings"));
    EXPECT_THAT(loadError({}, write("PORT: 1\nPORT: 2\n")), HasSubstr("PORT is given twice"));
    EXPECT_THAT(loadError({}, write("PORT: abc\n")), HasSubstr("PORT must be a whole number"));
    const std::string broken = loadError({{"MON_PORT", "x"}}, write("INGEST_TOKEN: {hunter2\nPORT: hunter2\n"));
    EXPECT_THAT(broken, testing::AllOf(HasSubstr("is no valid YAML at line"), HasSubstr("MON_PORT"),
                                       Not(HasSubstr("hunter2"))));
    EXPECT_THAT(loadError({}, folder_.string()), HasSubstr("cannot be read"));
}

TEST(Settings, TheProcessEnvironment) {
    ASSERT_EQ(setenv("DQ_SETTINGS_TEST", "a", 1), 0);
    EXPECT_EQ(processEnvironment("DQ_SETTINGS_TEST"), "a");
    unsetenv("DQ_SETTINGS_TEST");
    EXPECT_EQ(processEnvironment("DQ_SETTINGS_TEST"), std::nullopt);
}

}  // namespace
}  // namespace dq::settings
