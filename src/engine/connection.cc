#include <absl/strings/ascii.h>

#include <algorithm>
#include <utility>

#include "core/status.h"
#include "engine/database.h"
#include "engine/error_internal.h"
#include "engine/fault.h"
#include "engine/result_internal.h"
#include "engine/statement.h"

namespace dq::engine {
namespace {

// Whether a transaction is active after this transaction statement.
bool opensTransaction(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    std::string word = absl::AsciiStrToUpper(abslView(text.substr(0, 5)));
    return word == "BEGIN" || word == "START";
}

}  // namespace

Connection::Connection(std::shared_ptr<Database> database, duckdb_connection handle)
    : database_(std::move(database)), handle_(handle) {}

Connection::Connection(Connection&& other) noexcept
    : database_(std::move(other.database_)),
      handle_(std::exchange(other.handle_, nullptr)),
      in_transaction_(std::exchange(other.in_transaction_, false)) {}

Connection& Connection::operator=(Connection&& other) noexcept {
    std::swap(database_, other.database_);
    std::swap(handle_, other.handle_);
    std::swap(in_transaction_, other.in_transaction_);
    return *this;
}

Connection::~Connection() {
    if (handle_ == nullptr) return;
    if (in_transaction_) {
        duckdb_result result{};
        duckdb_query(handle_, "ROLLBACK", &result);
        duckdb_destroy_result(&result);
    }
    duckdb_disconnect(&handle_);
}

absl::StatusOr<Result> Connection::run(const Sql& sql, const Cancel& cancel, bool streaming) {
    DQ_CHECK(handle_ != nullptr, "statement on a connection that was moved from");
    DQ_RETURN_IF_ERROR(checkCancel(cancel));
    DQ_RETURN_IF_ERROR(internal::faultBefore(Call::kStatement, sql.text));
    auto impl = std::make_unique<Result::Impl>(handle_, cancel, streaming);
    impl->guard = cancel.onCancel([handle = handle_] { duckdb_interrupt(handle); });
    absl::StatusOr<Statement> statement = Statement::prepare(handle_, sql);
    absl::Status outcome = statement.ok() ? checkCancel(cancel) : statement.status();
    if (outcome.ok()) outcome = statement->execute(handle_, cancel, streaming, &impl->result);
    if (!outcome.ok() || !streaming) impl->guard = Cancel::Guard();
    if (!outcome.ok()) {
        impl->finish();
        return outcome;
    }
    if (absl::Status lost = internal::faultAfter(Call::kStatement, sql.text); !lost.ok()) return lost;
    if (statement->type() == DUCKDB_STATEMENT_TYPE_TRANSACTION) in_transaction_ = opensTransaction(sql.text);
    return Result(std::move(impl));
}

absl::StatusOr<Result> Connection::query(const Sql& sql, const Cancel& cancel) {
    return run(sql, cancel, /*streaming=*/false);
}

absl::StatusOr<Result> Connection::stream(const Sql& sql, const Cancel& cancel) {
    return run(sql, cancel, /*streaming=*/true);
}

absl::StatusOr<std::int64_t> Connection::execute(const Sql& sql, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(Result result, run(sql, cancel, /*streaming=*/false));
    return static_cast<std::int64_t>(result.rowsChanged());
}

void Connection::interrupt() { duckdb_interrupt(handle_); }

}  // namespace dq::engine
