// A prepared statement and its run. Not for other folders; Connection is the way in.
#pragma once
#include <absl/status/statusor.h>
#include <duckdb.h>

#include "core/cancel.h"
#include "engine/value.h"

namespace dq::engine {

class Statement {
  public:
    // Prepares the one statement of `sql` and binds its values. InvalidArgument when their number differs, a string is
    // not UTF-8, or the text holds a NUL byte.
    static absl::StatusOr<Statement> prepare(duckdb_connection connection, const Sql& sql);
    Statement(Statement&& other) noexcept;
    Statement& operator=(Statement&&) = delete;
    ~Statement();

    duckdb_statement_type type() const { return duckdb_prepared_statement_type(handle_); }
    // Runs it into `out`, which the caller destroys. The interrupt of `cancel` must be registered already.
    absl::Status execute(duckdb_connection connection, const Cancel& cancel, bool streaming, duckdb_result* out);

  private:
    Statement() = default;
    absl::Status bind(idx_t index, const Value& value);
    duckdb_prepared_statement handle_ = nullptr;
};

// Cheap for ASCII. DuckDB's own functions store NULL or end the process for other bytes, so engine/ asks before it
// hands text over.
bool isUtf8(std::string_view text);

}  // namespace dq::engine
