// The position reported to the retention floor (materializer.md §7, §13.5): consumer `dq` of din_consumer_progress.
//
//   ProgressReporter reporter(lake, metrics, clock);
//   reporter.start(cancel);          // its own thread, so that a long pass never drops the floor
//   reporter.note(cursor, caught_up);   // after every pass
//
// A report is due 5 s after the last attempt when the position changed, at once when the materializer is caught up,
// and every 5 min though nothing changed. Without a thread (tests) note() reports what is due itself. Failures are
// counted and tried again. Threads: any.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "core/clock.h"
#include "lake/lake.h"
#include "materialize/metrics.h"

namespace dq::materialize {

class ProgressReporter {
  public:
    ProgressReporter(lake::Lake& lake, MaterializerMetrics& metrics, const Clock& clock);
    ~ProgressReporter();
    void start(const Cancel& cancel);
    void stop();
    // The durable cursor; never more than what is decoded.
    void note(std::int64_t cursor, bool caught_up, const Cancel& cancel = Cancel::root());
    // Nothing is reported until the next note(): another writer owns the catalog, or the cursor is unreadable.
    void withhold();
    // Reports if that is due.
    void step(const Cancel& cancel);

  private:
    bool due(std::int64_t now) const;

    lake::Lake& lake_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
    std::mutex mutex_;
    std::int64_t position_ = -1, reported_ = -1;  // −1: none
    bool caught_up_ = false;
    std::int64_t attempted_ = INT64_MIN / 2;  // steady µs
    Cancel stop_ = Cancel::root();
    std::jthread thread_;
};

}  // namespace dq::materialize
