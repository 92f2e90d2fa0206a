#include "lake/window.h"

#include <absl/strings/str_join.h>

#include "core/status.h"
#include "core/text.h"

namespace dq::lake {
namespace {

using engine::Connection;
using engine::ErrorClass;
using engine::timestampLiteral;
using engine::Transaction;

constexpr std::string_view kSignalColumns =
    R"(subject, subject_bucket, name, "timestamp", source, producer, cloud_event_id, value_number, value_string,
        loc_lat, loc_lon, loc_hdop, loc_heading)";
constexpr std::string_view kEventColumns =
    R"(subject, subject_bucket, source, producer, cloud_event_id, type, data_version, name, "timestamp", duration_ns,
        metadata, tags)";
// Which of several rows of one identity stays: the least by these.
constexpr std::string_view kSignalOrder =
    "producer, value_number, value_string, loc_lat, loc_lon, loc_hdop, loc_heading";
constexpr std::string_view kEventOrder = "producer, type, data_version, duration_ns, metadata, tags";
// Up to this many buckets a literal list lets the probe skip the other partitions.
constexpr std::size_t kBucketListLimit = 64;

Status createStage(Connection& connection) {
    DQ_RETURN_IF_ERROR(connection
                           .execute(R"(CREATE OR REPLACE TEMP TABLE stage_signals (
        subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp" TIMESTAMPTZ, source VARCHAR, producer
        VARCHAR,
        cloud_event_id VARCHAR, value_number DOUBLE, value_string VARCHAR, loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop
        DOUBLE,
        loc_heading DOUBLE))")
                           .status());
    return connection
        .execute(R"(CREATE OR REPLACE TEMP TABLE stage_events (
        subject VARCHAR, subject_bucket INTEGER, source VARCHAR, producer VARCHAR, cloud_event_id VARCHAR, type VARCHAR,
        data_version VARCHAR, name VARCHAR, "timestamp" TIMESTAMPTZ, duration_ns UBIGINT, metadata VARCHAR, tags
        VARCHAR[]))")
        .status();
}

struct Target {
    std::string_view table, stage, columns, order;
};
constexpr Target kSignals{"lake.signals", "temp.main.stage_signals", kSignalColumns, kSignalOrder};
constexpr Target kEvents{"lake.events", "temp.main.stage_events", kEventColumns, kEventOrder};

}  // namespace

StatusOr<Stage> Stage::open(Connection& connection) {
    DQ_RETURN_IF_ERROR(createStage(connection));
    DQ_ASSIGN_OR_RETURN(auto signals, engine::Appender::open(connection, "temp", "main", "stage_signals"));
    DQ_ASSIGN_OR_RETURN(auto events, engine::Appender::open(connection, "temp", "main", "stage_events"));
    return Stage(std::move(signals), std::move(events));
}

Status Stage::finish() {
    DQ_RETURN_IF_ERROR(signal_appender_.close());
    return event_appender_.close();
}

std::vector<SubjectMark> Stage::marks(const Side& side) {
    std::vector<SubjectMark> out;
    out.reserve(side.subjects.size());
    for (const auto& [subject, bucket] : side.subjects) out.push_back({subject, bucket});
    return out;
}

// The statements of one window's transaction.
class WindowTransaction {
  public:
    WindowTransaction(Connection& connection, const Stage& stage, const WindowPlan& plan, const Cancel& cancel)
        : connection_(connection), stage_(stage), plan_(plan), cancel_(cancel) {}

    WindowOutcome run() {
        if (Status staged = stageMarks(); !staged.ok()) return {WindowResult::kFailed, staged};
        auto transaction = Transaction::begin(connection_);
        if (!transaction.ok()) return {WindowResult::kFailed, transaction.status()};
        auto advanced = connection_.execute(advanceProgressSql(plan_.lease_from, plan_.lease_to, plan_.move), cancel_);
        if (!advanced.ok()) return classify(advanced.status());
        if (*advanced != (plan_.move ? 3 : 1)) {
            transaction->rollback();
            return lost();
        }
        if (Status rows = writeRows(); !rows.ok()) return classify(rows);
        return classify(transaction->commit());
    }

  private:
    // Nothing but a COMMIT can leave the outcome open; errors of statements mean that nothing landed.
    static WindowOutcome classify(const Status& status) {
        if (status.ok()) return {WindowResult::kCommitted, status};
        switch (engine::errorClass(status)) {
            case ErrorClass::kConflict: return {WindowResult::kConflict, status};
            case ErrorClass::kOutcomeUnknown: return {WindowResult::kUnknown, status};
            default: return {WindowResult::kFailed, status};
        }
    }

