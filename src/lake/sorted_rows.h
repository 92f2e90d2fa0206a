// The rows of one decoded table in one window, in the order in which they are written: by day, bucket, subject,
// timestamp; one row per identity (materializer.md §13.3). Read by the engine as a RowSource: part = group; the columns
// are those of the table and dq_row, the row's number in this order.
//
// Kind (SignalRows, EventRows below) says where the rows lie in a block, what an identity is beside the header, which
// of two rows of one identity stays, and how a row becomes columns.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/row_source.h"
#include "lake/row_block.h"

namespace dq::lake {

struct SubjectMark {
    std::string subject;
    std::int32_t bucket;
};

using BlockPtr = std::shared_ptr<const RowBlock>;

struct SignalRows {
    using Cells = SignalCells;
    static const std::vector<Cells>& of(const RowBlock& block) { return block.signals(); }
    static std::span<const engine::RowSource::Column> columns();
    // True when `a` stays before `b`: the least by producer, then the other columns in table order.
    static bool stays(const RowBlock& a_block, const Cells& a, const RowBlock& b_block, const Cells& b);
};
struct EventRows {
    using Cells = EventCells;
    static const std::vector<Cells>& of(const RowBlock& block) { return block.events(); }
    static std::span<const engine::RowSource::Column> columns();
    static bool stays(const RowBlock& a_block, const Cells& a, const RowBlock& b_block, const Cells& b);
};

template <typename Kind>
class SortedRows final : public engine::RowSource {
  public:
    // Rows that one statement inserts: of one day, and of neighbouring buckets.
    struct Group {
        Micros first = INT64_MAX, last = INT64_MIN;  // least and greatest timestamp
        std::vector<Range> morsels;                  // each of whole buckets
        std::vector<std::int32_t> buckets;           // ascending
        std::size_t rows() const { return morsels.empty() ? 0 : morsels.back().after - morsels.front().first; }
    };
    // Rows [first, after) of `block`, any order; before sort().
    void add(const BlockPtr& block, std::uint32_t first, std::uint32_t after);
    // On up to `threads` threads.
    void sort(int threads);

    // The same without the rows numbered so (column dq_row), ascending.
    SortedRows without(const std::vector<std::uint64_t>& dropped) const;

    std::size_t rows() const { return sorted_ ? order_.size() : added_; }
    const std::vector<Group>& groups() const { return groups_; }
    // After sort(): the subjects of the rows, by bucket.
    const std::vector<SubjectMark>& subjects() const { return subjects_; }

    std::span<const Column> columns() const override { return Kind::columns(); }
    std::size_t parts() const override { return groups_.size(); }
    std::span<const Range> morsels(std::size_t part) const override { return groups_[part].morsels; }
    absl::Status read(std::size_t first, std::size_t count, engine::RowChunk& out) const override;

  private:
    using Cells = typename Kind::Cells;
    struct Piece {
        std::uint32_t block, first, after;
    };
    struct Place {
        std::uint32_t block, row;
    };
    struct Key {
        Micros timestamp;
        std::uint32_t subject;  // rank among the window's subjects
        std::uint32_t hash;     // of the identity
        Place place;
        bool operator<(const Key& other) const {
            if (subject != other.subject) return subject < other.subject;
            if (timestamp != other.timestamp) return timestamp < other.timestamp;
            if (hash != other.hash) return hash < other.hash;
            return place.block != other.place.block ? place.block < other.place.block : place.row < other.place.row;
        }
    };
    // Rows of one day and bucket: a partition of the table.
    struct Slot {
        Micros day;
        std::int32_t bucket;
        std::size_t first = 0, after = 0;  // its keys
        Micros earliest = INT64_MAX, latest = INT64_MIN;
    };
    const Cells& cells(Place place) const { return Kind::of(*blocks_[place.block])[place.row]; }
    std::vector<std::vector<std::uint32_t>> rankSubjects();
    std::vector<Slot> distribute(std::vector<Key>& keys);
    bool sameIdentity(Place a, Place b) const;
    // Orders a slot's keys, drops what gives way, and writes the rest to order_.
    void sortSlot(std::vector<Key>& keys, Slot& slot);
    void layOut(const std::vector<Slot>& slots);

    std::vector<BlockPtr> blocks_;
    std::vector<Piece> pieces_;
    std::size_t added_ = 0;
    bool sorted_ = false;
    std::vector<Place> order_;
    std::vector<Group> groups_;
    std::vector<SubjectMark> subjects_;  // by bucket, then subject
};

template <>
absl::Status SortedRows<SignalRows>::read(std::size_t first, std::size_t count, engine::RowChunk& out) const;
template <>
absl::Status SortedRows<EventRows>::read(std::size_t first, std::size_t count, engine::RowChunk& out) const;
extern template class SortedRows<SignalRows>;
extern template class SortedRows<EventRows>;

}  // namespace dq::lake
