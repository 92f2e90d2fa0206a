#include "materialize/backfill.h"

#include <algorithm>

#include "core/backoff.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/feed.h"
#include "lake/progress.h"
#include "lake/tables.h"
#include "materialize/metrics.h"
#include "materialize/writer.h"
#include "rollup/rollup.h"

namespace dq::materialize {
namespace {

using lake::WindowResult;

constexpr std::int64_t kGiveUp = 3'600'000'000;  // conflicts in a row for so long
constexpr std::int64_t kFirstBackoff = 50'000, kLongestBackoff = 5'000'000;

// What a run is about, as noted with its finished pages: `<from>|<to>|<subject>|<reached>`, times in µs.
std::string noteText(const BackfillRange& range, Micros reached) {
    return strCat(range.from, "|", range.to, "|", range.subject, "|", reached);
}

// Where an earlier run of the same range got to.
Micros reachedBefore(const BackfillRange& range, const std::optional<std::string>& note) {
    if (!note) return range.from;
    const std::string prefix = strCat(range.from, "|", range.to, "|", range.subject, "|");
    if (!note->starts_with(prefix)) return range.from;
    const Micros reached = std::strtoll(note->c_str() + prefix.size(), nullptr, 10);
    return reached > range.from && reached < range.to ? reached : range.from;
}

// Windows beside the lease's owner: never fences it, marks every subject it inserts for.
class BesideSink final : public WindowSink {
  public:
    BesideSink(lake::Lake& lake, MaterializerMetrics& metrics, const Clock& clock, bool late_marks, std::string note)
        : lake_(lake), metrics_(metrics), clock_(clock), late_marks_(late_marks), note_(std::move(note)) {}

    absl::StatusOr<Commit> commit(engine::Connection& connection, const lake::Stage& stage, bool last,
                                  const Cancel& cancel) override {
        lake::WindowPlan plan;
        plan.beside = true;
        plan.late_marks = late_marks_;
        plan.signal_marks = stage.signals().subjects();
        plan.event_marks = stage.events().subjects();
        if (last) plan.note = {std::string(lake::kBackfillKey), note_};
        const std::int64_t start = clock_.steadyMicros();
        for (int attempt = 0;; ++attempt) {
            lake::WindowOutcome outcome;
            {
                std::lock_guard commit(lake_.commitLock());
                outcome = lake::writeWindow(connection, stage, plan, cancel);
            }
            if (outcome.result == WindowResult::kCommitted) {
                metrics_.observePhase("write_window", outcome.write_seconds);
                metrics_.observePhase("commit", outcome.commit_seconds);
                return Commit::kCommitted;
            }
            // An unknown outcome is repeated too: what landed is at rest, and the anti-join drops it.
            if (outcome.result != WindowResult::kConflict && outcome.result != WindowResult::kUnknown)
                return outcome.status;
            metrics_.lost_races.Add({{"reason", "conflict"}}).Increment();
            if (clock_.steadyMicros() - start >= kGiveUp) return outcome.status;
            if (cancel.waitFor(backoffMicros(kFirstBackoff, kLongestBackoff, attempt))) return cancel.check();
        }
    }

  private:
    lake::Lake& lake_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
    bool late_marks_;
    std::string note_;
};

class Backfill {
  public:
    Backfill(lake::Lake& lake, const decode::Options& decode, const BackfillRange& range,
             const BackfillOptions& options, Metrics& metrics, const Clock& clock)
        : lake_(lake),
          decoder_(decode),
          range_(range),
          options_(options),
          limits_(options.limits),
          clock_(clock),
          metrics_(metrics),
          span_(lake, decoder_, options.payloads, metrics_, clock) {}

