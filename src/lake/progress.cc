#include "lake/progress.h"

#include <absl/container/flat_hash_map.h>
#include <absl/strings/numbers.h>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/tables.h"

namespace dq::lake {
namespace {

using engine::Sql;
using engine::Transaction;

struct StoredRow {
    std::string key, value;
    bool null_value = false;
};

StatusOr<std::vector<StoredRow>> readRows(engine::Connection& connection, const Cancel& cancel) {
    std::vector<StoredRow> rows;
    DQ_ASSIGN_OR_RETURN(auto result,
                        connection.query(R"(SELECT "partition", "cursor" FROM lake.ingest_progress)", cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) return rows;
        auto key = chunk->strings(0), value = chunk->strings(1);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            rows.push_back({std::string(key[row]), std::string(value[row]), !value.valid(row)});
        }
    }
}

// Of several rows with one key the least cursor survives (nothing is skipped), else the first text in order.
std::string survivor(std::string_view key, const std::vector<std::string>& values) {
    std::string best = values.front();
    for (const std::string& value : values) {
        const bool less = key == kCursorKey && parseCursor(value).ok() && parseCursor(best).ok()
                              ? *parseCursor(value) < *parseCursor(best)
                              : value < best;
        if (less) best = value;
    }
    return best;
}

Status collapse(engine::Connection& connection, const std::string& key, const std::vector<std::string>& values,
                const Cancel& cancel) {
    logWarn("ingest_progress holds several rows of one key; keeping one", {{"key", key}, {"rows", values.size()}});
    DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
    DQ_RETURN_IF_ERROR(connection.execute(touchLeaseSql(), cancel).status());
    DQ_RETURN_IF_ERROR(
        connection.execute(Sql{R"(DELETE FROM lake.ingest_progress WHERE "partition" = $1)", {key}}, cancel).status());
    DQ_RETURN_IF_ERROR(
        connection
            .execute(Sql{"INSERT INTO lake.ingest_progress VALUES ($1, $2)", {key, survivor(key, values)}}, cancel)
            .status());
    return transaction.commit();
}

}  // namespace

StatusOr<ProgressRows> readProgress(engine::Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(const auto rows, readRows(connection, cancel));
    ProgressRows out;
    for (const StoredRow& row : rows) {
        if (row.key == kCursorKey) {
            out.cursor_present = true;
            out.cursor_text = row.null_value ? "" : row.value;
        } else if (row.key == kLeaseKey) {
            out.lease = row.value;
        } else if (row.key == kThroughKey) {
            out.through = row.value;
        } else if (row.key == kMaintainerKey) {
            out.maintainer = row.value;
        } else if (row.key == kWatermarkKey) {
            out.watermark = row.value;
        } else if (row.key == kBackfillKey) {
            out.backfill = row.value;
        } else if (row.key == kEventsCompleteKey) {
            out.events_complete = true;
        }
    }
    return out;
}

StatusOr<std::int64_t> parseCursor(std::string_view text) {
    if (text.empty()) return 0;
    const bool digits = text.find_first_not_of("0123456789") == std::string_view::npos;
    std::int64_t value = 0;
    if (!digits || (text.size() > 1 && text[0] == '0') || !absl::SimpleAtoi(abslView(text), &value)) {
        return absl::InvalidArgumentError(strCat("ingest_progress row '", kCursorKey,
                                                 "' must hold a plain decimal snapshot id, and holds something else (",
                                                 text.size(), " bytes)"));
    }
    return value;
}

