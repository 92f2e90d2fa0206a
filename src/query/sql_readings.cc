#include "query/sql_readings.h"

#include <span>

#include "core/hash.h"
#include "core/text.h"
#include "query/literals.h"

namespace dq::query {
namespace {

constexpr std::string_view kLocationColumns[] = {"loc_lat", "loc_lon", "loc_hdop", "loc_heading"};
constexpr std::string_view kWinnerOrder[] = {"cloud_event_id", "source",  "producer", "value_number", "value_string",
                                             "loc_lat",        "loc_lon", "loc_hdop", "loc_heading"};
constexpr std::string_view kFix = "loc_lat IS NOT NULL AND loc_lon IS NOT NULL AND (loc_lat <> 0 OR loc_lon <> 0)";

// Columns of the winner's order up to the last that is asked for: two rows equal up to there give the same answer.
std::span<const std::string_view> winnerOrder(ReadingColumns columns) {
    return std::span(kWinnerOrder).first(columns.location ? 9 : columns.text ? 5 : 4);
}

// Broken into lines, for whoever reads the statement.
std::string sortKey(std::span<const std::string_view> columns) {
    std::string out;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        strAppend(&out,
                  i == 0       ? ""
                  : i % 3 == 0 ? ",\n                             "
                               : ", ",
                  columns[i], ", 'ASC NULLS LAST'");
    }
    return strCat("create_sort_key(", out, ")");
}

std::string scanConditions(const ReadingScope& scope, std::vector<engine::Value>& binds) {
    std::string out =
        strCat("subject_bucket = ", subjectBucket(scope.subject), " AND subject = ", parameter(binds, scope.subject));
    if (scope.source) strAppend(&out, " AND source = ", parameter(binds, *scope.source));
    if (scope.names) strAppend(&out, " AND name IN (", literalList(*scope.names), ")");
    if (scope.from) strAppend(&out, "\n        AND \"timestamp\" >= ", timeBound(*scope.from));
    if (scope.to) strAppend(&out, "\n        AND \"timestamp\" < ", timeBound(*scope.to));
    return out;
}

}  // namespace

std::string readingsSql(const ReadingScope& scope, ReadingColumns columns, std::vector<engine::Value>& binds) {
    const std::string conditions = scanConditions(scope, binds);
    if (!columns.number && !columns.text && !columns.location) {
        return strCat("SELECT DISTINCT name, \"timestamp\"\nFROM lake.signals\nWHERE ", conditions);
    }
    std::string chosen, scanned;
    const auto choose = [&](std::string_view column, std::string_view order) {
        strAppend(&chosen, ", arg_min_null(", column, ", ", order, ") AS ", column);
        strAppend(&scanned, ", ", column);
    };
    if (columns.number) choose("value_number", "winner");
    if (columns.text) choose("value_string", "winner");
    if (columns.location) {
        for (std::string_view column : kLocationColumns) choose(column, "fix_winner");
    }
    strAppend(&scanned, ",\n             ", sortKey(winnerOrder(columns)), " AS winner");
    if (columns.location) strAppend(&scanned, ",\n             CASE WHEN ", kFix, " THEN winner END AS fix_winner");
    return strCat("SELECT name, \"timestamp\"", chosen, "\nFROM (SELECT name, \"timestamp\"", scanned,
                  "\n      FROM lake.signals\n      WHERE ", conditions, ")\nGROUP BY name, \"timestamp\"");
}

}  // namespace dq::query
