#include "query/sql_events.h"

#include "core/hash.h"
#include "core/text.h"
#include "query/filters.h"
#include "query/literals.h"

namespace dq::query {
namespace {

constexpr std::string_view kWinner = R"(create_sort_key(cloud_event_id, 'ASC NULLS LAST', producer, 'ASC NULLS LAST',
                                   type, 'ASC NULLS LAST', data_version, 'ASC NULLS LAST',
                                   duration_ns, 'ASC NULLS LAST', metadata, 'ASC NULLS LAST',
                                   tags, 'ASC NULLS LAST') AS winner)";

std::string subjectCondition(const std::string& subject, std::vector<engine::Value>& binds) {
    return strCat("subject_bucket = ", subjectBucket(subject), " AND subject = ", parameter(binds, subject));
}

}  // namespace

engine::Sql eventsSql(const EventsQuestion& question) {
    engine::Sql sql;
    std::string scan = strCat(subjectCondition(question.subject, sql.binds),
                              "\n              AND \"timestamp\" >= ", timeBound(question.from),
                              "\n              AND \"timestamp\" < ", timeBound(question.to));
    const auto add = [&](const std::optional<TextFilter>& filter, std::string_view column) {
        if (!filter) return;
        if (auto condition = textCondition(*filter, column, sql.binds))
            strAppend(&scan, "\n              AND (", *condition, ")");
    };
    add(question.name, "name");
    add(question.source, "source");
    std::optional<std::string> tags;
    if (question.tags) tags = listCondition(*question.tags, "tags", sql.binds);
    sql.text = strCat(
        "SELECT \"timestamp\", name, source, duration_ns, metadata\n"
        "FROM (SELECT \"timestamp\", name, source, arg_min_null(duration_ns, winner) AS duration_ns,\n"
        "             arg_min_null(metadata, winner) AS metadata",
        tags ? ", arg_min_null(tags, winner) AS tags" : "",
        "\n"
        "      FROM (SELECT \"timestamp\", name, source, duration_ns, metadata, tags,\n"
        "                   ",
        kWinner,
        "\n"
        "            FROM lake.events\n"
        "            WHERE ",
        scan,
        ")\n"
        "      GROUP BY \"timestamp\", name, source)\n",
        tags ? strCat("WHERE ", *tags, "\n") : "", "ORDER BY \"timestamp\" DESC, name, source");
    return sql;
}

engine::Sql eventSummariesRollupSql(const std::string& subject) {
    engine::Sql sql;
    sql.text = strCat("SELECT name, count, first_seen, last_seen\nFROM lake.events_latest\nWHERE ",
                      subjectCondition(subject, sql.binds),
                      "\nORDER BY name, last_seen DESC NULLS LAST, count DESC NULLS LAST, first_seen");
    return sql;
}

engine::Sql eventSummariesScanSql(const std::string& subject) {
    engine::Sql sql;
    sql.text = strCat(
        "SELECT name, count(*) AS count, min(\"timestamp\") AS first_seen, max(\"timestamp\") AS last_seen\n"
        "FROM (SELECT DISTINCT name, \"timestamp\", source\n      FROM lake.events\n      WHERE ",
        subjectCondition(subject, sql.binds), ")\nGROUP BY name\nORDER BY name");
    return sql;
}

}  // namespace dq::query
