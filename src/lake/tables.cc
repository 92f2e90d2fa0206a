#include "lake/tables.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <array>
#include <span>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/progress.h"

namespace dq::lake {
namespace {

struct TableOption {
    std::string_view name, value;
};
struct TableSpec {
    std::string_view name, columns;
    std::string_view partition;  // "" = none
    std::string_view sort;       // "" = none
    std::span<const TableOption> options;
};

// Of tables that are updated or deleted from: inlining beside a merge or flush of another process doubles or loses
// their rows.
constexpr TableOption kMutable[] = {{"data_inlining_row_limit", "0"}};
// Of tables whose writer sorts: sorting wide rows again would cost more than writing them. Row groups of a few vehicles
// each are skipped by their statistics where one vehicle is asked for, and are written by all threads.
constexpr TableOption kSorted[] = {{"sort_on_insert", "false"}, {"parquet_row_group_size", "8192"}};

constexpr std::string_view kLatestColumns =
    R"(subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp" TIMESTAMPTZ, value_number DOUBLE,
        value_string VARCHAR,
       loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop DOUBLE, loc_heading DOUBLE, loc_ts TIMESTAMPTZ, "count" BIGINT,
       first_seen TIMESTAMPTZ, last_seen TIMESTAMPTZ)";
constexpr std::string_view kDecodedPartition =
    R"(subject_bucket, year("timestamp"), month("timestamp"), day("timestamp"))";

constexpr TableSpec kRawEvents = {
    "raw_events",
    R"(subject VARCHAR, "time" TIMESTAMPTZ, type VARCHAR, id VARCHAR, source VARCHAR, producer VARCHAR,
        data_content_type VARCHAR,
       data_version VARCHAR, extras VARCHAR, data VARCHAR, data_base64 BLOB, data_index_key VARCHAR, voids_id VARCHAR)",
    R"(type, year("time"), month("time"), day("time"))",
    R"(subject, "time")",
    {}};

constexpr std::array<TableSpec, 7> kDecodedTables = {{
    {"signals",
     R"(subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp" TIMESTAMPTZ, source VARCHAR, producer
         VARCHAR,
        cloud_event_id VARCHAR, value_number DOUBLE, value_string VARCHAR, loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop
        DOUBLE,
        loc_heading DOUBLE)",
     kDecodedPartition, R"(subject, "timestamp")", kSorted},
    {"events",
     R"(subject VARCHAR, subject_bucket INTEGER, source VARCHAR, producer VARCHAR, cloud_event_id VARCHAR, type VARCHAR,
        data_version VARCHAR, name VARCHAR, "timestamp" TIMESTAMPTZ, duration_ns UBIGINT, metadata VARCHAR, tags
        VARCHAR[])",
     kDecodedPartition, R"(subject, "timestamp")", kSorted},
    {"signals_latest", kLatestColumns, "subject_bucket", "", kMutable},
    {"events_latest",
     R"(subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "count" BIGINT, first_seen TIMESTAMPTZ, last_seen
         TIMESTAMPTZ)",
     "subject_bucket", "", kMutable},
    {"ingest_progress", R"("partition" VARCHAR, "cursor" VARCHAR)", "", "", kMutable},
    {"signals_dirty_subjects", "subject VARCHAR, subject_bucket INTEGER", "", "", kMutable},
    {"events_dirty_subjects", "subject VARCHAR, subject_bucket INTEGER", "", "", kMutable},
}};

// What the catalog holds now.
struct CatalogState {
    struct Table {
        bool partitioned = false, sorted = false;
        absl::flat_hash_set<std::string> options;  // name=value
    };
    absl::flat_hash_map<std::string, Table> tables;
};

StatusOr<CatalogState> readCatalog(engine::Connection& connection, const Cancel& cancel) {
    CatalogState state;
    // The layout of a table is what the catalog's own tables say, not that the table exists: CREATE and layout
    // commit apart.
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(R"(
        SELECT t.table_name,
               EXISTS (FROM __ducklake_metadata_lake.ducklake_partition_info p WHERE p.table_id = t.table_id AND
               p.end_snapshot IS NULL),
               EXISTS (FROM __ducklake_metadata_lake.ducklake_sort_info s WHERE s.table_id = t.table_id AND
               s.end_snapshot IS NULL)
        FROM __ducklake_metadata_lake.ducklake_table t
        JOIN __ducklake_metadata_lake.ducklake_schema n ON n.schema_id = t.schema_id AND n.schema_name = 'main' AND
        n.end_snapshot IS NULL
        WHERE t.end_snapshot IS NULL)",
                                                      cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) break;
        auto name = chunk->strings(0);
        auto partitioned = chunk->column<bool>(1), sorted = chunk->column<bool>(2);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            state.tables[std::string(name[row])] = {partitioned[row], sorted[row], {}};
        }
    }
    DQ_ASSIGN_OR_RETURN(auto options, connection.query(R"(
        SELECT scope_entry, option_name, value FROM ducklake_options('lake') WHERE scope = 'TABLE')",
                                                       cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, options.next());
        if (!chunk) break;
        auto entry = chunk->strings(0), option = chunk->strings(1), value = chunk->strings(2);
        for (idx_t row = 0; row < chunk->size(); ++row) {
            std::string_view name = entry[row];
            if (name.substr(0, 5) == "main.") name.remove_prefix(5);
            if (auto found = state.tables.find(abslView(name)); found != state.tables.end())
                found->second.options.insert(strCat(option[row], "=", value[row]));
        }
    }
    return state;
}

