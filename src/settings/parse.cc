#include "settings/parse.h"

#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>
#include <fmt/format.h>

#include <charconv>
#include <type_traits>

namespace dq::settings {
namespace {

using Problem = std::optional<std::string>;

std::string named(std::string_view name, std::string_view rule, std::string_view value) {
    return fmt::format("{}{}, got {}", name, rule, shown(value));
}

template <auto Member>
Problem setText(std::string_view, const std::string& text, Settings& out) {
    out.*Member = text;
    return std::nullopt;
}

template <auto Member>
Problem setBool(std::string_view name, const std::string& text, Settings& out) {
    for (const char* yes : {"1", "t", "T", "TRUE", "true", "True"}) {
        if (text == yes) {
            out.*Member = true;
            return std::nullopt;
        }
    }
    for (const char* no : {"0", "f", "F", "FALSE", "false", "False"}) {
        if (text == no) {
            out.*Member = false;
            return std::nullopt;
        }
    }
    return named(name, " must be a boolean (true or false)", text);
}

// Decimal with an optional sign, within the range of the member's type.
template <typename Number>
bool parseNumber(std::string_view text, Number& out) {
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return error == std::errc() && end == text.data() + text.size();
}

template <auto Member>
Problem setNumber(std::string_view name, const std::string& text, Settings& out) {
    std::remove_reference_t<decltype(out.*Member)> number = 0;
    if (!parseNumber(text, number)) {
        return named(name,
                     std::is_unsigned_v<decltype(number)> ? " must be a whole number from 0 to 18446744073709551615"
                                                          : " must be a whole number of 64 bits",
                     text);
    }
    out.*Member = number;
    return std::nullopt;
}

// A number for which 0 and less mean the default.
template <auto Member>
Problem setPositive(std::string_view name, const std::string& text, Settings& out) {
    const std::int64_t fallback = out.*Member;
    Problem problem = setNumber<Member>(name, text, out);
    if (out.*Member <= 0) out.*Member = fallback;
    return problem;
}

// Whole µs of a duration; one that is not 0 keeps its sign below 1 µs.
Micros microsOf(std::int64_t nanos) {
    const Micros micros = nanos / 1000;
    return micros != 0 ? micros : (nanos > 0) - (nanos < 0);
}

// A duration for which 0 and less mean the default.
template <auto Member>
Problem setDuration(std::string_view name, const std::string& text, Settings& out) {
    const auto nanos = parseGoDuration(text);
    if (!nanos.ok()) {
        return fmt::format("invalid {} {}: {}", name, shown(text), stdView(nanos.status().message()));
    }
    if (*nanos > 0) out.*Member = microsOf(*nanos);
    return std::nullopt;
}

Problem setMaxRequestDuration(std::string_view name, const std::string& text, Settings& out) {
    const auto nanos = parseGoDuration(text);
    if (!nanos.ok()) return fmt::format("{}: couldn't parse duration {}", name, shown(text));
    if (*nanos <= 0) return fmt::format("{}: duration {} was not positive", name, text);
    out.max_request_duration = microsOf(*nanos);
    return std::nullopt;
}

// Never refused: a mistake in a threshold of the log is no reason not to serve.
Problem setSlowReadThreshold(std::string_view name, const std::string& text, Settings& out) {
    const auto nanos = parseGoDuration(text);
    if (!nanos.ok()) {
        out.warnings.push_back(fmt::format("invalid {} {}, using the default", name, shown(text)));
    } else if (*nanos < 0) {
        out.duckdb_slow_read_threshold = std::nullopt;
    } else if (*nanos > 0) {
        out.duckdb_slow_read_threshold = microsOf(*nanos);
    }
    return std::nullopt;
}

Problem setLogLevel(std::string_view name, const std::string& text, Settings& out) {
    if (parseLogLevel(text, out.log_level)) return std::nullopt;
    return named(name, " must be trace, debug, info, warn, error, fatal, panic, disabled or one of -1 to 5 and 7",
                 text);
}

template <auto Member>
Problem setKvMode(std::string_view name, const std::string& text, Settings& out) {
    if (text == "off") {
        out.*Member = KvMode::kOff;
    } else if (text == "shadow") {
        out.*Member = KvMode::kShadow;
    } else if (text == "serve") {
        out.*Member = KvMode::kServe;
    } else {
        return fmt::format("invalid {} {} (want off, shadow, or serve)", name, shown(text));
    }
    return std::nullopt;
}

Problem setDailyMode(std::string_view name, const std::string& text, Settings& out) {
    auto& mode = out.materializer_daily_rollup_mode;
    if (text == "off") {
        mode = DailyRollupMode::kOff;
    } else if (text == "shadow") {
        mode = DailyRollupMode::kShadow;
    } else if (text == "on") {
        mode = DailyRollupMode::kOn;
    } else {
        return fmt::format("invalid {} {} (off|shadow|on)", name, shown(text));
    }
    return std::nullopt;
}

Problem setDecodeCompat(std::string_view name, const std::string& text, Settings& out) {
    if (text != "repair" && text != "exact") return fmt::format("invalid {} {} (repair|exact)", name, shown(text));
    out.materializer_decode_compat = text == "repair" ? DecodeCompat::kRepair : DecodeCompat::kExact;
    return std::nullopt;
}

template <auto Member>
Problem setAddress(std::string_view name, const std::string& text, Settings& out) {
    std::string hex = absl::AsciiStrToLower(text);
    if (hex.starts_with("0x")) hex.erase(0, 2);
    if (hex.size() != 40 || hex.find_first_not_of("0123456789abcdef") != std::string::npos) {
        return fmt::format("{} must be an address of 40 hex digits", name);
    }
    (out.*Member).assign(hex);
    return std::nullopt;
}

template <auto Member>
constexpr Binding boolean(std::string_view name) {
    return {name, setBool<Member>, true};
}

using S = Settings;
constexpr Binding kBindings[] = {
    {"LOG_LEVEL", setLogLevel},
    {"PORT", setNumber<&S::port>},
    {"GRPC_PORT", setNumber<&S::grpc_port>},
    {"MON_PORT", setNumber<&S::mon_port>},
    boolean<&S::enable_pprof>("ENABLE_PPROF"),
    {"MAX_REQUEST_DURATION", setMaxRequestDuration},
    {"MAX_CONCURRENT_REQUESTS_PER_SUBJECT", setNumber<&S::max_concurrent_requests_per_subject>},
    {"MAX_CONCURRENT_REQUESTS", setNumber<&S::max_concurrent_requests>},
    {"TOKEN_EXCHANGE_JWK_KEY_SET_URL", setText<&S::token_exchange_jwk_key_set_url>},
    {"TOKEN_EXCHANGE_ISSUER_URL", setText<&S::token_exchange_issuer_url>},
    boolean<&S::fetch_grpc_require_jwt>("FETCH_GRPC_REQUIRE_JWT"),
    {"INGEST_TOKEN", setText<&S::ingest_token>},
    {"IDENTITY_API_URL", setText<&S::identity_api_url>},
    {"BLOB_BUCKET", setText<&S::blob_bucket>},
    {"BLOB_ENCRYPTION_KEY", setText<&S::blob_encryption_key>},
    {"S3_AWS_REGION", setText<&S::s3_aws_region>},
    {"S3_AWS_ACCESS_KEY_ID", setText<&S::s3_aws_access_key_id>},
    {"S3_AWS_SECRET_ACCESS_KEY", setText<&S::s3_aws_secret_access_key>},
    {"S3_ENDPOINT", setText<&S::s3_endpoint>},
    {"DUCKLAKE_CATALOG_DSN", setText<&S::ducklake_catalog_dsn>},
    {"DUCKLAKE_DATA_PATH", setText<&S::ducklake_data_path>},
    boolean<&S::lake_encryption_enabled>("LAKE_ENCRYPTION_ENABLED"),
    boolean<&S::ducklake_read_only>("DUCKLAKE_READ_ONLY"),
    {"DUCKLAKE_CATALOG_READ_DSN", setText<&S::ducklake_catalog_read_dsn>},
    {"DUCKDB_MEMORY_LIMIT", setText<&S::duckdb_memory_limit>},
    {"DUCKDB_QUERY_MEMORY_LIMIT", setText<&S::duckdb_query_memory_limit>},
    {"DUCKDB_THREADS", setPositive<&S::duckdb_threads>},
    {"DUCKDB_EXTENSION_DIR", setText<&S::duckdb_extension_dir>},
    {"DUCKDB_TEMP_DIRECTORY", setText<&S::duckdb_temp_directory>},
    {"DUCKDB_MAX_CONNS", setPositive<&S::duckdb_max_conns>},
    boolean<&S::duckdb_profile_reads>("DUCKDB_PROFILE_READS"),
    {"DUCKDB_SLOW_READ_THRESHOLD", setSlowReadThreshold},
    {"DUCKDB_S3_ENDPOINT", setText<&S::duckdb_s3_endpoint>},
    boolean<&S::materializer_enabled>("MATERIALIZER_ENABLED"),
    {"MATERIALIZER_POLL_INTERVAL", setDuration<&S::materializer_poll_interval>},
    {"MATERIALIZER_WORKERS", setPositive<&S::materializer_workers>},
    {"MATERIALIZER_ROLLUP_INTERVAL", setDuration<&S::materializer_rollup_interval>},
    boolean<&S::materializer_backfill_mode>("MATERIALIZER_BACKFILL_MODE"),
    {"MATERIALIZER_MAX_SNAPSHOT_SPAN", setPositive<&S::materializer_max_snapshot_span>},
    {"MATERIALIZER_DAILY_ROLLUP_MODE", setDailyMode},
    {"MATERIALIZER_DAILY_ROLLUP_DELAY", setDuration<&S::materializer_daily_rollup_delay>},
    {"MATERIALIZER_SHARD_COUNT", setNumber<&S::materializer_shard_count>},
    {"MATERIALIZER_DECODE_COMPAT", setDecodeCompat},
    boolean<&S::materializer_quality_metrics>("MATERIALIZER_QUALITY_METRICS"),
    {"LAKE_DECODED_RETENTION", setDuration<&S::lake_decoded_retention>},
    boolean<&S::lake_rebuild_rollup_on_boot>("LAKE_REBUILD_ROLLUP_ON_BOOT"),
    boolean<&S::lake_rollup_daily_serving>("LAKE_ROLLUP_DAILY_SERVING"),
    {"NATS_URL", setText<&S::nats_url>},
    boolean<&S::latest_kv_write_enabled>("LATEST_KV_WRITE_ENABLED"),
    {"LATEST_KV_BUCKET", setText<&S::latest_kv_bucket>},
    {"LATEST_KV_READ_MODE", setKvMode<&S::latest_kv_read_mode>},
    {"LATEST_KV_READ_MODE_EXTENDED", setKvMode<&S::latest_kv_read_mode_extended>},
    {"LATEST_KV_NEGATIVE", setKvMode<&S::latest_kv_negative>},
    boolean<&S::latest_kv_coverage>("LATEST_KV_COVERAGE"),
    boolean<&S::latest_kv_force_bootstrap>("LATEST_KV_FORCE_BOOTSTRAP"),
    {"DIMO_REGISTRY_CHAIN_ID", setNumber<&S::dimo_registry_chain_id>},
    {"VEHICLE_NFT_ADDRESS", setAddress<&S::vehicle_nft_address>},
    {"AFTERMARKET_NFT_ADDRESS", setAddress<&S::aftermarket_nft_address>},
    {"SYNTHETIC_NFT_ADDRESS", setAddress<&S::synthetic_nft_address>},
};

}  // namespace

std::span<const Binding> bindings() { return kBindings; }

const Binding* findBinding(std::string_view name) {
    for (const Binding& binding : kBindings) {
        if (binding.name == name) return &binding;
    }
    return nullptr;
}

std::string shown(std::string_view value) {
    constexpr std::size_t kLongest = 60;
    const bool cut = value.size() > kLongest;
    return fmt::format("\"{}{}\"", absl::CHexEscape(abslView(value.substr(0, kLongest))), cut ? "…" : "");
}

std::optional<std::string> decodeBlobKey(std::string_view base64) {
    std::string text;
    for (char c : base64) {
        if (c != '\r' && c != '\n') text += c;
    }
    std::optional<std::string> bytes(std::in_place);
    // 32 bytes are 43 characters and one of padding; the decoder alone would take unpadded text and blanks.
    if (text.size() != 44 || text.back() != '=' || text.find_first_of(" \t\f\v.") != std::string::npos)
        return std::nullopt;
    if (!absl::Base64Unescape(text, &*bytes) || bytes->size() != 32) return std::nullopt;
    return bytes;
}

}  // namespace dq::settings
