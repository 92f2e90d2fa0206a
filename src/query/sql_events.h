// Statements over lake.events and lake.events_latest (queries.md §9).
#pragma once
#include <string>

#include "engine/value.h"
#include "query/types.h"

namespace dq::query {

// Events of [from, to) newest first, then by name and source. Columns: timestamp, name, source, duration_ns, metadata.
//
// Dedup key 3: (subject, timestamp, name, source), least row by cloud_event_id, then producer, type, data_version,
// duration_ns, metadata and tags, NULLs last. Name and source filters are key columns and stand at the scan, the tags
// filter decides on the winner. Files read: those of the subject's bucket in the days of [from, to).
engine::Sql eventsSql(const EventsQuestion& question);

// Per name count, first_seen, last_seen, ascending by name. From the rollup, rows as stored, doubled ones newest first;
// or from the base table, counting distinct (timestamp, name, source): dedup key 3 without its winner. Files read:
// those of one bucket.
engine::Sql eventSummariesRollupSql(const std::string& subject);
engine::Sql eventSummariesScanSql(const std::string& subject);

}  // namespace dq::query
