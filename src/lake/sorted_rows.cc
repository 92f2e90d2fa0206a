#include "lake/sorted_rows.h"

#include <absl/hash/hash.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <tuple>

namespace dq::lake {
namespace {

using engine::RowChunk;
using engine::RowSource;
using engine::Text;

constexpr std::size_t kBuckets = 256;  // of subjects, see core/hash.h
// Small buckets share a morsel: the engine calls once per morsel and chunk.
constexpr std::size_t kMorselRows = 4096;
// A partitioned insert buffers its rows, texts and all, until the statement ends.
constexpr std::size_t kGroupRows = 200'000;

const SignalRest& restOf(const RowBlock& block, const SignalCells& cells) {
    static const SignalRest kEmpty{};
    return cells.rest == kNone ? kEmpty : block.rests()[cells.rest];
}

void fillHeader(const RowHeader& header, std::size_t row, Text* subject, std::int32_t* bucket, Text* source,
                Text* producer, Text* id) {
    subject[row] = header.subject;
    bucket[row] = header.bucket;
    source[row] = header.source;
    producer[row] = header.producer;
    id[row] = header.cloud_event_id;
}

using View = std::string_view;
std::tuple<View, double, View, double, double, double, double> contentOf(const RowBlock& block, const SignalCells& c) {
    const SignalRest& rest = restOf(block, c);
    return {block.headers()[c.header].producer.view(),
            c.number,
            rest.text.view(),
            rest.latitude,
            rest.longitude,
            rest.hdop,
            rest.heading};
}

}  // namespace

std::span<const RowSource::Column> SignalRows::columns() {
    using T = RowSource::Type;
    static constexpr RowSource::Column kColumns[] = {{"subject", T::kText},        {"subject_bucket", T::kInteger},
                                                     {"name", T::kText},           {"timestamp", T::kTimestampTz},
                                                     {"source", T::kText},         {"producer", T::kText},
                                                     {"cloud_event_id", T::kText}, {"value_number", T::kDouble},
                                                     {"value_string", T::kText},   {"loc_lat", T::kDouble},
                                                     {"loc_lon", T::kDouble},      {"loc_hdop", T::kDouble},
                                                     {"loc_heading", T::kDouble},  {"dq_row", T::kUnsignedBigint}};
    return kColumns;
}

std::span<const RowSource::Column> EventRows::columns() {
    using T = RowSource::Type;
    static constexpr RowSource::Column kColumns[] = {
        {"subject", T::kText},          {"subject_bucket", T::kInteger},
        {"source", T::kText},           {"producer", T::kText},
        {"cloud_event_id", T::kText},   {"type", T::kText},
        {"data_version", T::kText},     {"name", T::kText},
        {"timestamp", T::kTimestampTz}, {"duration_ns", T::kUnsignedBigint},
        {"metadata", T::kText},         {"tags", T::kTextList},
        {"dq_row", T::kUnsignedBigint}};
    return kColumns;
}

bool SignalRows::stays(const RowBlock& a_block, const Cells& a, const RowBlock& b_block, const Cells& b) {
    return contentOf(a_block, a) < contentOf(b_block, b);
}

bool EventRows::stays(const RowBlock& a_block, const Cells& a, const RowBlock& b_block, const Cells& b) {
    const auto content = [](const RowBlock& block, const Cells& c) {
        const RowHeader& header = block.headers()[c.header];
        return std::tuple(header.producer.view(), header.data_version.view(), c.duration_ns, c.metadata.view());
    };
    const auto of_a = content(a_block, a), of_b = content(b_block, b);
    if (of_a != of_b) return of_a < of_b;
    const auto tags = [](const RowBlock& block, const Cells& c) {
        return std::span(block.tags()).subspan(c.first_tag, c.tag_count);
    };
    const auto tags_a = tags(a_block, a), tags_b = tags(b_block, b);
    return std::lexicographical_compare(tags_a.begin(), tags_a.end(), tags_b.begin(), tags_b.end(),
                                        [](const Text& x, const Text& y) { return x.view() < y.view(); });
}

template <typename Kind>
void SortedRows<Kind>::add(const BlockPtr& block, std::uint32_t first, std::uint32_t after) {
    if (first == after) return;
    added_ += after - first;
    if (blocks_.empty() || blocks_.back() != block) {
        blocks_.push_back(block);
    } else if (pieces_.back().after == first) {
        pieces_.back().after = after;
        return;
    }
    pieces_.push_back({static_cast<std::uint32_t>(blocks_.size() - 1), first, after});
}

// Rank of each header's subject among the window's subjects, by bucket and then bytes; kNone for headers whose rows
// are not in the window.
template <typename Kind>
std::vector<std::vector<std::uint32_t>> SortedRows<Kind>::rankSubjects() {
    absl::flat_hash_map<std::string_view, std::uint32_t> number;  // in order of appearance
    std::vector<std::pair<std::int32_t, std::string_view>> found;
    std::vector<std::vector<std::uint32_t>> ranks;
    for (const BlockPtr& block : blocks_) ranks.emplace_back(block->headers().size(), kNone);
    for (const Piece& piece : pieces_) {
        const RowBlock& block = *blocks_[piece.block];
        const std::vector<Cells>& rows = Kind::of(block);
        for (std::uint32_t row = piece.first; row < piece.after; ++row) {
            std::uint32_t& rank = ranks[piece.block][rows[row].header];
            if (rank != kNone) continue;
            const RowHeader& header = block.headers()[rows[row].header];
            const auto [entry, fresh] = number.try_emplace(header.subject.view(), found.size());
            if (fresh) found.emplace_back(header.bucket, header.subject.view());
            rank = entry->second;
        }
    }
    std::vector<std::uint32_t> by_order(found.size()), rank_of(found.size());
    for (std::uint32_t i = 0; i < by_order.size(); ++i) by_order[i] = i;
    std::sort(by_order.begin(), by_order.end(), [&](std::uint32_t a, std::uint32_t b) { return found[a] < found[b]; });
    subjects_.clear();
    subjects_.reserve(found.size());
    for (std::uint32_t rank = 0; rank < by_order.size(); ++rank) {
        rank_of[by_order[rank]] = rank;
        subjects_.push_back({std::string(found[by_order[rank]].second), found[by_order[rank]].first});
    }
    for (auto& block : ranks) {
        for (std::uint32_t& rank : block) {
            if (rank != kNone) rank = rank_of[rank];
        }
    }
    return ranks;
}

// Keys of all rows, those of one slot together; returns the slots by day and bucket.
template <typename Kind>
std::vector<typename SortedRows<Kind>::Slot> SortedRows<Kind>::distribute(std::vector<Key>& keys) {
    const std::vector<std::vector<std::uint32_t>> ranks = rankSubjects();
    // Slots in order of appearance, found by day and bucket; the day seldom changes from row to row.
    absl::flat_hash_map<Micros, std::vector<std::uint32_t>> slots_of_day;
    std::vector<Slot> slots;
    std::vector<std::uint32_t> slot_of_row(added_);
    Micros day = 1, day_after = 0;
    std::vector<std::uint32_t>* of_day = nullptr;
    std::size_t at = 0;
    for (const Piece& piece : pieces_) {
        const RowBlock& block = *blocks_[piece.block];
        const std::vector<Cells>& rows = Kind::of(block);
        for (std::uint32_t row = piece.first; row < piece.after; ++row) {
            const Cells& cells = rows[row];
            if (cells.timestamp < day || cells.timestamp >= day_after) {
                day = floorToDay(cells.timestamp);
                day_after = day + kMicrosPerDay;
                of_day = &slots_of_day.try_emplace(day, kBuckets, kNone).first->second;
            }
            const std::int32_t bucket = block.headers()[cells.header].bucket;
            std::uint32_t& slot = (*of_day)[static_cast<std::size_t>(bucket)];
            if (slot == kNone) {
                slot = static_cast<std::uint32_t>(slots.size());
                slots.push_back(Slot{.day = day, .bucket = bucket});
            }
            ++slots[slot].after;  // counts, for now
            slot_of_row[at++] = slot;
        }
    }
    std::vector<std::uint32_t> by_order(slots.size());
    for (std::uint32_t i = 0; i < by_order.size(); ++i) by_order[i] = i;
    std::sort(by_order.begin(), by_order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(slots[a].day, slots[a].bucket) < std::pair(slots[b].day, slots[b].bucket);
    });
    std::size_t offset = 0;
    for (const std::uint32_t slot : by_order) {
        const std::size_t count = slots[slot].after;
        slots[slot].first = slots[slot].after = offset;
        offset += count;
    }
    keys.resize(added_);
    at = 0;
    for (const Piece& piece : pieces_) {
        const RowBlock& block = *blocks_[piece.block];
        const std::vector<Cells>& rows = Kind::of(block);
        for (std::uint32_t row = piece.first; row < piece.after; ++row) {
            const Cells& cells = rows[row];
            keys[slots[slot_of_row[at++]].after++] = {
                cells.timestamp, ranks[piece.block][cells.header], cells.hash, {piece.block, row}};
        }
    }
    std::vector<Slot> ordered;
    ordered.reserve(slots.size());
    for (const std::uint32_t slot : by_order) ordered.push_back(slots[slot]);
    return ordered;
}

