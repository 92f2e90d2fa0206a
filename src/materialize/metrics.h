// The dq_materializer_* series (materializer.md §11, §13.6). Built only in a process that materializes: alerts rely
// on absence.
#pragma once
#include "core/metrics.h"

namespace dq::materialize {

struct MaterializerMetrics {
    explicit MaterializerMetrics(Metrics& metrics);

    prometheus::Gauge& cursor;
    prometheus::Gauge& head;
    prometheus::Gauge& commit_lag;
    prometheus::Family<prometheus::Gauge>& lag;
    prometheus::Histogram& event_age;
    prometheus::Family<prometheus::Counter>& batches;
    prometheus::Family<prometheus::Counter>& rows;
    prometheus::Counter& errors;
    prometheus::Counter& pass_errors;
    prometheus::Counter& cursor_resets;
    prometheus::Gauge& last_reset_gap;
    prometheus::Counter& progress_errors;
    prometheus::Counter& prune_errors;
    prometheus::Counter& blob_missing;
    prometheus::Family<prometheus::Counter>& blob_poison;
    prometheus::Counter& blob_prefix_anomalies;
    prometheus::Family<prometheus::Histogram>& phase;
    prometheus::Gauge& rollup_seconds;
    prometheus::Gauge& event_rollup_seconds;
    prometheus::Counter& rollup_errors;
    prometheus::Counter& event_rollup_errors;
    prometheus::Family<prometheus::Counter>& lost_races;
    prometheus::Gauge& standby;
    prometheus::Counter& landed_commits;
    prometheus::Counter& poison_recycles;  // shared with the reading side

    void observePhase(const char* phase_name, double seconds);
};

}  // namespace dq::materialize
