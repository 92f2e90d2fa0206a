// Texts of the statements: a change of shape is a decision, and shows here.
#include <gtest/gtest.h>

#include <limits>

#include "query/filters.h"
#include "query/literals.h"
#include "query/sql_events.h"
#include "query/sql_latest.h"
#include "query/sql_readings.h"
#include "query/sql_signals.h"

namespace dq::query {
namespace {

const std::string kSubject = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1";  // bucket 219
constexpr Micros kDay = 1'780'272'000LL * kMicrosPerSecond;

std::string bound(const engine::Sql& sql, std::size_t index) { return std::get<std::string>(sql.binds.at(index)); }

TEST(Sql, Literals) {
    EXPECT_EQ(doubleLiteral(30), "3e+01");
    EXPECT_EQ(doubleLiteral(-0.1), "-1e-01");
    EXPECT_EQ(doubleLiteral(0), "0e+00");
    EXPECT_EQ(doubleLiteral(std::numeric_limits<double>::max()), "1.7976931348623157e+308");
    EXPECT_EQ(doubleLiteral(std::numeric_limits<double>::quiet_NaN()), "'NaN'::DOUBLE");
    EXPECT_EQ(doubleLiteral(-std::numeric_limits<double>::infinity()), "'-Infinity'::DOUBLE");
    EXPECT_EQ(timeBound(kDay + 1), "TIMESTAMPTZ '2026-06-01 00:00:00.000001+00'");
    EXPECT_EQ(timeBound(std::numeric_limits<Micros>::min()), "TIMESTAMPTZ '0001-01-01 00:00:00.000000+00'");
    EXPECT_EQ(timeBound(std::numeric_limits<Micros>::max()), "TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'");
    EXPECT_EQ(literalList(sortedDistinct({"b", "a'", "b"})), "'a''', 'b'");
}

TEST(Sql, FloatConditions) {
    FloatFilter filter;
    EXPECT_EQ(floatCondition(filter, "v"), std::nullopt);
    filter.any_of = {FloatFilter{}};
    EXPECT_EQ(floatCondition(filter, "v"), std::nullopt);  // {or: [{}]} is no filter
    filter.gt = 25;
    EXPECT_EQ(floatCondition(filter, "v"), "v > 2.5e+01");
    FloatFilter low;
    low.lt = 15;
    low.neq = 3;
    filter.any_of.push_back(low);
    EXPECT_EQ(floatCondition(filter, "v"), "(v > 2.5e+01) OR (v <> 3e+00 AND v < 1.5e+01)");
    FloatFilter nested;
    nested.any_of = {filter, low};
    EXPECT_EQ(floatCondition(nested, "v"),
              "((v > 2.5e+01) OR (v <> 3e+00 AND v < 1.5e+01)) OR (v <> 3e+00 AND v < 1.5e+01)");
    FloatFilter all;
    all.eq = 1;
    all.neq = 2;
    all.gt = 3;
    all.lt = 4;
    all.gte = 5;
    all.lte = 6;
    all.in = {7, 8};
    all.not_in = {9};
    EXPECT_EQ(floatCondition(all, "v"),
              "v = 1e+00 AND v <> 2e+00 AND v > 3e+00 AND v < 4e+00 AND v >= 5e+00 AND v <= 6e+00 AND v NOT IN (9e+00) "
              "AND v IN (7e+00, 8e+00)");
}

TEST(Sql, TextAndListConditionsBind) {
    std::vector<engine::Value> binds;
    TextFilter filter, other;
    filter.starts_with = "a%";
    filter.in = {"x", "y'"};
    other.eq = "z";
    filter.any_of = {other, TextFilter{}};
    EXPECT_EQ(textCondition(filter, "name", binds), "(name IN ($1, $2) AND starts_with(name, $3)) OR (name = $4)");
    ASSERT_EQ(binds.size(), 4u);
    EXPECT_EQ(std::get<std::string>(binds[1]), "y'");
    ListFilter tags;
    tags.contains_any = {"a"};
    tags.not_contains_all = {"b", "c"};
    EXPECT_EQ(listCondition(tags, "tags", binds),
              "list_has_any(tags, $5::VARCHAR[]) AND NOT list_has_all(tags, $6::VARCHAR[])");
    EXPECT_EQ(textCondition(TextFilter{}, "name", binds), std::nullopt);
    EXPECT_EQ(listCondition(ListFilter{}, "tags", binds), std::nullopt);
}

TEST(Sql, LakeAcceptance13_BucketPredicateIsALiteral) {
    std::vector<engine::Value> binds;
    EXPECT_EQ(readingsSql({kSubject, {}, {}, {}, {}}, {}, binds),
              "SELECT DISTINCT name, \"timestamp\"\nFROM lake.signals\nWHERE subject_bucket = 219 AND subject = $1");
}

TEST(Sql, Readings) {
    std::vector<engine::Value> binds;
    EXPECT_EQ(readingsSql({kSubject, "0xAb", std::vector<std::string>{"a", "b"}, kDay, kDay + kMicrosPerDay},
                          {.number = true}, binds),
              R"(SELECT name, "timestamp", arg_min_null(value_number, winner) AS value_number
FROM (SELECT name, "timestamp", value_number,
             create_sort_key(cloud_event_id, 'ASC NULLS LAST', source, 'ASC NULLS LAST', producer, 'ASC NULLS LAST',
                             value_number, 'ASC NULLS LAST') AS winner
      FROM lake.signals
      WHERE subject_bucket = 219 AND subject = $1 AND source = $2 AND name IN ('a', 'b')
        AND "timestamp" >= TIMESTAMPTZ '2026-06-01 00:00:00.000000+00'
        AND "timestamp" < TIMESTAMPTZ '2026-06-02 00:00:00.000000+00')
GROUP BY name, "timestamp")");
    ASSERT_EQ(binds.size(), 2u);
    EXPECT_EQ(std::get<std::string>(binds[0]), kSubject);
    EXPECT_EQ(std::get<std::string>(binds[1]), "0xAb");
}

SignalsQuestion question() {
    SignalsQuestion q;
    q.subject = kSubject;
    q.from = kDay;
    q.to = kDay + kMicrosPerDay;
    q.interval = 60 * kMicrosPerSecond;
    return q;
}

TEST(Sql, SignalsOfManyRequestsShareColumns) {
    SignalsQuestion q = question();
    FloatFilter fast;
    fast.gt = 30;
    for (int i = 0; i < 50; ++i) q.floats.push_back({"n" + std::to_string(i), FloatAggregation::kAvg, {}});
    q.floats.push_back({"n1", FloatAggregation::kMed, {}});
    q.floats.push_back({"n2", FloatAggregation::kMed, {}});
    q.floats.push_back({"n1", FloatAggregation::kAvg, fast});
    q.floats.push_back({"n1", FloatAggregation::kMax, fast, true});
    const SignalsStatement statement = signalsSql(q);
    const std::string& text = statement.sql.text;
    EXPECT_EQ(text.substr(text.find(", placed AS")), R"(, placed AS NOT MATERIALIZED (
SELECT *, (epoch_us("timestamp") - (1780272000000000)) // 60000000 AS bucket,
       name = 'n1' AND (value_number > 3e+01) AS keep0
FROM readings
)
SELECT bucket, name,
       avg(value_number),
       median(value_number) FILTER (name IN ('n1', 'n2')),
       count(*) FILTER (keep0),
       avg(value_number) FILTER (keep0)
FROM placed
GROUP BY bucket, name
ORDER BY bucket, name)");
    EXPECT_EQ(statement.floats[0].value[0], 2);
    EXPECT_EQ(statement.floats[49].value[0], 2);
    EXPECT_EQ(statement.floats[0].rows, -1);
    EXPECT_EQ(statement.floats[51].value[0], 3);
    EXPECT_EQ(statement.floats[52].rows, 4);
    EXPECT_EQ(statement.floats[52].value[0], 5);
    EXPECT_EQ(statement.floats[53].rows, 4);
    EXPECT_EQ(statement.floats[53].value[0], -1);
    EXPECT_EQ(statement.sql.binds.size(), 1u);
}

TEST(Sql, SignalsTextsAndLocations) {
    SignalsQuestion q = question();
    q.strings = {{"t", StringAggregation::kTop}, {"u", StringAggregation::kUnique}, {"v", StringAggregation::kRand}};
    q.locations = {{"loc", LocationAggregation::kFirst, {}}};
    const SignalsStatement statement = signalsSql(q);
    const std::string& text = statement.sql.text;
    EXPECT_EQ(text.substr(text.find(", placed AS")), R"(, placed AS MATERIALIZED (
SELECT *, (epoch_us("timestamp") - (1780272000000000)) // 60000000 AS bucket, random() AS draw
FROM readings
), texts AS (
SELECT bucket, name,
       arg_min(value_string, create_sort_key(times, 'DESC NULLS LAST', first_at, 'ASC NULLS LAST')) AS top_text,
       string_agg(value_string, ',' ORDER BY value_string) AS distinct_texts
FROM (SELECT bucket, name, value_string, count(*) AS times, min("timestamp") AS first_at
      FROM placed
      WHERE value_string IS NOT NULL AND name IN ('t', 'u')
      GROUP BY bucket, name, value_string)
GROUP BY bucket, name
)
SELECT bucket, name,
       any_value(top_text),
       any_value(distinct_texts),
       arg_max(value_string, draw),
       count(loc_lat),
       arg_min(loc_lat, "timestamp"),
       arg_min(loc_lon, "timestamp"),
       arg_min(loc_hdop, "timestamp"),
       arg_min(loc_heading, "timestamp")
FROM placed LEFT JOIN texts USING (bucket, name)
GROUP BY bucket, name
ORDER BY bucket, name)");
    EXPECT_EQ(text.find("'n"), std::string::npos);
    EXPECT_NE(text.find("CASE WHEN loc_lat IS NOT NULL AND loc_lon IS NOT NULL AND (loc_lat <> 0 OR loc_lon <> 0) THEN "
                        "winner END AS fix_winner"),
              std::string::npos);
    EXPECT_NE(text.find("name IN ('loc', 't', 'u', 'v')"), std::string::npos);
}

