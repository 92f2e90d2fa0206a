#include "query/read_log.h"

#include "core/log.h"
#include "query/fingerprint.h"

namespace dq::query {
namespace {

using Histograms = prometheus::Family<prometheus::Histogram>;

prometheus::Histogram::BucketBoundaries secondBounds() { return exponentialBuckets(0.001, 2, 16); }
prometheus::Histogram::BucketBoundaries rowBounds() { return exponentialBuckets(1, 2, 16); }

}  // namespace

ReadLog::ReadLog(Metrics& metrics, const Clock& clock, std::int64_t slow_micros)
    : clock_(clock),
      slow_micros_(slow_micros),
      read_seconds_(metrics.histograms("dq_lake_read_seconds", "Duration of lake reads, to the last row")),
      rows_returned_(metrics.histograms("dq_lake_rows_returned", "Rows drained by each lake read")),
      files_read_(metrics.histograms("dq_lake_files_read", "Data files opened per read (largest scan of the plan)")),
      latest_seconds_(
          metrics.histograms("dq_lake_latest_query_seconds", "Duration of latest, summary and available reads")),
      latest_served_(
          metrics.counters("dq_lake_latest_served_total", "Latest, summary and available reads by serving path")),
      profile_disabled_(metrics.counter("dq_lake_profile_disabled_total",
                                        "Times read profiling was switched off for the process after a failure")),
      recycles_(
          metrics.counter("dq_duckdb_poison_recycles_total", "Idle-pool recycles after an aborted catalog session")) {}

double ReadLog::secondsSince(const Read& read) const {
    return static_cast<double>(clock_.steadyMicros() - read.began) / static_cast<double>(kMicrosPerSecond);
}

void ReadLog::finish(const Read& read, const engine::Sql& sql, std::uint64_t rows) {
    rows_returned_.Add({{"op", std::string(read.op)}}, rowBounds()).Observe(static_cast<double>(rows));
    const std::int64_t took = clock_.steadyMicros() - read.began;
    if (slow_micros_ < 0 || took < slow_micros_) return;
    logWarn("slow lake read",
            {{"op", read.op}, {"duration", took / 1000}, {"rows_returned", rows}, {"stmt", statementShape(sql.text)}});
}

void ReadLog::observeSeconds(const Read& read) {
    read_seconds_.Add({{"op", std::string(read.op)}}, secondBounds()).Observe(secondsSince(read));
}

void ReadLog::observeLatest(const Read& read, std::string_view path) {
    latest_seconds_.Add({{"path", std::string(path)}, {"op", std::string(read.op)}}, secondBounds())
        .Observe(secondsSince(read));
}

void ReadLog::countServed(std::string_view path) { latest_served_.Add({{"path", std::string(path)}}).Increment(); }

void ReadLog::observeFiles(std::string_view op, std::uint64_t files) {
    files_read_.Add({{"op", std::string(op)}}, rowBounds()).Observe(static_cast<double>(files));
}

void ReadLog::disableProfiling() {
    if (!profiling_disabled_.exchange(true)) profile_disabled_.Increment();
}

}  // namespace dq::query
