#include "app/lake_settings.h"

#include <algorithm>
#include <array>

#include "core/status.h"

namespace dq::app {

lake::LakeConfig lakeConfig(const settings::Settings& settings) {
    lake::LakeConfig config;
    config.catalog_dsn = settings.ducklake_catalog_dsn;
    config.catalog_read_dsn = settings.ducklake_catalog_read_dsn;
    config.data_path = settings.ducklake_data_path;
    config.read_only = settings.readOnly();
    config.encryption = settings.lake_encryption_enabled;
    config.memory_limit = settings.duckdb_memory_limit;
    config.query_memory_limit = settings.duckdb_query_memory_limit;
    config.temp_directory = settings.duckdb_temp_directory;
    config.extension_directory = settings.duckdb_extension_dir;
    config.threads = static_cast<int>(settings.duckdb_threads);
    config.max_connections = static_cast<int>(settings.duckdb_max_conns);
    // What the lake needs follows from where its files lie, not from where blobs lie.
    const std::array<std::string_view, 4> schemes = {"s3://", "s3a://", "gs://", "r2://"};
    config.s3.enabled = std::any_of(schemes.begin(), schemes.end(),
                                    [&](std::string_view scheme) { return config.data_path.starts_with(scheme); });
    config.s3.region = settings.s3_aws_region;
    config.s3.access_key_id = settings.s3_aws_access_key_id;
    config.s3.secret_access_key = settings.s3_aws_secret_access_key;
    config.s3.endpoint = settings.lakeS3Endpoint();
    return config;
}

decode::Options decodeOptions(const settings::Settings& settings) {
    decode::Options options;
    options.compat = settings.materializer_decode_compat == settings::DecodeCompat::kExact ? decode::Compat::kExact
                                                                                           : decode::Compat::kRepair;
    options.chain_id = settings.dimo_registry_chain_id;
    options.vehicle_address_hex = settings.vehicle_nft_address;
    return options;
}

absl::StatusOr<materialize::PayloadOptions> payloadOptions(const settings::Settings& settings) {
    blob::StoreConfig config;
    config.bucket = settings.blob_bucket;
    config.region = settings.s3_aws_region;
    config.access_key_id = settings.s3_aws_access_key_id;
    config.secret_access_key = settings.s3_aws_secret_access_key;
    config.endpoint = settings.s3_endpoint;
    materialize::PayloadOptions options;
    DQ_ASSIGN_OR_RETURN(options.store, blob::Store::open(config));
    options.sealer = blob::Sealer(settings.blobKey());
    return options;
}

materialize::MaterializerOptions materializerOptions(const settings::Settings& settings) {
    materialize::MaterializerOptions options;
    options.poll_interval = settings.materializer_poll_interval;
    options.rollup_interval = settings.rollupInterval();
    options.span.max_snapshots =
        static_cast<int>(std::clamp<std::int64_t>(settings.materializer_max_snapshot_span, 0, 1'000'000));
    options.bulk = settings.materializer_backfill_mode;
    options.retention = std::max<Micros>(0, settings.lake_decoded_retention.value_or(0));
    options.rebuild_rollups = settings.lake_rebuild_rollup_on_boot;
    options.limits.workers = settings.workers();
    return options;
}

}  // namespace dq::app
