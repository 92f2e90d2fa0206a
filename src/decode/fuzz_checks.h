// What must hold for arbitrary bytes: shared by the fuzz targets and the property test.
#pragma once
#include <simdjson.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "cloudevent/utf8.h"
#include "core/status.h"
#include "decode/decoder.h"

namespace dq::decode {

inline void checkBatch(const Batch& batch, Outcome outcome) {
    DQ_CHECK(batch.failed == (outcome == Outcome::kNone || outcome == Outcome::kSkipped ? 0u : 1u),
             "failed and outcome disagree");
    bool empty = batch.signals.empty() && batch.events.empty();
    DQ_CHECK(empty || (outcome != Outcome::kPayload && outcome != Outcome::kPanic && outcome != Outcome::kSkipped),
             "rows of a lost payload");
    for (const SignalRow& row : batch.signals) {
        DQ_CHECK(cloudevent::isValidUtf8(row.value_string) && cloudevent::isValidUtf8(row.name), "text of a signal");
        DQ_CHECK(!row.name.empty(), "a signal without name");
        for (double number : {row.value_number, row.loc_lat, row.loc_lon, row.loc_hdop})
            DQ_CHECK(std::isfinite(number), "a number");
    }
    for (const EventRow& row : batch.events) {
        DQ_CHECK(cloudevent::isValidUtf8(row.metadata) && cloudevent::isValidUtf8(row.name), "text of an event");
        DQ_CHECK(row.first_tag + std::size_t{row.tag_count} <= batch.tags.size(), "tags of an event");
        for (std::uint32_t i = 0; i < row.tag_count; ++i)
            DQ_CHECK(cloudevent::isValidUtf8(batch.tags[row.first_tag + i]), "a tag");
    }
}

// Decodes the bytes as a payload of every kind in both compatibility modes; ends the process when a promise of the
// decoder is broken (rows valid UTF-8 and finite, failed at most 1, same answer twice, no rows on payload or panic).
inline void checkPayload(std::string_view bytes, std::string_view type, std::string_view source,
                         std::string_view data_version) {
    static const ManualClock clock(1'792'000'000LL * kMicrosPerSecond);
    static ScratchPtr scratch = makeScratch();
    // Not at the front of a block, and with nothing readable behind the padding.
    std::unique_ptr<char[]> block(new char[bytes.size() + simdjson::SIMDJSON_PADDING]());
    if (!bytes.empty()) std::memcpy(block.get(), bytes.data(), bytes.size());
    for (Compat compat : {Compat::kExact, Compat::kRepair}) {
        for (bool base64 : {false, true}) {
            Options options;
            options.compat = compat;
            options.clock = &clock;
            Decoder decoder(options);
            Input input{"s",   source, "p", "e", type, data_version, 0, std::string_view(block.get(), bytes.size()),
                        base64};
            Batch first, second;
            std::string why;
            Outcome outcome = decoder.decode(input, *scratch, first, &why);
            checkBatch(first, outcome);
            DQ_CHECK(why.empty() == (first.failed == 0), "a reason is given exactly for failures");
            DQ_CHECK(decoder.decode(input, *scratch, second) == outcome, "decoding twice");
            DQ_CHECK(first.signals.size() == second.signals.size() && first.events.size() == second.events.size(),
                     "decoding twice");
        }
    }
}

}  // namespace dq::decode
