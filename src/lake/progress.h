// The rows of lake.ingest_progress (cursor, writer lease, markers) and the consumer row that holds back snapshot
// expiry.
//
// Everything that must exclude another writer goes through this table: DuckLake refuses the second of two
// overlapping transactions that update one table, whatever the rows (lake.md §7, materializer.md §13.2).
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lake/lake.h"

namespace dq::lake {

inline constexpr std::string_view kCursorKey = "lake.raw_events#snapshot";
inline constexpr std::string_view kLeaseKey = "lake.raw_events#writer";
inline constexpr std::string_view kThroughKey = "lake.rollups#through";
inline constexpr std::string_view kMaintainerKey = "lake.signals_latest#maintainer";
inline constexpr std::string_view kWatermarkKey = "lake.signals_latest#daily_watermark";
inline constexpr std::string_view kEventsCompleteKey = "lake.events_latest#complete";
inline constexpr std::string_view kBackfillKey = "lake.raw_events#backfill";
inline constexpr std::string_view kFreeLease = "-/0";
inline constexpr std::string_view kFoldMaintainer = "fold";  // signals_latest covers everything committed or marked

struct ProgressRows {
    bool cursor_present = false;
    std::string cursor_text;  // as stored; "" when NULL
    std::optional<std::string> lease, through, maintainer, watermark, backfill;
    bool events_complete = false;
};
StatusOr<ProgressRows> readProgress(engine::Connection& connection, const Cancel& cancel);

// Plain decimal `0|[1-9][0-9]*` up to 2⁶³−1; "" (NULL) reads as 0; anything else is InvalidArgument naming the row.
StatusOr<std::int64_t> parseCursor(std::string_view text);

struct BaseState {
    bool signals_empty = true, events_empty = true;
};
// Inserts the rows that are missing (cursor 0, free lease, through; the rollup markers only over an empty base) and
// collapses rows of one key that two first boots left behind. Mints no snapshot when all is there.
Status seedProgress(engine::Connection& connection, BaseState base, const Cancel& cancel);
// Sets one marker row (insert or update).
Status storeMarker(Lake& lake, engine::Connection& connection, std::string_view key, std::string_view value,
                   const Cancel& cancel);

// Statements of a write transaction. Each returns the number of rows it changed.
struct CursorMove {
    std::int64_t from = 0, to = 0;
};
// First statement of a window: the lease to its next text, and with `move` the cursor and #through. Everything
// matched means 1 (lease) or 3 rows.
engine::Sql advanceProgressSql(std::string_view lease_from, std::string_view lease_to, std::optional<CursorMove> move);
// Any other deleting or rollup-writing transaction: keeps the lease's text, so overlapping writers exclude each
// other.
engine::Sql touchLeaseSql();
// Lease alone, where it still equals `from`.
engine::Sql moveLeaseSql(std::string_view from, std::string_view to);

// Report to the retention floor (`meta.din_consumer_progress`), in a transaction of its own; consumer "dq".
Status reportConsumerProgress(engine::Connection& connection, std::int64_t snapshot_id, const Cancel& cancel);

}  // namespace dq::lake
