// Group commit of raw events: many callers, one committing thread, one lake transaction for all rows that wait.
//
//   Committer committer(lakeAppend(lakes.writer()), {});
//   Outcome outcome = committer.submit({std::move(rows), {}}, cancel);   // returns after the commit
//   if (outcome.status.ok()) acknowledge();
//
// submit() returns when every row of the submission is stored, poison or known to have failed. While one transaction
// runs, further submissions gather for the next, so the rate grows with the number of callers. Memory is bounded: over
// `resident_ceiling` enqueue() waits for a commit and gives up with ResourceExhausted.
//
// stop() takes no more, commits what waits within its budget, then cancels and fails the rest. Threads: any. No
// exception of the append function escapes.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "core/clock.h"
#include "ingest/bundle.h"
#include "lake/lake.h"

namespace dq::ingest {

struct Submission {
    std::vector<Row> rows;
    std::vector<std::uint16_t> deliveries;  // empty, or earlier passes that left the row pending
};

struct Outcome {
    // OK when every row is stored or poison. Else the reason of the pending ones; Cancelled or DeadlineExceeded when
    // the caller stopped waiting, in which case the rows may still be stored.
    absl::Status status;
    std::int64_t snapshot = 0;  // newest snapshot that holds rows of this submission's transaction
    std::size_t stored = 0;
    int commits = 0;               // transactions that stored the bundle this submission was part of
    std::vector<RowFault> faults;  // rows not stored, index into the submission
    std::vector<Row> fault_rows;   // the row of each fault, given back
};

// The result of enqueue(), waited for once.
class Ticket {
  public:
    static Ticket ready(Outcome outcome);
    Outcome wait(const Cancel& cancel);

  private:
    friend class Committer;
    struct State;
    explicit Ticket(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

class Committer {
  public:
    struct Options {
        std::size_t max_rows = 100'000;  // of one shared transaction
        std::uint64_t max_bytes = 128 * 1024 * 1024;
        std::uint64_t resident_ceiling = residentCeiling(128 * 1024 * 1024);
        bool share_commits = true;                            // false: each submission is a transaction of its own
        std::int64_t bundle_micros = 300 * kMicrosPerSecond;  // time limit of one bundle, its isolation included
        const Clock* clock = &systemClock();
        IngestMetrics* metrics = nullptr;
    };
    Committer(Append append, Options options);
    ~Committer();  // stop(0)
    Committer(const Committer&) = delete;

    // Waits for room at most `wait_micros` (< 0: as long as `cancel` lets it). Unavailable after stop().
    absl::StatusOr<Ticket> enqueue(Submission submission, std::int64_t wait_micros, const Cancel& cancel);
    Outcome submit(Submission submission, std::int64_t wait_micros, const Cancel& cancel);
    void stop(std::int64_t drain_micros);
    std::uint64_t residentBytes() const;
    // Microseconds of the steady clock since bundles began to fail without any commit in between; 0 when the last one
    // committed.
    std::int64_t failingForMicros() const;

  private:
    using Group = std::vector<std::shared_ptr<Ticket::State>>;
    // These three want mutex_ held.
    bool hasRoom(std::uint64_t bytes) const;
    absl::StatusOr<Ticket> admit(std::shared_ptr<Ticket::State> state);
    Group takeGroup();
    void run();
    void commitGroup(Group& group);
    void release(const Group& group);
    void noteResult(const BundleResult& result);

    const Append append_;
    const Options options_;
    const Cancel cancel_ = Cancel::root();
    std::once_flag joined_;
    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Ticket::State>> queue_;
    std::uint64_t resident_ = 0;
    bool stopping_ = false;
    bool finished_ = false;
    std::optional<std::int64_t> failing_since_;
    std::thread thread_;
};

// Appends to lake.raw_events. The lake must outlive the function.
Append lakeAppend(lake::Lake& lake);

}  // namespace dq::ingest
