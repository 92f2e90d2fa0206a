#include "engine/row_source.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>

#include "core/text.h"
#include "engine/error_internal.h"

namespace dq::engine {
namespace {

struct Registry {
    std::mutex mutex;
    absl::flat_hash_map<std::int64_t, const RowSource*> sources;
    std::int64_t next = 1;
};
Registry& registry() {
    static Registry& instance = *new Registry;
    return instance;
}

// What a statement scans: one part of one source.
struct Scan {
    const RowSource* source;
    std::size_t part;
};
// The morsels not yet taken; shared by the threads of a statement.
struct Progress {
    std::atomic<std::size_t> next{0};
};
struct ThreadProgress {
    RowSource::Range left;
};

template <typename T>
void destroy(void* state) {
    delete static_cast<T*>(state);
}

duckdb_type typeOf(RowSource::Type type) {
    switch (type) {
        case RowSource::Type::kInteger: return DUCKDB_TYPE_INTEGER;
        case RowSource::Type::kDouble: return DUCKDB_TYPE_DOUBLE;
        case RowSource::Type::kUnsignedBigint: return DUCKDB_TYPE_UBIGINT;
        case RowSource::Type::kTimestampTz: return DUCKDB_TYPE_TIMESTAMP_TZ;
        case RowSource::Type::kText:
        case RowSource::Type::kTextList: break;
    }
    return DUCKDB_TYPE_VARCHAR;
}

void addColumn(duckdb_bind_info info, const RowSource::Column& column) {
    duckdb_logical_type type = duckdb_create_logical_type(typeOf(column.type));
    if (column.type == RowSource::Type::kTextList) {
        duckdb_logical_type list = duckdb_create_list_type(type);
        duckdb_destroy_logical_type(&type);
        type = list;
    }
    duckdb_bind_add_result_column(info, column.name, type);
    duckdb_destroy_logical_type(&type);
}

std::int64_t parameter(duckdb_bind_info info, idx_t index) {
    duckdb_value value = duckdb_bind_get_parameter(info, index);
    const std::int64_t number = duckdb_get_int64(value);
    duckdb_destroy_value(&value);
    return number;
}

void bind(duckdb_bind_info info) {
    const std::int64_t id = parameter(info, 0), part = parameter(info, 1);
    const RowSource* source = nullptr;
    {
        std::lock_guard lock(registry().mutex);
        if (auto found = registry().sources.find(id); found != registry().sources.end()) source = found->second;
    }
    if (source == nullptr || part < 0 || static_cast<std::size_t>(part) >= source->parts()) {
        duckdb_bind_set_error(info, "dq_rows: no such source or part");
        return;
    }
    const std::span<const RowSource::Column> columns = source->columns();
    for (const RowSource::Column& column : columns) addColumn(info, column);
    std::size_t rows = 0;
    for (const RowSource::Range& range : source->morsels(part)) rows += range.after - range.first;
    duckdb_bind_set_cardinality(info, rows, true);
    duckdb_bind_set_bind_data(info, new Scan{source, static_cast<std::size_t>(part)}, destroy<Scan>);
}

void init(duckdb_init_info info) {
    const auto& scan = *static_cast<const Scan*>(duckdb_init_get_bind_data(info));
    duckdb_init_set_max_threads(info, std::max<std::size_t>(1, scan.source->morsels(scan.part).size()));
    duckdb_init_set_init_data(info, new Progress, destroy<Progress>);
}

void initThread(duckdb_init_info info) { duckdb_init_set_init_data(info, new ThreadProgress, destroy<ThreadProgress>); }

void scan(duckdb_function_info info, duckdb_data_chunk chunk) {
    const auto& scan = *static_cast<const Scan*>(duckdb_function_get_bind_data(info));
    auto& progress = *static_cast<Progress*>(duckdb_function_get_init_data(info));
    RowSource::Range& left = static_cast<ThreadProgress*>(duckdb_function_get_local_init_data(info))->left;
    const std::span<const RowSource::Range> morsels = scan.source->morsels(scan.part);
    while (left.first == left.after) {
        const std::size_t taken = progress.next.fetch_add(1);
        if (taken >= morsels.size()) {
            duckdb_data_chunk_set_size(chunk, 0);
            return;
        }
        left = morsels[taken];
    }
    const std::size_t count = std::min<std::size_t>(duckdb_vector_size(), left.after - left.first);
    RowChunk out(chunk);
    if (const absl::Status status = scan.source->read(left.first, count, out); !status.ok()) {
        duckdb_function_set_error(info, std::string(stdView(status.message())).c_str());
        return;
    }
    left.first += count;
    duckdb_data_chunk_set_size(chunk, count);
}

}  // namespace

Text::Text(std::string_view text) : raw_{} {
    static_assert(sizeof(raw_.value.inlined.inlined) == kInPlace);
    raw_.value.inlined.length = static_cast<std::uint32_t>(text.size());
    if (text.size() <= kInPlace) {
        if (!text.empty()) std::memcpy(raw_.value.inlined.inlined, text.data(), text.size());
        return;
    }
    std::memcpy(raw_.value.pointer.prefix, text.data(), sizeof raw_.value.pointer.prefix);
    raw_.value.pointer.ptr = const_cast<char*>(text.data());
}

std::string_view Text::view() const {
    const std::uint32_t size = raw_.value.inlined.length;
    return {size <= kInPlace ? raw_.value.inlined.inlined : raw_.value.pointer.ptr, size};
}

void* RowChunk::data(idx_t column) { return duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk_, column)); }

absl::Status RowChunk::lists(idx_t column, std::span<const std::uint32_t> lengths, std::span<const Text> items) {
    duckdb_vector vector = duckdb_data_chunk_get_vector(chunk_, column);
    if (duckdb_list_vector_reserve(vector, items.size()) != DuckDBSuccess ||
        duckdb_list_vector_set_size(vector, items.size()) != DuckDBSuccess) {
        return makeError(DUCKDB_ERROR_OUT_OF_MEMORY, "no room for the items of a list column");
    }
    auto* entries = static_cast<duckdb_list_entry*>(duckdb_vector_get_data(vector));
    std::uint64_t offset = 0;
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        entries[row] = {offset, lengths[row]};
        offset += lengths[row];
    }
    if (!items.empty()) {
        std::memcpy(duckdb_vector_get_data(duckdb_list_vector_get_child(vector)), items.data(), items.size_bytes());
    }
    return absl::OkStatus();
}

RowSourceScope::RowSourceScope(const RowSource& source) {
    std::lock_guard lock(registry().mutex);
    id_ = registry().next++;
    registry().sources.emplace(id_, &source);
}

RowSourceScope::~RowSourceScope() {
    std::lock_guard lock(registry().mutex);
    registry().sources.erase(id_);
}

absl::Status registerRowSources(duckdb_connection connection) {
    duckdb_table_function function = duckdb_create_table_function();
    duckdb_table_function_set_name(function, "dq_rows");
    duckdb_logical_type bigint = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_table_function_add_parameter(function, bigint);
    duckdb_table_function_add_parameter(function, bigint);
    duckdb_destroy_logical_type(&bigint);
    duckdb_table_function_set_bind(function, bind);
    duckdb_table_function_set_init(function, init);
    duckdb_table_function_set_local_init(function, initThread);
    duckdb_table_function_set_function(function, scan);
    const duckdb_state state = duckdb_register_table_function(connection, function);
    duckdb_destroy_table_function(&function);
    if (state != DuckDBSuccess) return makeError(DUCKDB_ERROR_INVALID, "dq_rows cannot be registered");
    return absl::OkStatus();
}

}  // namespace dq::engine
