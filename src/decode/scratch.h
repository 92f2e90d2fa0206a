// Buffers of one decoding thread; they grow to the largest payload seen and stay.
#pragma once
#include <cstdint>
#include <vector>

#include "cloudevent/json_scanner.h"
#include "decode/loose_json.h"
#include "decode/module.h"
#include "decode/tesla_wire.h"

namespace dq::decode {

// One element of a default status payload while duplicate members may still change it.
struct StatusSlot {
    enum class Value : std::uint8_t { kNone, kNumber, kString, kObject, kOther };
    // State of a member of a location object.
    enum class Part : std::uint8_t { kAbsent, kNumber, kBad };

    bool null = true;
    Value value = Value::kNone;
    Part parts[3] = {};  // latitude, longitude, hdop
    std::string_view name;
    Instant time{kZeroTime, 0};
    double number = 0;
    double coordinates[3] = {};
    cloudevent::JsonString text;
};

// One element of a default events payload.
struct EventSlot {
    std::string_view name, metadata;
    Instant time{kZeroTime, 0};
    std::uint64_t duration_ns = 0;
    std::vector<std::string_view> tags;  // longest length ever decoded into
    std::size_t tag_count = 0;

    void clear() {
        name = metadata = {};
        time = Instant{kZeroTime, 0};
        duration_ns = 0;
        tags.clear();
        tag_count = 0;
    }
};

class Scratch {
  public:
    std::vector<RawSignal> raw;
    std::vector<std::uint32_t> order;
    std::vector<StatusSlot> status;
    std::vector<EventSlot> events;      // used up to a count of the reader's, so that tag buffers survive
    std::vector<LooseValue> values;     // one a path of the module's PathSet
    std::vector<std::string> payloads;  // Tesla telemetry messages, used up to a count
    std::vector<TelemetryDatum> data;   // of one such message
};

}  // namespace dq::decode
