// What is measured of every lake read: seconds, rows, data files, and a warning for a slow one (lake.md §9, queries.md
// §13).
//
// Threads: any. No line carries a subject: statements appear as their shape only.
#pragma once
#include <atomic>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/metrics.h"
#include "engine/value.h"

namespace dq::query {

class ReadLog {
  public:
    // slow_micros < 0: no slow-read line.
    ReadLog(Metrics& metrics, const Clock& clock, std::int64_t slow_micros);

    // One read, from the issue of its statement to its last row. `op` is the label of the series.
    struct Read {
        std::string_view op;
        std::int64_t began;
    };
    Read begin(std::string_view op) const { return {op, clock_.steadyMicros()}; }
    // Of every read, whatever its outcome: the rows that were drained, and the slow-read line.
    void finish(const Read& read, const engine::Sql& sql, std::uint64_t rows);
    // dq_lake_read_seconds.
    void observeSeconds(const Read& read);
    // dq_lake_latest_query_seconds.
    void observeLatest(const Read& read, std::string_view path);
    // dq_lake_latest_served_total.
    void countServed(std::string_view path);
    void observeFiles(std::string_view op, std::uint64_t files);
    // Profiling cannot be disarmed: it is off for the rest of the process.
    void disableProfiling();
    bool profilingDisabled() const { return profiling_disabled_; }
    void countRecycle() { recycles_.Increment(); }

  private:
    double secondsSince(const Read& read) const;
    const Clock& clock_;
    const std::int64_t slow_micros_;
    prometheus::Family<prometheus::Histogram>&read_seconds_, &rows_returned_, &files_read_, &latest_seconds_;
    prometheus::Family<prometheus::Counter>& latest_served_;
    prometheus::Counter &profile_disabled_, &recycles_;
    std::atomic<bool> profiling_disabled_{false};
};

}  // namespace dq::query
