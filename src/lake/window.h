// One window of decoded rows: staged in the connection's memory, then written by one transaction (materializer.md
// §13.3).
//
// Row identity = (subject_bucket, subject, source, cloud_event_id, name, timestamp). A window keeps one row per
// identity, the least by producer, then the other columns in table order; a row whose identity is at rest is not
// written again. Rows are written day by day of their timestamps, since a partitioned insert holds buffers for every
// partition that it touches (design.md §4.7).
//
//   DQ_ASSIGN_OR_RETURN(Stage stage, Stage::open(connection));
//   DQ_RETURN_IF_ERROR(stage.addSignal(row)); … ; DQ_RETURN_IF_ERROR(stage.finish());
//   WindowOutcome outcome = writeWindow(connection, stage, plan, cancel);     // may be repeated with the same stage
//
// Threads: a Stage and its connection belong to one thread. Memory: the staged rows, within the engine's memory
// limit.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>
#include <absl/status/statusor.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/status.h"
#include "engine/database.h"
#include "lake/progress.h"

namespace dq::lake {

struct SubjectMark {
    std::string subject;
    std::int32_t bucket;
};

class Stage {
  public:
    static StatusOr<Stage> open(engine::Connection& connection);
    // `row` has the members of lake.signals, named like its columns (text as string_view, timestamp in µs).
    template <typename Row>
    Status addSignal(const Row& row);
    // Likewise lake.events; type is always dimo.event.
    template <typename Row>
    Status addEvent(const Row& row, const std::vector<std::string_view>& tags);
    // After the last row, before the first write.
    Status finish();

    std::size_t signals() const { return signals_.rows; }
    std::size_t events() const { return events_.rows; }
    std::size_t rows() const { return signals_.rows + events_.rows; }
    // Distinct UTC days of the signals, and of the events: a window closes at 512 of them.
    std::size_t days() const { return std::max(signals_.days.size(), events_.days.size()); }
    // Subjects with at least one signal (event) row.
    std::vector<SubjectMark> signalSubjects() const { return marks(signals_); }
    std::vector<SubjectMark> eventSubjects() const { return marks(events_); }

  private:
    friend class WindowTransaction;
    struct Range {
        Micros first, last;
    };
    struct Side {
        std::size_t rows = 0;
        std::map<Micros, Range> days;                             // day → least and greatest timestamp
        absl::flat_hash_map<std::string, std::int32_t> subjects;  // → bucket
        absl::flat_hash_set<std::uint64_t> identities;            // hashes
        bool repeated = false;                                    // two rows may share an identity
    };
    Stage(engine::Appender signals, engine::Appender events)
        : signal_appender_(std::move(signals)), event_appender_(std::move(events)) {}
    template <typename Row>
    void note(Side& side, const Row& row);
    static std::vector<SubjectMark> marks(const Side& side);

    Side signals_, events_;
    engine::Appender signal_appender_, event_appender_;
};

// What one transaction does besides the rows.
struct WindowPlan {
    std::string lease_from, lease_to;
    std::optional<CursorMove> move;         // last window of its span
    std::vector<SubjectMark> signal_marks;  // durable dirty marks: subjects whose rollup rows must be recomputed
    std::vector<SubjectMark> event_marks;
    bool anti_join = true;
};

enum class WindowResult {
    kCommitted,
    kConflict,     // another writer's transaction overlapped; nothing landed: repeat
    kFenced,       // the lease row holds another text
    kCursorMoved,  // the cursor is not where the span began
    kUnknown,      // COMMIT failed without a verdict: look at the lease row
    kFailed,       // nothing landed; `status` says why
};
struct WindowOutcome {
    WindowResult result = WindowResult::kFailed;
    Status status;
};

// One attempt. An empty stage with `move` moves the cursor only. No transaction is active afterwards.
WindowOutcome writeWindow(engine::Connection& connection, const Stage& stage, const WindowPlan& plan,
                          const Cancel& cancel);

// --- templates
// -------------------------------------------------------------------------------------------------------------

template <typename Row>
void Stage::note(Side& side, const Row& row) {
    ++side.rows;
    const auto [day, fresh] = side.days.try_emplace(floorToDay(row.timestamp), Range{row.timestamp, row.timestamp});
    if (!fresh) {
        day->second.first = std::min(day->second.first, row.timestamp);
        day->second.last = std::max(day->second.last, row.timestamp);
    }
    if (!side.subjects.contains(abslView(row.subject)))
        side.subjects.emplace(std::string(row.subject), row.subject_bucket);
    const auto identity = std::tie(row.subject, row.source, row.cloud_event_id, row.name, row.timestamp);
    if (!side.identities.insert(absl::HashOf(identity)).second) side.repeated = true;
}

template <typename Row>
Status Stage::addSignal(const Row& row) {
    note(signals_, row);
    engine::Appender& a = signal_appender_;
    a.string(0, row.subject);
    a.template value<std::int32_t>(1, row.subject_bucket);
    a.string(2, row.name);
    a.template value<std::int64_t>(3, row.timestamp);
    a.string(4, row.source);
    a.string(5, row.producer);
    a.string(6, row.cloud_event_id);
    a.template value<double>(7, row.value_number);
    a.string(8, row.value_string);
    a.template value<double>(9, row.loc_lat);
    a.template value<double>(10, row.loc_lon);
    a.template value<double>(11, row.loc_hdop);
    a.template value<double>(12, row.loc_heading);
    return a.endRow();
}

template <typename Row>
Status Stage::addEvent(const Row& row, const std::vector<std::string_view>& tags) {
    note(events_, row);
    engine::Appender& a = event_appender_;
    a.string(0, row.subject);
    a.template value<std::int32_t>(1, row.subject_bucket);
    a.string(2, row.source);
    a.string(3, row.producer);
    a.string(4, row.cloud_event_id);
    a.string(5, "dimo.event");
    a.string(6, row.data_version);
    a.string(7, row.name);
    a.template value<std::int64_t>(8, row.timestamp);
    a.template value<std::uint64_t>(9, row.duration_ns);
    a.string(10, row.metadata);
    a.stringList(11, tags);
    return a.endRow();
}

}  // namespace dq::lake
