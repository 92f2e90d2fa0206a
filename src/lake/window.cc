#include "lake/window.h"

#include <absl/strings/str_join.h>

#include <chrono>

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
// Up to this many buckets a literal list lets the probe skip the other partitions.
constexpr std::size_t kBucketListLimit = 64;

}  // namespace

void Stage::Days::note(Micros timestamp) {
    if (timestamp >= first && timestamp < after) return;
    first = floorToDay(timestamp);
    after = first + kMicrosPerDay;
    days.insert(first);
}

void Stage::add(const BlockPtr& block, Ends first, Ends after) {
    for (std::uint32_t row = first.signals; row < after.signals; ++row)
        signal_days_.note(block->signals()[row].timestamp);
    for (std::uint32_t row = first.events; row < after.events; ++row) event_days_.note(block->events()[row].timestamp);
    signals_.add(block, first.signals, after.signals);
    events_.add(block, first.events, after.events);
}

void Stage::sort(int threads) {
    signals_.sort(threads);
    events_.sort(threads);
}

// The statements of one window's transaction.
class WindowTransaction {
  public:
    WindowTransaction(Connection& connection, const Stage& stage, const WindowPlan& plan, const Cancel& cancel)
        : connection_(connection), stage_(stage), plan_(plan), cancel_(cancel) {}

    WindowOutcome run() {
        if (Status staged = stageMarks(); !staged.ok()) return {WindowResult::kFailed, staged};
        const auto begun = Clock::now();
        auto transaction = Transaction::begin(connection_);
        if (!transaction.ok()) return {WindowResult::kFailed, transaction.status()};
        auto advanced = connection_.execute(
            plan_.beside ? touchLeaseSql() : advanceProgressSql(plan_.lease_from, plan_.lease_to, plan_.move), cancel_);
        if (!advanced.ok()) return classify(advanced.status());
        if (*advanced != (plan_.move ? 3 : 1)) {
            transaction->rollback();
            return lost();
        }
        if (Status rows = writeRows(); !rows.ok()) return classify(rows);
        const auto written = Clock::now();
        WindowOutcome outcome = classify(transaction->commit());
        outcome.write_seconds = std::chrono::duration<double>(written - begun).count();
        outcome.commit_seconds = std::chrono::duration<double>(Clock::now() - written).count();
        return outcome;
    }

  private:
    using Clock = std::chrono::steady_clock;

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
        if (!plan_.beside && rows->lease != plan_.lease_from)
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
        DQ_RETURN_IF_ERROR(insert("lake.signals", kSignalColumns, stage_.signals()));
        DQ_RETURN_IF_ERROR(insert("lake.events", kEventColumns, stage_.events()));
        if (!plan_.signal_marks.empty()) {
            DQ_RETURN_IF_ERROR(execute(
                "INSERT INTO lake.signals_dirty_subjects (subject, subject_bucket) FROM temp.main.stage_signal_marks"));
        }
        if (plan_.late_marks && !plan_.signal_marks.empty()) {
            DQ_RETURN_IF_ERROR(execute(
                "INSERT INTO lake.rollup_late_subjects (subject) SELECT subject FROM temp.main.stage_signal_marks"));
        }
        if (!plan_.event_marks.empty()) {
            DQ_RETURN_IF_ERROR(execute(
                "INSERT INTO lake.events_dirty_subjects (subject, subject_bucket) FROM temp.main.stage_event_marks"));
        }
        return plan_.note ? noteProgress(*plan_.note) : absl::OkStatus();
    }

    Status noteProgress(const std::pair<std::string, std::string>& note) {
        DQ_RETURN_IF_ERROR(
            connection_
                .execute(engine::Sql{R"(DELETE FROM lake.ingest_progress WHERE "partition" = $1)", {note.first}},
                         cancel_)
                .status());
        if (note.second.empty()) return absl::OkStatus();
        return connection_
            .execute(engine::Sql{"INSERT INTO lake.ingest_progress VALUES ($1, $2)", {note.first, note.second}},
                     cancel_)
            .status();
    }

    // All probes of a table come before its first insert: what this transaction has written would be read by each
    // later probe, file by file.
    template <typename Rows>
    Status insert(std::string_view table, std::string_view columns, const Rows& rows) {
        if (plan_.anti_join) {
            DQ_ASSIGN_OR_RETURN(const auto dropped, atRest(table, rows));
            if (!dropped.empty()) return insertAll(table, columns, rows.without(dropped));
        }
        return insertAll(table, columns, rows);
    }

    template <typename Rows>
    Status insertAll(std::string_view table, std::string_view columns, const Rows& rows) {
        const engine::RowSourceScope source(rows);
        for (std::size_t part = 0; part < rows.groups().size(); ++part) {
            DQ_RETURN_IF_ERROR(execute(strCat("INSERT INTO ", table, " (", columns, ")\nSELECT ", columns,
                                              "\nFROM dq_rows(", source.id(), ", ", part, ")")));
        }
        return absl::OkStatus();
    }

    // Numbers of the rows whose identity is at rest, ascending. Pruning: literal time bounds, and the buckets when they
    // are few.
    template <typename Rows>
    StatusOr<std::vector<std::uint64_t>> atRest(std::string_view table, const Rows& rows) {
        const engine::RowSourceScope source(rows);
        std::vector<std::uint64_t> out;
        for (std::size_t part = 0; part < rows.groups().size(); ++part) {
            const auto& group = rows.groups()[part];
            std::string sql = strCat("SELECT dq_row FROM dq_rows(", source.id(), ", ", part,
                                     ")\nSEMI JOIN (SELECT subject_bucket, subject, source, cloud_event_id, name, "
                                     "\"timestamp\" FROM ",
                                     table, " WHERE \"timestamp\" >= ", timestampLiteral(group.first),
                                     " AND \"timestamp\" <= ", timestampLiteral(group.last));
            if (group.buckets.size() <= kBucketListLimit)
                strAppend(&sql, " AND subject_bucket IN (", absl::StrJoin(group.buckets, ", "), ")");
            strAppend(&sql, ") USING (subject_bucket, subject, source, cloud_event_id, name, \"timestamp\")");
            DQ_ASSIGN_OR_RETURN(auto result, connection_.stream({std::move(sql), {}}, cancel_));
            while (true) {
                DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
                if (!chunk) break;
                const auto row = chunk->template column<std::uint64_t>(0);
                for (idx_t i = 0; i < chunk->size(); ++i) out.push_back(row[i]);
            }
        }
        std::sort(out.begin(), out.end());  // threads deliver them in any order
        return out;
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
