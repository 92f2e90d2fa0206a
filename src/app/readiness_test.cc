#include "app/readiness.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <thread>
#include <vector>

#include "core/log.h"

namespace dq::app {
namespace {

constexpr std::int64_t kSecond = kMicrosPerSecond;

// A probe whose outcome the test sets, under a clock that it moves.
struct Probed {
    explicit Probed(Readiness::Options options = {})
        : readiness(
              options,
              [this] {
                  ++probes;
                  return healthy ? absl::OkStatus() : absl::UnavailableError("catalog is away");
              },
              [this] { ++given_up; }, clock) {}

    bool after(std::int64_t micros) {
        clock.advance(micros);
        return readiness.ready();
    }

    LogCapture capture;
    ManualClock clock{0};
    bool healthy = false;
    int probes = 0, given_up = 0;
    Readiness readiness;
};

TEST(Readiness, Acceptance09_NeverReadyHasNoGrace) {
    Probed probed;
    EXPECT_FALSE(probed.readiness.ready());
    EXPECT_FALSE(probed.after(10 * kSecond));
    probed.healthy = true;
    EXPECT_TRUE(probed.after(10 * kSecond));
}

TEST(Readiness, Acceptance09_AFailureInsideTheGraceIsForgiven) {
    Probed probed({.cache_micros = 1'000, .grace_micros = 50'000, .give_up_micros = 300 * kSecond});
    probed.healthy = true;
    EXPECT_TRUE(probed.readiness.ready());
    probed.healthy = false;
    EXPECT_TRUE(probed.after(49'999));
    EXPECT_FALSE(probed.after(1'000));
    EXPECT_EQ(probed.probes, 3);
}

TEST(Readiness, Lake22_TenSecondsAfterASuccessIsReadyAndAMinuteIsNot) {
    Probed probed;
    probed.healthy = true;
    EXPECT_TRUE(probed.readiness.ready());
    probed.healthy = false;
    EXPECT_TRUE(probed.after(10 * kSecond));
    EXPECT_FALSE(probed.after(51 * kSecond));
    probed.healthy = true;
    EXPECT_TRUE(probed.after(4 * kSecond));
}

TEST(Readiness, Acceptance09_ProbesInsideTheCacheTimeShareOneCheck) {
    Probed probed;
    probed.healthy = true;
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(probed.after(kSecond / 2));
    EXPECT_EQ(probed.probes, 1);
    EXPECT_TRUE(probed.after(3 * kSecond));
    EXPECT_EQ(probed.probes, 2);
    // The stored result is judged anew each time: the grace ends between two checks.
    probed.healthy = false;
    EXPECT_TRUE(probed.after(58 * kSecond));
    EXPECT_EQ(probed.probes, 3);
    EXPECT_FALSE(probed.after(2 * kSecond));
    EXPECT_EQ(probed.probes, 3);
}

TEST(Readiness, Acceptance10_SustainedFailureGivesUpExactlyOnce) {
    Probed probed({.cache_micros = 0, .grace_micros = 0, .give_up_micros = 50'000});
    EXPECT_FALSE(probed.readiness.ready());
    EXPECT_FALSE(probed.after(49'999));
    EXPECT_EQ(probed.given_up, 0);
    probed.healthy = true;
    EXPECT_TRUE(probed.after(1));
    probed.healthy = false;
    EXPECT_FALSE(probed.after(10'000));
    EXPECT_FALSE(probed.after(49'999));
    EXPECT_EQ(probed.given_up, 0);  // the window began anew with the success
    EXPECT_FALSE(probed.after(1));
    EXPECT_EQ(probed.given_up, 1);
    EXPECT_FALSE(probed.after(100'000));
    EXPECT_EQ(probed.given_up, 1);
    EXPECT_NE(probed.capture.text().find("\"level\":\"fatal\""), std::string::npos);
}

TEST(Readiness, Lake22_FiveMinutesOfFailuresEndTheProcess) {
    Probed probed;
    EXPECT_FALSE(probed.readiness.ready());
    EXPECT_FALSE(probed.after(299 * kSecond));
    EXPECT_EQ(probed.given_up, 0);
    EXPECT_FALSE(probed.after(2 * kSecond));  // inside the cache time: judged only by a check
    EXPECT_EQ(probed.given_up, 0);
    EXPECT_FALSE(probed.after(2 * kSecond));
    EXPECT_EQ(probed.given_up, 1);
}

TEST(Readiness, AProcessThatGoesDownIsNotReadyAndProbesNoMore) {
    Probed probed;
    probed.healthy = true;
    EXPECT_TRUE(probed.readiness.ready());
    probed.readiness.stop();
    EXPECT_FALSE(probed.readiness.ready());
    EXPECT_FALSE(probed.after(10 * kSecond));
    EXPECT_EQ(probed.probes, 1);
}

TEST(Readiness, ConcurrentProbesWaitForOneCheck) {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false;
    int probes = 0, started = 0;
    ManualClock clock{0};
    Readiness readiness(
        {},
        [&] {
            std::unique_lock lock(mutex);
            ++probes;
            changed.wait(lock, [&] { return open; });
            return absl::OkStatus();
        },
        [] {}, clock);
    std::vector<std::thread> threads;
    std::atomic<int> ready{0};
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            {
                std::lock_guard lock(mutex);
                ++started;
                changed.notify_all();
            }
            if (readiness.ready()) ++ready;
        });
    }
    {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return started == 4; });
        open = true;
        changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ready, 4);
    EXPECT_EQ(probes, 1);
}

}  // namespace
}  // namespace dq::app
