#include "materialize/materializer.h"

#include "core/log.h"
#include "core/status.h"
#include "lake/progress.h"

namespace dq::materialize {
namespace {

constexpr std::int64_t kReportEvery = 5'000'000, kKeepAlive = 300'000'000, kMissingTableLogEvery = 300'000'000;
// An empty stretch is skipped once it is longer than this, so that the retention floor stays near the head; skipping
// mints a snapshot.
constexpr std::int64_t kSkipEmptyAbove = 16;

}  // namespace

Materializer::Materializer(lake::Lake& lake, decode::Options decode, MaterializerOptions options, Metrics& metrics,
                           const Clock& clock)
    : lake_(lake),
      decoder_(std::move(decode)),
      options_(std::move(options)),
      clock_(clock),
      metrics_(metrics),
      signals_rollup_(lake, rollup::Side::kSignals),
      events_rollup_(lake, rollup::Side::kEvents),
      writer_(lake, metrics_, options_.writer, clock),
      span_(lake, decoder_, writer_, signals_rollup_, events_rollup_, metrics_, clock) {
    if (options_.poll_interval <= 0) options_.poll_interval = 15'000'000;
    if (options_.rollup_interval <= 0) options_.rollup_interval = options_.poll_interval;
    if (options_.max_snapshot_span <= 0) options_.max_snapshot_span = 16;
}

Materializer::~Materializer() = default;

absl::Status Materializer::prepare(const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(const auto findings, lake::ensureDecodedTables(lake_, cancel));
    if (findings.signals_rollup_incomplete) signals_rollup_.armRebuild();
    if (findings.events_rollup_incomplete) events_rollup_.armRebuild();
    return absl::OkStatus();
}

absl::StatusOr<std::int64_t> Materializer::cursorOf(engine::Connection& connection, lake::ProgressRows& rows,
                                                    const Cancel& cancel) {
    if (rows.cursor_present && rows.lease && rows.through) return lake::parseCursor(rows.cursor_text);
    metrics_.pass_errors.Increment();
    logError("ingest_progress cursor row missing; re-seeding and resuming decode from snapshot 0");
    DQ_RETURN_IF_ERROR(lake::seedProgress(connection, {.signals_empty = false, .events_empty = false}, cancel));
    DQ_ASSIGN_OR_RETURN(rows, lake::readProgress(connection, cancel));
    return lake::parseCursor(rows.cursor_text);
}

absl::StatusOr<PassResult> Materializer::pass(const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(const std::int64_t head, lake::headSnapshot(*connection, cancel));
    metrics_.head.Set(static_cast<double>(head));
    if (idle_ && head == last_head_) {  // nothing was committed since the last look
        report(*connection, /*caught_up=*/true, cancel);
        return PassResult{.state = no_table_ ? PassResult::State::kNoTable : PassResult::State::kCaughtUp};
    }
    idle_ = false;
    no_table_ = false;
    DQ_ASSIGN_OR_RETURN(auto rows, lake::readProgress(*connection, cancel));
    DQ_ASSIGN_OR_RETURN(const std::int64_t cursor, cursorOf(*connection, rows, cancel));
    cursor_ = cursor;
    metrics_.cursor.Set(static_cast<double>(cursor));
    DQ_ASSIGN_OR_RETURN(const auto list, lake::snapshotsAfter(*connection, cursor, cancel));
    if (!list.raw_events_exists) {
        if (clock_.steadyMicros() - last_missing_table_log_ >= kMissingTableLogEvery) {
            last_missing_table_log_ = clock_.steadyMicros();
            logInfo("lake.raw_events not present yet; waiting for the first ingest", {{"component", "materializer"}});
        }
        idle_ = true;
        no_table_ = true;
        last_head_ = head;
        return PassResult{.state = PassResult::State::kNoTable};
    }
    return decodeFrom(connection, cursor, rows.lease.value_or(""), list, cancel);
}

absl::StatusOr<PassResult> Materializer::decodeFrom(engine::Pool::Lease& connection, std::int64_t cursor,
                                                    const std::string& stored_lease, const lake::SnapshotList& list,
                                                    const Cancel& cancel) {
    const std::int64_t head = list.snapshots.empty() ? cursor : list.snapshots.back().id;
    std::int64_t to = -1;
    int with_rows = 0;
    for (const lake::Snapshot& snapshot : list.snapshots) {
        if (!snapshot.touches_raw_events) continue;
        if (with_rows++ == options_.max_snapshot_span) break;
        to = snapshot.id;
    }
    // Expired ids name no changes any more: what they inserted is found by reading.
    const bool expired = !list.snapshots.empty() && !list.feed_start.has_value();
    if (to < 0 && expired) to = list.snapshots.front().id;
    if (to < 0) {
        if (head - cursor > kSkipEmptyAbove && writer_.owner())
            DQ_RETURN_IF_ERROR(skipEmpty(*connection, cursor, head, cancel));
        caughtUp(*connection, head, cancel);
        return PassResult{.state = PassResult::State::kCaughtUp};
    }
    DQ_ASSIGN_OR_RETURN(const bool owner, writer_.own(*connection, stored_lease, cancel));
    if (!owner) return PassResult{.state = PassResult::State::kStandby};

    metrics_.commit_lag.Set(static_cast<double>(clock_.now() - list.snapshots.front().committed) / 1e6);
    const std::int64_t start = clock_.steadyMicros();
    const SpanSource source{.from = cursor, .to = to, .feed_from = list.feed_start.value_or(0), .expired = expired};
    DQ_ASSIGN_OR_RETURN(const SpanResult span, span_.write(source, options_.limits, cancel));
    if (span.lost_race) return PassResult{.state = PassResult::State::kLostRace};
    cursor_ = to;
    metrics_.cursor.Set(static_cast<double>(to));
    metrics_.errors.Increment(static_cast<double>(span.failed));
    metrics_.rows.Add({{"table", "signals"}}).Increment(static_cast<double>(span.signals));
    metrics_.rows.Add({{"table", "events"}}).Increment(static_cast<double>(span.events));
    if (expired && cursor > 0) {
        metrics_.cursor_resets.Increment();
        metrics_.last_reset_gap.Set(static_cast<double>(list.snapshots.front().id - 1 - cursor));
        logError(
            "DuckLake change feed expired below retention; its rows were read from the base table (increase "
            "LAKE_SNAPSHOT_RETENTION)",
            {{"from", cursor},
             {"to", to},
             {"oldest_retained", list.snapshots.front().id},
             {"skipped_snapshots", list.snapshots.front().id - 1 - cursor},
             {"recovered_rows", span.raw_rows}});
    }
    if (span.raw_rows > 0) {
        metrics_.batches.Add({{"type", "ducklake"}}).Increment();
        if (span.oldest_event != INT64_MAX) {
            metrics_.lag.Add({{"type", "ducklake"}}).Set(static_cast<double>(clock_.now() - span.oldest_event) / 1e6);
        }
    }
    logInfo("span committed", {{"component", "materializer"},
                               {"from", cursor},
                               {"to", to},
                               {"raw_rows", span.raw_rows},
                               {"signal_rows", span.signals},
                               {"event_rows", span.events},
                               {"took", static_cast<double>(clock_.steadyMicros() - start) / 1e3}});
    report(*connection, /*caught_up=*/false, cancel);
    return PassResult{.rows = span.raw_rows,
                      .state = PassResult::State::kProgress,
                      .intermediate_windows = span.intermediate_windows};
}

absl::Status Materializer::skipEmpty(engine::Connection& connection, std::int64_t from, std::int64_t to,
                                     const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(lake::Stage empty, lake::Stage::open(connection));
    DQ_RETURN_IF_ERROR(empty.finish());
    lake::WindowPlan plan;
    plan.move = lake::CursorMove{from, to};
    DQ_ASSIGN_OR_RETURN(const Writer::Commit outcome, writer_.commit(connection, empty, plan, cancel));
    if (outcome == Writer::Commit::kCommitted) {
        cursor_ = to;
        metrics_.cursor.Set(static_cast<double>(to));
    }
    return absl::OkStatus();
}

void Materializer::caughtUp(engine::Connection& connection, std::int64_t head, const Cancel& cancel) {
    metrics_.commit_lag.Set(0);
    metrics_.lag.Add({{"type", "ducklake"}}).Set(0);
    last_head_ = head;
    idle_ = true;
    report(connection, /*caught_up=*/true, cancel);
}

// materializer.md §7. The position reported is never above the cursor, though the feed up to the head was seen empty.
void Materializer::report(engine::Connection& connection, bool caught_up, const Cancel& cancel) {
    const std::int64_t now = clock_.steadyMicros(), since = now - report_attempted_;
    const bool due =
        caught_up ? (cursor_ != reported_ || since >= kKeepAlive) : (cursor_ != reported_ && since >= kReportEvery);
    if (!due) return;
    report_attempted_ = now;
    const absl::Status status = lake::reportConsumerProgress(connection, cursor_, cancel);
    if (status.ok()) {
        reported_ = cursor_;
    } else {
        metrics_.progress_errors.Increment();
        logWarn("consumer progress report failed; will retry next pass", {{"error", status.message()}});
    }
}

absl::StatusOr<std::int64_t> Materializer::drain(const Cancel& cancel) {
    std::int64_t rows = 0;
    while (true) {
        DQ_ASSIGN_OR_RETURN(const PassResult result, pass(cancel));
        rows += result.rows;
        if (result.state != PassResult::State::kProgress && result.state != PassResult::State::kLostRace) return rows;
        DQ_RETURN_IF_ERROR(cancel.check());
    }
}

absl::Status Materializer::flush(const Cancel& cancel) {
    auto one = [&](rollup::Rollup& rollup, prometheus::Gauge& seconds, prometheus::Counter& errors,
                   std::string_view message) {
        const std::int64_t start = clock_.steadyMicros();
        const auto subjects = rollup.flush(cancel);
        if (cancel.cancelled()) return cancel.check();  // going down: the marks are durable
        if (!subjects.ok()) {
            errors.Increment();
            logError(message, {{"error", subjects.status().message()}});
        } else if (*subjects > 0) {
            seconds.Set(static_cast<double>(clock_.steadyMicros() - start) / 1e6);
        }
        return subjects.status();
    };
    const auto signals = one(signals_rollup_, metrics_.rollup_seconds, metrics_.rollup_errors,
                             "signals_latest flush failed; latest/summary may be stale until the next flush");
    const auto events = one(events_rollup_, metrics_.event_rollup_seconds, metrics_.event_rollup_errors,
                            "events_latest flush failed; event summaries may be stale until the next flush");
    return signals.ok() ? events : signals;
}

absl::Status Materializer::rebuildRollups(const Cancel& cancel) {
    const auto signals = signals_rollup_.rebuild(cancel);
    if (!signals.ok()) logError("signals_latest rebuild failed", {{"error", signals.message()}});
    const auto events = events_rollup_.rebuild(cancel);
    if (!events.ok()) logError("events_latest rebuild failed", {{"error", events.message()}});
    return signals.ok() ? events : signals;
}

}  // namespace dq::materialize
