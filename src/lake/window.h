// One window of decoded rows, written by one transaction (materializer.md §13.3).
//
// Row identity = (subject_bucket, subject, source, cloud_event_id, name, timestamp). A window keeps one row per
// identity, the least by producer, then the other columns in table order; a row whose identity is at rest is not
// written again. Rows are written day by day of their timestamps, since a partitioned insert holds buffers for every
// partition that it touches (design.md §4.7), and within a day in the table's sort order.
//
//   Stage stage; stage.add(block, first, after); … ; stage.sort();
//   WindowOutcome outcome = writeWindow(connection, stage, plan, cancel);     // may be repeated with the same stage
//
// Threads: a Stage belongs to one thread. Memory: that of the blocks, 36 bytes more per row while sorting, then 8.
#pragma once
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/status.h"
#include "engine/database.h"
#include "lake/progress.h"
#include "lake/sorted_rows.h"

namespace dq::lake {

// The rows of one window, before it is written. Holds no engine memory: rows stay where they were decoded.
class Stage {
  public:
    // Ends of a raw row's share in its block's row lists.
    struct Ends {
        std::uint32_t signals = 0, events = 0;
    };
    // The rows of one raw event.
    void add(const BlockPtr& block, Ends first, Ends after);
    // After the last row, before the first write: order, one row per identity.
    void sort(int threads = 1);

    // Rows added; after sort(), rows to write.
    std::size_t rows() const { return signals_.rows() + events_.rows(); }
    // Distinct UTC days of the signals, or of the events if they have more: a window closes at 512 of them.
    std::size_t days() const { return std::max(signal_days_.days.size(), event_days_.days.size()); }
    const SortedRows<SignalRows>& signals() const { return signals_; }
    const SortedRows<EventRows>& events() const { return events_; }

  private:
    struct Days {
        void note(Micros timestamp);
        absl::flat_hash_set<Micros> days;
        Micros first = 1, after = 0;  // of the day noted last
    };
    SortedRows<SignalRows> signals_;
    SortedRows<EventRows> events_;
    Days signal_days_, event_days_;
};

// What one transaction does besides the rows.
struct WindowPlan {
    std::string lease_from, lease_to;
    // A tool beside the lease's owner: the lease keeps its text, so that overlapping writers exclude each other and
    // nobody is fenced. No `move` then.
    bool beside = false;
    bool late_marks = false;  // the subjects of signal_marks also into lake.rollup_late_subjects
    // Row of ingest_progress that a tool sets with its window: key and value, "" = removes it.
    std::optional<std::pair<std::string, std::string>> note;
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
    double write_seconds = 0, commit_seconds = 0;
};

// One attempt. An empty stage with `move` moves the cursor only. No transaction is active afterwards.
WindowOutcome writeWindow(engine::Connection& connection, const Stage& stage, const WindowPlan& plan,
                          const Cancel& cancel);

}  // namespace dq::lake
