// Helpers of engine tests: a temp folder, short ways to run SQL, a DuckLake lake on a file.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/database.h"

namespace dq::engine::testing {

// A folder that is removed with its content.
class TempFolder {
  public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    std::string operator/(std::string_view name) const { return (path_ / std::filesystem::path(name)).string(); }

  private:
    std::filesystem::path path_;
};

std::shared_ptr<Database> openDatabase();
Connection connectTo(const std::shared_ptr<Database>& database);
// Fails the test when the statement fails.
void must(Connection& connection, const Sql& sql);
inline void must(Connection& connection, std::string text) { must(connection, Sql{std::move(text), {}}); }
// The error of a statement that must fail.
absl::Status failureOf(Connection& connection, const Sql& sql);
inline absl::Status failureOf(Connection& connection, std::string text) {
    return failureOf(connection, Sql{std::move(text), {}});
}
// First column of all rows, cast to text; "NULL" for NULL.
std::vector<std::string> texts(Connection& connection, const Sql& sql);
inline std::vector<std::string> texts(Connection& connection, std::string query) {
    return texts(connection, Sql{std::move(query), {}});
}
// The one BIGINT of a statement.
std::int64_t number(Connection& connection, std::string query);

std::string extensionPath(std::string_view name);
// Loads ducklake and attaches a lake with its catalog in a DuckDB file as `lake`.
void attachLake(Connection& connection, const TempFolder& folder);

}  // namespace dq::engine::testing
