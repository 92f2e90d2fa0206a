// What the engine says when the catalog server ends a session. Needs DQ_TEST_POSTGRES_DSN (scripts/with-postgres.sh).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <thread>

#include "engine/engine_testing.h"
#include "engine/pool.h"

namespace dq::engine {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

// A schema of its own in the server holds the lake's catalog; `killer_` ends the sessions of everyone
// else in this test.
class PostgresTest : public ::testing::Test {
  protected:
    void SetUp() override {
        const char* dsn = std::getenv("DQ_TEST_POSTGRES_DSN");
        if (dsn == nullptr) GTEST_SKIP() << "DQ_TEST_POSTGRES_DSN is not set";
        name_ = "dq_engine_" + std::to_string(getpid());
        victim_dsn_ = std::string(dsn) + " application_name=" + name_;
        killer_.emplace(connectTo(openDatabase()));
        must(*killer_, "LOAD " + quoteLiteral(extensionPath("postgres_scanner")));
        must(*killer_, "ATTACH " + quoteLiteral(dsn) + " AS server (TYPE postgres)");
        must(*killer_, "DROP SCHEMA IF EXISTS server." + name_ + " CASCADE");
        must(*killer_, "CREATE SCHEMA server." + name_);
    }
    void TearDown() override {
        if (!killer_) return;
        killSessions();
        must(*killer_, "DROP SCHEMA server." + name_ + " CASCADE");
    }
    void killSessions() {
        must(*killer_,
             "SELECT * FROM postgres_query('server', 'SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity "
             "WHERE application_name = ''" +
                 name_ + "''')");
    }
    void prepare(Connection& connection) {
        must(connection, "LOAD " + quoteLiteral(extensionPath("postgres_scanner")));
        must(connection, "LOAD " + quoteLiteral(extensionPath("ducklake")));
        must(connection, "ATTACH IF NOT EXISTS " + quoteLiteral("ducklake:postgres:" + victim_dsn_) +
                             " AS lake (DATA_PATH " + quoteLiteral(folder_ / "data") + ", META_SCHEMA " +
                             quoteLiteral(name_) + ")");
        must(connection, "ATTACH IF NOT EXISTS " + quoteLiteral(victim_dsn_) + " AS meta (TYPE postgres)");
    }
    std::string table(const std::string& name) const { return "meta." + name_ + "." + name; }

