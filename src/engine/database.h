// RAII over the DuckDB C API: one instance (Database), its sessions (Connection), bulk input (Appender), transactions.
// Nothing outside engine/ calls duckdb_*.
//
// One instance per catalog file and process (two diverge silently and corrupt it); lake/ sees to that.
#pragma once
#include <absl/status/statusor.h>
#include <duckdb.h>

#include <memory>
#include <string>
#include <vector>

#include "core/cancel.h"
#include "core/status.h"
#include "engine/error.h"
#include "engine/result.h"
#include "engine/value.h"

namespace dq::engine {

class Connection;

// An in-memory DuckDB instance. Shared by its connections; closed when the last of them and the last holder are gone.
// Threads: any. `allow_unsigned_extensions` stays off: the extensions used are signed.
class Database : public std::enable_shared_from_this<Database> {
  public:
    static absl::StatusOr<std::shared_ptr<Database>> open();
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;
    absl::StatusOr<Connection> connect();

  private:
    explicit Database(duckdb_database handle) : handle_(handle) {}
    duckdb_database handle_;
};

// One session. Threads: one at a time, except interrupt().
class Connection {
  public:
    Connection(Connection&&) noexcept;
    Connection& operator=(Connection&&) noexcept;
    ~Connection();

    // Runs a statement to its end; rows, if any, are materialized in memory. `cancel` interrupts it.
    absl::StatusOr<Result> query(const Sql& sql, const Cancel& cancel = Cancel::root());
    absl::StatusOr<Result> query(std::string text, const Cancel& cancel = Cancel::root()) {
        return query(Sql{std::move(text), {}}, cancel);
    }
    // Runs a statement as a stream: chunks are produced while they are fetched, memory stays bounded.
    absl::StatusOr<Result> stream(const Sql& sql, const Cancel& cancel = Cancel::root());
    // Like query(), for statements whose rows do not matter. Returns the number of rows changed.
    absl::StatusOr<std::int64_t> execute(const Sql& sql, const Cancel& cancel = Cancel::root());
    absl::StatusOr<std::int64_t> execute(std::string text, const Cancel& cancel = Cancel::root()) {
        return execute(Sql{std::move(text), {}}, cancel);
    }

    void interrupt();  // any thread
    bool inTransaction() const { return in_transaction_; }
    duckdb_connection handle() const { return handle_; }  // engine/ only (scalar functions, appenders)

  private:
    friend class Database;
    friend class Transaction;
    Connection(std::shared_ptr<Database> database, duckdb_connection handle);
    absl::StatusOr<Result> run(const Sql& sql, const Cancel& cancel, bool streaming);
    std::shared_ptr<Database> database_;
    duckdb_connection handle_ = nullptr;
    bool in_transaction_ = false;
};

// BEGIN … COMMIT on a connection; rolls back unless committed.
//
// commit() gives OK, or an error whose class tells what is known: kConflict (nothing landed), kOutcomeUnknown (it may
// have landed: the caller looks, see materializer.md §13.2), anything else (nothing landed). After commit(), whatever
// its outcome, no transaction is active. A DuckLake snapshot is pinned at the first access to the lake, not at begin().
class Transaction {
  public:
    static absl::StatusOr<Transaction> begin(Connection& connection);
    Transaction(Transaction&& other) noexcept : connection_(other.connection_) { other.connection_ = nullptr; }
    Transaction& operator=(Transaction&&) = delete;
    ~Transaction();
    absl::Status commit();
    void rollback();

  private:
    explicit Transaction(Connection& connection) : connection_(&connection) {}
    Connection* connection_;
};

// Bulk input into a table of the instance's own memory (staging), column by column, 2048 rows a chunk. No SQL, no text.
//
//   DQ_ASSIGN_OR_RETURN(Appender appender, Appender::open(connection, "memory", "main", "stage_signals"));
//   appender.string(0, subject); appender.value<int32_t>(1, bucket); … ; DQ_RETURN_IF_ERROR(appender.endRow());
//   DQ_RETURN_IF_ERROR(appender.close());
//
// Every column must be set before endRow(). Strings are copied. A VARCHAR that is not UTF-8 fails the row: endRow()
// gives InvalidArgument and the row is not added. Rows reach the table at close(), or earlier when many are held; an
// Appender that dies unclosed drops what it holds. Inside a transaction of its connection the rows belong to that
// transaction.
class Appender {
  public:
    static absl::StatusOr<Appender> open(Connection& connection, const std::string& catalog, const std::string& schema,
                                         const std::string& table);
    Appender(Appender&&) noexcept;
    ~Appender();
    template <typename T>
    void value(idx_t column, T v) {  // T as wide as the column's type; TIMESTAMPTZ is std::int64_t µs
        DQ_CHECK(column < widths_.size() && widths_[column] == sizeof(T), "column written as another type than it has");
        static_cast<T*>(data_[column])[row_] = v;
    }
    void string(idx_t column, std::string_view text);  // VARCHAR (must be valid UTF-8) or BLOB
    void null(idx_t column);
    void stringList(idx_t column, const std::vector<std::string_view>& items);
    absl::Status endRow();
    absl::Status close();  // flushes; further use is a broken invariant

  private:
    struct Impl;
    explicit Appender(std::unique_ptr<Impl> impl);
    absl::Status flushChunk();
    std::unique_ptr<Impl> impl_;
    std::vector<void*> data_;
    std::vector<std::uint8_t> widths_;  // bytes of a fixed-width value, 0 for text and lists
    idx_t row_ = 0;
};

}  // namespace dq::engine
