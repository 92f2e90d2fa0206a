// Series of the writing side, under the names that existing dashboards and alerts know (writer.md A12).
#pragma once
#include "core/metrics.h"

namespace dq::ingest {

struct IngestMetrics {
    prometheus::Histogram& publish_ack_seconds;
    prometheus::Counter& publish_ok;
    prometheus::Counter& publish_unavailable;
    prometheus::Counter& publish_too_large;
    prometheus::Counter& commits;
    prometheus::Counter& commit_failures;
    prometheus::Counter& poison_rows;
    prometheus::Gauge& buffered_bytes;
    prometheus::Gauge& inflight_bytes;
    explicit IngestMetrics(Metrics& metrics);
};

}  // namespace dq::ingest
