#include "engine/pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "engine/engine_testing.h"
#include "engine/poison.h"

namespace dq::engine {
namespace {

using namespace testing;
using ::testing::HasSubstr;

constexpr Micros kMinute = 60 * kMicrosPerSecond;

// Connections are told apart by a number that `prepare` gives each.
class PoolTest : public ::testing::Test {
  protected:
    Pool::Options options(int max_connections) {
        Pool::Options options;
        options.label = "query";
        options.max_connections = max_connections;
        options.clock = &clock_;
        options.metrics = &metrics_;
        return options;
    }
    Pool::Prepare numbering() {
        return [this](Connection& connection) {
            auto done = connection.execute("CREATE TEMP TABLE me AS SELECT " + std::to_string(++minted_) + " AS id");
            return done.status();
        };
    }
    static std::int64_t idOf(Pool::Lease& lease) { return number(*lease, "SELECT id FROM me"); }
    static Pool::Lease lease(Pool& pool) {
        auto acquired = pool.acquire();
        EXPECT_TRUE(acquired.ok()) << acquired.status();
        return *std::move(acquired);
    }
    double metric(const std::string& name) {
        std::string text = metrics_.render();
        std::string head = "\n" + name + "{pool=\"query\"} ";
        std::size_t at = text.find(head);
        EXPECT_NE(at, std::string::npos) << text;
        return at == std::string::npos ? -1 : std::stod(text.substr(at + head.size()));
    }
    // Returns once `count` callers have begun to wait.
    void awaitWaits(double count) {
        while (metric("dq_db_pool_wait_count_total") < count) std::this_thread::yield();
    }
    ManualClock clock_{0};
    Metrics metrics_;
    std::atomic<int> minted_{0};
};

TEST_F(PoolTest, MintsLazilyAndReuses) {
    Pool pool(openDatabase(), numbering(), options(3));
    EXPECT_EQ(minted_, 0);
    { Pool::Lease first = lease(pool); }
    Pool::Lease again = lease(pool);
    EXPECT_EQ(idOf(again), 1);
    Pool::Lease other = lease(pool);
    EXPECT_EQ(idOf(other), 2);
    EXPECT_EQ(minted_, 2);
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 2);
    EXPECT_EQ(metric("dq_db_pool_in_use_connections"), 2);
    EXPECT_EQ(metric("dq_db_pool_idle_connections"), 0);
    EXPECT_EQ(metric("dq_db_pool_max_open_connections"), 3);
    EXPECT_EQ(metric("dq_db_pool_wait_count_total"), 0);
    { Pool::Lease back = std::move(again); }
    EXPECT_EQ(metric("dq_db_pool_in_use_connections"), 1);
    EXPECT_EQ(metric("dq_db_pool_idle_connections"), 1);
}

TEST_F(PoolTest, WaitsAndWakes) {
    Pool pool(openDatabase(), numbering(), options(1));
    std::optional<Pool::Lease> held(lease(pool));
    std::thread waiter([&] {
        Pool::Lease mine = lease(pool);
        EXPECT_EQ(idOf(mine), 1);
    });
    awaitWaits(1);
    held.reset();
    waiter.join();
    EXPECT_EQ(minted_, 1);
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 1);
}

TEST_F(PoolTest, WaitEndsWithTheCancel) {
    Pool pool(openDatabase(), numbering(), options(1));
    Pool::Lease held = lease(pool);
    auto late = pool.acquire(Cancel::root().withTimeout(20'000));
    EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
    EXPECT_EQ(errorClass(late.status()), ErrorClass::kInterrupted);
    EXPECT_EQ(metric("dq_db_pool_wait_count_total"), 1);
    Cancel cancel = Cancel::root();
    std::thread waiter([&] { EXPECT_EQ(pool.acquire(cancel).status().code(), absl::StatusCode::kCancelled); });
    awaitWaits(2);
    cancel.cancel();
    waiter.join();
}

TEST_F(PoolTest, WaitDurationIsCounted) {
    Pool pool(openDatabase(), numbering(), options(1));
    std::optional<Pool::Lease> held(lease(pool));
    std::thread waiter([&] { EXPECT_TRUE(pool.acquire().ok()); });
    awaitWaits(1);
    clock_.advance(3 * kMicrosPerSecond);
    held.reset();
    waiter.join();
    EXPECT_EQ(metric("dq_db_pool_wait_duration_seconds_total"), 3);
}

TEST_F(PoolTest, FirstComeFirstServed) {
    Pool pool(openDatabase(), numbering(), options(1));
    std::optional<Pool::Lease> held(lease(pool));
    std::vector<int> order;
    std::vector<std::thread> waiters;
    for (int i = 0; i < 4; ++i) {
        waiters.emplace_back([&, i] {
            Pool::Lease mine = lease(pool);
            order.push_back(i);  // one at a time holds the connection
        });
        awaitWaits(i + 1);
    }
    held.reset();
    for (std::thread& waiter : waiters) waiter.join();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3}));
}

