#include "materialize/materializer.h"

#include "core/log.h"
#include "core/status.h"
#include "lake/progress.h"

namespace dq::materialize {
namespace {

constexpr std::int64_t kMissingTableLogEvery = 300'000'000;
// An empty stretch is skipped once it is longer than this, so that the retention floor stays near the head; skipping
// mints a snapshot.
constexpr std::int64_t kSkipEmptyAbove = 16;

// Windows of the change feed: marks with the rows, the cursor with the last of them.
class LeaseSink final : public WindowSink {
  public:
    LeaseSink(Writer& writer, rollup::Rollup& signals, rollup::Rollup& events, lake::CursorMove move, bool anti_join)
        : writer_(writer), signals_(signals), events_(events), move_(move), anti_join_(anti_join) {}

    absl::StatusOr<Commit> commit(engine::Connection& connection, const lake::Stage& stage, bool last,
                                  const Cancel& cancel) override {
        lake::WindowPlan plan;
        if (last) plan.move = move_;
        plan.anti_join = anti_join_;
        plan.signal_marks = signals_.marksFor(stage.signals().subjects());
        plan.event_marks = events_.marksFor(stage.events().subjects());
        DQ_ASSIGN_OR_RETURN(const Commit outcome, writer_.commit(connection, stage, plan, cancel));
        if (outcome == Commit::kCommitted) {
            signals_.marked(plan.signal_marks);
            events_.marked(plan.event_marks);
        }
        return outcome;
    }
    int failures() const override { return writer_.failures(); }

