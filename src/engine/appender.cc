#include <absl/strings/str_cat.h>

#include <cstring>
#include <limits>
#include <utility>

#include "core/status.h"
#include "engine/database.h"
#include "engine/error_internal.h"
#include "engine/row_source.h"
#include "engine/statement.h"

namespace dq::engine {
namespace {

enum class Kind : std::uint8_t { kFixed, kText, kBlob, kStringList, kUnsupported };

struct ColumnState {
    Kind kind = Kind::kUnsupported;
    duckdb_vector vector = nullptr;
    std::uint64_t* validity = nullptr;  // made at the first NULL of a chunk
    duckdb_vector child = nullptr;      // string lists
    duckdb_string_t* child_data = nullptr;
    idx_t child_size = 0;
    idx_t child_capacity = 0;
};

std::uint8_t widthOf(duckdb_type type) {
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN:
        case DUCKDB_TYPE_TINYINT:
        case DUCKDB_TYPE_UTINYINT: return 1;
        case DUCKDB_TYPE_SMALLINT:
        case DUCKDB_TYPE_USMALLINT: return 2;
        case DUCKDB_TYPE_INTEGER:
        case DUCKDB_TYPE_UINTEGER:
        case DUCKDB_TYPE_DATE:
        case DUCKDB_TYPE_FLOAT: return 4;
        case DUCKDB_TYPE_BIGINT:
        case DUCKDB_TYPE_UBIGINT:
        case DUCKDB_TYPE_DOUBLE:
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_TZ: return 8;
        default: return 0;
    }
}

Kind kindOf(duckdb_logical_type type) {
    duckdb_type id = duckdb_get_type_id(type);
    if (widthOf(id) != 0) return Kind::kFixed;
    if (id == DUCKDB_TYPE_VARCHAR) return Kind::kText;
    if (id == DUCKDB_TYPE_BLOB) return Kind::kBlob;
    if (id != DUCKDB_TYPE_LIST) return Kind::kUnsupported;
    duckdb_logical_type child = duckdb_list_type_child_type(type);
    bool text = duckdb_get_type_id(child) == DUCKDB_TYPE_VARCHAR;
    duckdb_destroy_logical_type(&child);
    return text ? Kind::kStringList : Kind::kUnsupported;
}

// Short strings are written in place, as the engine would; longer ones are copied into the vector's heap.
void storeString(duckdb_vector vector, duckdb_string_t* data, idx_t row, std::string_view text) {
    duckdb_string_t& slot = data[row];
    if (text.size() > sizeof(slot.value.inlined.inlined)) {
        duckdb_unsafe_vector_assign_string_element_len(vector, row, text.data(), text.size());
        return;
    }
    const Text in_place(text);
    std::memcpy(&slot, &in_place, sizeof slot);
}

bool fits(std::string_view text) { return text.size() <= std::numeric_limits<std::uint32_t>::max(); }

absl::Status appenderError(duckdb_appender appender) {
    duckdb_error_data data = appender == nullptr ? nullptr : duckdb_appender_error_data(appender);
    int type = data == nullptr ? DUCKDB_ERROR_INVALID : duckdb_error_data_error_type(data);
    const char* message = data == nullptr ? nullptr : duckdb_error_data_message(data);
    absl::Status error = makeError(type, message == nullptr ? "rows cannot be appended" : message);
    if (data != nullptr) duckdb_destroy_error_data(&data);
    return error;
}

}  // namespace

struct Appender::Impl {
    Impl() = default;
    ~Impl() {
        if (chunk != nullptr) duckdb_destroy_data_chunk(&chunk);
        if (appender == nullptr) return;
        duckdb_appender_clear(appender);  // destroy would flush what is held
        duckdb_appender_destroy(&appender);
    }
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    absl::Status makeChunk(std::vector<std::uint8_t>& widths);
    void resetColumns(std::vector<void*>& data);

    duckdb_appender appender = nullptr;
    duckdb_data_chunk chunk = nullptr;
    std::vector<ColumnState> columns;
    idx_t capacity = 0;
    bool row_invalid = false;
};

absl::Status Appender::Impl::makeChunk(std::vector<std::uint8_t>& widths) {
    idx_t count = duckdb_appender_column_count(appender);
    std::vector<duckdb_logical_type> types(count);
    columns.resize(count);
    widths.resize(count);
    idx_t unsupported = count;
    for (idx_t i = 0; i < count; ++i) {
        types[i] = duckdb_appender_column_type(appender, i);
        columns[i].kind = kindOf(types[i]);
        widths[i] = widthOf(duckdb_get_type_id(types[i]));
        if (columns[i].kind == Kind::kUnsupported) unsupported = i;
    }
    if (unsupported == count) chunk = duckdb_create_data_chunk(types.data(), count);
    for (duckdb_logical_type& type : types) duckdb_destroy_logical_type(&type);
    if (unsupported != count) {
        return makeClassifiedError(ErrorClass::kOther, DUCKDB_ERROR_BINDER,
                                   absl::StrCat("column ", unsupported, " has a type that an appender cannot fill"));
    }
    if (chunk == nullptr) return makeError(DUCKDB_ERROR_OUT_OF_MEMORY, "chunk of an appender cannot be made");
    capacity = duckdb_vector_size();
    return absl::OkStatus();
}