    WindowOutcome lost() {
        auto rows = readProgress(connection_, cancel_);
        if (!rows.ok()) return {WindowResult::kFailed, rows.status()};
        if (rows->lease != plan_.lease_from)
            return {WindowResult::kFenced, absl::AbortedError("another writer holds the lease")};
        if (plan_.move && rows->cursor_text != strCat(plan_.move->from) &&
            !(rows->cursor_text.empty() && plan_.move->from == 0)) {
            return {WindowResult::kCursorMoved, absl::AbortedError("the cursor moved under this span")};
        }
        return {WindowResult::kFailed, absl::FailedPreconditionError(
                                           "ingest_progress lacks a row of cursor, lease or #through, or doubles one")};
    }

    // Marks lie in temp tables before the transaction begins: its first lake access pins the snapshot.
    Status stageMarks() {
        DQ_RETURN_IF_ERROR(stageMarks("stage_signal_marks", plan_.signal_marks));
        return stageMarks("stage_event_marks", plan_.event_marks);
    }

    Status stageMarks(const std::string& table, const std::vector<SubjectMark>& marks) {
        if (marks.empty()) return absl::OkStatus();
        DQ_RETURN_IF_ERROR(
            connection_
                .execute(strCat("CREATE OR REPLACE TEMP TABLE ", table, " (subject VARCHAR, subject_bucket INTEGER)"))
                .status());
        DQ_ASSIGN_OR_RETURN(auto appender, engine::Appender::open(connection_, "temp", "main", table));
        for (const SubjectMark& mark : marks) {
            appender.string(0, mark.subject);
            appender.value<std::int32_t>(1, mark.bucket);
            DQ_RETURN_IF_ERROR(appender.endRow());
        }
        return appender.close();
    }

    Status writeRows() {
        for (const auto& [day, range] : stage_.signals_.days)
            DQ_RETURN_IF_ERROR(insertDay(kSignals, stage_.signals_, day, range));
        for (const auto& [day, range] : stage_.events_.days)
            DQ_RETURN_IF_ERROR(insertDay(kEvents, stage_.events_, day, range));
        if (!plan_.signal_marks.empty()) {
            DQ_RETURN_IF_ERROR(execute(
                "INSERT INTO lake.signals_dirty_subjects (subject, subject_bucket) FROM temp.main.stage_signal_marks"));
        }
        if (!plan_.event_marks.empty()) {
            DQ_RETURN_IF_ERROR(execute(
                "INSERT INTO lake.events_dirty_subjects (subject, subject_bucket) FROM temp.main.stage_event_marks"));
        }
        return absl::OkStatus();
    }

    // Dedup key: the row identity. Pruning: literal day bounds, and the buckets when they are few.
    Status insertDay(const Target& target, const Stage::Side& side, Micros day, const Stage::Range& range) {
        std::string sql = strCat("INSERT INTO ", target.table, " (", target.columns, ")\nSELECT ", target.columns,
                                 "\nFROM ", target.stage, " s\nWHERE s.\"timestamp\" >= ", timestampLiteral(day),
                                 " AND s.\"timestamp\" < ", timestampLiteral(day + kMicrosPerDay));
        if (plan_.anti_join) {
            strAppend(
                &sql, "\n  AND NOT EXISTS (\n    SELECT 1 FROM ", target.table,
                " t\n    WHERE t.subject_bucket = s.subject_bucket AND t.subject = s.subject AND t.source = s.source"
                "\n      AND t.cloud_event_id = s.cloud_event_id AND t.name = s.name AND t.\"timestamp\" = "
                "s.\"timestamp\""
                "\n      AND t.\"timestamp\" >= ",
                timestampLiteral(range.first), " AND t.\"timestamp\" <= ", timestampLiteral(range.last),
                bucketList(side), ")");
        }
        if (side.repeated) {
            strAppend(&sql,
                      "\nQUALIFY row_number() OVER (PARTITION BY subject_bucket, subject, source, cloud_event_id, "
                      "name, \"timestamp\" ORDER BY ",
                      target.order, ") = 1");
        }
        return execute(sql);
    }

    static std::string bucketList(const Stage::Side& side) {
        absl::flat_hash_set<std::int32_t> buckets;
        for (const auto& [subject, bucket] : side.subjects) {
            buckets.insert(bucket);
            if (buckets.size() > kBucketListLimit) return "";
        }
        std::vector<std::int32_t> sorted(buckets.begin(), buckets.end());
        std::sort(sorted.begin(), sorted.end());
        return strCat("\n      AND t.subject_bucket IN (", absl::StrJoin(sorted, ", "), ")");
    }

    Status execute(const std::string& sql) { return connection_.execute(sql, cancel_).status(); }

    Connection& connection_;
    const Stage& stage_;
    const WindowPlan& plan_;
    const Cancel& cancel_;
};

WindowOutcome writeWindow(Connection& connection, const Stage& stage, const WindowPlan& plan, const Cancel& cancel) {
    return WindowTransaction(connection, stage, plan, cancel).run();
}

}  // namespace dq::lake
