// Decoding one raw CloudEvent into signal and event rows. A pure function of (row, settings, clock); spec: decode.md.
//
// Ownership: rows hold string_views into the batch's arena, into the input, or into static tables; a Batch must not
// outlive the inputs it was decoded from. Threads: a Decoder is immutable and shared; a Batch and a Scratch belong to
// one thread. No allocation per row after warm-up. Never throws, whatever the bytes.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/arena.h"
#include "core/clock.h"
#include "core/time.h"

namespace dq::decode {

// A raw_events row, its payload resolved. NULL text columns arrive as empty. `payload` is followed by at least
// simdjson::SIMDJSON_PADDING readable bytes.
struct Input {
    std::string_view subject, source, producer, id, type, data_version;
    Micros time = 0;
    std::string_view payload;
    bool payload_is_base64_text = false;  // row had data_base64 inline: exact → empty payload, repair → decoded
};

struct SignalRow {  // column order of lake.signals
    std::string_view subject;
    std::int32_t subject_bucket;
    std::string_view name;
    Micros timestamp;
    std::string_view source, producer, cloud_event_id;
    double value_number;
    std::string_view value_string;
    double loc_lat, loc_lon, loc_hdop, loc_heading;
};

struct EventRow {  // column order of lake.events; type is always dimo.event
    std::string_view subject;
    std::int32_t subject_bucket;
    std::string_view source, producer, cloud_event_id, data_version, name;
    Micros timestamp;
    std::uint64_t duration_ns;
    std::string_view metadata;
    std::uint32_t first_tag, tag_count;  // into Batch::tags
};

enum class Outcome : std::uint8_t { kNone, kPartial, kPayload, kPanic, kNonFinite, kSkipped };
std::string_view outcomeName(Outcome outcome);

struct Batch {
    std::vector<SignalRow> signals;
    std::vector<EventRow> events;
    std::vector<std::string_view> tags;
    std::uint64_t failed = 0;  // raw events with an error
    Arena arena;
    void clear();               // keeps capacity
    std::size_t bytes() const;  // rows + arena, for memory budgets
};

enum class Compat { kRepair, kExact };

struct Options {
    Compat compat = Compat::kRepair;
    std::uint64_t chain_id = 0;
    std::string vehicle_address_hex;  // 40 lower-case hex digits; empty or all zero: no vehicle gate
    const Clock* clock = &systemClock();
};

// Per-thread parser state, reused from event to event.
class Scratch;
struct ScratchDeleter {
    void operator()(Scratch*) const;
};
using ScratchPtr = std::unique_ptr<Scratch, ScratchDeleter>;
ScratchPtr makeScratch();

class Decoder {
  public:
    explicit Decoder(Options options);
    // True when `type` is routed to a decoder and (for status) the subject passes the vehicle gate: others need no
    // payload.
    bool wants(std::string_view type, std::string_view subject) const;
    // Appends the rows of one event in decoder order. `why`, if given, receives a capped text of the item errors.
    Outcome decode(const Input& input, Scratch& scratch, Batch& out, std::string* why = nullptr) const;

  private:
    Options options_;
    bool gate_;
};

}  // namespace dq::decode
