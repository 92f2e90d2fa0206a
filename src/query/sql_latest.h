// Statements behind Session::latest (queries.md §6–§8, rollups.md §11).
#pragma once
#include <optional>
#include <string>

#include "engine/value.h"
#include "query/types.h"

namespace dq::query {

// The stored rows of the subject together with the progress rows that say how to read them: one statement, since
// planning costs more than either scan (measured: 17 ms together, 24 ms in turn).
//
// Columns: section INTEGER (0 progress, 1 live), name, value_string, then for section 1 timestamp, value_number,
// loc_lat, loc_lon, loc_hdop, loc_heading, loc_ts, count, first_seen, last_seen. A progress row has its key in `name`
// and its text in `value_string`. Order: section, name, then newest first and greatest count first, so that of doubled
// rows of a key the first is the one to take. No dedup: one row a key is the table's contract, and the caller takes the
// first. Files read: those of one bucket.
engine::Sql latestRollupSql(const std::string& subject, bool with_progress);

// Per name from lake.signals: newest reading, newest fix, count and extremes of the readings. Dedup key 1 by
// sql_readings.h; a fix stamped at or before the epoch is none (rollups.md §2). Columns as above, all rows of section
// 1. Files read: those of one bucket, with `from` of the days since.
engine::Sql latestScanSql(const std::string& subject, const std::optional<std::string>& source,
                          std::optional<Micros> from);

}  // namespace dq::query
