#include "query/lake_testing.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>

#include "core/hash.h"
#include "core/text.h"
#include "query/literals.h"

namespace dq::query {
namespace {

constexpr std::string_view kLatestColumns =
    R"((subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp" TIMESTAMPTZ,
    value_number DOUBLE, value_string VARCHAR, loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop DOUBLE, loc_heading DOUBLE,
    loc_ts TIMESTAMPTZ, count BIGINT, first_seen TIMESTAMPTZ, last_seen TIMESTAMPTZ))";
constexpr std::string_view kCreate[] = {
    R"(CREATE TABLE lake.signals (subject VARCHAR, subject_bucket INTEGER, name VARCHAR, "timestamp" TIMESTAMPTZ,
    source VARCHAR, producer VARCHAR, cloud_event_id VARCHAR, value_number DOUBLE, value_string VARCHAR,
    loc_lat DOUBLE, loc_lon DOUBLE, loc_hdop DOUBLE, loc_heading DOUBLE))",
    R"(ALTER TABLE lake.signals SET PARTITIONED BY
    (subject_bucket, year("timestamp"), month("timestamp"), day("timestamp")))",
    R"(ALTER TABLE lake.signals SET SORTED BY (subject, "timestamp"))",
    R"(CREATE TABLE lake.events (subject VARCHAR, subject_bucket INTEGER, source VARCHAR, producer VARCHAR,
    cloud_event_id VARCHAR, type VARCHAR, data_version VARCHAR, name VARCHAR, "timestamp" TIMESTAMPTZ,
    duration_ns UBIGINT, metadata VARCHAR, tags VARCHAR[]))",
    R"(ALTER TABLE lake.events SET PARTITIONED BY
    (subject_bucket, year("timestamp"), month("timestamp"), day("timestamp")))",
    R"(ALTER TABLE lake.events SET SORTED BY (subject, "timestamp"))",
    "CREATE TABLE lake.ingest_progress (partition VARCHAR, cursor VARCHAR)",
    "CREATE TABLE lake.events_latest (subject VARCHAR, subject_bucket INTEGER, name VARCHAR, count BIGINT, "
    "first_seen TIMESTAMPTZ, last_seen TIMESTAMPTZ)",
    "ALTER TABLE lake.events_latest SET PARTITIONED BY (subject_bucket)"};
constexpr std::string_view kTables[] = {"signals", "events", "ingest_progress", "events_latest", "signals_latest"};
const char* postgresServer() { return std::getenv("DQ_TEST_POSTGRES_DSN"); }

// The server's own client, since a database cannot be made inside the transaction that the engine's extension opens.
void psql(const std::string& command) {
    const std::string line =
        strCat("psql --quiet --no-psqlrc --dbname=\"", postgresServer(), "\" --command='", command, "' >/dev/null");
    ASSERT_EQ(std::system(line.c_str()), 0) << command;
}

std::string nullable(const std::optional<double>& value) { return value ? doubleLiteral(*value) : "NULL"; }
std::string nullable(const std::optional<std::string>& value) { return value ? engine::quoteLiteral(*value) : "NULL"; }

}  // namespace

std::string modeName(const Mode& mode) {
    return strCat(mode.kind == lake::CatalogKind::kFile ? "File" : "Postgres", mode.inlining ? "Inlined" : "");
}

std::vector<Mode> modes() {
    return {{lake::CatalogKind::kFile, false}, {lake::CatalogKind::kFile, true}, {lake::CatalogKind::kPostgres, false}};
}

std::vector<Mode> plainModes() { return {{lake::CatalogKind::kFile, false}, {lake::CatalogKind::kPostgres, false}}; }

std::string skipReason(const Mode& mode) {
    const bool missing = mode.kind == lake::CatalogKind::kPostgres && postgresServer() == nullptr;
    return missing ? "no PostgreSQL: DQ_TEST_POSTGRES_DSN is not set" : "";
}

SignalRow numberRow(std::string name, Micros timestamp, std::optional<double> number, std::string id,
                    std::string source) {
    SignalRow row;
    row.name = std::move(name);
    row.timestamp = timestamp;
    row.number = number;
    row.id = std::move(id);
    row.source = std::move(source);
    return row;
}

SignalRow textRow(std::string name, Micros timestamp, std::optional<std::string> text) {
    SignalRow row;
    row.name = std::move(name);
    row.timestamp = timestamp;
    row.text = std::move(text);
    return row;
}

SignalRow fixRow(Micros timestamp, double lat, double lon, double hdop, double heading, std::string id,
                 std::string source) {
    SignalRow row;
    row.name = kCoordinatesName;
    row.timestamp = timestamp;
    row.lat = lat;
    row.lon = lon;
    row.hdop = hdop;
    row.heading = heading;
    row.id = std::move(id);
    row.source = std::move(source);
    return row;
}

