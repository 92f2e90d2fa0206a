#include "lake/attach.h"

#include <absl/strings/match.h>
#include <absl/strings/str_join.h>

#include <filesystem>

#include "core/text.h"
#include "engine/value.h"

namespace dq::lake {
namespace {

using engine::quoteLiteral;

constexpr std::string_view kEngineVersion = "v1.5.5";

}  // namespace

CatalogKind catalogKind(std::string_view dsn) {
    const bool postgres = dsn.starts_with("postgres://") || dsn.starts_with("postgresql://") ||
                          contains(dsn, "host=") || contains(dsn, "dbname=");
    return postgres ? CatalogKind::kPostgres : CatalogKind::kFile;
}

std::string withConnectTimeout(std::string_view dsn) {
    if (catalogKind(dsn) == CatalogKind::kFile || contains(dsn, "connect_timeout")) return std::string(dsn);
    if (dsn.starts_with("postgres://") || dsn.starts_with("postgresql://")) {
        return strCat(dsn, contains(dsn, "?") ? "&" : "?", "connect_timeout=10");
    }
    return strCat(dsn, " connect_timeout=10");
}

std::string effectiveDsn(const LakeConfig& config) {
    const bool replica = config.read_only && !config.catalog_read_dsn.empty();
    return withConnectTimeout(replica ? config.catalog_read_dsn : config.catalog_dsn);
}

std::string loadStatement(std::string_view extension_directory, std::string_view name) {
    if (!extension_directory.empty()) {
        const std::filesystem::path dir{std::string(extension_directory)};
        const std::string file = strCat(name, ".duckdb_extension");
        for (const auto& candidate : {dir / file, dir / std::string(kEngineVersion) / "linux_amd64" / file}) {
            std::error_code ignored;
            if (std::filesystem::exists(candidate, ignored)) return strCat("LOAD ", quoteLiteral(candidate.string()));
        }
    }
    return strCat("LOAD ", name);
}

std::string defaultExtensionDirectory() {
    std::error_code error;
    const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return "";
    const auto beside = executable.parent_path() / "extensions";
    return std::filesystem::exists(beside, error) ? beside.string() : "";
}

std::string attachLakeStatement(const LakeConfig& config) {
    const std::string dsn = effectiveDsn(config);
    const bool postgres = catalogKind(dsn) == CatalogKind::kPostgres;
    std::vector<std::string> options;
    if (!config.data_path.empty()) options.push_back(strCat("DATA_PATH ", quoteLiteral(config.data_path)));
    if (config.encryption && !config.read_only) options.push_back("ENCRYPTED");
    if (config.read_only) options.push_back("READ_ONLY");
    options.push_back("DATA_INLINING_ROW_LIMIT 0");
    return strCat("ATTACH IF NOT EXISTS ", quoteLiteral(strCat(postgres ? "ducklake:postgres:" : "ducklake:", dsn)),
                  " AS lake (", absl::StrJoin(options, ", "), ")");
}

std::string attachMetaStatement(const LakeConfig& config) {
    const std::string dsn = effectiveDsn(config);
    if (catalogKind(dsn) == CatalogKind::kPostgres) {
        return strCat("ATTACH IF NOT EXISTS ", quoteLiteral(dsn), " AS meta (TYPE postgres",
                      config.read_only ? ", READ_ONLY)" : ")");
    }
    return strCat("ATTACH IF NOT EXISTS ", quoteLiteral(dsn + ".progress.db"), " AS meta",
                  config.read_only ? " (READ_ONLY)" : "");
}

std::string createSecretStatement(const S3Config& s3) {
    std::string text = "CREATE OR REPLACE SECRET dq_s3 (TYPE s3";
    if (!s3.access_key_id.empty()) {
        strAppend(&text, ", KEY_ID ", quoteLiteral(s3.access_key_id), ", SECRET ", quoteLiteral(s3.secret_access_key));
    } else {
        strAppend(&text, ", PROVIDER credential_chain");
    }
    if (!s3.region.empty()) strAppend(&text, ", REGION ", quoteLiteral(s3.region));
    if (!s3.endpoint.empty()) {
        std::string_view host = s3.endpoint;
        const bool plain = host.starts_with("http://");
        if (plain) host.remove_prefix(7);
        if (host.starts_with("https://")) host.remove_prefix(8);
        strAppend(&text, ", ENDPOINT ", quoteLiteral(host), ", URL_STYLE 'path', USE_SSL ", plain ? "false" : "true");
    }
    return text + ")";
}

std::vector<BootstrapStatement> bootstrapStatements(const LakeConfig& config, bool query_side, bool writer_process) {
    std::vector<BootstrapStatement> out;
    auto once = [&](std::string text) { out.push_back({std::move(text), false, false}); };
    const bool file = catalogKind(config.catalog_dsn) == CatalogKind::kFile;
    // On a file catalog both sides share one instance, and so one limit.
    const bool own_limit = query_side && writer_process && !file && !config.query_memory_limit.empty();
    const std::string& limit = own_limit ? config.query_memory_limit : config.memory_limit;
    if (!limit.empty()) once(strCat("SET memory_limit = ", quoteLiteral(limit)));
    if (config.threads > 0) once(strCat("SET threads = ", config.threads));
    if (!config.temp_directory.empty()) {
        out.push_back({strCat("SET temp_directory = ", quoteLiteral(config.temp_directory)), false, true});
    }
    once("SET enable_object_cache = true");
    out.push_back({"SET parquet_metadata_cache = true", true, false});
    once("SET preserve_insertion_order = false");
    out.push_back({"SET TimeZone = 'UTC'", true, false});
    const std::string dir =
        config.extension_directory.empty() ? defaultExtensionDirectory() : config.extension_directory;
    if (!dir.empty()) once(strCat("SET extension_directory = ", quoteLiteral(dir)));
    if (config.s3.enabled) {
        once(loadStatement(dir, "httpfs"));
        once(loadStatement(dir, "aws"));
        once(createSecretStatement(config.s3));
    }
    once(loadStatement(dir, "ducklake"));
    if (!file) once(loadStatement(dir, "postgres_scanner"));
    if (!config.read_only) {
        // A commit that only lost the race for the next snapshot id is repeated by the extension itself; with a
        // growing backoff 100 tries would take hours, so the wait stays constant.
        once("SET ducklake_max_retry_count = 100");
        once("SET ducklake_retry_backoff = 1.0");
    }
    once(attachLakeStatement(config));
    once(attachMetaStatement(config));
    return out;
}

}  // namespace dq::lake
