#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "engine/database.h"
#include "engine/engine_testing.h"
#include "engine/statement.h"

namespace dq::engine {
namespace {

using namespace testing;
using ::testing::HasSubstr;

// Minutes of work that holds no memory.
constexpr char kLongQuery[] = "SELECT count(*) FROM range(3000000) a(i), range(3000000) b(j) WHERE (i * j) % 7 = 3";
constexpr char kLongStream[] =
    "SELECT i, j FROM range(3000000) a(i), range(3000000) b(j) WHERE (i * 7 + j) % 1000000007 = -1";

double secondsSince(std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

TEST(Database, NeverFetchesOrLoadsUnsignedExtensions) {
    Connection connection = connectTo(openDatabase());
    for (const char* name :
         {"autoinstall_known_extensions", "autoload_known_extensions", "allow_unsigned_extensions"}) {
        EXPECT_EQ(texts(connection, std::string("SELECT current_setting('") + name + "')"),
                  std::vector<std::string>{"false"})
            << name;
    }
}

TEST(Database, LivesAsLongAsItsConnections) {
    auto database = openDatabase();
    std::weak_ptr<Database> watch = database;
    Connection first = connectTo(database);
    Connection second = connectTo(database);
    database = nullptr;
    must(first, "CREATE TABLE t AS SELECT 42 AS x");
    EXPECT_EQ(number(second, "SELECT x FROM t"), 42);
    Connection moved = std::move(first);
    EXPECT_EQ(number(moved, "SELECT x FROM t"), 42);
    second = std::move(moved);
    EXPECT_FALSE(watch.expired());
    { Connection last = std::move(second); }
    EXPECT_FALSE(watch.expired());  // `moved` took over what `second` held
    { Connection last = std::move(moved); }
    EXPECT_TRUE(watch.expired());
}

TEST(Connection, ExecuteTellsRowsChanged) {
    Connection connection = connectTo(openDatabase());
    EXPECT_EQ(*connection.execute("CREATE TABLE t(i INTEGER)"), 0);
    EXPECT_EQ(*connection.execute(Sql{"INSERT INTO t SELECT * FROM range($1)", {std::int64_t{5000}}}), 5000);
    EXPECT_EQ(*connection.execute("UPDATE t SET i = i + 1 WHERE i < 10"), 10);
    EXPECT_EQ(*connection.execute("DELETE FROM t WHERE i > 4990"), 9);
    EXPECT_EQ(*connection.execute("SELECT * FROM t"), 0);
}

TEST(Connection, CancelEndsALongQueryWithinASecond) {
    Connection connection = connectTo(openDatabase());
    Cancel cancel = Cancel::root();
    std::atomic<bool> started{false};
    std::chrono::steady_clock::time_point cancelled_at;
    std::thread canceller([&] {
        while (!started) std::this_thread::yield();
        cancelled_at = std::chrono::steady_clock::now();
        cancel.cancel();
    });
    started = true;
    auto result = connection.query(kLongQuery, cancel);
    double took = secondsSince(cancelled_at);
    canceller.join();
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
    EXPECT_EQ(errorClass(result.status()), ErrorClass::kInterrupted);
    EXPECT_LT(took, 1.0);
    EXPECT_EQ(number(connection, "SELECT 1"), 1);  // no interrupt is left over
}

TEST(Connection, DeadlineEndsALongQueryWithinASecond) {
    Connection connection = connectTo(openDatabase());
    auto began = std::chrono::steady_clock::now();
    auto result = connection.query(kLongQuery, Cancel::root().withTimeout(50'000));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded) << result.status();
    EXPECT_EQ(errorClass(result.status()), ErrorClass::kInterrupted);
    EXPECT_LT(secondsSince(began), 1.05);
}

// The engine forgets interrupts that come before a statement starts; wherever the cancel falls, the query must end.
TEST(Connection, CancelAtAnyMomentIsNotLost) {
    Connection connection = connectTo(openDatabase());
    for (int delay = 0; delay < 300; ++delay) {
        Cancel cancel = Cancel::root();
        std::atomic<bool> go{false};
        std::thread canceller([&] {
            while (!go) std::this_thread::yield();
            std::atomic<int> spin{0};
            while (spin.fetch_add(1) < delay * 100) {}
            cancel.cancel();
        });
        go = true;
        auto result = connection.query(kLongQuery, cancel);
        canceller.join();
        ASSERT_EQ(result.status().code(), absl::StatusCode::kCancelled) << "delay " << delay;
    }
}

// The narrowest of those moments: after the last look at the Cancel, before the engine starts the statement.
TEST(Statement, InterruptBeforeTheStartIsRaisedAgain) {
    Connection connection = connectTo(openDatabase());
    for (bool streaming : {false, true}) {
        Cancel cancel = Cancel::root();
        Cancel::Guard guard = cancel.onCancel([&] { connection.interrupt(); });
        auto statement = Statement::prepare(connection.handle(), Sql{kLongQuery, {}});
        ASSERT_TRUE(statement.ok()) << statement.status();
        cancel.cancel();
        duckdb_result result{};
        absl::Status outcome = statement->execute(connection.handle(), cancel, streaming, &result);
        duckdb_destroy_result(&result);
        EXPECT_EQ(outcome.code(), absl::StatusCode::kCancelled) << outcome;
    }
}

TEST(Connection, CancelledBeforeMeansNotRun) {
    Connection connection = connectTo(openDatabase());
    Cancel cancel = Cancel::root();
    cancel.cancel();
    EXPECT_EQ(connection.execute("CREATE TABLE t(i INTEGER)", cancel).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(connection.stream(Sql{"SELECT 1", {}}, cancel).status().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(number(connection, "SELECT count(*) FROM duckdb_tables()"), 0);
}

TEST(Connection, InterruptWithoutCancelIsCancelled) {
    Connection connection = connectTo(openDatabase());
    std::atomic<bool> done{false};
    std::thread interrupter([&] {
        while (!done) connection.interrupt();
    });
    auto result = connection.query(kLongQuery);
    done = true;
    interrupter.join();
    EXPECT_EQ(result.status().code(), absl::StatusCode::kCancelled) << result.status();
    EXPECT_EQ(errorClass(result.status()), ErrorClass::kInterrupted);
}

TEST(Connection, CancelReachesAStreamWhileItIsRead) {
    Connection connection = connectTo(openDatabase());
    Cancel cancel = Cancel::root();
    auto result = connection.stream(Sql{"SELECT i FROM range(100000000) t(i)", {}}, cancel);
    ASSERT_TRUE(result.ok()) << result.status();
    auto chunk = result->next();
    ASSERT_TRUE(chunk.ok() && *chunk);
    cancel.cancel();
    absl::Status status;
    for (int i = 0; i < 10 && status.ok(); ++i) status = result->next().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
}

TEST(Connection, DeadlineReachesAStreamThatFindsNothing) {
    Connection connection = connectTo(openDatabase());
    auto began = std::chrono::steady_clock::now();
    auto result = connection.stream(Sql{kLongStream, {}}, Cancel::root().withTimeout(50'000));
    absl::Status status = result.ok() ? result->next().status() : result.status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded) << status;
    EXPECT_LT(secondsSince(began), 1.05);
}

TEST(Connection, CancelAfterTheEndHarmsNoOne) {
    Connection connection = connectTo(openDatabase());
    Cancel cancel = Cancel::root();
    {
        auto result = connection.stream(Sql{"SELECT 1", {}}, cancel);
        ASSERT_TRUE(result.ok());
        ASSERT_TRUE(result->next().ok());
        auto end = result->next();
        ASSERT_TRUE(end.ok() && !*end);
    }
    cancel.cancel();
    EXPECT_EQ(number(connection, "SELECT count(*) FROM range(1000000)"), 1000000);
}

TEST(Connection, OneStatementPerSql) {
    Connection connection = connectTo(openDatabase());
    EXPECT_EQ(failureOf(connection, "SELECT 1; SELECT 2").code(), absl::StatusCode::kInternal);
    EXPECT_FALSE(connection.execute("").ok());
}

TEST(Connection, TextTransactionsAreTracked) {
    Connection connection = connectTo(openDatabase());
    EXPECT_FALSE(connection.inTransaction());
    must(connection, " begin transaction read only");
    EXPECT_TRUE(connection.inTransaction());
    must(connection, "ROLLBACK");
    EXPECT_FALSE(connection.inTransaction());
}

TEST(Connection, DestructionRollsBack) {
    auto database = openDatabase();
    Connection watcher = connectTo(database);
    must(watcher, "CREATE TABLE t(i INTEGER)");
    {
        Connection connection = connectTo(database);
        must(connection, "BEGIN");
        must(connection, "INSERT INTO t VALUES (1)");
    }
    EXPECT_EQ(number(watcher, "SELECT count(*) FROM t"), 0);
}

TEST(Transaction, CommitsAndRollsBack) {
    auto database = openDatabase();
    Connection connection = connectTo(database);
    Connection watcher = connectTo(database);
    must(connection, "CREATE TABLE t(i INTEGER)");
    {
        auto transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok()) << transaction.status();
        EXPECT_TRUE(connection.inTransaction());
        must(connection, "INSERT INTO t VALUES (1)");
        EXPECT_EQ(number(watcher, "SELECT count(*) FROM t"), 0);
        EXPECT_TRUE(transaction->commit().ok());
        EXPECT_FALSE(connection.inTransaction());
    }
    EXPECT_EQ(number(watcher, "SELECT count(*) FROM t"), 1);
    {
        auto transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok());
        must(connection, "INSERT INTO t VALUES (2)");
        Transaction moved = *std::move(transaction);
    }
    EXPECT_FALSE(connection.inTransaction());
    {
        auto transaction = Transaction::begin(connection);
        ASSERT_TRUE(transaction.ok());
        must(connection, "INSERT INTO t VALUES (3)");
        transaction->rollback();
        EXPECT_FALSE(connection.inTransaction());
        must(connection, "INSERT INTO t VALUES (4)");
    }
    EXPECT_EQ(texts(watcher, "SELECT i FROM t ORDER BY i"), (std::vector<std::string>{"1", "4"}));
}

// The engine itself answers COMMIT of an aborted transaction with success.
TEST(Transaction, CommitOfAnAbortedTransactionIsAnError) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER)");
    auto transaction = Transaction::begin(connection);
    ASSERT_TRUE(transaction.ok());
    must(connection, "INSERT INTO t VALUES (1)");
    EXPECT_FALSE(connection.execute("SELECT CAST(s AS INTEGER) FROM (SELECT 'x' || i AS s FROM range(2) r(i))").ok());
    absl::Status outcome = transaction->commit();
    EXPECT_EQ(outcome.code(), absl::StatusCode::kInternal);
    EXPECT_EQ(errorClass(outcome), ErrorClass::kSessionAborted) << outcome;
    EXPECT_FALSE(connection.inTransaction());
    EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), 0);
}

TEST(Transaction, ConstraintAtCommitIsNotAnUnknownOutcome) {
    auto database = openDatabase();
    Connection first = connectTo(database);
    Connection second = connectTo(database);
    must(first, "CREATE TABLE t(i INTEGER PRIMARY KEY)");
    auto a = Transaction::begin(first);
    auto b = Transaction::begin(second);
    must(first, "INSERT INTO t VALUES (1)");
    must(second, "INSERT INTO t VALUES (1)");
    ASSERT_TRUE(a->commit().ok());
    absl::Status outcome = b->commit();
    EXPECT_EQ(errorClass(outcome), ErrorClass::kOther) << outcome;
    EXPECT_THAT(std::string(outcome.message()), HasSubstr("constraint violat"));
    EXPECT_EQ(number(second, "SELECT count(*) FROM t"), 1);
}

TEST(Transaction, LateCancelDoesNotReachCommit) {
    Connection connection = connectTo(openDatabase());
    must(connection, "CREATE TABLE t(i INTEGER)");
    Cancel cancel = Cancel::root();
    auto transaction = Transaction::begin(connection);
    ASSERT_TRUE(connection.execute("INSERT INTO t VALUES (1)", cancel).ok());
    cancel.cancel();
    EXPECT_TRUE(transaction->commit().ok());
    EXPECT_EQ(number(connection, "SELECT count(*) FROM t"), 1);
}

}  // namespace
}  // namespace dq::engine
