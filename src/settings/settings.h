// The settings of a dq process: every variable of data/settings.csv as a typed value.
//
//   auto settings = loadSettings("settings.yaml", processEnvironment);
//   if (!settings.ok()) fail(settings.status());                  // names every malformed variable
//   if (Status s = settings->checkServer(); !s.ok()) fail(s);     // names everything a server cannot start with
//
// Two levels of checks. Loading refuses a value that is no value of its type, whoever reads it; checkServer() and
// checkDecoding() refuse what a role cannot work with. Each gathers all it finds in one InvalidArgument message.
// Messages quote the values of booleans, numbers, durations and enumerations only, never a key, token, DSN or URL.
//
// A value type; threads as for any such.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/log.h"
#include "core/status.h"
#include "core/time.h"

namespace dq::settings {

enum class KvMode : std::uint8_t { kOff, kShadow, kServe };
enum class DailyRollupMode : std::uint8_t { kOff, kShadow, kOn };
enum class DecodeCompat : std::uint8_t { kRepair, kExact };

// One member per variable, named like it. Durations are in µs. What a member falls back to when its variable is not set
// is its value here, or what the method of the same subject below says.
struct Settings {
    LogLevel log_level = LogLevel::kInfo;

    std::int64_t port = 0;
    std::int64_t grpc_port = 0;
    std::int64_t mon_port = 0;
    bool enable_pprof = false;
    Micros max_request_duration = 300 * kMicrosPerSecond;
    std::int64_t max_concurrent_requests_per_subject = 0;  // <= 0: no limit
    std::int64_t max_concurrent_requests = 0;              // <= 0: no limit
    std::string token_exchange_jwk_key_set_url;            // empty: discovered through the issuer
    std::string token_exchange_issuer_url;
    bool fetch_grpc_require_jwt = false;
    std::string ingest_token;  // empty: loopback callers only
    std::string identity_api_url;

    std::string blob_bucket;
    std::string blob_encryption_key;  // base64, see blobKey()
    std::string s3_aws_region;
    std::string s3_aws_access_key_id;
    std::string s3_aws_secret_access_key;
    std::string s3_endpoint;

    std::string ducklake_catalog_dsn;
    std::string ducklake_data_path;
    bool lake_encryption_enabled = false;
    bool ducklake_read_only = false;        // see readOnly()
    std::string ducklake_catalog_read_dsn;  // see catalogDsn()

    std::string duckdb_memory_limit;  // see queryMemoryLimit(), decodeMemoryLimit()
    std::string duckdb_query_memory_limit;
    std::int64_t duckdb_threads = 0;  // 0: the engine's default
    std::string duckdb_extension_dir;
    std::string duckdb_temp_directory;
    std::int64_t duckdb_max_conns = 6;
    bool duckdb_profile_reads = false;
    std::optional<Micros> duckdb_slow_read_threshold = 1'500'000;  // absent: no line is logged
    std::string duckdb_s3_endpoint;                                // see lakeS3Endpoint()

    bool materializer_enabled = false;
    Micros materializer_poll_interval = 15 * kMicrosPerSecond;
    std::int64_t materializer_workers = 0;               // 0: see workers()
    std::optional<Micros> materializer_rollup_interval;  // absent: see rollupInterval()
    bool materializer_backfill_mode = false;
    std::int64_t materializer_max_snapshot_span = 0;  // 0: spans grow with the backlog
    DailyRollupMode materializer_daily_rollup_mode = DailyRollupMode::kOff;
    Micros materializer_daily_rollup_delay = 12'600 * kMicrosPerSecond;
    std::int64_t materializer_shard_count = 0;
    DecodeCompat materializer_decode_compat = DecodeCompat::kRepair;
    bool materializer_quality_metrics = false;
    std::optional<Micros> lake_decoded_retention;  // absent: rows are kept for ever
    bool lake_rebuild_rollup_on_boot = false;
    bool lake_rollup_daily_serving = false;

    std::string nats_url;
    bool latest_kv_write_enabled = false;
    std::string latest_kv_bucket = "signals-latest";
    KvMode latest_kv_read_mode = KvMode::kOff;
    KvMode latest_kv_read_mode_extended = KvMode::kOff;
    KvMode latest_kv_negative = KvMode::kOff;
    bool latest_kv_coverage = false;
    bool latest_kv_force_bootstrap = false;

    std::uint64_t dimo_registry_chain_id = 0;
    std::string
        vehicle_nft_address;  // 40 lower-case hex digits without 0x, or empty for the zero address; so the next two
    std::string aftermarket_nft_address;
    std::string synthetic_nft_address;

    std::string file_note;              // plain line for stdout when there was no settings file; else empty
    std::vector<std::string> warnings;  // for the log, once the log level is set

    // What a server with these settings needs before it opens anything.
    Status checkServer() const;
    // What every writer of decoded rows needs: the materializer, a backfill, a repair. Part of checkServer().
    Status checkDecoding() const;

    // The materializer's process also holds an idle query instance, which DUCKDB_QUERY_MEMORY_LIMIT bounds.
    const std::string& queryMemoryLimit() const;
    const std::string& decodeMemoryLimit() const { return duckdb_memory_limit; }
    // DUCKDB_S3_ENDPOINT, else S3_ENDPOINT.
    const std::string& lakeS3Endpoint() const;
    // DUCKLAKE_READ_ONLY, which a materializer cannot be.
    bool readOnly() const { return ducklake_read_only && !materializer_enabled; }
    // The catalog to attach: the replica when the attach is read-only and there is one.
    const std::string& catalogDsn() const;
    Micros rollupInterval() const { return materializer_rollup_interval.value_or(materializer_poll_interval); }
    // MATERIALIZER_WORKERS, else the number of CPUs; at least 1.
    int workers() const;
    // Coverage is asserted by the writer of the cache only.
    bool kvCoverage() const { return latest_kv_coverage && latest_kv_write_enabled; }
    // The 32 bytes of BLOB_ENCRYPTION_KEY; nullopt when it is empty or, which the checks refuse, no such key.
    std::optional<std::string> blobKey() const;

    bool operator==(const Settings&) const = default;
};

// Value of a variable, nullopt when it does not exist.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
std::optional<std::string> processEnvironment(const std::string& name);

// The file's values (flat YAML: one key per variable, unknown keys ignored), replaced by those of the environment
// wherever a variable exists there. An empty value counts as not set, also over the file's. A missing file is fine
// (file_note); one that is not readable, no flat YAML, or gives a variable twice is refused.
StatusOr<Settings> loadSettings(const std::string& yaml_path, const Environment& environment);

// A row of data/settings.csv, which is part of the binary.
struct SettingInfo {
    std::string name, type, default_text, used_by, meaning;
};
std::span<const SettingInfo> settingInfos();
// Is it a variable that loadSettings reads?
bool isKnownSetting(std::string_view name);

}  // namespace dq::settings
