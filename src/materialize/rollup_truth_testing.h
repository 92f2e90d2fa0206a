// What the rollups must hold, as an independent reading of rollups.md §2 and §3: windows where the recompute groups.
// Columns and their order are those of lake.signals_latest and lake.events_latest.
#pragma once

namespace dq::materialize {

inline constexpr char kLatestSignals[] = R"(
    WITH d AS (SELECT * FROM lake.signals QUALIFY row_number() OVER (PARTITION BY subject, name, "timestamp" ORDER BY
    cloud_event_id, source, producer, value_number, value_string) = 1),
    v AS (SELECT *, count(*) OVER k AS n, min("timestamp") OVER k AS f FROM d WINDOW k AS (PARTITION BY subject, name)
    QUALIFY row_number() OVER (PARTITION BY subject, name ORDER BY "timestamp" DESC) = 1),
    l AS (SELECT * FROM lake.signals WHERE (loc_lat != 0 OR loc_lon != 0) AND "timestamp" > TIMESTAMPTZ 'epoch'
          QUALIFY row_number() OVER (PARTITION BY subject, name ORDER BY "timestamp" DESC, cloud_event_id, source,
          producer) = 1)
    SELECT v.subject, v.subject_bucket, v.name, v."timestamp", v.value_number, v.value_string,
           coalesce(l.loc_lat, 0) AS loc_lat, coalesce(l.loc_lon, 0) AS loc_lon, coalesce(l.loc_hdop, 0) AS loc_hdop,
           coalesce(l.loc_heading, 0) AS loc_heading, coalesce(l."timestamp", TIMESTAMPTZ 'epoch') AS loc_ts,
           v.n AS count, v.f AS first_seen, v."timestamp" AS last_seen
    FROM v LEFT JOIN l ON l.subject = v.subject AND l.name = v.name)";
inline constexpr char kLatestEvents[] = R"(
    SELECT subject, subject_bucket, name, count(*) AS count, min("timestamp") AS first_seen,
           max("timestamp") AS last_seen
    FROM (SELECT DISTINCT subject, subject_bucket, name, "timestamp", source FROM lake.events) GROUP BY subject,
    subject_bucket, name)";

}  // namespace dq::materialize
