#include "engine/engine_testing.h"

#include <unistd.h>

#include <cstdlib>

namespace dq::engine::testing {

TempFolder::TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dq_engine_XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    path_ = pattern;
}

TempFolder::~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::shared_ptr<Database> openDatabase() {
    auto database = Database::open();
    EXPECT_TRUE(database.ok()) << database.status();
    return *database;
}

Connection connectTo(const std::shared_ptr<Database>& database) {
    auto connection = database->connect();
    EXPECT_TRUE(connection.ok()) << connection.status();
    return *std::move(connection);
}

void must(Connection& connection, const Sql& sql) {
    auto done = connection.execute(sql);
    ASSERT_TRUE(done.ok()) << sql.text << ": " << done.status();
}

absl::Status failureOf(Connection& connection, const Sql& sql) {
    auto done = connection.execute(sql);
    EXPECT_FALSE(done.ok()) << sql.text;
    return done.status();
}

std::vector<std::string> texts(Connection& connection, const Sql& sql) {
    std::vector<std::string> out;
    auto result = connection.query(Sql{"SELECT CAST(COLUMNS(*) AS VARCHAR) FROM (" + sql.text + ")", sql.binds});
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return out;
    while (true) {
        auto chunk = result->next();
        EXPECT_TRUE(chunk.ok()) << chunk.status();
        if (!chunk.ok() || !*chunk) return out;
        Column<std::string_view> column = (*chunk)->strings(0);
        for (idx_t row = 0; row < (*chunk)->size(); ++row) out.emplace_back(column.valid(row) ? column[row] : "NULL");
    }
}

std::int64_t number(Connection& connection, std::string query) {
    std::vector<std::string> rows = texts(connection, std::move(query));
    EXPECT_EQ(rows.size(), 1U);
    return rows.empty() ? -1 : std::stoll(rows.front());
}

std::string extensionPath(std::string_view name) {
    const char* folder = std::getenv("DUCKDB_EXTENSION_DIR");
    std::string base = folder != nullptr ? folder : std::string(DQ_SOURCE_DIR) + "/.deps/extensions";
    return base + "/" + std::string(name) + ".duckdb_extension";
}

void attachLake(Connection& connection, const TempFolder& folder) {
    must(connection, "LOAD " + quoteLiteral(extensionPath("ducklake")));
    must(connection, "ATTACH " + quoteLiteral("ducklake:" + (folder / "catalog.db")) + " AS lake (DATA_PATH " +
                         quoteLiteral(folder / "data") + ")");
}

}  // namespace dq::engine::testing
