#include "rollup/rollup.h"

#include "core/status.h"
#include "core/text.h"
#include "lake/progress.h"
#include "lake/tables.h"
#include "rollup/recompute_sql.h"

namespace dq::rollup {
namespace {

using engine::Connection;
using engine::Transaction;
using lake::SubjectMark;

struct Names {
    std::string_view base, rollup, marks;
};
Names namesOf(Side side) {
    return side == Side::kSignals ? Names{"lake.signals", "lake.signals_latest", "lake.signals_dirty_subjects"}
                                  : Names{"lake.events", "lake.events_latest", "lake.events_dirty_subjects"};
}

std::vector<std::int32_t> bucketsOf(std::span<const SubjectMark> subjects) {
    std::vector<std::int32_t> buckets;
    for (const SubjectMark& subject : subjects) buckets.push_back(subject.bucket);
    std::sort(buckets.begin(), buckets.end());
    buckets.erase(std::unique(buckets.begin(), buckets.end()), buckets.end());
    return buckets;
}

Status stageSubjects(Connection& connection, std::span<const SubjectMark> subjects) {
    DQ_RETURN_IF_ERROR(connection.execute("CREATE OR REPLACE TEMP TABLE flush_subjects (subject VARCHAR)").status());
    DQ_ASSIGN_OR_RETURN(auto appender, engine::Appender::open(connection, "temp", "main", "flush_subjects"));
    for (const SubjectMark& subject : subjects) {
        appender.string(0, subject.subject);
        DQ_RETURN_IF_ERROR(appender.endRow());
    }
    return appender.close();
}

}  // namespace

std::vector<SubjectMark> Rollup::marksFor(std::vector<SubjectMark> subjects) const {
    std::erase_if(subjects, [&](const SubjectMark& mark) { return known_.contains(mark.subject); });
    return subjects;
}

void Rollup::marked(const std::vector<SubjectMark>& marks) {
    for (const SubjectMark& mark : marks) known_.insert(mark.subject);
    if (known_.size() > kDirtyCap) known_.clear();  // doubled marks are harmless
}

StatusOr<Rollup::Pending> Rollup::pending(Connection& connection, const Cancel& cancel) {
    // One statement, one snapshot: the subjects, and the largest rowid among their marks.
    DQ_ASSIGN_OR_RETURN(
        auto result,
        connection.query(strCat("SELECT subject, any_value(subject_bucket), max(rowid) FROM ", namesOf(side_).marks,
                                " GROUP BY subject ORDER BY 2, 1 LIMIT ", kDirtyCap + 1),
                         cancel));
    Pending out;
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) break;
        auto subject = chunk->strings(0);
        auto bucket = chunk->column<std::int32_t>(1);
        auto rowid = chunk->column<std::int64_t>(2);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            out.subjects.push_back({std::string(subject[row]), bucket[row]});
            out.last_rowid = std::max(out.last_rowid, rowid[row]);
        }
    }
    out.over_cap = out.subjects.size() > kDirtyCap;
    return out;
}

StatusOr<bool> Rollup::hasWork(Connection& connection, const Cancel& cancel) const {
    if (rebuild_armed_) return true;
    DQ_ASSIGN_OR_RETURN(auto result,
                        connection.query(strCat("SELECT 1 FROM ", namesOf(side_).marks, " LIMIT 1"), cancel));
    DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
    return chunk.has_value();
}

StatusOr<std::size_t> Rollup::flush(const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
    if (rebuild_armed_) DQ_RETURN_IF_ERROR(rebuild(cancel));
    // From here on windows mark anew: whatever is marked before is seen by this flush.
    known_.clear();
    DQ_ASSIGN_OR_RETURN(Pending due, pending(*connection, cancel));
    if (due.subjects.empty()) return 0;
    if (due.over_cap) {
        rebuild_armed_ = true;
        DQ_RETURN_IF_ERROR(rebuild(cancel));
        DQ_RETURN_IF_ERROR(deleteMarks(*connection, due.last_rowid, /*of_chunk=*/false, cancel));
        return due.subjects.size();
    }
    const bool one_chunk = due.subjects.size() <= kChunkSubjects;
    for (std::size_t first = 0; first < due.subjects.size(); first += kChunkSubjects) {
        DQ_RETURN_IF_ERROR(cancel.check());
        const auto chunk =
            std::span(due.subjects).subspan(first, std::min(kChunkSubjects, due.subjects.size() - first));
        DQ_RETURN_IF_ERROR(recomputeSubjects(*connection, chunk, cancel));
        DQ_RETURN_IF_ERROR(deleteMarks(*connection, due.last_rowid, !one_chunk, cancel));
    }
    return due.subjects.size();
}

