// The decode loop: raw events of new snapshots become rows of lake.signals and lake.events, exactly once; rollups
// follow.
//
// Invariant: cursor at `to` ⟺ every window of the span (from, to] is durable. Earlier windows commit without
// touching the cursor; a crash replays the span and the anti-join absorbs what had landed (materializer.md §6, §13).
//
//   Materializer materializer(lakes.writer(), decoder_options, options, metrics);
//   DQ_RETURN_IF_ERROR(materializer.prepare(cancel));    // schema
//   Status ended = materializer.run(cancel);              // until cancelled (OK), or until it failed for an hour
//
// Threads: one at a time, except cursor() and prune(). Errors of a pass are retried by run(); tests call pass() and
// drain() themselves.
#pragma once
#include <absl/status/statusor.h>

#include <atomic>
#include <memory>

#include "core/clock.h"
#include "core/metrics.h"
#include "decode/decoder.h"
#include "lake/feed.h"
#include "lake/lake.h"
#include "lake/tables.h"
#include "materialize/reporter.h"
#include "materialize/retention.h"
#include "materialize/span.h"
#include "materialize/span_choice.h"
#include "materialize/writer.h"
#include "rollup/rollup.h"

namespace dq::materialize {

struct MaterializerOptions {
    std::int64_t poll_interval = 15'000'000;      // µs, as all below
    std::int64_t rollup_interval = 0;             // 0: the poll interval
    std::int64_t failure_window = 3'600'000'000;  // failing for so long ends run()
    SpanBounds span;
    bool rebuild_rollups = false;  // LAKE_REBUILD_ROLLUP_ON_BOOT
    // MATERIALIZER_BACKFILL_MODE: no anti-join in a span that begins where this process's own last span ended, and no
    // flush before the backlog is drained.
    bool bulk = false;
    PayloadOptions payloads;
    Micros retention = 0;  // LAKE_DECODED_RETENTION; 0: rows are kept for ever
    SpanLimits limits;
    Writer::Options writer;
};

struct PassResult {
    std::int64_t rows = 0;  // raw rows consumed
    enum class State { kProgress, kCaughtUp, kNoTable, kStandby, kLostRace } state = State::kProgress;
    int intermediate_windows = 0;
};

class Materializer {
  public:
    Materializer(lake::Lake& lake, decode::Options decode, MaterializerOptions options, Metrics& metrics,
                 const Clock& clock = systemClock());
    ~Materializer();

    absl::Status prepare(const Cancel& cancel);
    absl::StatusOr<PassResult> pass(const Cancel& cancel);
    // Passes until caught up; returns the raw rows consumed.
    absl::StatusOr<std::int64_t> drain(const Cancel& cancel);
    // Brings both rollups up to date; the first error is returned, the other side is tried all the same.
    absl::Status flush(const Cancel& cancel);
    absl::Status rebuildRollups(const Cancel& cancel);
    absl::Status run(const Cancel& cancel);
    // Removes rows past the retention now; 0 without one.
    absl::StatusOr<std::int64_t> prune(const Cancel& cancel);
    // Frees the writer lease (clean stop).
    void release() { writer_.release(); }
    std::int64_t cursor() const { return cursor_; }

  private:
    absl::StatusOr<PassResult> decodeFrom(engine::Pool::Lease& connection, std::int64_t cursor,
                                          const lake::SnapshotList& list, const Cancel& cancel);
    absl::StatusOr<SpanResult> writeSpan(const SpanSource& source, const Cancel& cancel);
    void countSpan(const SpanSource& source, const SpanResult& span, const lake::SnapshotList& list, std::int64_t took);
    // Seeds missing rows and reads them again.
    absl::StatusOr<std::int64_t> cursorOf(engine::Connection& connection, lake::ProgressRows& rows,
                                          const Cancel& cancel);
    absl::Status skipEmpty(engine::Connection& connection, std::int64_t from, std::int64_t to, const Cancel& cancel);
    void caughtUp(std::int64_t head, const Cancel& cancel);
    // Reports the cursor, unless another writer is at work: its position is the one that counts.
    void report(bool caught_up, const Cancel& cancel);
    absl::Status flushIfDue(const Cancel& cancel);
    // kOwner: this process owns the lease, or has just taken it since marks of an earlier life wait.
    enum class FlushRight { kNothingToDo, kOwner, kNotYet };
    absl::StatusOr<FlushRight> flushRight(const Cancel& cancel);
    enum class AfterFailure { kWait, kAtOnce, kGiveUp };
    AfterFailure failed(const absl::Status& error);
    absl::Status loop(const Cancel& cancel);
    bool restartEngine(bool though_it_answers);
    // False when rows have waited for so long that run() must end.
    bool lostRace(const Cancel& cancel);
    void waitAfterFailure(const Cancel& cancel);

    lake::Lake& lake_;
    decode::Decoder decoder_;
    MaterializerOptions options_;
    const Clock& clock_;
    MaterializerMetrics metrics_;
    rollup::Rollup signals_rollup_, events_rollup_;
    Writer writer_;
    SpanWriter span_;
    ProgressReporter reporter_;
    std::optional<Retention> retention_;
    std::string last_lease_;  // as read or written last
    // This process owns the lease, or nobody does: it may report and prune. Read by the pruning thread.
    std::atomic<bool> alone_ = false;

    std::atomic<std::int64_t> cursor_ = 0;
    std::int64_t last_head_ = -1, flushed_head_ = -1;
    std::int64_t own_end_ = -1;  // where this process's last span ended; −1 after a failed one
    std::int64_t last_flush_ = 0, last_missing_table_log_ = INT64_MIN / 2;
    std::int64_t failing_since_ = -1, waiting_since_ = -1;  // steady µs; −1: not
    int failures_ = 0;                                      // in a row
    bool aborted_before_ = false;                           // the last failure was an aborted session
    bool idle_ = false;                                     // the last pass found nothing up to last_head_
    bool no_table_ = false;                                 // and raw_events did not exist then
};

}  // namespace dq::materialize
