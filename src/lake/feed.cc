#include "lake/feed.h"

#include <absl/strings/str_join.h>

#include "core/status.h"
#include "core/text.h"

namespace dq::lake {

StatusOr<std::int64_t> headSnapshot(engine::Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result,
                        connection.query("SELECT id::BIGINT FROM ducklake_current_snapshot('lake') t(id)", cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    if (!chunk) return absl::UnavailableError("the catalog names no current snapshot");
    return chunk->column<std::int64_t>(0)[0];
}

namespace {

struct RawEventsTable {
    std::int64_t id = -1;  // -1: absent
    std::int64_t since = 0;
};
StatusOr<RawEventsTable> rawEventsTable(engine::Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(R"(
        SELECT t.table_id::BIGINT, t.begin_snapshot::BIGINT
        FROM __ducklake_metadata_lake.ducklake_table t
        JOIN __ducklake_metadata_lake.ducklake_schema n ON n.schema_id = t.schema_id AND n.schema_name = 'main' AND
        n.end_snapshot IS NULL
        WHERE t.table_name = 'raw_events' AND t.end_snapshot IS NULL)",
                                                      cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    if (!chunk) return RawEventsTable{};
    return RawEventsTable{chunk->column<std::int64_t>(0)[0], chunk->column<std::int64_t>(1)[0]};
}

// Rows per inserting snapshot, as the catalog's file list has them.
Status estimateRows(engine::Connection& connection, std::int64_t table, std::int64_t after, SnapshotList& list,
                    const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(engine::Sql{R"(
        SELECT begin_snapshot::BIGINT, sum(record_count)::BIGINT
        FROM __ducklake_metadata_lake.ducklake_data_file
        WHERE table_id = $1 AND begin_snapshot > $2
        GROUP BY begin_snapshot ORDER BY begin_snapshot)",
                                                                  {table, after}},
                                                      cancel));
    auto snapshot = list.snapshots.begin();
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) return absl::OkStatus();
        auto id = chunk->column<std::int64_t>(0), rows = chunk->column<std::int64_t>(1);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            while (snapshot != list.snapshots.end() && snapshot->id < id[row]) ++snapshot;
            if (snapshot != list.snapshots.end() && snapshot->id == id[row]) snapshot->raw_rows = rows[row];
        }
    }
}

StatusOr<std::optional<std::int64_t>> feedStart(engine::Connection& connection, std::int64_t after,
                                                const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(
        auto result,
        connection.query(
            engine::Sql{"SELECT max(snapshot_id)::BIGINT FROM ducklake_snapshots('lake') WHERE snapshot_id <= $1",
                        {after + 1}},
            cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    if (!chunk || !chunk->micros(0).valid(0)) return std::nullopt;
    return chunk->micros(0)[0];
}

constexpr std::size_t kEstimateAbove = 4;
constexpr std::string_view kFeedColumns =
    R"(subject, "time", type, id, source, producer, data_version, extras, data, data_base64, data_index_key)";

}  // namespace

StatusOr<SnapshotList> snapshotsAfter(engine::Connection& connection, std::int64_t after, const Cancel& cancel) {
    SnapshotList list;
    DQ_ASSIGN_OR_RETURN(const RawEventsTable table, rawEventsTable(connection, cancel));
    list.raw_events_exists = table.id >= 0;
    list.raw_events_since = table.since;
    DQ_ASSIGN_OR_RETURN(list.feed_start, feedStart(connection, after, cancel));
    // `changes` maps a kind of change to table ids.
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(engine::Sql{R"(
        SELECT snapshot_id::BIGINT, epoch_us(snapshot_time),
               coalesce(list_contains(flatten([coalesce(changes['tables_inserted_into'], []),
                                               coalesce(changes['inlined_insert'], [])]), $2), false),
               coalesce(list_contains(changes['rewrite_delete'], $2), false)
        FROM ducklake_snapshots('lake')
        WHERE snapshot_id > $1
        ORDER BY snapshot_id)",
                                                                  {after, strCat(table.id)}},
                                                      cancel));
    std::size_t inserting = 0;
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) break;
        auto id = chunk->column<std::int64_t>(0), committed = chunk->column<std::int64_t>(1);
        auto inserted = chunk->column<bool>(2), rewrote = chunk->column<bool>(3);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            list.snapshots.push_back({id[row], committed[row], inserted[row], rewrote[row]});
            inserting += inserted[row] ? 1 : 0;
        }
    }
    // Only a backlog needs to be cut by size.
    if (inserting > kEstimateAbove) DQ_RETURN_IF_ERROR(estimateRows(connection, table.id, after, list, cancel));
    return list;
}

StatusOr<engine::Result> streamInsertions(engine::Connection& connection, std::int64_t start, std::int64_t after,
                                          std::int64_t to, std::span<const std::int64_t> without,
                                          const Cancel& cancel) {
    std::string sql = strCat("SELECT ", kFeedColumns, "\nFROM ducklake_table_insertions('lake', 'main', 'raw_events', ",
                             start, ", ", to, ")");
    if (start <= after) strAppend(&sql, "\nWHERE snapshot_id > ", after);
    if (!without.empty()) {
        strAppend(&sql, start <= after ? "\nAND" : "\nWHERE", " snapshot_id NOT IN (", absl::StrJoin(without, ", "),
                  ")");
    }
    return connection.stream({sql, {}}, cancel);
}

StatusOr<engine::Result> streamExpired(engine::Connection& connection, std::int64_t after, std::int64_t to,
                                       const Cancel& cancel) {
    return connection.stream({strCat("SELECT ", kFeedColumns, "\nFROM lake.raw_events AT (VERSION => ", to,
                                     ")\nWHERE snapshot_id > ", after),
                              {}},
                             cancel);
}

namespace {

std::string rangeOf(Micros from, Micros to, std::string_view subject) {
    std::string sql = strCat("\nFROM lake.raw_events WHERE \"time\" >= ", engine::timestampLiteral(from),
                             " AND \"time\" < ", engine::timestampLiteral(to));
    if (!subject.empty()) strAppend(&sql, " AND subject = ", engine::quoteLiteral(subject));
    return sql;
}

}  // namespace

StatusOr<RangeCount> countRange(engine::Connection& connection, Micros from, Micros to, std::string_view subject,
                                const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(
        auto result,
        connection.query(strCat("SELECT count(*)::BIGINT, epoch_us(min(\"time\")), epoch_us(max(\"time\"))",
                                rangeOf(from, to, subject)),
                         cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    RangeCount out;
    if (!chunk || chunk->column<std::int64_t>(0)[0] == 0) return out;
    return RangeCount{chunk->column<std::int64_t>(0)[0], chunk->micros(1)[0], chunk->micros(2)[0]};
}

StatusOr<engine::Result> streamRange(engine::Connection& connection, Micros from, Micros to, std::string_view subject,
                                     const Cancel& cancel) {
    return connection.stream({strCat("SELECT ", kFeedColumns, rangeOf(from, to, subject)), {}}, cancel);
}

}  // namespace dq::lake
