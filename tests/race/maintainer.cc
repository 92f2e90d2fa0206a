#include "maintainer.h"

#include <absl/strings/str_join.h>

#include <vector>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "reader.h"

namespace dq::race {
namespace {

constexpr std::int64_t kLongestPause = 400'000;

StatusOr<std::vector<std::int64_t>> numbers(engine::Connection& connection, const std::string& sql) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(sql));
    std::vector<std::int64_t> out;
    while (true) {
        DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
        if (!chunk) return out;
        const auto column = chunk->column<std::int64_t>(0);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            if (column.valid(row)) out.push_back(column[row]);
        }
    }
}

// A statement is prepared and run in one transaction: these plan over the transaction in which they were prepared.
Status inTransaction(engine::Connection& connection, const std::string& statement) {
    DQ_ASSIGN_OR_RETURN(auto transaction, engine::Transaction::begin(connection));
    DQ_RETURN_IF_ERROR(connection.execute(statement).status());
    return transaction.commit();
}

}  // namespace

void Maintainer::run(const Cancel& stop) {
    while (!stop.cancelled()) {
        round();
        stop.waitFor(static_cast<std::int64_t>(below(kLongestPause)));
    }
}

void Maintainer::round() {
    const auto outcome = [&](std::string_view what, const Status& status) {
        logInfo("maintenance", {{"what", what}, {"error", status.message()}});
        if (status.ok()) {
            ++done_;
        } else if (engine::errorClass(status) == engine::ErrorClass::kConflict) {
            ++conflicts_;
        } else {
            ++errors_[std::string(status.message().substr(0, 400))];
            reviveEngine(lake_, status);
        }
    };
    outcome("flush", call("CALL ducklake_flush_inlined_data('lake')"));
    outcome("merge", call("CALL ducklake_merge_adjacent_files('lake')"));
    outcome("rewrite", call(strCat("CALL ducklake_rewrite_data_files('lake', delete_threshold => ",
                                   below(2) == 0 ? "0.95" : "0.1", ")")));
    const auto withConnection = [&](Status (Maintainer::*what)(engine::Connection&)) -> Status {
        DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire());
        return (this->*what)(*connection);
    };
    outcome("expire", withConnection(&Maintainer::expire));
    if (deletes_ && below(4) == 0) outcome("delete", withConnection(&Maintainer::deleteDecoded));
    outcome("clean up", call(strCat("CALL ducklake_cleanup_old_files('lake', older_than => now() - INTERVAL ",
                                    1 + below(4), " SECOND)")));
}

Status Maintainer::call(const std::string& statement) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire());
    return annotate(inTransaction(*connection, statement), statement);
}

// A tenth of what lies at or below the cursor; a row keeps the id of the snapshot that inserted it.
Status Maintainer::deleteDecoded(engine::Connection& connection) {
    DQ_ASSIGN_OR_RETURN(const std::int64_t cursor, cursorOf(connection));
    DQ_ASSIGN_OR_RETURN(const std::int64_t rows,
                        connection.execute(strCat("DELETE FROM lake.raw_events WHERE snapshot_id <= ", cursor,
                                                  " AND hash(id) % 10 = ", below(10))));
    deleted_ += rows;
    return absl::OkStatus();
}

Status Maintainer::expire(engine::Connection& connection) {
    DQ_ASSIGN_OR_RETURN(const auto retained,
                        numbers(connection, "SELECT snapshot_id::BIGINT FROM ducklake_snapshots('lake') ORDER BY 1"));
    DQ_ASSIGN_OR_RETURN(const auto floors,
                        numbers(connection, "SELECT min(snapshot_id)::BIGINT FROM meta.din_consumer_progress"));
    if (floors.empty() || retained.size() < 2) return absl::OkStatus();
    std::int64_t through = floors.front(), from = 0;
    const std::int64_t newest = retained[retained.size() - 2];  // the head itself is never expired
    if (newest > through && below(7) == 0) {
        through = through + 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(newest - through)));
        if (below(2) == 0) from = through;  // a hole instead of a prefix
        ++closer_expiries_;
    } else {
        through -= static_cast<std::int64_t>(below(30));  // some time of retention
    }
    std::vector<std::int64_t> expired;
    for (const std::int64_t id : retained) {
        if (id >= from && id <= through && id <= newest) expired.push_back(id);
    }
    if (expired.empty()) return absl::OkStatus();
    const std::string ids = absl::StrJoin(expired, ", ");
    return annotate(
        inTransaction(connection, strCat("CALL ducklake_expire_snapshots('lake', versions => [", ids, "])")), "expire");
}

}  // namespace dq::race
