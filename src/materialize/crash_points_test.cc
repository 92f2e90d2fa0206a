// SIGKILL at named points of a pass and a flush: before and after each COMMIT, and between statements. What is at rest
// afterwards is compared with what was sent.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <thread>

#include "engine/fault.h"
#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

constexpr char kDsn[] = "DQ_CRASH_CHILD_DSN", kData[] = "DQ_CRASH_CHILD_DATA", kCall[] = "DQ_CRASH_CHILD_CALL",
               kPoint[] = "DQ_CRASH_CHILD_POINT";
constexpr int kNotReached = 3;

enum class Point { kBeforeCommit, kAfterCommit, kBeforeStatement };
const char* nameOf(Point point) {
    switch (point) {
        case Point::kBeforeCommit: return "before COMMIT";
        case Point::kAfterCommit: return "after COMMIT";
        case Point::kBeforeStatement: return "before statement";
    }
    return "";
}

// Ends the process at the n-th time its point is passed.
class Killer : public engine::FaultInjector {
  public:
    Killer(Point point, int nth) : point_(point), nth_(nth) {}
    Status before(engine::Call call, std::string_view) override {
        if (call == engine::Call::kCommit) pass(Point::kBeforeCommit);
        if (call == engine::Call::kStatement) pass(Point::kBeforeStatement);
        return absl::OkStatus();
    }
    Status after(engine::Call call, std::string_view) override {
        if (call == engine::Call::kCommit) pass(Point::kAfterCommit);
        return absl::OkStatus();
    }

  private:
    void pass(Point point) {
        if (point == point_ && count_++ == nth_) ::kill(::getpid(), SIGKILL);
    }
    const Point point_;
    const int nth_;
    std::atomic<int> count_{0};
};

MaterializerOptions options() {
    MaterializerOptions options;
    options.limits.window_rows = 3;
    options.writer.takeover_micros = 0;
    return options;
}

// Runs in a process of its own; see below.
TEST(CrashChild, PassAndFlush) {
    const char* dsn = std::getenv(kDsn);
    if (dsn == nullptr) GTEST_SKIP() << "only as a child of CrashPoints";
    lake::LakeConfig config;
    config.catalog_dsn = dsn;
    config.data_path = std::getenv(kData);
    const char* extensions = std::getenv("DUCKDB_EXTENSION_DIR");
    config.extension_directory = extensions == nullptr ? "" : extensions;
    Metrics metrics;
    auto lakes = lake::Lakes::open(config, true, &metrics);
    ASSERT_TRUE(lakes.ok()) << lakes.status();
    const ManualClock clock(kStart + 10 * kMicrosPerDay);
    decode::Options decode;
    decode.clock = &clock;
    Materializer materializer((*lakes)->writer(), decode, options(), metrics, clock);
    ASSERT_TRUE(materializer.prepare(Cancel::root()).ok());
    Killer killer(static_cast<Point>(std::atoi(std::getenv(kPoint))), std::atoi(std::getenv(kCall)));
    const engine::FaultScope scope(killer);
    ASSERT_TRUE(materializer.drain(Cancel::root()).ok());
    ASSERT_TRUE(materializer.flush(Cancel::root()).ok());
    std::_Exit(kNotReached);
}

class CrashPointsTest : public MaterializeTest {
  protected:
    // False when the point was not reached any more.
    bool killAt(Point point, int nth) {
        const lake::LakeConfig config = lake_->config();
        materializer_.reset();
        lake_->close();
        const pid_t child = fork();
        if (child == 0) {
            setenv(kDsn, config.catalog_dsn.c_str(), 1);
            setenv(kData, config.data_path.c_str(), 1);
            setenv(kCall, strCat(nth).c_str(), 1);
            setenv(kPoint, strCat(static_cast<int>(point)).c_str(), 1);
            execl("/proc/self/exe", "dq_materialize_test", "--gtest_filter=CrashChild.*", "--gtest_brief=1", nullptr);
            std::_Exit(127);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) return true;
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kNotReached) << status;
        return false;
    }
};
INSTANTIATE_TEST_SUITE_P(Catalogs, CrashPointsTest,
                         testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres), lake::catalogName);

TEST_P(CrashPointsTest, NothingIsLostOrDoubledWhereverItIsKilled) {
    boot(options());
    int vehicle = 0, kills = 0;
    for (const auto& [point, step] : {std::pair{Point::kBeforeCommit, 1}, std::pair{Point::kAfterCommit, 1},
                                      std::pair{Point::kBeforeStatement, 7}}) {
        bool reached = true;
        for (int nth = 0; reached; nth += step) {
            std::vector<cloudevent::Row> rows;
            ++vehicle;
            for (int i = 0; i < 8; ++i)
                rows.push_back(lake::statusRow(vehicle, strCat("e", i), kStart + i * kMicrosPerSecond, "speed", i));
            rows.push_back(rows.front());  // redelivered
            append(rows);
            reached = killAt(point, nth);
            kills += reached ? 1 : 0;
            boot(options());
            drain();
            flush();
            ASSERT_EQ(count("signals"), vehicle * 8) << nameOf(point) << " " << nth;
            ASSERT_EQ(rollupDifference(), "") << nameOf(point) << " " << nth;
            ASSERT_LT(nth, 500);
        }
    }
    EXPECT_GT(kills, 10);
}

}  // namespace
}  // namespace dq::materialize