TEST(Sql, Geofences) {
    EXPECT_EQ(locationCondition({}), std::nullopt);
    LocationFilter filter;
    filter.polygon = {{1, 2}, {3, 4}, {5, 0}};
    const std::string polygon = *locationCondition(filter);
    EXPECT_EQ(polygon.substr(0, polygon.find("'[")),
              "CASE WHEN loc_lat > 1e+00 AND loc_lat < 5e+00 AND loc_lon > 0e+00 AND loc_lon < 4e+00 THEN "
              "list_sum(list_transform(");
    EXPECT_NE(polygon.find("{x1: 0e+00, y1: 5e+00, x2: 2e+00, y2: 1e+00}"), std::string::npos);  // closes the ring
    filter.circle = Circle{{60, 5}, 1.5};
    const std::string circle = *locationCondition(filter);
    EXPECT_NE(circle.find("<= 1.5e+03"), std::string::npos);
    EXPECT_EQ(circle.find("list_"), std::string::npos);
}

TEST(Sql, Events) {
    EventsQuestion q;
    q.subject = kSubject;
    q.from = kDay;
    q.to = kDay + 1;
    q.name = TextFilter{};
    q.name->eq = "a.b";
    q.tags = ListFilter{};
    q.tags->contains_any = {"t"};
    const engine::Sql sql = eventsSql(q);
    EXPECT_EQ(sql.text, R"(SELECT "timestamp", name, source, duration_ns, metadata
FROM (SELECT "timestamp", name, source, arg_min_null(duration_ns, winner) AS duration_ns,
             arg_min_null(metadata, winner) AS metadata, arg_min_null(tags, winner) AS tags
      FROM (SELECT "timestamp", name, source, duration_ns, metadata, tags,
                   create_sort_key(cloud_event_id, 'ASC NULLS LAST', producer, 'ASC NULLS LAST',
                                   type, 'ASC NULLS LAST', data_version, 'ASC NULLS LAST',
                                   duration_ns, 'ASC NULLS LAST', metadata, 'ASC NULLS LAST',
                                   tags, 'ASC NULLS LAST') AS winner
            FROM lake.events
            WHERE subject_bucket = 219 AND subject = $1
              AND "timestamp" >= TIMESTAMPTZ '2026-06-01 00:00:00.000000+00'
              AND "timestamp" < TIMESTAMPTZ '2026-06-01 00:00:00.000001+00'
              AND (name = $2))
      GROUP BY "timestamp", name, source)
WHERE list_has_any(tags, $3::VARCHAR[])
ORDER BY "timestamp" DESC, name, source)");
    EXPECT_EQ(bound(sql, 1), "a.b");
    EXPECT_EQ(eventSummariesRollupSql(kSubject).text,
              "SELECT name, count, first_seen, last_seen\nFROM lake.events_latest\nWHERE subject_bucket = 219 AND "
              "subject = $1\n"
              "ORDER BY name, last_seen DESC NULLS LAST, count DESC NULLS LAST, first_seen");
    EXPECT_EQ(eventSummariesScanSql(kSubject).text,
              R"(SELECT name, count(*) AS count, min("timestamp") AS first_seen, max("timestamp") AS last_seen
FROM (SELECT DISTINCT name, "timestamp", source
      FROM lake.events
      WHERE subject_bucket = 219 AND subject = $1)
GROUP BY name
ORDER BY name)");
}

