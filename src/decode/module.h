// What a decoder of one payload dialect implements. Modules are stateless, shared by all threads, and never throw.
//
// A module turns one payload into raw signals in emission order; sorting, pruning, location assembly and rows are the
// pipeline's (pipeline.h). Events go to the batch directly, in payload order.
#pragma once
#include <string_view>
#include <vector>

#include "core/time.h"
#include "decode/decoder.h"
#include "decode/errors.h"

namespace dq::decode {

// Part of a position that producers send as separate signals (decode.md §4).
enum class Role : std::uint8_t { kNone, kLatitude, kLongitude, kHdop };

struct RawSignal {
    std::string_view name;
    Instant time;
    Role role = Role::kNone;
    double number = 0;
    std::string_view text;
    double latitude = 0, longitude = 0, hdop = 0;
};

Role roleOf(std::string_view signal_name);

// Header texts of one event, valid UTF-8, ready for rows.
struct Header {
    std::string_view subject, source, producer, id, data_version;
    std::int32_t bucket = 0;
};

struct Work {
    const Input& input;
    const Header& header;
    std::string_view payload;  // resolved; may be empty
    bool repair;
    Arena& arena;
    Scratch& scratch;
    Errors& errors;
};

class Module {
  public:
    virtual ~Module() = default;
    // Appends raw signals. kNone, kPartial (item errors noted), kPayload or kPanic; the caller drops what was
    // appended for the last two.
    virtual Outcome signals(const Work& work, std::vector<RawSignal>& out) const = 0;
    // Appends event rows; nothing on kPayload.
    virtual Outcome events(const Work& work, Batch& out) const = 0;
};

// Module of an exact source string (decode.md §2.2).
const Module& moduleOf(std::string_view source);

const Module& defaultModule();

}  // namespace dq::decode
