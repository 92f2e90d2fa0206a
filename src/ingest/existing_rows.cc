#include "ingest/existing_rows.h"

#include <set>

#include "core/status.h"
#include "core/text.h"
#include "engine/database.h"

namespace dq::ingest {
namespace {

constexpr const char* kStage = "ingest_probe";

Status stageKeys(engine::Connection& connection, std::span<const Row> rows, const Cancel& cancel) {
    DQ_RETURN_IF_ERROR(
        connection
            .execute(
                strCat(
                    "CREATE OR REPLACE TEMP TABLE ", kStage,
                    " (row BIGINT, subject VARCHAR, \"time\" TIMESTAMPTZ, type VARCHAR, source VARCHAR, id VARCHAR)"),
                cancel)
            .status());
    DQ_ASSIGN_OR_RETURN(engine::Appender appender, engine::Appender::open(connection, "temp", "main", kStage));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        appender.value<std::int64_t>(0, static_cast<std::int64_t>(i));
        appender.string(1, rows[i].subject);
        appender.value<std::int64_t>(2, rows[i].time);
        appender.string(3, rows[i].type);
        appender.string(4, rows[i].source);
        appender.string(5, rows[i].id);
        DQ_RETURN_IF_ERROR(appender.endRow());
    }
    return appender.close();
}

Status markFound(engine::Connection& connection, const engine::Sql& sql, const Cancel& cancel,
                 std::vector<bool>& found) {
    DQ_ASSIGN_OR_RETURN(engine::Result result, connection.query(sql, cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(std::optional<engine::Chunk> chunk, result.next());
        if (!chunk) return absl::OkStatus();
        const engine::Column<std::int64_t> row = chunk->column<std::int64_t>(0);
        for (idx_t i = 0; i < chunk->size(); ++i) found[static_cast<std::size_t>(row[i])] = true;
    }
}

}  // namespace

std::vector<ProbeRange> probeRanges(std::span<const Row> rows) {
    std::set<std::pair<std::string_view, Micros>> days;
    for (const Row& row : rows) days.emplace(row.type, floorToDay(row.time));
    std::vector<ProbeRange> ranges;
    for (const auto& [type, day] : days) {
        if (!ranges.empty() && ranges.back().type == type && ranges.back().until == day) {
            ranges.back().until += kMicrosPerDay;
        } else {
            ranges.push_back({std::string(type), day, day + kMicrosPerDay});
        }
    }
    return ranges;
}

engine::Sql probeSql(const ProbeRange& range) {
    const std::string type = engine::quoteLiteral(range.type);
    const std::string from = engine::timestampLiteral(range.from), until = engine::timestampLiteral(range.until);
    return {strCat("SELECT DISTINCT p.row\n"
                   "FROM temp.main.",
                   kStage,
                   " p\n"
                   "JOIN lake.raw_events r\n"
                   "  ON r.subject = p.subject AND r.\"time\" = p.\"time\" AND r.source = p.source AND r.id = p.id\n"
                   "WHERE p.type = ",
                   type, " AND p.\"time\" >= ", from, " AND p.\"time\" < ", until,
                   "\n"
                   "  AND r.type = ",
                   type, " AND r.\"time\" >= ", from, " AND r.\"time\" < ", until),
            {}};
}

StatusOr<std::vector<bool>> existingRows(lake::Lake& lake, std::span<const Row> rows, const Cancel& cancel) {
    std::vector<bool> found(rows.size(), false);
    if (rows.empty()) return found;
    DQ_ASSIGN_OR_RETURN(engine::Pool::Lease connection, lake.acquire(cancel));
    DQ_RETURN_IF_ERROR(stageKeys(*connection, rows, cancel));
    DQ_ASSIGN_OR_RETURN(engine::Transaction transaction, engine::Transaction::begin(*connection));
    for (const ProbeRange& range : probeRanges(rows)) {
        DQ_RETURN_IF_ERROR(markFound(*connection, probeSql(range), cancel, found));
    }
    transaction.rollback();
    DQ_RETURN_IF_ERROR(connection->execute(strCat("DROP TABLE temp.main.", kStage), cancel).status());
    return found;
}

}  // namespace dq::ingest