Status statement(Lake& lake, const Cancel& cancel, const std::string& text) {
    return retryOnConflict(cancel, [&]() -> Status {
        DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
        return connection->execute(text, cancel).status();
    });
}

Status ensureTable(Lake& lake, const CatalogState& state, const TableSpec& spec, const Cancel& cancel) {
    const auto found = state.tables.find(abslView(spec.name));
    const CatalogState::Table now = found == state.tables.end() ? CatalogState::Table{} : found->second;
    if (found == state.tables.end()) {
        DQ_RETURN_IF_ERROR(
            statement(lake, cancel, strCat("CREATE TABLE IF NOT EXISTS lake.", spec.name, " (", spec.columns, ")")));
    }
    // After the CREATE has committed and before the first row.
    for (const TableOption& option : spec.options) {
        if (now.options.contains(strCat(option.name, "=", option.value))) continue;
        DQ_RETURN_IF_ERROR(statement(
            lake, cancel,
            strCat("CALL lake.set_option('", option.name, "', ", option.value, ", table_name => '", spec.name, "')")));
    }
    if (!spec.partition.empty() && !now.partitioned) {
        DQ_RETURN_IF_ERROR(statement(
            lake, cancel, strCat("ALTER TABLE lake.", spec.name, " SET PARTITIONED BY (", spec.partition, ")")));
    }
    if (!spec.sort.empty() && !now.sorted) {
        DQ_RETURN_IF_ERROR(
            statement(lake, cancel, strCat("ALTER TABLE lake.", spec.name, " SET SORTED BY (", spec.sort, ")")));
    }
    return absl::OkStatus();
}

StatusOr<bool> exists(engine::Connection& connection, const std::string& from, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(strCat("SELECT EXISTS (", from, ")"), cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    return chunk && chunk->column<bool>(0)[0];
}

Status addLocationTime(Lake& lake, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(const bool present, exists(*connection, R"(
        FROM duckdb_columns() WHERE database_name = 'lake' AND schema_name = 'main' AND table_name = 'signals_latest'
        AND column_name = 'loc_ts')",
                                                   cancel));
    if (present) return absl::OkStatus();
    return statement(lake, cancel, "ALTER TABLE lake.signals_latest ADD COLUMN IF NOT EXISTS loc_ts TIMESTAMPTZ");
}

Status ensureConsumerTable(Lake& lake, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(const bool present, exists(*connection, R"(
        FROM duckdb_tables() WHERE database_name = 'meta' AND table_name = 'din_consumer_progress')",
                                                   cancel));
    if (present) return absl::OkStatus();
    return connection
        ->execute(
            "CREATE TABLE IF NOT EXISTS meta.din_consumer_progress (consumer VARCHAR, snapshot_id BIGINT, updated_at "
            "TIMESTAMPTZ)",
            cancel)
        .status();
}

}  // namespace

Status retryOnConflict(const Cancel& cancel, const std::function<Status()>& run) {
    for (int attempt = 1;; ++attempt) {
        Status status = run();
        if (engine::errorClass(status) != engine::ErrorClass::kConflict || attempt == 6) return status;
        if (cancel.waitFor(attempt * 100'000)) return cancel.check();
    }
}

StatusOr<bool> tableExists(engine::Connection& connection, std::string_view name, const Cancel& cancel) {
    return exists(connection,
                  strCat("FROM duckdb_tables() WHERE database_name = 'lake' AND schema_name = 'main' AND table_name = ",
                         engine::quoteLiteral(name)),
                  cancel);
}

StatusOr<BootstrapFindings> ensureDecodedTables(Lake& lake, const Cancel& cancel) {
    CatalogState state;
    {
        DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
        DQ_ASSIGN_OR_RETURN(state, readCatalog(*connection, cancel));
    }
    for (const TableSpec& spec : kDecodedTables) DQ_RETURN_IF_ERROR(ensureTable(lake, state, spec, cancel));
    if (state.tables.contains("signals_latest")) DQ_RETURN_IF_ERROR(addLocationTime(lake, cancel));
    DQ_RETURN_IF_ERROR(ensureConsumerTable(lake, cancel));

    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    BootstrapFindings findings;
    findings.raw_events_exists = state.tables.contains("raw_events");
    DQ_ASSIGN_OR_RETURN(const bool signals, exists(*connection, "FROM lake.signals", cancel));
    DQ_ASSIGN_OR_RETURN(const bool events, exists(*connection, "FROM lake.events", cancel));
    DQ_RETURN_IF_ERROR(seedProgress(*connection, {.signals_empty = !signals, .events_empty = !events}, cancel));
    DQ_ASSIGN_OR_RETURN(const ProgressRows rows, readProgress(*connection, cancel));
    if (signals) {
        DQ_ASSIGN_OR_RETURN(const bool missing,
                            exists(*connection, "FROM lake.signals_latest WHERE loc_ts IS NULL", cancel));
        findings.signals_rollup_incomplete = missing || !rows.maintainer.has_value();
    }
    findings.events_rollup_incomplete = events && !rows.events_complete;
    return findings;
}

Status ensureRawEvents(Lake& lake, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(const CatalogState state, readCatalog(*connection, cancel));
    return ensureTable(lake, state, kRawEvents, cancel);
}

}  // namespace dq::lake
