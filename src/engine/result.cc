#include "engine/result.h"

#include <utility>

#include "core/status.h"
#include "engine/error_internal.h"
#include "engine/fault.h"
#include "engine/result_internal.h"

namespace dq::engine {
namespace {

// Physical kind of a column of a chunk: what a Column<T> may read.
enum class Physical {
    kBool,
    kInt8,
    kInt16,
    kInt32,
    kInt64,
    kUint8,
    kUint16,
    kUint32,
    kUint64,
    kFloat,
    kDouble,
    kText,
    kList,
    kOther
};

Physical physicalOf(duckdb_type type) {
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN: return Physical::kBool;
        case DUCKDB_TYPE_TINYINT: return Physical::kInt8;
        case DUCKDB_TYPE_SMALLINT: return Physical::kInt16;
        case DUCKDB_TYPE_INTEGER:
        case DUCKDB_TYPE_DATE: return Physical::kInt32;
        case DUCKDB_TYPE_BIGINT:
        case DUCKDB_TYPE_TIME:
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_S:
        case DUCKDB_TYPE_TIMESTAMP_MS:
        case DUCKDB_TYPE_TIMESTAMP_NS:
        case DUCKDB_TYPE_TIMESTAMP_TZ: return Physical::kInt64;
        case DUCKDB_TYPE_UTINYINT: return Physical::kUint8;
        case DUCKDB_TYPE_USMALLINT: return Physical::kUint16;
        case DUCKDB_TYPE_UINTEGER: return Physical::kUint32;
        case DUCKDB_TYPE_UBIGINT: return Physical::kUint64;
        case DUCKDB_TYPE_FLOAT: return Physical::kFloat;
        case DUCKDB_TYPE_DOUBLE: return Physical::kDouble;
        case DUCKDB_TYPE_VARCHAR:
        case DUCKDB_TYPE_BLOB: return Physical::kText;
        case DUCKDB_TYPE_LIST: return Physical::kList;
        default: return Physical::kOther;
    }
}

template <typename T>
constexpr Physical kPhysical = Physical::kOther;
template <>
constexpr Physical kPhysical<bool> = Physical::kBool;
template <>
constexpr Physical kPhysical<std::int8_t> = Physical::kInt8;
template <>
constexpr Physical kPhysical<std::int16_t> = Physical::kInt16;
template <>
constexpr Physical kPhysical<std::int32_t> = Physical::kInt32;
template <>
constexpr Physical kPhysical<std::int64_t> = Physical::kInt64;
template <>
constexpr Physical kPhysical<std::uint8_t> = Physical::kUint8;
template <>
constexpr Physical kPhysical<std::uint16_t> = Physical::kUint16;
template <>
constexpr Physical kPhysical<std::uint32_t> = Physical::kUint32;
template <>
constexpr Physical kPhysical<std::uint64_t> = Physical::kUint64;
template <>
constexpr Physical kPhysical<float> = Physical::kFloat;
template <>
constexpr Physical kPhysical<double> = Physical::kDouble;

Physical physicalOf(duckdb_vector vector) {
    duckdb_logical_type type = duckdb_vector_get_column_type(vector);
    Physical physical = physicalOf(duckdb_get_type_id(type));
    duckdb_destroy_logical_type(&type);
    return physical;
}

duckdb_vector vectorOf(duckdb_data_chunk chunk, idx_t index, Physical wanted) {
    DQ_CHECK(index < duckdb_data_chunk_get_column_count(chunk), "column index beyond the chunk");
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, index);
    DQ_CHECK(physicalOf(vector) == wanted, "column read as another type than it has");
    return vector;
}

}  // namespace

std::string_view Column<std::string_view>::operator[](idx_t row) const {
    if (!valid(row)) return {};
    duckdb_string_t& text = data_[row];
    return {duckdb_string_t_data(&text), duckdb_string_t_length(text)};
}

Chunk::Chunk(duckdb_data_chunk handle) : handle_(handle), size_(duckdb_data_chunk_get_size(handle)) {}
Chunk::Chunk(Chunk&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), size_(std::exchange(other.size_, 0)) {}
Chunk& Chunk::operator=(Chunk&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(size_, other.size_);
    return *this;
}
Chunk::~Chunk() {
    if (handle_ != nullptr) duckdb_destroy_data_chunk(&handle_);
}

