// Rows that lie in the caller's memory, read by statements without a copy.
//
//   class Readings : public RowSource { … };
//   const RowSourceScope scope(readings);                      // named while the scope lives
//   connection.execute(strCat("INSERT INTO t SELECT * FROM dq_rows(", scope.id(), ", ", part, ")"));
//
// A source has parts (a statement names one), and a part has morsels: a morsel is read by one thread, in order, so
// rows that should lie together in a file stay together. Threads: read() is called by several engine threads at once;
// everything a source hands out must stay unchanged until the scope ends.
#pragma once
#include <duckdb.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/status.h"

namespace dq::engine {

// Text as the engine holds it: up to 12 bytes in place, longer text as a pointer to bytes that the maker keeps alive.
// Must be valid UTF-8.
class Text {
  public:
    static constexpr std::size_t kInPlace = 12;
    Text() : raw_{} {}
    explicit Text(std::string_view text);
    std::string_view view() const;

  private:
    duckdb_string_t raw_;
};

// The rows of one chunk while a source fills them: row i of the chunk is index i of each column.
class RowChunk {
  public:
    explicit RowChunk(duckdb_data_chunk chunk) : chunk_(chunk) {}
    // T as wide as the column's type; TIMESTAMPTZ is std::int64_t µs.
    template <typename T>
    T* values(idx_t column) {
        return static_cast<T*>(data(column));
    }
    Text* texts(idx_t column) { return static_cast<Text*>(data(column)); }
    // The lists of a VARCHAR[] column: `items` of all rows in turn, `lengths[i]` of them in row i.
    absl::Status lists(idx_t column, std::span<const std::uint32_t> lengths, std::span<const Text> items);

  private:
    void* data(idx_t column);
    duckdb_data_chunk chunk_;
};

class RowSource {
  public:
    enum class Type { kText, kTextList, kInteger, kDouble, kUnsignedBigint, kTimestampTz };
    struct Column {
        const char* name;
        Type type;
    };
    struct Range {
        std::size_t first = 0, after = 0;
    };
    virtual ~RowSource() = default;
    virtual std::span<const Column> columns() const = 0;
    virtual std::size_t parts() const = 0;
    // Row ranges of a part, ascending.
    virtual std::span<const Range> morsels(std::size_t part) const = 0;
    // Fills rows 0 … count − 1 of the chunk with rows first … first + count − 1; count ≤ the engine's vector size.
    virtual absl::Status read(std::size_t first, std::size_t count, RowChunk& out) const = 0;
};

// Names a source for statements of any connection of the process.
class RowSourceScope {
  public:
    explicit RowSourceScope(const RowSource& source);
    ~RowSourceScope();
    RowSourceScope(const RowSourceScope&) = delete;
    RowSourceScope& operator=(const RowSourceScope&) = delete;
    std::int64_t id() const { return id_; }

  private:
    std::int64_t id_;
};

// Makes dq_rows(source BIGINT, part BIGINT) known to an instance; once, when it is opened.
absl::Status registerRowSources(duckdb_connection connection);

}  // namespace dq::engine
