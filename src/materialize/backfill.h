// Decoding a range of raw events again, from the base table, beside a live materializer or without one
// (materializer.md §1.2, §13.2; rollups.md D11).
//
// The range is cut into pages of one day of event time; a page's rows are streamed and written in windows, always with
// the anti-join, so that rows at rest are never doubled. Every window marks the subjects it inserts for, durably and in
// its own transaction: whoever owns the writer lease brings the rollups up to date. When nobody does, the backfill
// takes the lease after its inserts, does it itself, and gives the lease back. The cursor is neither read nor moved.
//
// Finished pages are noted in ingest_progress: the same range and subject go on after the last one when the run was
// cut short. Memory: as in a pass, whatever the range.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <string>

#include "core/clock.h"
#include "core/metrics.h"
#include "decode/decoder.h"
#include "lake/lake.h"
#include "materialize/span.h"

namespace dq::materialize {

struct BackfillRange {
    Micros from = 0, to = 0;  // from ≤ event time < to
    std::string subject;      // "" = all
};
struct BackfillProgress {
    std::int64_t rows = 0, total = 0;  // raw rows read so far, and in the range
    Micros reached = 0;                // event time up to which everything is durable
};
struct BackfillOptions {
    SpanLimits limits;
    PayloadOptions payloads;
    bool restart = false;  // from the beginning, though an earlier run got further
    // Called after each page, on the calling thread.
    std::function<void(const BackfillProgress&)> progress;
};
struct BackfillResult {
    std::int64_t raw_rows = 0, signals = 0, events = 0;  // read, decoded
    std::uint64_t failed = 0;                            // raw events with an error
    bool rollups_done = false;                           // false: the owner of the lease will do them
};

// InvalidArgument for an empty or inverted range; Cancelled when it was stopped, with all finished pages durable.
// Creates the decoded tables when they are missing. A lake without raw_events holds no rows of the range.
absl::StatusOr<BackfillResult> backfill(lake::Lake& lake, const decode::Options& decode, const BackfillRange& range,
                                        const BackfillOptions& options, Metrics& metrics, const Cancel& cancel,
                                        const Clock& clock = systemClock());

}  // namespace dq::materialize