void Appender::Impl::resetColumns(std::vector<void*>& data) {
    data.resize(columns.size());
    for (idx_t i = 0; i < columns.size(); ++i) {
        ColumnState& column = columns[i];
        column.vector = duckdb_data_chunk_get_vector(chunk, i);
        data[i] = duckdb_vector_get_data(column.vector);
        column.validity = nullptr;
        if (column.kind != Kind::kStringList) continue;
        column.child = duckdb_list_vector_get_child(column.vector);
        column.child_data = static_cast<duckdb_string_t*>(duckdb_vector_get_data(column.child));
        column.child_size = 0;
        column.child_capacity = 0;
    }
}

Appender::Appender(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Appender::Appender(Appender&&) noexcept = default;
Appender::~Appender() = default;

absl::StatusOr<Appender> Appender::open(Connection& connection, const std::string& catalog, const std::string& schema,
                                        const std::string& table) {
    auto impl = std::make_unique<Impl>();
    if (duckdb_appender_create_ext(connection.handle(), catalog.c_str(), schema.c_str(), table.c_str(),
                                   &impl->appender) != DuckDBSuccess) {
        return appenderError(impl->appender);
    }
    Appender appender(std::move(impl));
    DQ_RETURN_IF_ERROR(appender.impl_->makeChunk(appender.widths_));
    appender.impl_->resetColumns(appender.data_);
    return appender;
}

void Appender::string(idx_t column, std::string_view text) {
    ColumnState& state = impl_->columns[column];
    DQ_CHECK(state.kind == Kind::kText || state.kind == Kind::kBlob, "string written to a column of another type");
    if ((state.kind == Kind::kText && !isUtf8(text)) || !fits(text)) {
        impl_->row_invalid = true;
        return;
    }
    storeString(state.vector, static_cast<duckdb_string_t*>(data_[column]), row_, text);
}

void Appender::null(idx_t column) {
    ColumnState& state = impl_->columns[column];
    if (state.validity == nullptr) {
        duckdb_vector_ensure_validity_writable(state.vector);
        state.validity = duckdb_vector_get_validity(state.vector);
    }
    state.validity[row_ / 64] &= ~(std::uint64_t{1} << (row_ % 64));
    if (state.kind == Kind::kStringList) static_cast<duckdb_list_entry*>(data_[column])[row_] = {state.child_size, 0};
    if (state.kind == Kind::kText || state.kind == Kind::kBlob)
        std::memset(static_cast<duckdb_string_t*>(data_[column]) + row_, 0, sizeof(duckdb_string_t));
}

void Appender::stringList(idx_t column, const std::vector<std::string_view>& items) {
    ColumnState& state = impl_->columns[column];
    DQ_CHECK(state.kind == Kind::kStringList, "list written to a column of another type");
    idx_t needed = state.child_size + items.size();
    if (needed > state.child_capacity) {
        idx_t capacity = std::max<idx_t>(needed * 2, impl_->capacity);
        duckdb_list_vector_reserve(state.vector, capacity);
        state.child_capacity = capacity;
        state.child_data = static_cast<duckdb_string_t*>(duckdb_vector_get_data(state.child));
    }
    duckdb_list_vector_set_size(state.vector, needed);
    static_cast<duckdb_list_entry*>(data_[column])[row_] = {state.child_size, items.size()};
    for (std::string_view item : items) {
        if (!isUtf8(item) || !fits(item)) {
            impl_->row_invalid = true;
            item = {};
        }
        storeString(state.child, state.child_data, state.child_size++, item);
    }
}

absl::Status Appender::endRow() {
    DQ_CHECK(impl_ != nullptr && impl_->appender != nullptr, "row for an appender that was closed");
    if (impl_->row_invalid) {
        impl_->row_invalid = false;
        // The slots are written again by the next row; a NULL set here must not stay.
        for (ColumnState& column : impl_->columns) {
            if (column.validity != nullptr) column.validity[row_ / 64] |= std::uint64_t{1} << (row_ % 64);
        }
        return makeClassifiedError(ErrorClass::kOther, DUCKDB_ERROR_BINDER, "row holds a string that is not UTF-8");
    }
    if (++row_ < impl_->capacity) return absl::OkStatus();
    return flushChunk();
}

absl::Status Appender::flushChunk() {
    if (row_ == 0) return absl::OkStatus();
    duckdb_data_chunk_set_size(impl_->chunk, row_);
    duckdb_state state = duckdb_append_data_chunk(impl_->appender, impl_->chunk);
    row_ = 0;
    duckdb_data_chunk_reset(impl_->chunk);
    impl_->resetColumns(data_);
    return state == DuckDBSuccess ? absl::OkStatus() : appenderError(impl_->appender);
}

absl::Status Appender::close() {
    DQ_CHECK(impl_ != nullptr && impl_->appender != nullptr, "appender closed twice");
    absl::Status outcome = flushChunk();
    if (outcome.ok() && duckdb_appender_close(impl_->appender) != DuckDBSuccess)
        outcome = appenderError(impl_->appender);
    if (!outcome.ok()) duckdb_appender_clear(impl_->appender);
    duckdb_appender_destroy(&impl_->appender);
    impl_->appender = nullptr;
    return outcome;
}

}  // namespace dq::engine
