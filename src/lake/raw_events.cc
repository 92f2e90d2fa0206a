#include "lake/raw_events.h"

#include "core/status.h"
#include "core/text.h"
#include "lake/feed.h"

namespace dq::lake {
namespace {

using engine::Appender;
using engine::Connection;
using engine::Transaction;

constexpr std::string_view kColumns =
    R"(subject VARCHAR, "time" TIMESTAMPTZ, type VARCHAR, id VARCHAR, source VARCHAR, producer VARCHAR,
        data_content_type VARCHAR,
       data_version VARCHAR, extras VARCHAR, data VARCHAR, data_base64 BLOB, data_index_key VARCHAR, voids_id VARCHAR)";

void optionalText(Appender& appender, idx_t column, const std::optional<std::string>& text) {
    if (text) {
        appender.string(column, *text);
    } else {
        appender.null(column);
    }
}

Status stage(Connection& connection, std::span<const cloudevent::Row> rows) {
    DQ_RETURN_IF_ERROR(connection.execute(strCat("CREATE OR REPLACE TEMP TABLE raw_bundle (", kColumns, ")")).status());
    DQ_ASSIGN_OR_RETURN(Appender appender, Appender::open(connection, "temp", "main", "raw_bundle"));
    for (const cloudevent::Row& row : rows) {
        appender.string(0, row.subject);
        appender.value<std::int64_t>(1, row.time);
        appender.string(2, row.type);
        appender.string(3, row.id);
        appender.string(4, row.source);
        appender.string(5, row.producer);
        appender.string(6, row.data_content_type);
        appender.string(7, row.data_version);
        appender.string(8, row.extras);
        optionalText(appender, 9, row.data);
        optionalText(appender, 10, row.data_base64);
        optionalText(appender, 11, row.data_index_key);
        optionalText(appender, 12, row.voids_id);
        DQ_RETURN_IF_ERROR(appender.endRow());
    }
    return appender.close();
}

StatusOr<std::int64_t> lastCommitted(Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(
        auto result,
        connection.query("SELECT coalesce(id, 0)::BIGINT FROM ducklake_last_committed_snapshot('lake') t(id)", cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    return chunk ? chunk->column<std::int64_t>(0)[0] : 0;
}

Status appendOnce(Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
    DQ_RETURN_IF_ERROR(
        connection.execute("INSERT INTO lake.raw_events SELECT * FROM temp.main.raw_bundle", cancel).status());
    return transaction.commit();
}

}  // namespace

StatusOr<std::int64_t> appendRawEvents(Lake& lake, std::span<const cloudevent::Row> rows, const Cancel& cancel) {
    if (rows.empty()) return 0;
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    Status status = stage(*connection, rows);
    constexpr int kAttempts = 3;
    for (int attempt = 1; status.ok(); ++attempt) {
        status = appendOnce(*connection, cancel);
        if (status.ok() || engine::errorClass(status) != engine::ErrorClass::kConflict || attempt == kAttempts) break;
        if (cancel.waitFor(attempt * 500'000)) return cancel.check();
        status = absl::OkStatus();
    }
    if (!status.ok()) {
        connection.broken();
        return status;
    }
    const auto snapshot = lastCommitted(*connection, cancel);
    if (!snapshot.ok()) {
        // The rows are stored; only their snapshot id is not known. "Not stored" would make callers send them again.
        connection.broken();
        return absl::UnknownError(
            strCat("rows are stored, their snapshot id is not known: ", snapshot.status().message()));
    }
    ignore(connection->execute("DROP TABLE temp.main.raw_bundle").status(), "the next bundle replaces it");
    return *snapshot;
}

}  // namespace dq::lake
