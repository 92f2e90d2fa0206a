#include "bench/drain.h"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <ostream>

#include "core/status.h"
#include "core/text.h"
#include "engine/database.h"
#include "lake/attach.h"
#include "lake/lake.h"
#include "materialize/materializer.h"

namespace dq::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string pattern = (fs::temp_directory_path() / "dq-bench-XXXXXX").string();
        if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) fs::remove_all(path_, ignored);
    }
    const fs::path& path() const { return path_; }

  private:
    fs::path path_;
};

double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double cpuSeconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto of = [](const timeval& t) {
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
}

// Greatest resident memory of the process so far, in MB.
std::int64_t peakMegabytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

// The catalog names its data folder: a copy must name its own.
Status copyLake(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::copy(from / "catalog.ducklake", to / "catalog.ducklake", error);
    if (!error) fs::copy(from / "lakedata", to / "lakedata", fs::copy_options::recursive, error);
    if (error) return absl::NotFoundError(strCat("cannot copy the lake in ", from.string(), ": ", error.message()));
    DQ_ASSIGN_OR_RETURN(const auto database, engine::Database::open());
    DQ_ASSIGN_OR_RETURN(auto connection, database->connect());
    DQ_RETURN_IF_ERROR(
        connection.execute(strCat("ATTACH ", engine::quoteLiteral((to / "catalog.ducklake").string()), " AS copied"))
            .status());
    DQ_RETURN_IF_ERROR(
        connection
            .execute(strCat("UPDATE copied.ducklake_metadata SET value = ",
                            engine::quoteLiteral((to / "lakedata").string() + "/"), " WHERE key = 'data_path'"))
            .status());
    return connection.execute("DETACH copied").status();
}

StatusOr<std::int64_t> number(engine::Connection& connection, const std::string& sql, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query(sql, cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    return chunk ? chunk->column<std::int64_t>(0)[0] : 0;
}

// Decoded rows into a plain database file, so that the engine alone can be fed from it.
Status exportRows(lake::Lake& lake, const fs::path& file, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire(cancel));
    DQ_RETURN_IF_ERROR(
        connection->execute(strCat("ATTACH ", engine::quoteLiteral(file.string()), " AS rows")).status());
    for (const std::string_view table : {"signals", "events"}) {
        DQ_RETURN_IF_ERROR(
            connection->execute(strCat("CREATE TABLE rows.", table, " AS FROM lake.", table), cancel).status());
    }
    return connection->execute("DETACH rows").status();
}

