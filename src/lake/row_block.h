// Decoded rows of a piece of the feed in compact form: what the rows of one raw event share is stored once, texts are
// stored once per block. 32 bytes per signal row, and its part of what is shared.
//
//   RowBlock block;
//   block.addSignal(row); … ; block.addEvent(event, tags); … ; block.seal();
//
// Ownership: a block owns all bytes it refers to; it is filled by one thread and then only read.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/arena.h"
#include "core/status.h"
#include "core/time.h"
#include "engine/row_source.h"

namespace dq::lake {

// What the rows of one raw event have in common.
struct RowHeader {
    engine::Text subject, source, producer, cloud_event_id, data_version;
    std::int32_t bucket;
    std::uint64_t hash;  // of subject, source and cloud_event_id
};
struct SignalCells {
    Micros timestamp;
    double number;
    std::uint32_t header, name;  // indexes into headers() and texts()
    std::uint32_t rest;          // index into rests(); kNone: no text and no location
    std::uint32_t hash;          // of the row's identity, the timestamp left out
};
struct SignalRest {
    engine::Text text;
    double latitude, longitude, hdop, heading;
};
struct EventCells {
    Micros timestamp;
    std::uint64_t duration_ns;
    engine::Text metadata;
    std::uint32_t header, name;
    std::uint32_t first_tag, tag_count;
    std::uint32_t hash;
};
inline constexpr std::uint32_t kNone = UINT32_MAX;

class RowBlock {
  public:
    // `row` has the members of lake.signals, named like its columns (text as string_view, timestamp in µs).
    template <typename Row>
    void addSignal(const Row& row);
    // Likewise lake.events; type is always dimo.event.
    template <typename Row, typename Tags>
    void addEvent(const Row& row, const Tags& tags);
    // After the last row: gives back what filling needed.
    void seal();

    const std::vector<RowHeader>& headers() const { return headers_; }
    const std::vector<SignalCells>& signals() const { return signals_; }
    const std::vector<SignalRest>& rests() const { return rests_; }
    const std::vector<EventCells>& events() const { return events_; }
    const std::vector<engine::Text>& tags() const { return tags_; }
    // Names, and whatever else is stored once.
    const std::vector<engine::Text>& texts() const { return texts_; }
    std::size_t bytes() const;  // held
    std::size_t used() const;   // by the rows added so far

  private:
    struct HeaderTexts {
        std::string_view subject, source, producer, cloud_event_id, data_version;
    };
    std::uint32_t header(const HeaderTexts& texts, std::int32_t bucket);
    engine::Text keep(std::string_view text);   // copied, unless it fits in place
    std::uint32_t once(std::string_view text);  // index into texts_
    engine::Text shared(std::string_view text);
    std::uint32_t identityHash(std::uint32_t header, std::string_view name) const {
        return static_cast<std::uint32_t>(absl::HashOf(headers_[header].hash, name));
    }

    Arena arena_;
    absl::flat_hash_map<std::string_view, std::uint32_t> known_;  // views of the arena
    std::vector<RowHeader> headers_;
    std::vector<SignalCells> signals_;
    std::vector<SignalRest> rests_;
    std::vector<EventCells> events_;
    std::vector<engine::Text> tags_, texts_;
};

// --- templates
// -------------------------------------------------------------------------------------------------------------

template <typename Row>
void RowBlock::addSignal(const Row& row) {
    SignalCells& cells = signals_.emplace_back();
    cells.timestamp = row.timestamp;
    cells.number = row.value_number;
    cells.header = header({row.subject, row.source, row.producer, row.cloud_event_id, {}}, row.subject_bucket);
    cells.name = once(row.name);
    cells.hash = identityHash(cells.header, row.name);
    cells.rest = kNone;
    if (!row.value_string.empty() || row.loc_lat != 0 || row.loc_lon != 0 || row.loc_hdop != 0 ||
        row.loc_heading != 0) {
        cells.rest = static_cast<std::uint32_t>(rests_.size());
        rests_.push_back({shared(row.value_string), row.loc_lat, row.loc_lon, row.loc_hdop, row.loc_heading});
    }
}

template <typename Row, typename Tags>
void RowBlock::addEvent(const Row& row, const Tags& tags) {
    EventCells& cells = events_.emplace_back();
    cells.timestamp = row.timestamp;
    cells.duration_ns = row.duration_ns;
    cells.metadata = shared(row.metadata);
    cells.header =
        header({row.subject, row.source, row.producer, row.cloud_event_id, row.data_version}, row.subject_bucket);
    cells.name = once(row.name);
    cells.hash = identityHash(cells.header, row.name);
    cells.first_tag = static_cast<std::uint32_t>(tags_.size());
    for (const std::string_view tag : tags) tags_.push_back(shared(tag));
    cells.tag_count = static_cast<std::uint32_t>(tags_.size()) - cells.first_tag;
}

}  // namespace dq::lake