TEST_F(PoolTest, ManyThreadsShareFewConnections) {
    Pool pool(openDatabase(), numbering(), options(3));
    std::atomic<int> inside{0}, peak{0}, done{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 50; ++i) {
                if (t == 0 && i % 10 == 5) {  // some give up
                    static_cast<void>(pool.acquire(Cancel::root().withTimeout(1)).ok());
                    ++done;
                    continue;
                }
                Pool::Lease mine = lease(pool);
                int now = ++inside;
                int before = peak.load();
                while (now > before && !peak.compare_exchange_weak(before, now)) {}
                if (i % 7 == 0) mine.broken();
                --inside;
                ++done;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(done, 400);
    EXPECT_LE(peak, 3);
    EXPECT_EQ(metric("dq_db_pool_in_use_connections"), 0);
    EXPECT_LE(metric("dq_db_pool_open_connections"), 3);
}

TEST_F(PoolTest, BrokenConnectionsAreDropped) {
    Pool pool(openDatabase(), numbering(), options(1));
    {
        Pool::Lease bad = lease(pool);
        bad.broken();
    }
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
    Pool::Lease next = lease(pool);
    EXPECT_EQ(idOf(next), 2);
}

TEST_F(PoolTest, ConnectionInATransactionIsDropped) {
    auto database = openDatabase();
    Connection watcher = connectTo(database);
    must(watcher, "CREATE TABLE t(i INTEGER)");
    Pool pool(database, numbering(), options(1));
    {
        Pool::Lease sloppy = lease(pool);
        must(*sloppy, "BEGIN");
        must(*sloppy, "INSERT INTO t VALUES (1)");
    }
    Pool::Lease next = lease(pool);
    EXPECT_EQ(idOf(next), 2);
    EXPECT_EQ(number(watcher, "SELECT count(*) FROM t"), 0);
}

TEST_F(PoolTest, OldAndIdleConnectionsAreDropped) {
    Pool pool(openDatabase(), numbering(), options(2));
    { Pool::Lease first = lease(pool); }
    clock_.advance(5 * kMinute - 1);
    {
        Pool::Lease still = lease(pool);
        EXPECT_EQ(idOf(still), 1);
    }
    clock_.advance(5 * kMinute);  // idle for too long
    {
        Pool::Lease fresh = lease(pool);
        EXPECT_EQ(idOf(fresh), 2);
    }
    for (int i = 0; i < 5; ++i) {  // in use every 4 minutes: 20 minutes old
        clock_.advance(4 * kMinute);
        Pool::Lease used = lease(pool);
        EXPECT_EQ(idOf(used), 2);
    }
    {
        Pool::Lease used = lease(pool);
        clock_.advance(10 * kMinute);  // 30 minutes old when it comes back
    }
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
    Pool::Lease next = lease(pool);
    EXPECT_EQ(idOf(next), 3);
}

TEST_F(PoolTest, ScrapeDropsWhatIsIdleForTooLong) {
    Pool pool(openDatabase(), numbering(), options(2));
    { Pool::Lease first = lease(pool); }
    EXPECT_EQ(metric("dq_db_pool_idle_connections"), 1);
    clock_.advance(5 * kMinute);
    EXPECT_EQ(metric("dq_db_pool_idle_connections"), 0);
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
}

TEST_F(PoolTest, ScrapeAfterThePoolIsGone) {
    { Pool pool(openDatabase(), numbering(), options(2)); }
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
}

TEST_F(PoolTest, RecycleRenewsIdleAndLentConnections) {
    Pool pool(openDatabase(), numbering(), options(2));
    std::optional<Pool::Lease> lent(lease(pool));
    { Pool::Lease idle = lease(pool); }
    EXPECT_TRUE(lent->fresh());
    pool.recycle();
    EXPECT_FALSE(lent->fresh());
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 1);
    EXPECT_EQ(idOf(*lent), 1);  // still usable
    lent.reset();
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
    Pool::Lease next = lease(pool);
    EXPECT_EQ(idOf(next), 3);
    EXPECT_TRUE(next.fresh());
}

