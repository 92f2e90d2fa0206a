#include "engine/statement.h"

#include <absl/strings/str_cat.h>

#include <cstring>
#include <utility>

#include "core/status.h"
#include "engine/error_internal.h"

namespace dq::engine {
namespace {

absl::Status invalid(std::string_view message) {
    return makeClassifiedError(ErrorClass::kOther, DUCKDB_ERROR_BINDER, message);
}

duckdb_value listValue(const StringList& items) {
    std::vector<duckdb_value> values;
    values.reserve(items.size() + 1);  // an empty list needs a pointer too
    for (const std::string& item : items) values.push_back(duckdb_create_varchar_length(item.data(), item.size()));
    duckdb_logical_type text = duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR);
    duckdb_value list = duckdb_create_list_value(text, values.data(), values.size());
    duckdb_destroy_logical_type(&text);
    for (duckdb_value& value : values) duckdb_destroy_value(&value);
    return list;
}

class Binder {
  public:
    Binder(duckdb_prepared_statement statement, idx_t index) : statement_(statement), index_(index) {}
    duckdb_state operator()(Null) const { return duckdb_bind_null(statement_, index_); }
    duckdb_state operator()(bool v) const { return duckdb_bind_boolean(statement_, index_, v); }
    duckdb_state operator()(std::int32_t v) const { return duckdb_bind_int32(statement_, index_, v); }
    duckdb_state operator()(std::int64_t v) const { return duckdb_bind_int64(statement_, index_, v); }
    duckdb_state operator()(std::uint64_t v) const { return duckdb_bind_uint64(statement_, index_, v); }
    duckdb_state operator()(double v) const { return duckdb_bind_double(statement_, index_, v); }
    duckdb_state operator()(const std::string& v) const {
        return isUtf8(v) ? duckdb_bind_varchar_length(statement_, index_, v.data(), v.size()) : DuckDBError;
    }
    duckdb_state operator()(TimestampTz v) const {
        return duckdb_bind_timestamp_tz(statement_, index_, duckdb_timestamp{v.micros});
    }
    duckdb_state operator()(const Blob& v) const {
        return duckdb_bind_blob(statement_, index_, v.bytes.data(), v.bytes.size());
    }
    duckdb_state operator()(const StringList& v) const {
        for (const std::string& item : v) {
            if (!isUtf8(item)) return DuckDBError;
        }
        duckdb_value list = listValue(v);
        if (list == nullptr) return DuckDBError;
        duckdb_state state = duckdb_bind_value(statement_, index_, list);
        duckdb_destroy_value(&list);
        return state;
    }

  private:
    duckdb_prepared_statement statement_;
    idx_t index_;
};

// Destroys what it holds; the handle is made by duckdb_pending_prepared*.
struct Pending {
    duckdb_pending_result handle = nullptr;
    ~Pending() { duckdb_destroy_pending(&handle); }
};

}  // namespace

bool isUtf8(std::string_view text) {
    const char* at = text.data();
    const char* end = at + text.size();
    for (; end - at >= 8; at += 8) {
        std::uint64_t word;
        std::memcpy(&word, at, 8);
        if ((word & 0x8080808080808080ULL) != 0) break;
    }
    while (at < end && (static_cast<unsigned char>(*at) & 0x80) == 0) ++at;
    if (at == end) return true;
    duckdb_error_data error = duckdb_valid_utf8_check(at, static_cast<idx_t>(end - at));
    if (error == nullptr) return true;
    duckdb_destroy_error_data(&error);
    return false;
}

Statement::Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Statement::~Statement() {
    if (handle_ != nullptr) duckdb_destroy_prepare(&handle_);
}

absl::StatusOr<Statement> Statement::prepare(duckdb_connection connection, const Sql& sql) {
    if (sql.text.find('\0') != std::string::npos) return invalid("statement text holds a NUL byte");
    Statement statement;
    if (duckdb_prepare(connection, sql.text.c_str(), &statement.handle_) != DuckDBSuccess) {
        const char* message = statement.handle_ == nullptr ? nullptr : duckdb_prepare_error(statement.handle_);
        return makeError(DUCKDB_ERROR_INVALID, message == nullptr ? "statement cannot be prepared" : message);
    }
    idx_t wanted = duckdb_nparams(statement.handle_);
    if (wanted != sql.binds.size()) {
        return invalid(absl::StrCat("statement takes ", wanted, " parameters, got ", sql.binds.size()));
    }
    for (idx_t i = 0; i < wanted; ++i) DQ_RETURN_IF_ERROR(statement.bind(i + 1, sql.binds[i]));
    return statement;
}

absl::Status Statement::bind(idx_t index, const Value& value) {
    if (std::visit(Binder(handle_, index), value) == DuckDBSuccess) return absl::OkStatus();
    return invalid(absl::StrCat("parameter $", index, " cannot be bound (strings must be UTF-8)"));
}

absl::Status Statement::execute(duckdb_connection connection, const Cancel& cancel, bool streaming,
                                duckdb_result* out) {
    Pending pending;
    duckdb_state state = streaming ? duckdb_pending_prepared_streaming(handle_, &pending.handle)
                                   : duckdb_pending_prepared(handle_, &pending.handle);
    if (state != DuckDBSuccess) {
        const char* message = duckdb_pending_error(pending.handle);
        return makeStatementError(DUCKDB_ERROR_INVALID, message == nullptr ? "statement cannot be started" : message,
                                  cancel);
    }
    // Starting a statement clears the engine's interrupt flag, so an interrupt that came before is raised again. From
    // here on the flag stays until the statement ends.
    if (cancel.cancelled()) duckdb_interrupt(connection);
    if (duckdb_execute_pending(pending.handle, out) == DuckDBSuccess) return absl::OkStatus();
    const char* message = duckdb_result_error(out);
    return makeStatementError(duckdb_result_error_type(out), message == nullptr ? "statement failed" : message, cancel);
}

}  // namespace dq::engine
