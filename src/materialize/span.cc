#include "materialize/span.h"

#include <malloc.h>

#include <algorithm>

#include "core/status.h"
#include "lake/window.h"

namespace dq::materialize {
namespace {

constexpr std::size_t kMebibyte = 1u << 20;
constexpr std::size_t kSmallestWindow = 1000;  // raw rows: windows are not halved below
constexpr int kFailuresToHalve = 3, kMostHalvings = 10;

}  // namespace

absl::Status fitToMemory(SpanLimits& limits, engine::Connection& connection, const Cancel& cancel) {
    if (limits.window_bytes == 0) {
        DQ_ASSIGN_OR_RETURN(const std::size_t limit, lake::memoryLimit(connection, cancel));
        limits.window_bytes = std::clamp(limit / 4, 16 * kMebibyte, 128 * kMebibyte);
    }
    if (limits.pipeline_bytes == 0) limits.pipeline_bytes = std::max(limits.window_bytes / 4, kMebibyte);
    return absl::OkStatus();
}

struct SpanWriter::Window {
    lake::Stage stage;
    std::size_t raw_rows = 0, bytes = 0;

    bool full(const SpanLimits& limits, int halvings) const {
        const std::size_t rows =
            std::max(limits.window_rows >> halvings, std::min(limits.window_rows, kSmallestWindow));
        const bool large = raw_rows >= kSmallestWindow && bytes >= limits.window_bytes >> halvings;
        return raw_rows >= rows || bytes >= limits.window_bytes || large || stage.days() >= limits.window_days;
    }
    void add(const Page& page, std::size_t row) {
        const RawRow& raw = page.rows[row];
        stage.add(page.block, row == 0 ? lake::Stage::Ends{} : page.rows[row - 1].after, raw.after);
        ++raw_rows;
        bytes += raw.bytes;
    }
};

absl::StatusOr<Commit> SpanWriter::commit(engine::Connection& connection, Window& window, WindowSink& sink, bool last,
                                          const SpanLimits& limits, const Cancel& cancel) {
    if (window.stage.rows() == 0 && !last) return Commit::kCommitted;
    window.stage.sort(limits.workers);
    return sink.commit(connection, window.stage, last, cancel);
}

void SpanWriter::observe(const Page& page, SpanResult& result) {
    result.raw_rows += static_cast<std::int64_t>(page.rows.size());
    result.signals += static_cast<std::int64_t>(page.block->signals().size());
    result.events += static_cast<std::int64_t>(page.block->events().size());
    result.failed += page.failed + page.malformed_extras;
    const Micros now = clock_.now();
    for (const Micros time : page.event_times) {
        metrics_.event_age.Observe(static_cast<double>(now - time) / 1e6);
        result.oldest_event = std::min(result.oldest_event, time);
    }
    metrics_.observePhase("decode", page.decode_seconds);
    if (page.fetched) metrics_.observePhase("resolve_blobs", page.fetch_seconds);
}

absl::StatusOr<SpanResult> SpanWriter::write(const Open& open, WindowSink& sink, const SpanLimits& limits,
                                             const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto reading, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(auto writing, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(auto stream, open(*reading));
    SpanResult result;
    Pipeline pipeline(std::move(stream), decoder_, payloads_,
                      {.workers = limits.workers, .byte_budget = limits.pipeline_bytes}, cancel);
    auto window = std::make_unique<Window>();
    const auto halved = [&](int now) {
        return sink.failures() < kFailuresToHalve ? 0 : std::min(now + 1, kMostHalvings);
    };
    int halvings = halved(0);
    while (true) {
        const std::int64_t start = clock_.steadyMicros();
        auto page = pipeline.next();
        metrics_.observePhase("read_delta", static_cast<double>(clock_.steadyMicros() - start) / 1e6);
        if (!page.ok()) return page.status();
        if (*page == nullptr) break;
        for (std::size_t row = 0; row < (*page)->rows.size(); ++row) {
            // Only now it is known that the full window is not the span's last one.
            if (window->full(limits, halvings)) {
                DQ_ASSIGN_OR_RETURN(const Commit outcome, commit(*writing, *window, sink, false, limits, cancel));
                if (outcome == Commit::kLostRace) return result.lost_race = true, result;
                const int index = result.intermediate_windows++;
                if (limits.after_window) DQ_RETURN_IF_ERROR(limits.after_window(index));
                window = std::make_unique<Window>();
                malloc_trim(0);  // a window's blocks go back to the system before the next one fills as much again
                halvings = halved(halvings);
            }
            window->add(**page, row);
        }
        observe(**page, result);
    }
    DQ_ASSIGN_OR_RETURN(const Commit outcome, commit(*writing, *window, sink, true, limits, cancel));
    result.lost_race = outcome == Commit::kLostRace;
    return result;
}

}  // namespace dq::materialize
