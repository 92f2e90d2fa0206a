// Upkeep of the rollups lake.signals_latest and lake.events_latest by recomputing subjects with durable dirty marks.
//
// A window's transaction inserts a mark for each subject whose rows it adds (Marks chooses which are still needed);
// flush() recomputes the marked subjects and then deletes the marks it has seen. A crash anywhere leaves marks,
// never a wrong row without one: a rollup row is equal to the recompute, or its subject is marked.
//
// Every transaction touches the writer lease row, so that overlapping writers exclude each other, and runs under the
// process's commit lock. Threads: one at a time. Memory: one chunk of subjects, or one bucket.
#pragma once
#include <absl/container/flat_hash_set.h>
#include <absl/status/status.h>

#include <functional>
#include <string>
#include <vector>

#include "lake/lake.h"
#include "lake/window.h"

namespace dq::rollup {

inline constexpr std::size_t kChunkSubjects = 500;
inline constexpr std::size_t kDirtyCap = 250'000;  // more marked subjects: rebuild bucket by bucket instead

enum class Side { kSignals, kEvents };

class Rollup {
  public:
    Rollup(lake::Lake& lake, Side side) : lake_(lake), side_(side) {}

    // Marks that a window over these subjects must insert: those without a durable mark known to this process.
    std::vector<lake::SubjectMark> marksFor(std::vector<lake::SubjectMark> subjects) const;
    // The window that inserted them has committed.
    void marked(const std::vector<lake::SubjectMark>& marks);

    // Recomputes every subject marked now. Returns the number of subjects; 0 mints no snapshot.
    absl::StatusOr<std::size_t> flush(const Cancel& cancel);
    // Recomputes everything, bucket by bucket; then stores the marker that vouches for the table. Committed buckets
    // stay when a later one fails. `progress` hears of each finished bucket.
    absl::Status rebuild(const Cancel& cancel, const std::function<void(int done, int of)>& progress = {});
    // True when flush() would change something.
    absl::StatusOr<bool> hasWork(engine::Connection& connection, const Cancel& cancel) const;
    // Full rebuild at the next flush.
    void armRebuild() { rebuild_armed_ = true; }
    bool rebuildArmed() const { return rebuild_armed_; }

  private:
    struct Pending {
        std::int64_t last_rowid = -1;
        std::vector<lake::SubjectMark> subjects;  // by bucket, then subject
        bool over_cap = false;
    };
    absl::StatusOr<Pending> pending(engine::Connection& connection, const Cancel& cancel);
    absl::Status recomputeSubjects(engine::Connection& connection, std::span<const lake::SubjectMark> chunk,
                                   const Cancel& cancel);
    absl::Status recomputeScope(engine::Connection& connection, const std::string& scope, const Cancel& cancel);
    absl::Status deleteMarks(engine::Connection& connection, std::int64_t last_rowid, bool of_chunk,
                             const Cancel& cancel);
    absl::Status rebuildBuckets(engine::Connection& connection, const Cancel& cancel,
                                const std::function<void(int, int)>& progress);

    lake::Lake& lake_;
    Side side_;
    bool rebuild_armed_ = false;
    absl::flat_hash_set<std::string> known_;  // subjects with a durable mark
};

}  // namespace dq::rollup