std::unique_ptr<TestLake> TestLake::open(Mode mode) {
    static std::atomic<int> sequence{0};
    std::unique_ptr<TestLake> test(new TestLake);
    std::string pattern = (std::filesystem::temp_directory_path() / "dq-query-XXXXXX").string();
    test->folder_ = ::mkdtemp(pattern.data());
    lake::LakeConfig config;
    config.catalog_dsn = test->folder_ + "/catalog.ducklake";
    config.data_path = test->folder_ + "/data";
    config.threads = 2;
    if (const char* extensions = std::getenv("DUCKDB_EXTENSION_DIR")) config.extension_directory = extensions;
    if (mode.kind == lake::CatalogKind::kPostgres) {
        test->database_ = strCat("dq_query_", ::getpid(), "_", ++sequence);
        psql(strCat("CREATE DATABASE ", test->database_));
        config.catalog_dsn = strCat(postgresServer(), " dbname=", test->database_);
    }
    auto lakes = lake::Lakes::open(config, /*writer=*/true, nullptr);
    EXPECT_TRUE(lakes.ok()) << lakes.status();
    if (!lakes.ok()) std::exit(1);
    test->lakes_ = *std::move(lakes);
    test->createTables();
    if (mode.inlining) {
        for (const char* table : {"signals", "events"}) {
            test->run(strCat("CALL lake.set_option('data_inlining_row_limit', 1000, table_name => '", table, "')"));
        }
    }
    return test;
}

void TestLake::createTables() {
    std::vector<std::string> statements(std::begin(kCreate), std::end(kCreate));
    statements.push_back(strCat("CREATE TABLE lake.signals_latest ", kLatestColumns));
    statements.emplace_back("ALTER TABLE lake.signals_latest SET PARTITIONED BY (subject_bucket)");
    runAll(statements);
}

void TestLake::clear() {
    std::vector<std::string> statements;
    for (std::string_view table : kTables) statements.push_back(strCat("DELETE FROM lake.", table));
    runAll(statements);
    metrics_ = std::make_unique<Metrics>();
}

// In one transaction, for speed.
void TestLake::runAll(const std::vector<std::string>& statements) {
    auto lease = lakes_->writer().acquire();
    ASSERT_TRUE(lease.ok()) << lease.status();
    ASSERT_TRUE((*lease)->execute("BEGIN TRANSACTION").ok());
    for (const std::string& statement : statements) {
        const auto outcome = (*lease)->execute(statement);
        ASSERT_TRUE(outcome.ok()) << outcome.status() << "\n" << statement;
    }
    ASSERT_TRUE((*lease)->execute("COMMIT").ok());
}