template <typename T>
Column<T> Chunk::column(idx_t index) const {
    duckdb_vector vector = vectorOf(handle_, index, kPhysical<T>);
    return Column<T>(static_cast<const T*>(duckdb_vector_get_data(vector)), duckdb_vector_get_validity(vector));
}
template Column<bool> Chunk::column<bool>(idx_t) const;
template Column<std::int8_t> Chunk::column<std::int8_t>(idx_t) const;
template Column<std::int16_t> Chunk::column<std::int16_t>(idx_t) const;
template Column<std::int32_t> Chunk::column<std::int32_t>(idx_t) const;
template Column<std::int64_t> Chunk::column<std::int64_t>(idx_t) const;
template Column<std::uint8_t> Chunk::column<std::uint8_t>(idx_t) const;
template Column<std::uint16_t> Chunk::column<std::uint16_t>(idx_t) const;
template Column<std::uint32_t> Chunk::column<std::uint32_t>(idx_t) const;
template Column<std::uint64_t> Chunk::column<std::uint64_t>(idx_t) const;
template Column<float> Chunk::column<float>(idx_t) const;
template Column<double> Chunk::column<double>(idx_t) const;

Column<std::string_view> Chunk::strings(idx_t index) const {
    duckdb_vector vector = vectorOf(handle_, index, Physical::kText);
    return {static_cast<duckdb_string_t*>(duckdb_vector_get_data(vector)), duckdb_vector_get_validity(vector)};
}

StringListColumn Chunk::stringLists(idx_t index) const {
    duckdb_vector vector = vectorOf(handle_, index, Physical::kList);
    duckdb_vector child = duckdb_list_vector_get_child(vector);
    DQ_CHECK(physicalOf(child) == Physical::kText, "list column is not of strings");
    return {Column<duckdb_list_entry>(static_cast<const duckdb_list_entry*>(duckdb_vector_get_data(vector)),
                                      duckdb_vector_get_validity(vector)),
            Column<std::string_view>(static_cast<duckdb_string_t*>(duckdb_vector_get_data(child)),
                                     duckdb_vector_get_validity(child))};
}

Result::Impl::~Impl() {
    bool abandoned = streaming && !done;
    finish();
    duckdb_destroy_result(&result);
    if (!abandoned) return;
    // The engine ends a stream that nobody reads only at the connection's next statement; until then it would keep its
    // buffers and its transaction (a pinned snapshot, a catalog session).
    duckdb_result ended{};
    duckdb_query(connection, "SELECT 1", &ended);
    duckdb_destroy_result(&ended);
}

void Result::Impl::finish() {
    guard = Cancel::Guard();
    done = true;
}

Result::Result(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Result::Result(Result&&) noexcept = default;
Result& Result::operator=(Result&&) noexcept = default;
Result::~Result() = default;

absl::StatusOr<std::optional<Chunk>> Result::next() {
    if (impl_->done) return std::optional<Chunk>();
    if (impl_->cancel.cancelled()) {
        absl::Status reason = checkCancel(impl_->cancel);
        return reason;
    }
    if (absl::Status fault = internal::faultBefore(Call::kFetch, ""); !fault.ok()) {
        impl_->finish();
        return fault;
    }
    duckdb_data_chunk handle = duckdb_fetch_chunk(impl_->result);
    if (handle != nullptr) {
        Chunk chunk(handle);
        if (chunk.size() > 0) return std::optional<Chunk>(std::move(chunk));
    }
    const char* message = duckdb_result_error(&impl_->result);
    impl_->finish();
    if (message == nullptr || *message == '\0') return std::optional<Chunk>();
    return makeStatementError(duckdb_result_error_type(&impl_->result), message, impl_->cancel);
}

idx_t Result::columnCount() const { return duckdb_column_count(&impl_->result); }

std::string Result::columnName(idx_t index) const {
    const char* name = duckdb_column_name(&impl_->result, index);
    return name == nullptr ? std::string() : std::string(name);
}

idx_t Result::rowsChanged() { return duckdb_rows_changed(&impl_->result); }

}  // namespace dq::engine