  private:
    Writer& writer_;
    rollup::Rollup& signals_;
    rollup::Rollup& events_;
    lake::CursorMove move_;
    bool anti_join_;
};

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
      span_(lake, decoder_, options_.payloads, metrics_, clock),
      reporter_(lake, metrics_, clock) {
    if (options_.poll_interval <= 0) options_.poll_interval = 15'000'000;
    if (options_.rollup_interval <= 0) options_.rollup_interval = options_.poll_interval;
    if (options_.retention > 0)
        retention_.emplace(lake, options_.retention, metrics_, clock, [this] { return alone_.load(); });
}

Materializer::~Materializer() = default;

absl::Status Materializer::prepare(const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(const auto findings, lake::ensureDecodedTables(lake_, cancel));
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
    DQ_RETURN_IF_ERROR(fitToMemory(options_.limits, *connection, cancel));
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
        report(/*caught_up=*/true, cancel);
        return PassResult{.state = no_table_ ? PassResult::State::kNoTable : PassResult::State::kCaughtUp};
    }
    idle_ = false;
    no_table_ = false;
    DQ_ASSIGN_OR_RETURN(auto rows, lake::readProgress(*connection, cancel));
    const auto cursor = cursorOf(*connection, rows, cancel);
    if (!cursor.ok()) {
        reporter_.withhold();
        return cursor.status();
    }
    cursor_ = *cursor;
    last_lease_ = rows.lease.value_or("");
    metrics_.cursor.Set(static_cast<double>(cursor_));
    DQ_ASSIGN_OR_RETURN(const auto list, lake::snapshotsAfter(*connection, cursor_, cancel));
    if (!list.raw_events_exists) {
        if (clock_.steadyMicros() - last_missing_table_log_ >= kMissingTableLogEvery) {
            last_missing_table_log_ = clock_.steadyMicros();
            logInfo("lake.raw_events not present yet; waiting for the first ingest", {{"component", "materializer"}});
        }
        idle_ = true;
        no_table_ = true;
        last_head_ = head;
        report(/*caught_up=*/true, cancel);
        return PassResult{.state = PassResult::State::kNoTable};
    }
    return decodeFrom(connection, cursor_, list, cancel);
}

absl::StatusOr<PassResult> Materializer::decodeFrom(engine::Pool::Lease& connection, std::int64_t cursor,
                                                    const lake::SnapshotList& list, const Cancel& cancel) {
    const std::int64_t head = list.snapshots.empty() ? cursor : list.snapshots.back().id;
    const std::optional<SpanSource> source = chooseSpan(list, cursor, options_.span);
    if (!source) {
        if (head - cursor > kSkipEmptyAbove && writer_.owner())
            DQ_RETURN_IF_ERROR(skipEmpty(*connection, cursor, head, cancel));
        caughtUp(head, cancel);
        return PassResult{.state = PassResult::State::kCaughtUp};
    }
    DQ_ASSIGN_OR_RETURN(const bool owner, writer_.own(*connection, last_lease_, cancel));
    alone_ = owner;
    if (!owner) {
        reporter_.withhold();
        return PassResult{.state = PassResult::State::kStandby};
    }
    last_lease_ = writer_.lease();
    metrics_.commit_lag.Set(static_cast<double>(clock_.now() - list.snapshots.front().committed) / 1e6);
    report(/*caught_up=*/false, cancel);
    const std::int64_t start = clock_.steadyMicros();
    DQ_ASSIGN_OR_RETURN(const SpanResult span, writeSpan(*source, cancel));
    if (span.lost_race) return PassResult{.state = PassResult::State::kLostRace};
    last_lease_ = writer_.lease();
    cursor_ = source->to;
    countSpan(*source, span, list, clock_.steadyMicros() - start);
    report(/*caught_up=*/false, cancel);
    return PassResult{.rows = span.raw_rows,
                      .state = PassResult::State::kProgress,
                      .intermediate_windows = span.intermediate_windows};
}

absl::StatusOr<SpanResult> Materializer::writeSpan(const SpanSource& source, const Cancel& cancel) {
    LeaseSink sink(writer_, signals_rollup_, events_rollup_, lake::CursorMove{source.from, source.to},
                   /*anti_join=*/!options_.bulk || own_end_ != source.from);
    own_end_ = -1;
    const auto open = [&](engine::Connection& connection) {
        return source.expired ? lake::streamExpired(connection, source.from, source.to, cancel)
                              : lake::streamInsertions(connection, source.feed_from, source.from, source.to,
                                                       source.without, cancel);
    };
    auto span = span_.write(open, sink, options_.limits, cancel);
    if (span.ok() && !span->lost_race) own_end_ = source.to;
    return span;
}

void Materializer::countSpan(const SpanSource& source, const SpanResult& span, const lake::SnapshotList& list,
                             std::int64_t took) {
    metrics_.cursor.Set(static_cast<double>(source.to));
    metrics_.errors.Increment(static_cast<double>(span.failed));
    metrics_.rows.Add({{"table", "signals"}}).Increment(static_cast<double>(span.signals));
    metrics_.rows.Add({{"table", "events"}}).Increment(static_cast<double>(span.events));
    if (source.expired && source.from > 0) {
        const std::int64_t oldest = list.snapshots.front().id, gap = oldest - 1 - source.from;
        metrics_.cursor_resets.Increment();
        metrics_.last_reset_gap.Set(static_cast<double>(gap));
        logError(
            "DuckLake change feed expired below retention; its rows were read from the base table (increase "
            "LAKE_SNAPSHOT_RETENTION)",
            {{"from", source.from},
             {"to", source.to},
             {"oldest_retained", oldest},
             {"skipped_snapshots", gap},
             {"recovered_rows", span.raw_rows}});
    }
    if (span.raw_rows > 0) {
        metrics_.batches.Add({{"type", "ducklake"}}).Increment();
        if (span.oldest_event != INT64_MAX) {
            metrics_.lag.Add({{"type", "ducklake"}}).Set(static_cast<double>(clock_.now() - span.oldest_event) / 1e6);
        }
    }
    logInfo("span committed", {{"component", "materializer"},
                               {"from", source.from},
                               {"to", source.to},
                               {"raw_rows", span.raw_rows},
                               {"signal_rows", span.signals},
                               {"event_rows", span.events},
                               {"took", static_cast<double>(took) / 1e3}});
}

absl::Status Materializer::skipEmpty(engine::Connection& connection, std::int64_t from, std::int64_t to,
                                     const Cancel& cancel) {
    const lake::Stage empty;
    lake::WindowPlan plan;
    plan.move = lake::CursorMove{from, to};
    DQ_ASSIGN_OR_RETURN(const Commit outcome, writer_.commit(connection, empty, plan, cancel));
    if (outcome == Commit::kCommitted) {
        last_lease_ = writer_.lease();
        cursor_ = to;
        metrics_.cursor.Set(static_cast<double>(to));
    }
    return absl::OkStatus();
}

void Materializer::caughtUp(std::int64_t head, const Cancel& cancel) {
    metrics_.commit_lag.Set(0);
    metrics_.lag.Add({{"type", "ducklake"}}).Set(0);
    last_head_ = head;
    idle_ = true;
    // Never above the cursor, though the feed up to the head was seen empty: after a restart the cursor would look
    // expired.
    report(/*caught_up=*/true, cancel);
}

void Materializer::report(bool caught_up, const Cancel& cancel) {
    alone_ = writer_.mayOwn(last_lease_);
    if (alone_) {
        reporter_.note(cursor_, caught_up, cancel);
    } else {
        reporter_.withhold();
    }
}

absl::StatusOr<std::int64_t> Materializer::prune(const Cancel& cancel) {
    if (!retention_) return 0;
    return retention_->prune(cancel);
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
