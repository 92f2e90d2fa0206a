#include "ingest/ingest_metrics.h"

namespace dq::ingest {
namespace {

prometheus::Counter& published(Metrics& metrics, const char* outcome) {
    return metrics.counters("din_publish_total", "Events taken from senders, by outcome").Add({{"outcome", outcome}});
}

}  // namespace

IngestMetrics::IngestMetrics(Metrics& metrics)
    : publish_ack_seconds(metrics.histogram("din_publish_ack_seconds",
                                            "Time until a post's events were stored or refused",
                                            exponentialBuckets(0.001, 2, 15))),
      publish_ok(published(metrics, "ok")),
      publish_unavailable(published(metrics, "unavailable")),
      publish_too_large(published(metrics, "too_large")),
      commits(metrics.counter("din_sink_commits_total", "Lake commits of raw events")),
      commit_failures(metrics.counter("din_sink_commit_failures_total", "Failed lake commits of raw events")),
      poison_rows(
          metrics.counter("din_sink_poison_rows_total", "Rows that the lake refuses while their siblings commit")),
      buffered_bytes(metrics.gauges("din_sink_buffered_footprint_bytes", "Resident bytes waiting for a commit")
                         .Add({{"sink", "0"}})),
      inflight_bytes(
          metrics.gauges("din_sink_inflight_footprint_bytes", "Resident bytes being committed").Add({{"sink", "0"}})) {}

}  // namespace dq::ingest
