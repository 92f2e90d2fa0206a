// The full recompute of lake.signals_latest and lake.events_latest from the base tables (rollups.md §2–§4).
//
// Dedup of signals: key (subject, name, timestamp), lowest cloud_event_id, then source, producer and the value
// columns. One grouped pass instead of windows: the value pair is the one at the least (−time, cloud_event_id,
// source, producer, values), the location the same over rows with a fix, the count that of distinct timestamps. A
// fix = not (0,0), stamped after the epoch; fixes are chosen before the instant is collapsed, so a (0,0) row never
// hides one. NULL counts as 0 or ''. Dedup of events: key (subject, timestamp, name, source).
// Pruning: `scope` stands at the scan (literal buckets, and the subjects of a temp table).
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace dq::rollup {

// WHERE text that selects whole buckets, or the subjects staged in temp.main.flush_subjects (of these buckets).
std::string bucketScope(std::int32_t bucket);
std::string subjectScope(std::span<const std::int32_t> buckets);

std::string signalsRecomputeSql(const std::string& scope);
std::string eventsRecomputeSql(const std::string& scope);
// DELETE of the rollup's rows in that scope.
std::string deleteSql(std::string_view table, const std::string& scope);

}  // namespace dq::rollup
