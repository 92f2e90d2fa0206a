// Decoding and writing one span of the change feed: (from, to], windows cut between raw rows, the cursor moved by
// the last one.
#pragma once
#include <absl/status/statusor.h>

#include <functional>

#include "decode/decoder.h"
#include "lake/lake.h"
#include "materialize/metrics.h"
#include "materialize/pipeline.h"
#include "materialize/window_sink.h"

namespace dq::materialize {

struct SpanLimits {
    std::size_t window_rows = 1'000'000;  // raw rows
    std::size_t window_bytes = 0;         // memory of its decoded rows; 0: see fitToMemory()
    std::size_t window_days = 512;        // distinct days of decoded rows
    int workers = 1;
    std::size_t pipeline_bytes = 0;  // of pages decoded ahead; 0 likewise
    // Tests end a span between windows: called after each intermediate window, an error abandons the span.
    std::function<absl::Status(int window)> after_window;
};

// Chooses what was left open: a window may take a quarter of the engine's memory limit, what is decoded ahead a
// quarter of that, between 16 and 128 MiB; larger windows write fewer and larger files.
absl::Status fitToMemory(SpanLimits& limits, engine::Connection& connection, const Cancel& cancel);

struct SpanResult {
    bool lost_race = false;                // another writer moved first: nothing of the last window landed
    std::int64_t raw_rows = 0;             // feed rows read, dropped ones included
    std::int64_t signals = 0, events = 0;  // rows decoded, before the anti-join
    std::uint64_t failed = 0;
    int intermediate_windows = 0;
    Micros oldest_event = INT64_MAX;
};

class SpanWriter {
  public:
    // Opens the span's rows (lake/feed.h) on a connection that is kept for them.
    using Open = std::function<absl::StatusOr<engine::Result>(engine::Connection& connection)>;

    SpanWriter(lake::Lake& lake, const decode::Decoder& decoder, PayloadOptions payloads, MaterializerMetrics& metrics,
               const Clock& clock)
        : lake_(lake),
          decoder_(decoder),
          payloads_(std::move(payloads), metrics, clock),
          metrics_(metrics),
          clock_(clock) {}

    absl::StatusOr<SpanResult> write(const Open& open, WindowSink& sink, const SpanLimits& limits,
                                     const Cancel& cancel);

  private:
    struct Window;
    static absl::StatusOr<Commit> commit(engine::Connection& connection, Window& window, WindowSink& sink, bool last,
                                         const SpanLimits& limits, const Cancel& cancel);
    void observe(const Page& page, SpanResult& result);

    lake::Lake& lake_;
    const decode::Decoder& decoder_;
    Payloads payloads_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
};

}  // namespace dq::materialize