TestLake::~TestLake() {
    lakes_.reset();
    if (!database_.empty()) psql(strCat("DROP DATABASE ", database_, " WITH (FORCE)"));
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void TestLake::run(const std::string& sql) {
    auto lease = lakes_->writer().acquire();
    ASSERT_TRUE(lease.ok()) << lease.status();
    const auto outcome = (*lease)->execute(sql);
    ASSERT_TRUE(outcome.ok()) << outcome.status() << "\n" << sql.substr(0, 2000);
}

std::string TestLake::value(const std::string& sql) {
    auto lease = lakes_->writer().acquire();
    EXPECT_TRUE(lease.ok()) << lease.status();
    auto result = (*lease)->query(strCat("SELECT COLUMNS(*)::VARCHAR FROM (", sql, ")"));
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return "";
    auto chunk = result->next();
    EXPECT_TRUE(chunk.ok() && chunk->has_value());
    return chunk.ok() && chunk->has_value() ? std::string((*chunk)->strings(0)[0]) : "";
}

void TestLake::add(const std::vector<SignalRow>& rows) {
    std::string values;
    for (const SignalRow& r : rows) {
        strAppend(&values, values.empty() ? "" : ",\n", "(", engine::quoteLiteral(r.subject), ", ",
                  subjectBucket(r.subject), ", ", engine::quoteLiteral(r.name), ", ",
                  engine::timestampLiteral(r.timestamp), ", ", nullable(r.source), ", ", nullable(r.producer), ", ",
                  nullable(r.id), ", ", nullable(r.number), ", ", nullable(r.text), ", ", nullable(r.lat), ", ",
                  nullable(r.lon), ", ", nullable(r.hdop), ", ", nullable(r.heading), ")");
    }
    run(strCat("INSERT INTO lake.signals VALUES ", values));
}

void TestLake::add(const std::vector<EventRow>& rows) {
    std::string values;
    for (const EventRow& r : rows) {
        const std::string tags = r.tags ? strCat("[", literalList(*r.tags), "]::VARCHAR[]") : "NULL";
        strAppend(&values, values.empty() ? "" : ",\n", "(", engine::quoteLiteral(r.subject), ", ",
                  subjectBucket(r.subject), ", ", nullable(r.source), ", 'p', ", engine::quoteLiteral(r.id),
                  ", 'dimo.events', 'v1', ", engine::quoteLiteral(r.name), ", ", engine::timestampLiteral(r.timestamp),
                  ", ", r.duration_ns ? strCat(*r.duration_ns) : "NULL", ", ", nullable(r.metadata), ", ", tags, ")");
    }
    run(strCat("INSERT INTO lake.events VALUES ", values));
}

// Written with windows, in contrast to the statements under test.
void TestLake::recompute(std::optional<Micros> bound) {
    const std::string below = bound ? strCat("WHERE \"timestamp\" < ", engine::timestampLiteral(*bound)) : "";
    run("DELETE FROM lake.signals_latest");
    run(strCat(R"(INSERT INTO lake.signals_latest
WITH base AS (SELECT * FROM lake.signals )",
               below, R"(),
winners AS (SELECT * FROM base
            QUALIFY row_number() OVER (PARTITION BY subject, name, "timestamp"
                                       ORDER BY cloud_event_id, source, producer, value_number, value_string) = 1),
newest AS (SELECT * FROM winners QUALIFY row_number() OVER (PARTITION BY subject, name ORDER BY "timestamp" DESC) = 1),
fixes AS (SELECT * FROM base WHERE loc_lat <> 0 OR loc_lon <> 0
          QUALIFY row_number() OVER (PARTITION BY subject, name
                                     ORDER BY "timestamp" DESC, cloud_event_id, source, producer) = 1),
totals AS (SELECT subject, name, count(*) AS n, min("timestamp") AS first_at FROM winners GROUP BY subject, name)
SELECT w.subject, w.subject_bucket, w.name, w."timestamp", coalesce(w.value_number, 0), coalesce(w.value_string, ''),
       coalesce(f.loc_lat, 0), coalesce(f.loc_lon, 0), coalesce(f.loc_hdop, 0), coalesce(f.loc_heading, 0),
       coalesce(f."timestamp", TIMESTAMPTZ '1970-01-01 00:00:00+00'), t.n, t.first_at, w."timestamp"
FROM newest w JOIN totals t USING (subject, name) LEFT JOIN fixes f USING (subject, name))"));
    if (value("SELECT count(*) FROM duckdb_tables() WHERE database_name = 'lake' AND table_name = 'events_latest'") ==
        "0")
        return;
    run("DELETE FROM lake.events_latest");
    run(R"(INSERT INTO lake.events_latest
SELECT subject, any_value(subject_bucket), name, count(*), min("timestamp"), max("timestamp")
FROM (SELECT DISTINCT subject, subject_bucket, name, "timestamp", source FROM lake.events) GROUP BY subject, name)");
}

void TestLake::setProgress(const std::string& key, const std::optional<std::string>& cursor) {
    run(strCat("DELETE FROM lake.ingest_progress WHERE partition = ", engine::quoteLiteral(key)));
    if (cursor)
        run(strCat("INSERT INTO lake.ingest_progress VALUES (", engine::quoteLiteral(key), ", ",
                   engine::quoteLiteral(*cursor), ")"));
}

namespace {

// Lakes between two tests, by name of their mode; dropped when the program ends.
std::map<std::string, std::unique_ptr<TestLake>>& idleLakes() {
    static std::map<std::string, std::unique_ptr<TestLake>> lakes;
    return lakes;
}
class DropLakes : public testing::Environment {
    void TearDown() override { idleLakes().clear(); }
};
[[maybe_unused]] const testing::Environment* const kDropLakes = testing::AddGlobalTestEnvironment(new DropLakes);

}  // namespace

void LakeTest::SetUp() {
    if (const std::string reason = skipReason(GetParam()); !reason.empty()) GTEST_SKIP() << reason;
    lake_ = std::move(idleLakes()[modeName(GetParam())]);
    if (lake_ == nullptr) lake_ = TestLake::open(GetParam());
}

void LakeTest::TearDown() {
    if (lake_ == nullptr || spoilt_ || HasFatalFailure()) return;
    lake_->clear();
    idleLakes()[modeName(GetParam())] = std::move(lake_);
}

std::vector<SignalBucket> LakeTest::signals(const SignalsQuestion& question) {
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return {};
    auto rows = session->signals(question);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *rows : std::vector<SignalBucket>{};
}

std::vector<LatestSignal> LakeTest::latest(std::optional<std::string> source, ReaderOptions options,
                                           const std::string& subject) {
    Reader reader = makeReader(options);
    auto session = reader.begin(Cancel::root());
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return {};
    auto rows = session->latest(subject, source, "allLatest");
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? **rows : std::vector<LatestSignal>{};
}

std::vector<Event> LakeTest::events(const EventsQuestion& question) {
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return {};
    auto rows = session->events(question);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *rows : std::vector<Event>{};
}

std::vector<EventSummary> LakeTest::summaries(const std::string& subject) {
    Reader reader = makeReader();
    auto session = reader.begin(Cancel::root());
    EXPECT_TRUE(session.ok()) << session.status();
    if (!session.ok()) return {};
    auto rows = session->eventSummaries(subject);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.ok() ? *rows : std::vector<EventSummary>{};
}

LatestSignal rowOf(const std::vector<LatestSignal>& rows, const std::string& name) {
    for (const LatestSignal& row : rows) {
        if (row.name == name) return row;
    }
    ADD_FAILURE() << "no row of " << name;
    return {};
}

}  // namespace dq::query