Status Rollup::recomputeSubjects(Connection& connection, std::span<const SubjectMark> chunk, const Cancel& cancel) {
    DQ_RETURN_IF_ERROR(stageSubjects(connection, chunk));
    return recomputeScope(connection, subjectScope(bucketsOf(chunk)), cancel);
}

Status Rollup::recomputeScope(Connection& connection, const std::string& scope, const Cancel& cancel) {
    return lake::retryOnConflict(cancel, [&]() -> Status {
        std::lock_guard commit(lake_.commitLock());
        DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
        DQ_RETURN_IF_ERROR(connection.execute(lake::touchLeaseSql(), cancel).status());
        DQ_RETURN_IF_ERROR(connection.execute(deleteSql(namesOf(side_).rollup, scope), cancel).status());
        DQ_RETURN_IF_ERROR(
            connection.execute(side_ == Side::kSignals ? signalsRecomputeSql(scope) : eventsRecomputeSql(scope), cancel)
                .status());
        return transaction.commit();
    });
}

// After the recompute's commit and in a transaction of its own: a delete of marks inside a long one starves beside
// short inserts of marks. Marks with a larger rowid came later and stay.
Status Rollup::deleteMarks(Connection& connection, std::int64_t last_rowid, bool of_chunk, const Cancel& cancel) {
    return lake::retryOnConflict(cancel, [&]() -> Status {
        std::lock_guard commit(lake_.commitLock());
        DQ_ASSIGN_OR_RETURN(auto transaction, Transaction::begin(connection));
        DQ_RETURN_IF_ERROR(connection.execute(lake::touchLeaseSql(), cancel).status());
        DQ_RETURN_IF_ERROR(
            connection
                .execute(strCat("DELETE FROM ", namesOf(side_).marks, " WHERE rowid <= ", last_rowid,
                                of_chunk ? " AND subject IN (SELECT subject FROM temp.main.flush_subjects)" : ""),
                         cancel)
                .status());
        return transaction.commit();
    });
}

Status Rollup::rebuild(const Cancel& cancel, const std::function<void(int, int)>& progress) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
    DQ_RETURN_IF_ERROR(rebuildBuckets(*connection, cancel, progress));
    const auto key = side_ == Side::kSignals ? lake::kMaintainerKey : lake::kEventsCompleteKey;
    DQ_RETURN_IF_ERROR(
        lake::storeMarker(lake_, *connection, key, side_ == Side::kSignals ? lake::kFoldMaintainer : "1", cancel));
    rebuild_armed_ = false;
    return absl::OkStatus();
}

Status Rollup::rebuildBuckets(Connection& connection, const Cancel& cancel,
                              const std::function<void(int, int)>& progress) {
    // Buckets that hold anything: an empty one would mint a snapshot for nothing.
    std::vector<std::int32_t> buckets;
    {
        DQ_ASSIGN_OR_RETURN(auto result, connection.query(strCat("SELECT subject_bucket FROM ", namesOf(side_).base,
                                                                 " UNION SELECT subject_bucket FROM ",
                                                                 namesOf(side_).rollup, " ORDER BY 1"),
                                                          cancel));
        while (true) {
            DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
            if (!chunk) break;
            for (idx_t row = 0; row < chunk->size(); ++row) buckets.push_back(chunk->column<std::int32_t>(0)[row]);
        }
    }
    int done = 0;
    for (const std::int32_t bucket : buckets) {
        DQ_RETURN_IF_ERROR(cancel.check());
        DQ_RETURN_IF_ERROR(recomputeScope(connection, bucketScope(bucket), cancel));
        if (progress) progress(++done, static_cast<int>(buckets.size()));
    }
    return absl::OkStatus();
}

}  // namespace dq::rollup
