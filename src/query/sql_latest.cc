#include "query/sql_latest.h"

#include "core/hash.h"
#include "core/text.h"
#include "lake/progress.h"
#include "query/literals.h"
#include "query/sql_readings.h"

namespace dq::query {
namespace {

// Progress rows in the columns of live rows; the engine takes column names and types from this first half.
constexpr std::string_view kProgressHalf =
    R"(SELECT 0 AS section, partition AS name, cursor AS value_string, NULL::TIMESTAMPTZ AS "timestamp",
       0e+00 AS value_number, 0e+00 AS loc_lat, 0e+00 AS loc_lon, 0e+00 AS loc_hdop, 0e+00 AS loc_heading,
       NULL::TIMESTAMPTZ AS loc_ts, 0::BIGINT AS count, NULL::TIMESTAMPTZ AS first_seen, NULL::TIMESTAMPTZ AS last_seen
FROM lake.ingest_progress
WHERE partition IN ()";

constexpr std::string_view kLiveHalf = R"(SELECT 1 AS section, name, value_string, "timestamp",
       value_number, loc_lat, loc_lon, loc_hdop, loc_heading,
       loc_ts, count, first_seen, last_seen
FROM lake.signals_latest
WHERE )";

constexpr std::string_view kOrder = R"(
ORDER BY section, name, "timestamp" DESC NULLS LAST, count DESC NULLS LAST,
         loc_ts DESC NULLS LAST, value_number, value_string)";

// A location is one row's, so its columns are taken with their NULLs; numbers and texts are those of the newest row
// that has one.
constexpr std::string_view kScanHead =
    R"(SELECT 1 AS section, name, arg_max(value_string, "timestamp") AS value_string, max("timestamp") AS "timestamp",
       arg_max(value_number, "timestamp") AS value_number,
       arg_max_null(loc_lat, fix_at) AS loc_lat, arg_max_null(loc_lon, fix_at) AS loc_lon,
       arg_max_null(loc_hdop, fix_at) AS loc_hdop, arg_max_null(loc_heading, fix_at) AS loc_heading,
       max(fix_at) AS loc_ts, count(*) AS count, min("timestamp") AS first_seen, max("timestamp") AS last_seen
FROM (SELECT *,
             CASE WHEN loc_lat IS NOT NULL AND "timestamp" > TIMESTAMPTZ '1970-01-01 00:00:00+00'
                  THEN "timestamp" END AS fix_at
      FROM ()";

}  // namespace

engine::Sql latestRollupSql(const std::string& subject, bool with_progress) {
    engine::Sql sql;
    if (with_progress) {
        const std::string keys = literalList({std::string(lake::kCursorKey), std::string(lake::kThroughKey),
                                              std::string(lake::kMaintainerKey), std::string(lake::kWatermarkKey)});
        sql.text = strCat(kProgressHalf, keys, ")\nUNION ALL\n");
    }
    strAppend(&sql.text, kLiveHalf, "subject_bucket = ", subjectBucket(subject),
              " AND subject = ", parameter(sql.binds, subject), kOrder);
    return sql;
}

engine::Sql latestScanSql(const std::string& subject, const std::optional<std::string>& source,
                          std::optional<Micros> from) {
    engine::Sql sql;
    const ReadingScope scope{subject, source, std::nullopt, from, std::nullopt};
    const std::string readings = readingsSql(scope, {.number = true, .text = true, .location = true}, sql.binds);
    sql.text = strCat(kScanHead, readings, "))\nGROUP BY name\nORDER BY name");
    return sql;
}

}  // namespace dq::query
