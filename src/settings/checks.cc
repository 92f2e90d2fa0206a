#include <absl/strings/str_join.h>
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "settings/parse.h"
#include "settings/settings.h"

namespace dq::settings {
namespace {

using Problems = std::vector<std::string>;

std::string_view modeName(KvMode mode) {
    switch (mode) {
        case KvMode::kOff: return "off";
        case KvMode::kShadow: return "shadow";
        case KvMode::kServe: return "serve";
    }
    return "";
}

std::string assigned(std::string_view name, KvMode mode) { return fmt::format("{}={}", name, modeName(mode)); }

Status refusal(const Problems& problems) {
    if (problems.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrJoin(problems, "; "));
}

// Scheme, then a host: enough to tell an address from a slip. The text may hold a password and is not shown.
bool looksLikeHttpUrl(std::string_view url) {
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!url.starts_with(scheme)) continue;
        url.remove_prefix(scheme.size());
        const bool has_host =
            !url.empty() && url.front() != '/' && url.front() != '?' && url.front() != '#' && url.front() != ':';
        return has_host && std::none_of(url.begin(), url.end(), [](char c) {
                   return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F || c == '"' || c == '<' || c == '>' ||
                          c == '\\';
               });
    }
    return false;
}

void checkPorts(const Settings& s, Problems& out) {
    const std::pair<std::string_view, std::int64_t> ports[] = {
        {"PORT", s.port}, {"GRPC_PORT", s.grpc_port}, {"MON_PORT", s.mon_port}};
    for (const auto& [name, port] : ports) {
        if (port <= 0) {
            out.push_back(fmt::format("{} must be > 0, got {} (missing or malformed env?)", name, port));
        } else if (port > 65'535) {
            out.push_back(fmt::format("{} must be <= 65535, got {}", name, port));
        }
        for (const auto& [other, other_port] : ports) {
            if (other == name) break;
            if (port > 0 && port == other_port) out.push_back(fmt::format("{} and {} are both {}", other, name, port));
        }
    }
}

void checkTokens(const Settings& s, Problems& out) {
    if (s.token_exchange_issuer_url.empty()) {
        out.emplace_back("TOKEN_EXCHANGE_ISSUER_URL: issuer url is required but was empty");
    } else if (!looksLikeHttpUrl(s.token_exchange_issuer_url)) {
        out.emplace_back("TOKEN_EXCHANGE_ISSUER_URL must be an http or https URL");
    }
    if (!s.token_exchange_jwk_key_set_url.empty() && !looksLikeHttpUrl(s.token_exchange_jwk_key_set_url)) {
        out.emplace_back("TOKEN_EXCHANGE_JWK_KEY_SET_URL must be an http or https URL");
    }
}

void checkCache(const Settings& s, Problems& out) {
    constexpr std::string_view kMode = "LATEST_KV_READ_MODE";
    const KvMode mode = s.latest_kv_read_mode;
    if (mode == KvMode::kOff && s.latest_kv_read_mode_extended != KvMode::kOff) {
        out.push_back(assigned("LATEST_KV_READ_MODE_EXTENDED", s.latest_kv_read_mode_extended) +
                      " requires LATEST_KV_READ_MODE to not be off");
    }
    if (mode != KvMode::kServe && s.latest_kv_negative != KvMode::kOff) {
        out.push_back(assigned("LATEST_KV_NEGATIVE", s.latest_kv_negative) +
                      " requires LATEST_KV_READ_MODE=serve (got " + shown(modeName(mode)) + ")");
    }
    if (mode != KvMode::kOff && s.nats_url.empty()) out.push_back(assigned(kMode, mode) + " but NATS_URL is empty");
    const bool writes = s.materializer_enabled && s.latest_kv_write_enabled;
    if (writes && s.nats_url.empty()) out.emplace_back("LATEST_KV_WRITE_ENABLED is set but NATS_URL is empty");
    const bool valid_bucket = std::all_of(s.latest_kv_bucket.begin(), s.latest_kv_bucket.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    });
    if ((writes || mode != KvMode::kOff) && !valid_bucket) {
        out.emplace_back("LATEST_KV_BUCKET must consist of letters, digits, _ and -");
    }
}

// What every process that opens the lake needs.
void checkLake(const Settings& s, Problems& out) {
    if (s.ducklake_catalog_dsn.empty()) {
        out.emplace_back(
            "DUCKLAKE_CATALOG_DSN is empty: it names the lake's catalog, a PostgreSQL connection string or a file");
    }
    if (s.dimo_registry_chain_id == 0) {
        out.emplace_back("DIMO_REGISTRY_CHAIN_ID must be > 0, got 0 (missing or malformed env?)");
    }
    if (!s.blob_encryption_key.empty() && !s.blobKey()) {
        out.emplace_back("BLOB_ENCRYPTION_KEY must be standard base64 of exactly 32 bytes");
    }
}

void checkShards(const Settings& s, Problems& out) {
    if (s.materializer_shard_count <= 1) return;
    out.push_back(
        fmt::format("MATERIALIZER_SHARD_COUNT={} is not supported: one process decodes a lake, others stand by",
                    s.materializer_shard_count));
}

}  // namespace

Status Settings::checkServer() const {
    Problems problems;
    checkPorts(*this, problems);
    checkTokens(*this, problems);
    checkLake(*this, problems);
    checkCache(*this, problems);
    if (materializer_enabled) checkShards(*this, problems);
    return refusal(problems);
}

Status Settings::checkDecoding() const {
    Problems problems;
    checkLake(*this, problems);
    checkShards(*this, problems);
    return refusal(problems);
}

const std::string& Settings::queryMemoryLimit() const {
    return materializer_enabled && !duckdb_query_memory_limit.empty() ? duckdb_query_memory_limit : duckdb_memory_limit;
}

const std::string& Settings::lakeS3Endpoint() const {
    return duckdb_s3_endpoint.empty() ? s3_endpoint : duckdb_s3_endpoint;
}

const std::string& Settings::catalogDsn() const {
    return readOnly() && !ducklake_catalog_read_dsn.empty() ? ducklake_catalog_read_dsn : ducklake_catalog_dsn;
}

int Settings::workers() const {
    constexpr std::int64_t kMost = 1'024;
    if (materializer_workers > 0) return static_cast<int>(std::min(materializer_workers, kMost));
    return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

std::optional<std::string> Settings::blobKey() const { return decodeBlobKey(blob_encryption_key); }

}  // namespace dq::settings
