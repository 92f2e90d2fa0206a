#include "lake/feed.h"

#include <absl/strings/numbers.h>

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

// Id of raw_events among the catalog's tables; -1 when absent.
StatusOr<std::int64_t> rawEventsTableId(engine::Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(R"(
        SELECT t.table_id::BIGINT
        FROM __ducklake_metadata_lake.ducklake_table t
        JOIN __ducklake_metadata_lake.ducklake_schema n ON n.schema_id = t.schema_id AND n.schema_name = 'main' AND
        n.end_snapshot IS NULL
        WHERE t.table_name = 'raw_events' AND t.end_snapshot IS NULL)",
                                                      cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    if (!chunk) return -1;
    return chunk->column<std::int64_t>(0)[0];
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

constexpr std::string_view kFeedColumns =
    R"(subject, "time", type, id, source, producer, data_version, extras, data, data_base64, data_index_key)";

}  // namespace

StatusOr<SnapshotList> snapshotsAfter(engine::Connection& connection, std::int64_t after, const Cancel& cancel) {
    SnapshotList list;
    DQ_ASSIGN_OR_RETURN(const std::int64_t table_id, rawEventsTableId(connection, cancel));
    list.raw_events_exists = table_id >= 0;
    DQ_ASSIGN_OR_RETURN(list.feed_start, feedStart(connection, after, cancel));
    // `changes` maps a kind of change to table ids. Kinds that add raw rows to the feed: plain and inlined inserts,
    // and rewrites.
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(engine::Sql{R"(
        SELECT snapshot_id::BIGINT, epoch_us(snapshot_time),
               coalesce(list_contains(flatten([
                   coalesce(changes['tables_inserted_into'], []), coalesce(changes['inlined_insert'], []),
                   coalesce(changes['rewrite_delete'], [])]), $2), false)
        FROM ducklake_snapshots('lake')
        WHERE snapshot_id > $1
        ORDER BY snapshot_id)",
                                                                  {after, strCat(table_id)}},
                                                      cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) return list;
        auto id = chunk->column<std::int64_t>(0), committed = chunk->column<std::int64_t>(1);
        auto touches = chunk->column<bool>(2);
        for (idx_t row = 0; row < chunk->size(); ++row)
            list.snapshots.push_back({id[row], committed[row], touches[row]});
    }
}

StatusOr<engine::Result> streamInsertions(engine::Connection& connection, std::int64_t start, std::int64_t after,
                                          std::int64_t to, const Cancel& cancel) {
    std::string sql = strCat("SELECT ", kFeedColumns, "\nFROM ducklake_table_insertions('lake', 'main', 'raw_events', ",
                             start, ", ", to, ")");
    if (start <= after) strAppend(&sql, "\nWHERE snapshot_id > ", after);
    return connection.stream({sql, {}}, cancel);
}

StatusOr<engine::Result> streamExpired(engine::Connection& connection, std::int64_t after, std::int64_t to,
                                       const Cancel& cancel) {
    return connection.stream({strCat("SELECT ", kFeedColumns, "\nFROM lake.raw_events AT (VERSION => ", to,
                                     ")\nWHERE snapshot_id > ", after),
                              {}},
                             cancel);
}

}  // namespace dq::lake
