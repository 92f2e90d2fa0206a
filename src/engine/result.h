// Results: a stream of chunks with typed column spans. No value per cell, no copy.
//
//   DQ_ASSIGN_OR_RETURN(Result result, connection.stream(sql, cancel));
//   while (true) {
//       DQ_ASSIGN_OR_RETURN(std::optional<Chunk> chunk, result.next());
//       if (!chunk) break;
//       Column<std::string_view> subject = chunk->strings(0);
//       for (idx_t row = 0; row < chunk->size(); ++row) use(subject[row]);
//   }
//
// Lifetime: columns and string_views die with their Chunk; a Chunk may outlive its Result, not its Connection. A
// streaming Result occupies its connection until it is drained or destroyed. Threads: one at a time.
#pragma once
#include <absl/status/statusor.h>
#include <duckdb.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/cancel.h"
#include "core/time.h"

namespace dq::engine {

// Column of one chunk. `valid(row)` is false for NULL; operator[] of a NULL row gives T{}.
template <typename T>
class Column {
  public:
    Column(const T* data, const std::uint64_t* validity) : data_(data), validity_(validity) {}
    bool valid(idx_t row) const { return validity_ == nullptr || ((validity_[row / 64] >> (row % 64)) & 1) != 0; }
    T operator[](idx_t row) const { return valid(row) ? data_[row] : T{}; }
    const T* data() const { return data_; }

  private:
    const T* data_;
    const std::uint64_t* validity_;
};
// VARCHAR and BLOB columns.
template <>
class Column<std::string_view> {
  public:
    Column(duckdb_string_t* data, const std::uint64_t* validity) : data_(data), validity_(validity) {}
    bool valid(idx_t row) const { return validity_ == nullptr || ((validity_[row / 64] >> (row % 64)) & 1) != 0; }
    std::string_view operator[](idx_t row) const;

  private:
    duckdb_string_t* data_;
    const std::uint64_t* validity_;
};
// VARCHAR[] column: list(row) gives offset and length into items().
struct StringListColumn {
    Column<duckdb_list_entry> lists;
    Column<std::string_view> items;
};

class Chunk {
  public:
    Chunk(Chunk&&) noexcept;
    Chunk& operator=(Chunk&&) noexcept;
    ~Chunk();
    idx_t size() const { return size_; }
    // The column's physical type must be that of T (checked: broken invariant otherwise). TIMESTAMPTZ reads as
    // std::int64_t µs.
    template <typename T>
    Column<T> column(idx_t index) const;
    Column<std::string_view> strings(idx_t index) const;
    Column<std::int64_t> micros(idx_t index) const { return column<std::int64_t>(index); }
    StringListColumn stringLists(idx_t index) const;

  private:
    friend class Result;
    explicit Chunk(duckdb_data_chunk handle);
    duckdb_data_chunk handle_ = nullptr;
    idx_t size_ = 0;
};

class Result {
  public:
    Result(Result&&) noexcept;
    Result& operator=(Result&&) noexcept;
    ~Result();
    // Next chunk with at least one row; nullopt at the end; an error ends the result.
    absl::StatusOr<std::optional<Chunk>> next();
    idx_t columnCount() const;
    std::string columnName(idx_t index) const;
    // Rows that an INSERT, UPDATE or DELETE changed.
    idx_t rowsChanged();

  private:
    friend class Connection;
    struct Impl;
    explicit Result(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace dq::engine