    absl::StatusOr<BackfillResult> run(const Cancel& cancel) {
        if (range_.from >= range_.to)
            return absl::InvalidArgumentError("backfill: the start of the range must lie before its end");
        DQ_RETURN_IF_ERROR(lake::ensureDecodedTables(lake_, cancel).status());
        bool raw_events = false;
        Micros reached = range_.from;
        {
            DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
            DQ_RETURN_IF_ERROR(fitToMemory(limits_, *connection, cancel));
            DQ_ASSIGN_OR_RETURN(raw_events, lake::tableExists(*connection, "raw_events", cancel));
            DQ_ASSIGN_OR_RETURN(late_marks_, lake::tableExists(*connection, "rollup_late_subjects", cancel));
            DQ_ASSIGN_OR_RETURN(const auto rows, lake::readProgress(*connection, cancel));
            if (!options_.restart) reached = reachedBefore(range_, rows.backfill);
            if (raw_events) {
                DQ_ASSIGN_OR_RETURN(range_count_,
                                    lake::countRange(*connection, reached, range_.to, range_.subject, cancel));
                progress_.total = range_count_.rows;
            }
        }
        if (reached > range_.from)
            logInfo("backfill: going on after an earlier run", {{"reached", formatRfc3339(reached)}});
        logInfo("backfill: re-decoding raw_events range",
                {{"component", "materializer"}, {"from", formatRfc3339(reached)}, {"to", formatRfc3339(range_.to)}});
        if (raw_events) DQ_RETURN_IF_ERROR(pages(reached, cancel));
        DQ_RETURN_IF_ERROR(rollups(cancel));
        logInfo("backfill complete", {{"component", "materializer"}, {"raw_events", result_.raw_rows}});
        return result_;
    }

  private:
    Status pages(Micros reached, const Cancel& cancel) {
        if (progress_.total == 0) return absl::OkStatus();
        for (Micros page = std::max(reached, range_count_.first); page <= range_count_.last;) {
            DQ_RETURN_IF_ERROR(cancel.check());
            const Micros after = std::min({range_.to, floorToDay(page) + kMicrosPerDay, range_count_.last + 1});
            const bool end = after > range_count_.last;
            BesideSink sink(lake_, metrics_, clock_, late_marks_, end ? "" : noteText(range_, after));
            const auto open = [&](engine::Connection& connection) {
                return lake::streamRange(connection, page, after, range_.subject, cancel);
            };
            DQ_ASSIGN_OR_RETURN(const SpanResult span, span_.write(open, sink, limits_, cancel));
            result_.raw_rows += span.raw_rows;
            result_.signals += span.signals;
            result_.events += span.events;
            result_.failed += span.failed;
            metrics_.errors.Increment(static_cast<double>(span.failed));
            progress_.rows = result_.raw_rows;
            progress_.reached = after;
            if (options_.progress) options_.progress(progress_);
            page = after;
        }
        return absl::OkStatus();
    }

    // Both rollups follow the rows: by the owner of the lease, or here when there is none.
    Status rollups(const Cancel& cancel) {
        rollup::Rollup signals(lake_, rollup::Side::kSignals), events(lake_, rollup::Side::kEvents);
        Writer writer(lake_, metrics_, {.takeover_micros = INT64_MAX / 2}, clock_);
        {
            DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
            // Marks of an earlier run that was cut short count as well.
            DQ_ASSIGN_OR_RETURN(const bool some_signals, signals.hasWork(*connection, cancel));
            DQ_ASSIGN_OR_RETURN(const bool some_events, events.hasWork(*connection, cancel));
            if (!some_signals && !some_events) return absl::OkStatus();
            DQ_ASSIGN_OR_RETURN(const auto rows, lake::readProgress(*connection, cancel));
            DQ_ASSIGN_OR_RETURN(const bool owner, writer.own(*connection, rows.lease.value_or(""), cancel));
            if (!owner) {
                logInfo("backfill: the running materializer will bring the rollups up to date");
                return absl::OkStatus();
            }
        }
        Status status = signals.flush(cancel).status();
        if (const Status other = events.flush(cancel).status(); status.ok()) status = other;
        writer.release();
        if (!status.ok()) return annotate(status, "the rows are written, the rollups are not up to date yet");
        result_.rollups_done = true;
        return absl::OkStatus();
    }

    lake::Lake& lake_;
    const decode::Decoder decoder_;
    const BackfillRange& range_;
    const BackfillOptions& options_;
    SpanLimits limits_;
    const Clock& clock_;
    MaterializerMetrics metrics_;
    SpanWriter span_;
    bool late_marks_ = false;
    lake::RangeCount range_count_;  // what is to do: empty days cost nothing
    BackfillProgress progress_;
    BackfillResult result_;
};

}  // namespace

absl::StatusOr<BackfillResult> backfill(lake::Lake& lake, const decode::Options& decode, const BackfillRange& range,
                                        const BackfillOptions& options, Metrics& metrics, const Cancel& cancel,
                                        const Clock& clock) {
    return Backfill(lake, decode, range, options, metrics, clock).run(cancel);
}

}  // namespace dq::materialize