TEST_F(PoolTest, ReplacedDatabaseIsClosedBeforeTheNextIsUsed) {
    auto first = openDatabase();
    std::weak_ptr<Database> watch = first;
    Pool pool(std::move(first), numbering(), options(2));
    { Pool::Lease idle = lease(pool); }
    std::optional<Pool::Lease> lent(lease(pool));
    must(**lent, "CREATE TABLE old(i INTEGER)");
    auto second = openDatabase();
    pool.replaceDatabase(second);
    EXPECT_FALSE(lent->fresh());
    EXPECT_EQ(pool.acquire(Cancel::root().withTimeout(20'000)).status().code(), absl::StatusCode::kDeadlineExceeded);
    std::thread waiter([&] {
        Pool::Lease mine = lease(pool);
        EXPECT_TRUE(watch.expired());
        EXPECT_EQ(number(*mine, "SELECT count(*) FROM duckdb_tables() WHERE table_name = 'old'"), 0);
    });
    lent.reset();
    waiter.join();
    EXPECT_TRUE(watch.expired());
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 1);
}

TEST_F(PoolTest, ReplaceInterruptsRunningStatements) {
    Pool pool(openDatabase(), numbering(), options(1));
    std::atomic<bool> running{false};
    std::thread worker([&] {
        Pool::Lease mine = lease(pool);
        auto stream = mine->stream(Sql{"SELECT i, j FROM range(3000000) a(i), range(3000000) b(j)", {}});
        ASSERT_TRUE(stream.ok()) << stream.status();
        running = true;
        absl::StatusOr<std::optional<Chunk>> chunk = stream->next();
        while (chunk.ok() && *chunk) chunk = stream->next();
        EXPECT_EQ(errorClass(chunk.status()), ErrorClass::kInterrupted) << chunk.status();
    });
    while (!running) std::this_thread::yield();
    pool.replaceDatabase(openDatabase());
    worker.join();
    Pool::Lease next = lease(pool);
    EXPECT_EQ(number(*next, "SELECT 1"), 1);
}

TEST_F(PoolTest, FailedPreparationIsTheCallersErrorAndFreesThePlace) {
    int calls = 0;
    Pool pool(
        openDatabase(),
        [&](Connection& connection) {
            ++calls;
            return connection.execute(calls == 1 ? "SET memory_limit = 'not-a-size'" : "SELECT 1").status();
        },
        options(1));
    auto failed = pool.acquire();
    EXPECT_FALSE(failed.ok());
    EXPECT_EQ(metric("dq_db_pool_open_connections"), 0);
    EXPECT_TRUE(pool.acquire().ok());
}

TEST_F(PoolTest, CancelReachesThePreparation) {
    Pool pool(
        openDatabase(),
        [](Connection& connection) {
            return connection
                .execute("SELECT count(*) FROM range(3000000) a(i), range(3000000) b(j) WHERE (i * j) % 7 = 3")
                .status();
        },
        options(1));
    auto late = pool.acquire(Cancel::root().withTimeout(100'000));
    EXPECT_EQ(late.status().code(), absl::StatusCode::kDeadlineExceeded) << late.status();
}

TEST_F(PoolTest, WorksWithoutMetricsAndPreparation) {
    Pool::Options plain;
    plain.max_connections = 0;  // the default
    Pool pool(openDatabase(), nullptr, plain);
    std::vector<Pool::Lease> all;
    for (int i = 0; i < 6; ++i) all.push_back(lease(pool));
    EXPECT_FALSE(pool.acquire(Cancel::root().withTimeout(1000)).ok());
    all[0] = std::move(all[1]);  // a move gives back nothing and loses nothing
    EXPECT_EQ(number(*all[0], "SELECT 1"), 1);
}

TEST(PoolDeathTest, LeaseMustNotOutliveThePool) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            auto pool = std::make_unique<Pool>(openDatabase(), nullptr, Pool::Options{});
            auto lease = pool->acquire();
            pool.reset();
        },
        "on loan");
}

TEST(PoisonWatch, Acceptance20_RecycleThenRestart) {
    absl::Status aborted = makeError(DUCKDB_ERROR_TRANSACTION,
                                     "TransactionContext Error: Current transaction is aborted (please ROLLBACK)");
    absl::Status dead = makeError(
        DUCKDB_ERROR_FATAL, "FATAL Error: Failed: database has been invalidated because of a previous fatal error.");
    absl::Status index =
        makeError(DUCKDB_ERROR_INTERNAL, "INTERNAL Error: Attempted to access index 0 within vector of size 0");
    absl::Status blip = makeError(DUCKDB_ERROR_HTTP, "HTTP Error: HTTP GET error reading 's3://b/x' (HTTP 503)");
    using Action = PoisonWatch::Action;
    PoisonWatch watch;
    EXPECT_EQ(watch.observe(absl::OkStatus(), true), Action::kNone);
    EXPECT_EQ(watch.observe(index, true), Action::kNone);
    EXPECT_EQ(watch.observe(blip, true), Action::kNone);
    EXPECT_EQ(watch.observe(aborted, true), Action::kRecycle);
    EXPECT_EQ(watch.observe(aborted, false), Action::kRecycle);        // straggler
    EXPECT_EQ(watch.observe(absl::OkStatus(), false), Action::kNone);  // does not disarm
    EXPECT_EQ(watch.observe(aborted, true), Action::kRestart);
    watch.reset();
    EXPECT_EQ(watch.observe(aborted, true), Action::kRecycle);
    EXPECT_EQ(watch.observe(absl::OkStatus(), true), Action::kNone);  // disarms
    EXPECT_EQ(watch.observe(aborted, true), Action::kRecycle);        // strike one again
    EXPECT_EQ(watch.observe(dead, false), Action::kRestart);
}

}  // namespace
}  // namespace dq::engine
