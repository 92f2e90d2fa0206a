#include "lake/temp_lake_testing.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/hash.h"
#include "core/text.h"

namespace dq::lake {
namespace {

const char* server() { return std::getenv("DQ_TEST_POSTGRES_DSN"); }

void psql(const std::string& command) {
    const std::string text =
        strCat("psql --quiet --no-psqlrc --dbname=\"", server(), "\" --command='", command, "' >/dev/null");
    ASSERT_EQ(std::system(text.c_str()), 0) << command;
}

}  // namespace

std::string catalogName(const testing::TestParamInfo<CatalogKind>& run) {
    return run.param == CatalogKind::kFile ? "File" : "Postgres";
}

bool TempLake::unavailable(CatalogKind kind) { return kind == CatalogKind::kPostgres && server() == nullptr; }

TempLake::TempLake(CatalogKind kind) : kind_(kind) {
    std::string pattern = (std::filesystem::temp_directory_path() / "dq-lake-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    if (kind == CatalogKind::kPostgres) {
        static std::atomic<int> count{0};
        database_ = strCat("dq_lake_", getpid(), "_", ++count);
        psql(strCat("CREATE DATABASE ", database_));
    }
}

TempLake::~TempLake() {
    close();
    if (!database_.empty()) psql(strCat("DROP DATABASE ", database_, " WITH (FORCE)"));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

LakeConfig TempLake::config() const {
    LakeConfig config;
    config.catalog_dsn =
        kind_ == CatalogKind::kFile ? folder_ + "/catalog.ducklake" : strCat(server(), " dbname=", database_);
    config.data_path = folder_ + "/data";
    if (const char* dir = std::getenv("DUCKDB_EXTENSION_DIR")) config.extension_directory = dir;
    return config;
}

Lakes& TempLake::lakes() {
    if (lakes_ == nullptr) {
        auto opened = Lakes::open(config(), /*writer=*/true);
        if (!opened.ok()) {
            ADD_FAILURE() << opened.status();
            std::abort();
        }
        lakes_ = std::move(*opened);
    }
    return *lakes_;
}

std::vector<std::string> TempLake::rows(const std::string& sql) {
    std::vector<std::string> out;
    auto connection = lakes().writer().acquire();
    EXPECT_TRUE(connection.ok()) << connection.status();
    auto wrapped =
        (*connection)
            ->query(strCat("SELECT concat_ws('|', *COLUMNS(*)) FROM (SELECT coalesce(COLUMNS(*)::VARCHAR, '-') FROM (",
                           sql, "))"));
    EXPECT_TRUE(wrapped.ok()) << wrapped.status() << "\n" << sql;
    if (!wrapped.ok()) return out;
    while (true) {
        auto chunk = wrapped->next();
        EXPECT_TRUE(chunk.ok()) << chunk.status();
        if (!chunk.ok() || !chunk->has_value()) return out;
        for (idx_t row = 0; row < (*chunk)->size(); ++row) out.emplace_back((*chunk)->strings(0)[row]);
    }
}

std::string TempLake::value(const std::string& sql) {
    const auto all = rows(sql);
    return all.empty() ? "" : all.front();
}

std::int64_t TempLake::number(const std::string& sql) { return std::strtoll(value(sql).c_str(), nullptr, 10); }

void TempLake::run(const std::string& sql) {
    auto connection = lakes().writer().acquire();
    ASSERT_TRUE(connection.ok()) << connection.status();
    const auto outcome = (*connection)->execute(sql);
    ASSERT_TRUE(outcome.ok()) << outcome.status() << "\n" << sql;
}

std::string subjectOf(int vehicle) {
    return strCat("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:", vehicle);
}

cloudevent::Row payloadRow(int vehicle, const std::string& type, const std::string& id, Micros time,
                           const std::string& payload) {
    cloudevent::Row row;
    row.subject = subjectOf(vehicle);
    row.time = time;
    row.type = type;
    row.id = id;
    row.source = "0x5555555555555555555555555555555555555555";
    row.producer = strCat("did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:", vehicle);
    row.data_content_type = "application/json";
    row.data_version = "default/v1.0";
    row.extras = "{}";
    row.data = payload;
    return row;
}

cloudevent::Row statusRow(int vehicle, const std::string& id, Micros time, const std::string& name, double value) {
    return payloadRow(vehicle, "dimo.status", id, time,
                      strCat(R"({"signals":[{"name":")", name, R"(","timestamp":")", formatRfc3339(time),
                             R"(","value":)", value, "}]}"));
}

}  // namespace dq::lake
