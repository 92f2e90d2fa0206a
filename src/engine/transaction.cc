#include <utility>

#include "core/status.h"
#include "engine/database.h"
#include "engine/error_internal.h"
#include "engine/fault.h"

namespace dq::engine {
namespace {

// Runs one of the statements of transaction control. Without a Cancel: an interrupted COMMIT would have no known
// outcome.
struct Control {
    Control(duckdb_connection connection, const char* text) { state = duckdb_query(connection, text, &result); }
    ~Control() { duckdb_destroy_result(&result); }
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;
    bool ok() const { return state == DuckDBSuccess; }
    int type() { return duckdb_result_error_type(&result); }
    std::string_view message() {
        const char* text = duckdb_result_error(&result);
        return text == nullptr ? std::string_view() : std::string_view(text);
    }
    duckdb_state state;
    duckdb_result result{};
};

}  // namespace

absl::StatusOr<Transaction> Transaction::begin(Connection& connection) {
    DQ_CHECK(!connection.in_transaction_, "transaction inside a transaction");
    DQ_RETURN_IF_ERROR(internal::faultBefore(Call::kBegin, "BEGIN"));
    Control begin(connection.handle_, "BEGIN TRANSACTION");
    if (!begin.ok()) return makeError(begin.type(), begin.message());
    connection.in_transaction_ = true;
    return Transaction(connection);
}

Transaction::~Transaction() { rollback(); }

absl::Status Transaction::commit() {
    DQ_CHECK(connection_ != nullptr, "commit of a transaction that ended");
    // The engine answers OK to COMMIT of an aborted transaction and rolls back, so it is asked first whether it is
    // alive.
    Control probe(connection_->handle_, "SELECT 1");
    if (!probe.ok()) {
        absl::Status error = makeError(probe.type(), probe.message());
        rollback();
        return error;
    }
    if (absl::Status fault = internal::faultBefore(Call::kCommit, "COMMIT"); !fault.ok()) {
        rollback();
        return fault;
    }
    Control commit(connection_->handle_, "COMMIT");
    if (!commit.ok()) {
        absl::Status error = makeCommitError(commit.type(), commit.message());
        rollback();
        return error;
    }
    connection_->in_transaction_ = false;
    connection_ = nullptr;
    return internal::faultAfter(Call::kCommit, "COMMIT");
}

void Transaction::rollback() {
    if (connection_ == nullptr) return;
    // Fails when the engine has ended the transaction itself, as after a failed COMMIT; either way none is active
    // afterwards.
    Control rollback(connection_->handle_, "ROLLBACK");
    connection_->in_transaction_ = false;
    connection_ = nullptr;
}

}  // namespace dq::engine