template <typename Kind>
bool SortedRows<Kind>::sameIdentity(Place a, Place b) const {
    const RowBlock &of_a = *blocks_[a.block], &of_b = *blocks_[b.block];
    const Cells &x = cells(a), &y = cells(b);
    const RowHeader &p = of_a.headers()[x.header], &q = of_b.headers()[y.header];
    return x.timestamp == y.timestamp && of_a.texts()[x.name].view() == of_b.texts()[y.name].view() &&
           p.subject.view() == q.subject.view() && p.source.view() == q.source.view() &&
           p.cloud_event_id.view() == q.cloud_event_id.view();
}

// Equal identities have equal hashes and lie in one run of keys; unequal ones there are kept apart by comparing.
template <typename Kind>
void SortedRows<Kind>::sortSlot(std::vector<Key>& keys, Slot& slot) {
    std::sort(keys.begin() + static_cast<std::ptrdiff_t>(slot.first),
              keys.begin() + static_cast<std::ptrdiff_t>(slot.after));
    const auto collides = [&](const Key& a, const Key& b) {
        return a.subject == b.subject && a.timestamp == b.timestamp && a.hash == b.hash;
    };
    std::size_t out = slot.first;
    for (std::size_t first = slot.first; first < slot.after;) {
        std::size_t after = first + 1;
        while (after < slot.after && collides(keys[first], keys[after])) ++after;
        const std::size_t run = out;
        for (std::size_t i = first; i < after; ++i) {
            std::size_t same = run;
            while (same < out && !sameIdentity(keys[same].place, keys[i].place)) ++same;
            if (same == out) {
                keys[out++] = keys[i];
            } else if (Kind::stays(*blocks_[keys[i].place.block], cells(keys[i].place),
                                   *blocks_[keys[same].place.block], cells(keys[same].place))) {
                keys[same] = keys[i];
            }
        }
        first = after;
    }
    slot.after = out;
    for (std::size_t i = slot.first; i < slot.after; ++i) {
        order_[i] = keys[i].place;
        slot.earliest = std::min(slot.earliest, keys[i].timestamp);
        slot.latest = std::max(slot.latest, keys[i].timestamp);
    }
}