TEST(Sql, Latest) {
    EXPECT_EQ(latestRollupSql(kSubject, false).text, R"(SELECT 1 AS section, name, value_string, "timestamp",
       value_number, loc_lat, loc_lon, loc_hdop, loc_heading,
       loc_ts, count, first_seen, last_seen
FROM lake.signals_latest
WHERE subject_bucket = 219 AND subject = $1
ORDER BY section, name, "timestamp" DESC NULLS LAST, count DESC NULLS LAST,
         loc_ts DESC NULLS LAST, value_number, value_string)");
    const std::string both = latestRollupSql(kSubject, true).text;
    EXPECT_NE(
        both.find(
            "WHERE partition IN ('lake.raw_events#snapshot', 'lake.rollups#through', 'lake.signals_latest#maintainer', "
            "'lake.signals_latest#daily_watermark')\nUNION ALL\nSELECT 1 AS section"),
        std::string::npos);
    const engine::Sql scan = latestScanSql(kSubject, "0xAb", kDay);
    EXPECT_NE(
        scan.text.find("WHERE subject_bucket = 219 AND subject = $1 AND source = $2\n        AND \"timestamp\" >= "
                       "TIMESTAMPTZ '2026-06-01 "),
        std::string::npos);
    EXPECT_EQ(bound(scan, 1), "0xAb");
}

TEST(Sql, EqualQuestionsGiveEqualText) {
    SignalsQuestion a = question(), b = question();
    a.floats = {{"x", FloatAggregation::kAvg, {}}, {"y", FloatAggregation::kAvg, {}}};
    b.floats = {
        {"y", FloatAggregation::kAvg, {}}, {"x", FloatAggregation::kAvg, {}}, {"x", FloatAggregation::kAvg, {}}};
    EXPECT_EQ(signalsSql(a).sql.text, signalsSql(b).sql.text);
}

}  // namespace
}  // namespace dq::query
