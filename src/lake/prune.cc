#include "lake/prune.h"

#include <algorithm>

#include "core/status.h"
#include "core/text.h"
#include "lake/progress.h"
#include "lake/tables.h"

namespace dq::lake {
namespace {

std::string orphans(std::string_view rollup, std::string_view base, Micros cutoff) {
    return strCat("DELETE FROM ", rollup, " WHERE last_seen < ", engine::timestampLiteral(cutoff),
                  " AND NOT EXISTS (SELECT 1 FROM ", base, " b WHERE b.subject_bucket = ", rollup,
                  ".subject_bucket AND b.subject = ", rollup, ".subject AND b.name = ", rollup, ".name)");
}

// One transaction: the delete, and the lease row, so that overlapping deletes exclude each other.
StatusOr<std::int64_t> remove(Lake& lake, engine::Connection& connection, const std::string& sql,
                              const Cancel& cancel) {
    std::int64_t removed = 0;
    const Status done = retryOnConflict(cancel, [&]() -> Status {
        std::lock_guard commit(lake.commitLock());
        DQ_ASSIGN_OR_RETURN(auto transaction, engine::Transaction::begin(connection));
        DQ_ASSIGN_OR_RETURN(removed, connection.execute(sql, cancel));
        if (removed == 0) return absl::OkStatus();  // rolled back: no snapshot for nothing
        DQ_RETURN_IF_ERROR(connection.execute(touchLeaseSql(), cancel).status());
        return transaction.commit();
    });
    if (!done.ok()) return done;
    return removed;
}

StatusOr<std::int64_t> pruneTable(Lake& lake, engine::Connection& connection, std::string_view table, Micros cutoff,
                                  const Cancel& cancel) {
    std::int64_t removed = 0;
    while (true) {
        DQ_RETURN_IF_ERROR(cancel.check());
        DQ_ASSIGN_OR_RETURN(auto result,
                            connection.query(strCat("SELECT epoch_us(min(\"timestamp\")) FROM ", table,
                                                    " WHERE \"timestamp\" < ", engine::timestampLiteral(cutoff)),
                                             cancel));
        DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
        if (!chunk || !chunk->micros(0).valid(0)) return removed;
        const Micros day = floorToDay(chunk->micros(0)[0]);
        const Micros until = std::min(cutoff, day + kMicrosPerDay);
        DQ_ASSIGN_OR_RETURN(
            const std::int64_t rows,
            remove(lake, connection,
                   strCat("DELETE FROM ", table, " WHERE \"timestamp\" >= ", engine::timestampLiteral(day),
                          " AND \"timestamp\" < ", engine::timestampLiteral(until)),
                   cancel));
        removed += rows;
        if (rows == 0) return removed;  // gone meanwhile
    }
}

}  // namespace

StatusOr<std::int64_t> pruneDecoded(Lake& lake, Micros cutoff, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    std::int64_t removed = 0;
    for (const std::string_view table : {"lake.signals", "lake.events"}) {
        DQ_ASSIGN_OR_RETURN(const std::int64_t rows, pruneTable(lake, *connection, table, cutoff, cancel));
        removed += rows;
    }
    for (const auto& [rollup, base] :
         {std::pair{"lake.signals_latest", "lake.signals"}, std::pair{"lake.events_latest", "lake.events"}}) {
        DQ_RETURN_IF_ERROR(remove(lake, *connection, orphans(rollup, base, cutoff), cancel).status());
    }
    return removed;
}

}  // namespace dq::lake