template <typename Kind>
void SortedRows<Kind>::layOut(const std::vector<Slot>& slots) {
    groups_.clear();
    Micros day = 0;
    std::size_t at = 0;
    for (const Slot& slot : slots) {
        // Rows that gave way to one of the same identity leave gaps.
        if (slot.first != at) std::copy(order_.begin() + slot.first, order_.begin() + slot.after, order_.begin() + at);
        if (groups_.empty() || slot.day != day || groups_.back().rows() >= kGroupRows) groups_.emplace_back();
        day = slot.day;
        Group& group = groups_.back();
        group.buckets.push_back(slot.bucket);
        group.first = std::min(group.first, slot.earliest);
        group.last = std::max(group.last, slot.latest);
        if (group.morsels.empty() || group.morsels.back().after - group.morsels.back().first >= kMorselRows)
            group.morsels.push_back({at, at});
        at += slot.after - slot.first;
        group.morsels.back().after = at;
    }
    order_.resize(at);
}

template <typename Kind>
void SortedRows<Kind>::sort(int threads) {
    std::vector<Key> keys;
    std::vector<Slot> slots = distribute(keys);
    order_.resize(keys.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (std::size_t i = next.fetch_add(1); i < slots.size(); i = next.fetch_add(1)) sortSlot(keys, slots[i]);
    };
    {
        std::vector<std::jthread> helpers;
        // A thread costs more than sorting a few thousand rows.
        const std::size_t useful = std::min<std::size_t>(keys.size() / 50'000, std::max(0, threads - 1));
        for (std::size_t i = 0; i < useful; ++i) helpers.emplace_back(work);
        work();
    }
    layOut(slots);
    sorted_ = true;
}

template <typename Kind>
SortedRows<Kind> SortedRows<Kind>::without(const std::vector<std::uint64_t>& dropped) const {
    SortedRows out;
    out.blocks_ = blocks_;
    out.sorted_ = true;
    out.subjects_ = subjects_;
    out.order_.reserve(order_.size() - dropped.size());
    auto next = dropped.begin();
    for (const Group& group : groups_) {
        Group kept = group;
        kept.morsels.clear();
        for (const Range& morsel : group.morsels) {
            const std::size_t first = out.order_.size();
            for (std::size_t row = morsel.first; row < morsel.after; ++row) {
                if (next != dropped.end() && *next == row) {
                    ++next;
                } else {
                    out.order_.push_back(order_[row]);
                }
            }
            if (out.order_.size() > first) kept.morsels.push_back({first, out.order_.size()});
        }
        if (!kept.morsels.empty()) out.groups_.push_back(std::move(kept));
    }
    return out;
}

template <>
absl::Status SortedRows<SignalRows>::read(std::size_t first, std::size_t count, RowChunk& out) const {
    Text *subject = out.texts(0), *name = out.texts(2), *source = out.texts(4), *producer = out.texts(5),
         *id = out.texts(6), *text = out.texts(8);
    auto* bucket = out.values<std::int32_t>(1);
    auto* timestamp = out.values<std::int64_t>(3);
    double *number = out.values<double>(7), *latitude = out.values<double>(9), *longitude = out.values<double>(10),
           *hdop = out.values<double>(11), *heading = out.values<double>(12);
    auto* number_of_row = out.values<std::uint64_t>(13);
    for (std::size_t row = 0; row < count; ++row) {
        number_of_row[row] = first + row;
        const Place place = order_[first + row];
        const RowBlock& block = *blocks_[place.block];
        const SignalCells& cells = block.signals()[place.row];
        fillHeader(block.headers()[cells.header], row, subject, bucket, source, producer, id);
        name[row] = block.texts()[cells.name];
        timestamp[row] = cells.timestamp;
        number[row] = cells.number;
        const SignalRest& rest = restOf(block, cells);
        text[row] = rest.text;
        latitude[row] = rest.latitude;
        longitude[row] = rest.longitude;
        hdop[row] = rest.hdop;
        heading[row] = rest.heading;
    }
    return absl::OkStatus();
}

template <>
absl::Status SortedRows<EventRows>::read(std::size_t first, std::size_t count, RowChunk& out) const {
    static const Text kType(std::string_view("dimo.event"));
    Text *subject = out.texts(0), *source = out.texts(2), *producer = out.texts(3), *id = out.texts(4),
         *type = out.texts(5), *version = out.texts(6), *name = out.texts(7), *metadata = out.texts(10);
    auto* bucket = out.values<std::int32_t>(1);
    auto* timestamp = out.values<std::int64_t>(8);
    auto *duration = out.values<std::uint64_t>(9), *number_of_row = out.values<std::uint64_t>(12);
    std::vector<std::uint32_t> lengths(count);
    std::vector<Text> tags;
    for (std::size_t row = 0; row < count; ++row) {
        number_of_row[row] = first + row;
        const Place place = order_[first + row];
        const RowBlock& block = *blocks_[place.block];
        const EventCells& cells = block.events()[place.row];
        const RowHeader& header = block.headers()[cells.header];
        fillHeader(header, row, subject, bucket, source, producer, id);
        type[row] = kType;
        version[row] = header.data_version;
        name[row] = block.texts()[cells.name];
        timestamp[row] = cells.timestamp;
        duration[row] = cells.duration_ns;
        metadata[row] = cells.metadata;
        const auto begin = block.tags().begin() + cells.first_tag;
        tags.insert(tags.end(), begin, begin + cells.tag_count);
        lengths[row] = cells.tag_count;
    }
    return out.lists(11, lengths, tags);
}

template class SortedRows<SignalRows>;
template class SortedRows<EventRows>;

}  // namespace dq::lake