    TempFolder folder_;
    std::string name_, victim_dsn_;
    std::optional<Connection> killer_;
};

TEST_F(PostgresTest, SessionLostBeforeCommitIsAnUnknownOutcome) {
    Connection connection = connectTo(openDatabase());
    prepare(connection);
    must(connection, "CREATE TABLE lake.t(i INTEGER)");
    auto transaction = Transaction::begin(connection);
    must(connection, "INSERT INTO lake.t VALUES (1)");
    killSessions();
    absl::Status outcome = transaction->commit();
    EXPECT_EQ(errorClass(outcome), ErrorClass::kOutcomeUnknown) << outcome;
    EXPECT_EQ(outcome.code(), absl::StatusCode::kUnknown);
    EXPECT_THAT(std::string(outcome.message()), HasSubstr("Failed to execute query \"ROLLBACK\""));
    EXPECT_FALSE(isCommitConflictText(std::string(outcome.message())));
    EXPECT_EQ(number(connection, "SELECT count(*) FROM lake.t"), 0);  // the same connection works again at once
}

TEST_F(PostgresTest, SessionLostInTheSideDatabaseIsAnUnknownOutcome) {
    Connection connection = connectTo(openDatabase());
    prepare(connection);
    must(connection, "CREATE TABLE " + table("progress") + "(i INTEGER, j INTEGER)");
    must(connection, "INSERT INTO " + table("progress") + " VALUES (1, 0)");
    auto transaction = Transaction::begin(connection);
    must(connection, "UPDATE " + table("progress") + " SET j = 1 WHERE i = 1");
    killSessions();
    absl::Status outcome = transaction->commit();
    EXPECT_EQ(errorClass(outcome), ErrorClass::kOutcomeUnknown) << outcome;
    EXPECT_THAT(std::string(outcome.message()), HasSubstr("server closed the connection"));
}

TEST_F(PostgresTest, SessionLostWhileReadingIsUnavailable) {
    Connection connection = connectTo(openDatabase());
    prepare(connection);
    must(connection, "CREATE TABLE lake.t(i INTEGER)");
    auto transaction = Transaction::begin(connection);
    must(connection, "SELECT * FROM lake.t");
    killSessions();
    absl::Status error = failureOf(connection, "SELECT * FROM lake.t WHERE i = 4711");
    EXPECT_EQ(errorClass(error), ErrorClass::kUnavailable) << error;
    EXPECT_THAT(std::string(error.message()), Not(HasSubstr("table_id")))
        << "a statement sent to the server is in the message";
    EXPECT_EQ(errorClass(failureOf(connection, "SELECT * FROM lake.t")), ErrorClass::kSessionAborted);
    EXPECT_EQ(errorClass(transaction->commit()), ErrorClass::kSessionAborted);
    EXPECT_EQ(number(connection, "SELECT count(*) FROM lake.t"), 0);
}

TEST_F(PostgresTest, SideDatabaseConflicts) {
    auto database = openDatabase();
    Connection a = connectTo(database);
    Connection b = connectTo(database);
    prepare(a);
    must(a, "CREATE TABLE " + table("progress") + "(i INTEGER, j INTEGER)");
    must(a, "INSERT INTO " + table("progress") + " VALUES (1, 0), (2, 0)");
    auto update = [&](int row) {
        return "UPDATE " + table("progress") + " SET j = j + 1 WHERE i = " + std::to_string(row);
    };
    {
        auto one = Transaction::begin(a);
        auto two = Transaction::begin(b);
        must(b, "SELECT * FROM " + table("progress"));
        must(a, update(1));
        ASSERT_TRUE(one->commit().ok());
        absl::Status error = failureOf(b, update(1));
        EXPECT_EQ(errorClass(error), ErrorClass::kConflict) << error;
        EXPECT_THAT(std::string(error.message()), HasSubstr("could not serialize access"));
    }
    auto one = Transaction::begin(a);
    auto two = Transaction::begin(b);
    must(a, update(1));
    must(b, update(2));
    absl::Status first;
    std::thread waiter([&] { first = a.execute(update(2)).status(); });
    absl::Status second = b.execute(update(1)).status();  // the server lets one of them fail
    if (!second.ok()) two->rollback();
    waiter.join();
    const absl::Status& error = first.ok() ? second : first;
    EXPECT_EQ(errorClass(error), ErrorClass::kConflict) << error;
    EXPECT_THAT(std::string(error.message()), HasSubstr("deadlock detected"));
}

// Sessions die at twenty moments around a commit; the pool still serves, and no outcome lies.
TEST_F(PostgresTest, Complaint11_SessionsKilledMidCommitLeakNothing) {
    Metrics metrics;
    Pool::Options options;
    options.label = "materializer";
    options.max_connections = 2;
    options.metrics = &metrics;
    Pool pool(
        openDatabase(),
        [this](Connection& connection) {
            prepare(connection);
            return absl::OkStatus();
        },
        options);
    must(*pool.acquire().value(), "CREATE TABLE lake.t(i INTEGER)");
    std::set<std::int64_t> landed, maybe;
    int failures = 0;
    for (int round = 0; round < 20; ++round) {
        auto lease = pool.acquire();
        ASSERT_TRUE(lease.ok()) << lease.status();
        auto transaction = Transaction::begin(**lease);
        ASSERT_TRUE(transaction.ok()) << transaction.status();
        must(**lease, "INSERT INTO lake.t VALUES (" + std::to_string(round) + ")");
        std::thread killer([&, round] {
            static_cast<void>(Cancel::root().waitFor(round * 700));
            killSessions();
        });
        absl::Status outcome = transaction->commit();
        killer.join();
        if (outcome.ok()) {
            landed.insert(round);
        } else {
            ++failures;
            lease->broken();
            ErrorClass error_class = errorClass(outcome);
            EXPECT_TRUE(error_class == ErrorClass::kOutcomeUnknown || error_class == ErrorClass::kConflict) << outcome;
            if (error_class == ErrorClass::kOutcomeUnknown) maybe.insert(round);
        }
    }
    EXPECT_GT(failures, 0);
    std::vector<Pool::Lease> all;
    for (int i = 0; i < 2; ++i) all.push_back(pool.acquire().value());
    // A session that died between two transactions is replaced by the engine at the first failure.
    static_cast<void>(all[0]->execute("SELECT count(*) FROM lake.t").ok());
    std::set<std::int64_t> found;
    for (const std::string& row : texts(*all[0], "SELECT i FROM lake.t"))
        EXPECT_TRUE(found.insert(std::stoll(row)).second);
    for (std::int64_t row : landed) EXPECT_TRUE(found.contains(row)) << row << " was acknowledged";
    for (std::int64_t row : found) EXPECT_TRUE(landed.contains(row) || maybe.contains(row)) << row << " was refused";
}

}  // namespace
}  // namespace dq::engine