StatusOr<std::vector<std::int64_t>> daysOf(engine::Connection& connection, const Cancel& cancel) {
    std::vector<std::int64_t> days;
    DQ_ASSIGN_OR_RETURN(
        auto result,
        connection.query("SELECT DISTINCT epoch_us(date_trunc('day', \"timestamp\")) FROM (SELECT "
                         "\"timestamp\" FROM rows.signals UNION ALL SELECT \"timestamp\" FROM rows.events) "
                         "ORDER BY 1",
                         cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
        if (!chunk) return days;
        for (idx_t row = 0; row < chunk->size(); ++row) days.push_back(chunk->column<std::int64_t>(0)[row]);
    }
}

// The yardstick: an instance of its own with the same limits, a new lake, the table as the specification lays it out.
Status bareInsert(const lake::LakeConfig& config, const fs::path& rows, const fs::path& folder, const Cancel& cancel,
                  std::ostream& out) {
    DQ_ASSIGN_OR_RETURN(const auto database, engine::Database::open());
    DQ_ASSIGN_OR_RETURN(auto connection, database->connect());
    lake::LakeConfig fresh = config;
    fresh.catalog_dsn = (folder / "bare.ducklake").string();
    fresh.data_path = (folder / "bare").string();
    for (const auto& statement : lake::bootstrapStatements(fresh, false, true))
        DQ_RETURN_IF_ERROR(connection.execute(statement.text).status());
    DQ_RETURN_IF_ERROR(
        connection.execute(strCat("ATTACH ", engine::quoteLiteral(rows.string()), " AS rows (READ_ONLY)")).status());
    for (const std::string table : {"signals", "events"}) {
        for (const std::string& statement :
             {strCat("CREATE TABLE lake.", table, " AS FROM rows.", table, " LIMIT 0"),
              strCat("ALTER TABLE lake.", table,
                     " SET PARTITIONED BY (subject_bucket, year(\"timestamp\"), month(\"timestamp\"), "
                     "day(\"timestamp\"))"),
              strCat("ALTER TABLE lake.", table, " SET SORTED BY (subject, \"timestamp\")")}) {
            DQ_RETURN_IF_ERROR(connection.execute(statement, cancel).status());
        }
    }
    DQ_ASSIGN_OR_RETURN(const std::vector<std::int64_t> days, daysOf(connection, cancel));
    const auto start = Clock::now();
    const double cpu = cpuSeconds();
    DQ_ASSIGN_OR_RETURN(auto transaction, engine::Transaction::begin(connection));
    std::int64_t inserted = 0;
    for (const std::int64_t day : days) {
        for (const std::string_view table : {"signals", "events"}) {
            DQ_ASSIGN_OR_RETURN(
                const std::int64_t changed,
                connection.execute(strCat("INSERT INTO lake.", table, " FROM rows.", table,
                                          " WHERE \"timestamp\" >= ", engine::timestampLiteral(day),
                                          " AND \"timestamp\" < ", engine::timestampLiteral(day + kMicrosPerDay)),
                                   cancel));
            if (table == "signals") inserted += changed;
        }
    }
    DQ_RETURN_IF_ERROR(transaction.commit());
    const double took = secondsSince(start);
    out << "engine alone: " << inserted << " signal rows in " << took
        << " s = " << static_cast<std::int64_t>(static_cast<double>(inserted) / took) << " rows/s, cpu "
        << cpuSeconds() - cpu << " s\n";
    return absl::OkStatus();
}

// Where the time of the pass thread went.
void printPhases(const Metrics& metrics, std::ostream& out) {
    const std::string text = metrics.render();
    for (const std::string_view phase : {"read_delta", "resolve_blobs", "decode", "write_window", "commit"}) {
        const auto value = [&](std::string_view kind) {
            const std::string name = strCat("\ndq_materializer_phase_seconds_", kind, "{phase=\"", phase, "\"} ");
            const auto at = text.find(name);
            return at == std::string::npos ? 0.0 : std::strtod(text.c_str() + at + name.size(), nullptr);
        };
        out << "  " << phase << ": " << value("sum") << " s in " << static_cast<std::int64_t>(value("count")) << "\n";
    }
}

Status run(const DrainOptions& options, const Cancel& cancel, std::ostream& out) {
    const TemporaryFolder folder;
    if (folder.path().empty()) return absl::UnavailableError("no temporary folder can be made");
    DQ_RETURN_IF_ERROR(copyLake(options.lake, folder.path()));
    lake::LakeConfig config = options.config;
    config.catalog_dsn = (folder.path() / "catalog.ducklake").string();
    config.data_path = (folder.path() / "lakedata").string();
    config.read_only = false;
    Metrics metrics;
    DQ_ASSIGN_OR_RETURN(auto lakes, lake::Lakes::open(config, true, &metrics));
    {
        materialize::Materializer materializer(lakes->writer(), options.decode, options.materializer, metrics);
        DQ_RETURN_IF_ERROR(materializer.prepare(cancel));
        auto start = Clock::now();
        double cpu = cpuSeconds();
        DQ_ASSIGN_OR_RETURN(const std::int64_t raw, materializer.drain(cancel));
        const double took = secondsSince(start);
        const double used = cpuSeconds() - cpu;
        DQ_ASSIGN_OR_RETURN(auto connection, lakes->writer().acquire(cancel));
        DQ_ASSIGN_OR_RETURN(const std::int64_t signals,
                            number(*connection, "SELECT count(*)::BIGINT FROM lake.signals", cancel));
        out << "drain: " << raw << " raw events, " << signals << " signal rows in " << took
            << " s = " << static_cast<std::int64_t>(static_cast<double>(signals) / took) << " rows/s, cpu " << used
            << " s, peak " << peakMegabytes() << " MB\n";
        printPhases(metrics, out);
        if (options.flush) {
            start = Clock::now();
            cpu = cpuSeconds();
            DQ_RETURN_IF_ERROR(materializer.flush(cancel));
            out << "rollups: " << secondsSince(start) << " s, cpu " << cpuSeconds() - cpu << " s, peak "
                << peakMegabytes() << " MB\n";
        }
        materializer.release();
    }
    if (!options.bare) return absl::OkStatus();
    DQ_RETURN_IF_ERROR(exportRows(lakes->writer(), folder.path() / "rows.db", cancel));
    lakes.reset();
    const Status bare = bareInsert(config, folder.path() / "rows.db", folder.path(), cancel, out);
    if (absl::IsResourceExhausted(bare)) {
        out << "engine alone: does not fit into the memory limit (" << bare.message() << ")\n";
        return absl::OkStatus();
    }
    return bare;
}

}  // namespace

int drain(const DrainOptions& options, const Cancel& cancel, std::ostream& out, std::ostream& err) {
    out.precision(3);
    out << std::fixed;
    const Status status = run(options, cancel, out);
    if (status.ok()) return 0;
    err << "dq bench drain: " << status.message() << "\n";
    return 1;
}

}  // namespace dq::bench
