// Decoding and writing one span of the change feed: (from, to], windows cut between raw rows, the cursor moved by
// the last one.
#pragma once
#include <absl/status/statusor.h>

#include <functional>

#include "decode/decoder.h"
#include "lake/lake.h"
#include "materialize/metrics.h"
#include "materialize/pipeline.h"
#include "materialize/writer.h"
#include "rollup/rollup.h"

namespace dq::materialize {

struct SpanLimits {
    std::size_t window_rows = 100'000;     // raw rows
    std::size_t window_bytes = 64u << 20;  // payload bytes
    std::size_t window_days = 512;         // distinct days of decoded rows
    int workers = 1;
    std::size_t pipeline_bytes = 64u << 20;
    // Tests end a span between windows: called after each intermediate window, an error abandons the span.
    std::function<absl::Status(int window)> after_window;
};

struct SpanResult {
    bool lost_race = false;                // another writer moved first: nothing of the last window landed
    std::int64_t raw_rows = 0;             // feed rows read, dropped ones included
    std::int64_t signals = 0, events = 0;  // rows decoded, before the anti-join
    std::uint64_t failed = 0;
    int intermediate_windows = 0;
    Micros oldest_event = INT64_MAX;
};

// Where the rows of (from, to] come from.
struct SpanSource {
    std::int64_t from = 0, to = 0;
    std::int64_t feed_from = 0;  // first snapshot id asked from the feed; its rows ≤ `from` are not there
    bool expired = false;        // the feed's start has expired: read the base table instead
};

class SpanWriter {
  public:
    SpanWriter(lake::Lake& lake, const decode::Decoder& decoder, Writer& writer, rollup::Rollup& signals,
               rollup::Rollup& events, MaterializerMetrics& metrics, const Clock& clock)
        : lake_(lake),
          decoder_(decoder),
          writer_(writer),
          signals_rollup_(signals),
          events_rollup_(events),
          metrics_(metrics),
          clock_(clock) {}

    absl::StatusOr<SpanResult> write(const SpanSource& source, const SpanLimits& limits, const Cancel& cancel);

  private:
    struct Window;
    absl::Status fill(Window& window, const Page& page, std::size_t row, std::size_t& first_signal,
                      std::size_t& first_event);
    absl::StatusOr<Writer::Commit> commit(Window& window, std::optional<lake::CursorMove> move, const Cancel& cancel);
    void observe(const Page& page, SpanResult& result);

    lake::Lake& lake_;
    const decode::Decoder& decoder_;
    Writer& writer_;
    rollup::Rollup& signals_rollup_;
    rollup::Rollup& events_rollup_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
};

}  // namespace dq::materialize
