#include "materialize/span.h"

#include "core/status.h"
#include "lake/feed.h"
#include "lake/window.h"

namespace dq::materialize {

struct SpanWriter::Window {
    Window(engine::Connection& c, lake::Stage s) : connection(&c), stage(std::move(s)) {}
    engine::Connection* connection;
    lake::Stage stage;
    std::size_t raw_rows = 0, bytes = 0;
    std::vector<std::string_view> tags;

    bool full(const SpanLimits& limits) const {
        return raw_rows >= limits.window_rows || bytes >= limits.window_bytes || stage.days() >= limits.window_days;
    }
};

absl::Status SpanWriter::fill(Window& window, const Page& page, std::size_t row, std::size_t& first_signal,
                              std::size_t& first_event) {
    const RawRowEnd& end = page.rows[row];
    for (; first_signal < end.signals; ++first_signal)
        DQ_RETURN_IF_ERROR(window.stage.addSignal(page.batch.signals[first_signal]));
    for (; first_event < end.events; ++first_event) {
        const decode::EventRow& event = page.batch.events[first_event];
        const auto tags = page.batch.tags.begin() + event.first_tag;
        window.tags.assign(tags, tags + event.tag_count);
        DQ_RETURN_IF_ERROR(window.stage.addEvent(event, window.tags));
    }
    ++window.raw_rows;
    window.bytes += end.bytes;
    return absl::OkStatus();
}

absl::StatusOr<Writer::Commit> SpanWriter::commit(Window& window, std::optional<lake::CursorMove> move,
                                                  const Cancel& cancel) {
    DQ_RETURN_IF_ERROR(window.stage.finish());
    if (window.stage.rows() == 0 && !move) return Writer::Commit::kCommitted;
    const std::int64_t start = clock_.steadyMicros();
    lake::WindowPlan plan;
    plan.move = move;
    plan.signal_marks = signals_rollup_.marksFor(window.stage.signalSubjects());
    plan.event_marks = events_rollup_.marksFor(window.stage.eventSubjects());
    DQ_ASSIGN_OR_RETURN(const Writer::Commit outcome, writer_.commit(*window.connection, window.stage, plan, cancel));
    if (outcome == Writer::Commit::kCommitted) {
        signals_rollup_.marked(plan.signal_marks);
        events_rollup_.marked(plan.event_marks);
        metrics_.observePhase("write_window", static_cast<double>(clock_.steadyMicros() - start) / 1e6);
    }
    return outcome;
}

void SpanWriter::observe(const Page& page, SpanResult& result) {
    result.signals += static_cast<std::int64_t>(page.batch.signals.size());
    result.events += static_cast<std::int64_t>(page.batch.events.size());
    result.failed += page.batch.failed + page.dropped + page.malformed_extras;
    const Micros now = clock_.now();
    for (const Micros time : page.event_times) {
        metrics_.event_age.Observe(static_cast<double>(now - time) / 1e6);
        result.oldest_event = std::min(result.oldest_event, time);
    }
    metrics_.observePhase("decode", page.decode_seconds);
}

absl::StatusOr<SpanResult> SpanWriter::write(const SpanSource& source, const SpanLimits& limits, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto reading, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(auto writing, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(auto stream, source.expired ? lake::streamExpired(*reading, source.from, source.to, cancel)
                                                    : lake::streamInsertions(*reading, source.feed_from, source.from,
                                                                             source.to, cancel));
    SpanResult result;
    Pipeline pipeline(std::move(stream), decoder_, {.workers = limits.workers, .byte_budget = limits.pipeline_bytes},
                      cancel);
    std::optional<Window> window;
    auto openWindow = [&]() -> absl::Status {
        window.reset();  // its staging tables are replaced
        DQ_ASSIGN_OR_RETURN(lake::Stage stage, lake::Stage::open(*writing));
        window.emplace(*writing, std::move(stage));
        return absl::OkStatus();
    };
    DQ_RETURN_IF_ERROR(openWindow());
    while (true) {
        const std::int64_t start = clock_.steadyMicros();
        auto page = pipeline.next();
        metrics_.observePhase("read_delta", static_cast<double>(clock_.steadyMicros() - start) / 1e6);
        if (!page.ok()) return page.status();
        if (*page == nullptr) break;
        std::size_t first_signal = 0, first_event = 0;
        for (std::size_t row = 0; row < (*page)->rows.size(); ++row) {
            // Only now it is known that the full window is not the span's last one.
            if (window->full(limits)) {
                DQ_ASSIGN_OR_RETURN(const Writer::Commit outcome, commit(*window, std::nullopt, cancel));
                if (outcome == Writer::Commit::kLostRace) return result.lost_race = true, result;
                const int index = result.intermediate_windows++;
                if (limits.after_window) DQ_RETURN_IF_ERROR(limits.after_window(index));
                DQ_RETURN_IF_ERROR(openWindow());
            }
            DQ_RETURN_IF_ERROR(fill(*window, **page, row, first_signal, first_event));
        }
        result.raw_rows += static_cast<std::int64_t>((*page)->rows.size());
        observe(**page, result);
    }
    const std::int64_t start = clock_.steadyMicros();
    DQ_ASSIGN_OR_RETURN(const Writer::Commit outcome,
                        commit(*window, lake::CursorMove{source.from, source.to}, cancel));
    metrics_.observePhase("commit", static_cast<double>(clock_.steadyMicros() - start) / 1e6);
    result.lost_race = outcome == Writer::Commit::kLostRace;
    return result;
}

}  // namespace dq::materialize
