#include "reader.h"

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "materialize/rollup_truth_testing.h"

namespace dq::race {
namespace {

// Stored rows and the truth, of subjects without a mark.
std::string latestDifferenceSql(Side side) {
    const char* name = kSideNames[side];
    const std::string unmarked = strCat("WHERE subject NOT IN (SELECT subject FROM lake.", name, "_dirty_subjects)");
    const std::string truth =
        strCat("(SELECT * FROM (", side == kSignals ? materialize::kLatestSignals : materialize::kLatestEvents, ") ",
               unmarked, ")");
    const std::string columns =
        side == kSignals
            ? R"(subject, subject_bucket, name, "timestamp", value_number, value_string, loc_lat, loc_lon, loc_hdop,
                              loc_heading, loc_ts, "count", first_seen, last_seen)"
            : R"(subject, subject_bucket, name, "count", first_seen, last_seen)";
    const std::string stored = strCat("(SELECT ", columns, " FROM lake.", name, "_latest ", unmarked, ")");
    return strCat("SELECT 'wrong ' || w::VARCHAR FROM (", stored, " EXCEPT ALL ", truth,
                  ") w UNION ALL SELECT 'missing ' || m::VARCHAR FROM (", truth, " EXCEPT ALL ", stored, ") m LIMIT 6");
}

StatusOr<std::vector<std::string>> texts(engine::Connection& connection, const std::string& sql) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(sql));
    std::vector<std::string> out;
    while (true) {
        DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
        if (!chunk) return out;
        const auto column = chunk->strings(0);
        for (idx_t row = 0; row < chunk->size(); ++row) out.emplace_back(column[row]);
    }
}

// Where each copy of a doubled identity lies: which snapshot brought it, and its file.
StatusOr<std::string> copies(engine::Connection& connection, Side side) {
    DQ_ASSIGN_OR_RETURN(const auto rows, texts(connection, strCat(R"(
        SELECT concat_ws(' ', cloud_event_id, name, 'rowid', rowid, 'snapshot', snapshot_id, filename)
        FROM (SELECT *, rowid, snapshot_id, filename FROM lake.)",
                                                                  kSideNames[side], R"()
        QUALIFY count(*) OVER (PARTITION BY subject, source, cloud_event_id, name, "timestamp") > 1
        ORDER BY subject, source, cloud_event_id, name, rowid LIMIT 12)")));
    std::string out;
    for (const std::string& row : rows) strAppend(&out, "  copy: ", row, "\n");
    return out;
}

}  // namespace

StatusOr<std::int64_t> numberOf(engine::Connection& connection, const std::string& sql) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(sql));
    DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
    return chunk ? chunk->column<std::int64_t>(0)[0] : 0;
}

void reviveEngine(lake::Lake& lake, const Status& error) {
    if (lake.kind() == lake::CatalogKind::kFile || engine::errorClass(error) != engine::ErrorClass::kEngineDead) return;
    ignore(lake.restartEngine(), "the next statement fails then, and tries again");
}

StatusOr<std::int64_t> cursorOf(engine::Connection& connection) {
    return numberOf(connection, R"(SELECT coalesce(min("cursor"::BIGINT), -1) FROM lake.ingest_progress
                                   WHERE "partition" = 'lake.raw_events#snapshot')");
}

StatusOr<std::int64_t> marksOf(engine::Connection& connection) {
    return numberOf(connection, R"(SELECT (SELECT count(*) FROM lake.signals_dirty_subjects) +
                                          (SELECT count(*) FROM lake.events_dirty_subjects))");
}

StatusOr<std::string> Reader::checkRows(engine::Connection& connection, Side side, bool all) {
    std::vector<DecodedRow> rest;
    {
        DQ_ASSIGN_OR_RETURN(auto result, connection.query(restSql(side)));
        while (true) {
            DQ_ASSIGN_OR_RETURN(const auto chunk, result.next());
            if (!chunk) break;
            const auto identity = chunk->strings(0), content = chunk->strings(1);
            for (idx_t row = 0; row < chunk->size(); ++row)
                rest.push_back({std::string(identity[row]), std::string(content[row])});
        }
    }
    std::string out = sent_.difference(side, rest, all);
    if (contains(out, ": twice ")) {
        const auto where = copies(connection, side);
        out += where.ok() ? *where : strCat("  copies: ", where.status().message(), "\n");
    }
    if (rest.size() < counts_[side])
        strAppend(&out, kSideNames[side], ": ", counts_[side], " rows at an earlier snapshot, ", rest.size(), " now\n");
    counts_[side] = rest.size();
    DQ_ASSIGN_OR_RETURN(const auto differences, texts(connection, latestDifferenceSql(side)));
    for (const std::string& row : differences) strAppend(&out, kSideNames[side], "_latest: ", row, "\n");
    return out;
}

StatusOr<std::string> Reader::look(bool all) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire());
    DQ_ASSIGN_OR_RETURN(auto transaction, engine::Transaction::begin(*connection));
    DQ_ASSIGN_OR_RETURN(const std::int64_t head,
                        numberOf(*connection, "SELECT id::BIGINT FROM ducklake_current_snapshot('lake') t(id)"));
    if (head == head_ && !all) return std::string();
    DQ_ASSIGN_OR_RETURN(const std::int64_t cursor, cursorOf(*connection));
    std::string out;
    if (cursor < cursor_) strAppend(&out, "the cursor fell from ", cursor_, " to ", cursor, "\n");
    for (const Side side : {kSignals, kEvents}) {
        DQ_ASSIGN_OR_RETURN(const std::string found, checkRows(*connection, side, all));
        out += found;
    }
    if (!out.empty()) return strCat("at snapshot ", head, ", cursor ", cursor, ":\n", out);
    if (head < head_) return strCat("the head fell from ", head_, " to ", head);
    cursor_ = cursor;
    head_ = head;
    ++checked_;
    return out;
}

void Reader::run(const Cancel& stop, const std::function<void(const std::string&)>& violation) {
    while (!stop.cancelled()) {
        const auto found = look();
        if (!found.ok()) {
            logInfo("read cut short", {{"error", found.status().message()}});
            ++errors_[std::string(found.status().message().substr(0, 400))];
            reviveEngine(lake_, found.status());
        } else if (!found->empty()) {
            return violation(*found);
        }
        stop.waitFor(5'000);
    }
}

}  // namespace dq::race