Status seedProgress(engine::Connection& connection, BaseState base, const Cancel& cancel) {
    std::vector<std::pair<std::string, std::string>> wanted = {{std::string(kCursorKey), "0"},
                                                               {std::string(kLeaseKey), std::string(kFreeLease)}};
    return retryOnConflict(cancel, [&]() -> Status {
        absl::flat_hash_map<std::string, std::vector<std::string>> stored;
        DQ_ASSIGN_OR_RETURN(const auto rows, readRows(connection, cancel));
        for (const StoredRow& row : rows) stored[row.key].push_back(row.value);
        const auto cursor = stored.find(abslView(kCursorKey));
        const std::string position = cursor == stored.end() ? "0" : survivor(kCursorKey, cursor->second);
        std::vector<std::pair<std::string, std::string>> missing;
        for (const auto& [key, value] : wanted) {
            if (!stored.contains(key)) missing.emplace_back(key, value);
        }
        if (!stored.contains(abslView(kThroughKey)))
            missing.emplace_back(kThroughKey, position.empty() ? "0" : position);
        if (base.signals_empty && !stored.contains(abslView(kMaintainerKey)) &&
            !stored.contains(abslView(kWatermarkKey))) {
            missing.emplace_back(kMaintainerKey, kFoldMaintainer);
        }
        if (base.events_empty && !stored.contains(abslView(kEventsCompleteKey)))
            missing.emplace_back(kEventsCompleteKey, "1");
        if (!missing.empty()) {
            Sql insert{"INSERT INTO lake.ingest_progress VALUES ", {}};
            for (const auto& [key, value] : missing) {
                strAppend(&insert.text, insert.binds.empty() ? "" : ", ", "($", insert.binds.size() + 1, ", $",
                          insert.binds.size() + 2, ")");
                insert.binds.emplace_back(key);
                insert.binds.emplace_back(value);
            }
            DQ_RETURN_IF_ERROR(connection.execute(insert, cancel).status());
            // Inserts of two first boots never exclude each other: whoever commits last sees both rows here.
            stored.clear();
            DQ_ASSIGN_OR_RETURN(const auto again, readRows(connection, cancel));
            for (const StoredRow& row : again) stored[row.key].push_back(row.value);
        }
        for (const auto& [key, values] : stored) {
            if (values.size() > 1) DQ_RETURN_IF_ERROR(collapse(connection, key, values, cancel));
        }
        return absl::OkStatus();
    });
}

Status storeMarker(Lake& lake, engine::Connection& connection, std::string_view key, std::string_view value,
                   const Cancel& cancel) {
    return retryOnConflict(cancel, [&]() -> Status {
        std::lock_guard commit(lake.commitLock());
        DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
        DQ_RETURN_IF_ERROR(connection.execute(touchLeaseSql(), cancel).status());
        DQ_ASSIGN_OR_RETURN(
            const std::int64_t changed,
            connection.execute(Sql{R"(UPDATE lake.ingest_progress SET "cursor" = $1 WHERE "partition" = $2)",
                                   {std::string(value), std::string(key)}},
                               cancel));
        if (changed == 0) {
            DQ_RETURN_IF_ERROR(connection
                                   .execute(Sql{"INSERT INTO lake.ingest_progress VALUES ($1, $2)",
                                                {std::string(key), std::string(value)}},
                                            cancel)
                                   .status());
        }
        return transaction.commit();
    });
}

Sql advanceProgressSql(std::string_view lease_from, std::string_view lease_to, std::optional<CursorMove> move) {
    if (!move) return moveLeaseSql(lease_from, lease_to);
    return {strCat(R"(UPDATE lake.ingest_progress
            SET "cursor" = CASE "partition" WHEN ')",
                   kLeaseKey, R"(' THEN $2 ELSE $4 END
            WHERE ("partition" = ')",
                   kLeaseKey, R"(' AND "cursor" = $1)
               OR ("partition" = ')",
                   kCursorKey, R"(' AND coalesce("cursor", '0') = $3)
               OR "partition" = ')",
                   kThroughKey, "'"),
            {std::string(lease_from), std::string(lease_to), strCat(move->from), strCat(move->to)}};
}

Sql touchLeaseSql() {
    return {strCat(R"(UPDATE lake.ingest_progress SET "cursor" = "cursor" WHERE "partition" = ')", kLeaseKey, "'"), {}};
}

Sql moveLeaseSql(std::string_view from, std::string_view to) {
    return {strCat(R"(UPDATE lake.ingest_progress SET "cursor" = $2 WHERE "partition" = ')", kLeaseKey,
                   R"(' AND "cursor" = $1)"),
            {std::string(from), std::string(to)}};
}

Status reportConsumerProgress(engine::Connection& connection, std::int64_t snapshot_id, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
    DQ_RETURN_IF_ERROR(
        connection.execute("DELETE FROM meta.din_consumer_progress WHERE consumer = 'dq'", cancel).status());
    DQ_RETURN_IF_ERROR(
        connection
            .execute(Sql{"INSERT INTO meta.din_consumer_progress VALUES ('dq', $1, now())", {snapshot_id}}, cancel)
            .status());
    return transaction.commit();
}

}  // namespace dq::lake
