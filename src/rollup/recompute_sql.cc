#include "rollup/recompute_sql.h"

#include <absl/strings/str_join.h>
#include "core/text.h"

namespace dq::rollup {

std::string bucketScope(std::int32_t bucket) { return strCat("subject_bucket = ", bucket); }

std::string subjectScope(std::span<const std::int32_t> buckets) {
    return strCat("subject_bucket IN (", absl::StrJoin(buckets, ", "),
                  ") AND subject IN (SELECT subject FROM temp.main.flush_subjects)");
}

std::string signalsRecomputeSql(const std::string& scope) {
    return strCat(R"(
INSERT INTO lake.signals_latest (subject, subject_bucket, name, "timestamp", value_number, value_string, loc_lat,
                                 loc_lon, loc_hdop, loc_heading, loc_ts, "count", first_seen, last_seen)
SELECT subject, subject_bucket, name, newest, pair.number, pair.text, coalesce(fix.lat, 0), coalesce(fix.lon, 0),
       coalesce(fix.hdop, 0), coalesce(fix.heading, 0), coalesce(fix.ts, TIMESTAMPTZ 'epoch'), rows, oldest, newest
FROM (
    SELECT subject, subject_bucket, name, max(ts) AS newest, min(ts) AS oldest, count(DISTINCT ts) AS rows,
           arg_min({'number': number, 'text': text},
                   (-epoch_us(ts), cloud_event_id, source, producer, number, text, lat, lon, hdop, heading)) AS pair,
           arg_min({'lat': lat, 'lon': lon, 'hdop': hdop, 'heading': heading, 'ts': ts},
                   (-epoch_us(ts), cloud_event_id, source, producer, number, text, lat, lon, hdop, heading))
               FILTER (WHERE (lat != 0 OR lon != 0) AND ts > TIMESTAMPTZ 'epoch') AS fix
    FROM (
        SELECT subject, subject_bucket, name, "timestamp" AS ts,
               coalesce(cloud_event_id, '') AS cloud_event_id, coalesce(source, '') AS source,
               coalesce(producer, '') AS producer, coalesce(value_number, 0) AS number,
               coalesce(value_string, '') AS text, coalesce(loc_lat, 0) AS lat, coalesce(loc_lon, 0) AS lon,
               coalesce(loc_hdop, 0) AS hdop, coalesce(loc_heading, 0) AS heading
        FROM lake.signals
        WHERE )",
                  scope, R"()
    GROUP BY subject, subject_bucket, name))");
}

std::string eventsRecomputeSql(const std::string& scope) {
    return strCat(R"(
INSERT INTO lake.events_latest (subject, subject_bucket, name, "count", first_seen, last_seen)
SELECT subject, subject_bucket, name, count(DISTINCT ("timestamp", coalesce(source, ''))), min("timestamp"),
max("timestamp")
FROM lake.events
WHERE )",
                  scope, R"(
GROUP BY subject, subject_bucket, name)");
}

std::string deleteSql(std::string_view table, const std::string& scope) {
    return strCat("DELETE FROM ", table, " WHERE ", scope);
}

}  // namespace dq::rollup
