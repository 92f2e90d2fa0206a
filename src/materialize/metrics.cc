#include "materialize/metrics.h"

namespace dq::materialize {

MaterializerMetrics::MaterializerMetrics(Metrics& m)
    : cursor(m.gauge("dq_materializer_cursor_snapshot_id", "Snapshot id decoded up to")),
      head(m.gauge("dq_materializer_head_snapshot_id", "Latest catalog snapshot id")),
      commit_lag(m.gauge("dq_materializer_commit_lag_seconds",
                         "Age of the oldest snapshot not yet decoded; 0 when caught up")),
      lag(m.gauges("dq_materializer_lag_seconds",
                   "Now minus the oldest event time of the last decoded batch; 0 when caught up")),
      event_age(m.histogram("dq_materializer_event_age_seconds", "Now minus event time of each raw row decoded",
                            {1, 5, 15, 60, 300, 900, 3600, 21600, 86400, 259200})),
      batches(m.counters("dq_materializer_batches_total", "Committed spans with rows")),
      rows(m.counters("dq_materializer_rows_total", "Rows decoded, before the anti-join")),
      errors(m.counter("dq_materializer_errors_total", "Decode failures and undecodable raw events")),
      pass_errors(m.counter("dq_materializer_pass_errors_total", "Passes that returned an error")),
      cursor_resets(
          m.counter("dq_materializer_cursor_resets_total", "Spans whose snapshots had expired from the change feed")),
      last_reset_gap(m.gauge("dq_materializer_last_cursor_reset_gap_snapshots",
                             "Snapshots that had expired before the last such span")),
      progress_errors(
          m.counter("dq_materializer_progress_report_errors_total", "Failed writes of the consumer-progress floor")),
      prune_errors(m.counter("dq_materializer_prune_errors_total", "Failed prunes of decoded rows")),
      blob_missing(m.counter("dq_materializer_blob_missing_total", "Raw events whose payload object is gone")),
      blob_poison(m.counters("dq_materializer_blob_poison_total", "Raw events whose payload object is unusable")),
      blob_prefix_anomalies(
          m.counter("dq_blob_prefix_anomaly_total", "data_index_key set but not under the blob prefix")),
      phase(m.histograms("dq_materializer_phase_seconds", "Duration of the phases of a pass")),
      rollup_seconds(m.gauge("dq_materializer_rollup_refresh_seconds", "Duration of the last signals rollup flush")),
      event_rollup_seconds(
          m.gauge("dq_materializer_event_rollup_refresh_seconds", "Duration of the last events rollup flush")),
      rollup_errors(m.counter("dq_materializer_rollup_flush_errors_total", "Failed signals rollup flushes")),
      event_rollup_errors(m.counter("dq_materializer_event_rollup_flush_errors_total", "Failed events rollup flushes")),
      lost_races(m.counters("dq_materializer_lost_races_total", "Commits lost to another writer, by reason")),
      standby(m.gauge("dq_materializer_standby", "1 while another writer owns the lease")),
      landed_commits(
          m.counter("dq_materializer_landed_commits_total", "Commits that reported an error and had landed")),
      poison_recycles(
          m.counter("dq_duckdb_poison_recycles_total", "Idle-pool recycles after an aborted catalog session")) {}

void MaterializerMetrics::observePhase(const char* phase_name, double seconds) {
    phase.Add({{"phase", phase_name}}, prometheus::Histogram::BucketBoundaries(exponentialBuckets(0.01, 2, 16)))
        .Observe(seconds);
}

}  // namespace dq::materialize
