#include "core/cancel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <thread>
#include <vector>

namespace dq {
namespace {

constexpr std::int64_t kSoon = 5'000;        // µs: a deadline that passes during the test
constexpr std::int64_t kBound = 30'000'000;  // µs: only a broken implementation waits that long

std::int64_t steadyNow() {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

TEST(Cancel, EndsOnceWithCancelled) {
    const Cancel work = Cancel::root();
    EXPECT_FALSE(work.cancelled());
    EXPECT_TRUE(work.check().ok());
    const Cancel copy = work;
    copy.cancel();
    copy.cancel();
    EXPECT_TRUE(work.cancelled());
    EXPECT_EQ(work.check().code(), absl::StatusCode::kCancelled);
}

TEST(Cancel, AChildEndsWithItsParentAndNotTheOtherWay) {
    const Cancel parent = Cancel::root();
    const Cancel first = parent.child(), second = parent.child(), below = first.child();
    first.cancel();
    EXPECT_TRUE(below.cancelled());
    EXPECT_FALSE(second.cancelled());
    EXPECT_FALSE(parent.cancelled());
    parent.cancel();
    EXPECT_TRUE(second.cancelled());
    EXPECT_EQ(parent.child().check().code(), absl::StatusCode::kCancelled);
    EXPECT_EQ(parent.withTimeout(kBound).check().code(), absl::StatusCode::kCancelled);
}

TEST(Cancel, AChildKeepsTheDeadlineOfAParentNobodyHolds) {
    const Cancel child = Cancel::root().withTimeout(kSoon).child();
    EXPECT_TRUE(child.waitFor(kBound));
    EXPECT_EQ(child.check().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Cancel, DeadlinePassesNotBeforeItsTime) {
    const std::int64_t start = steadyNow();
    const Cancel work = Cancel::root().withTimeout(kSoon);
    EXPECT_TRUE(work.waitFor(kBound));
    EXPECT_GE(steadyNow() - start, kSoon);
    EXPECT_EQ(work.check().code(), absl::StatusCode::kDeadlineExceeded);
    work.cancel();
    EXPECT_EQ(work.check().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Cancel, DeadlinesPassInTheirOrderWhateverTheOrderOfTheirStart) {
    const Cancel late = Cancel::root().withTimeout(kBound);
    const Cancel early = Cancel::root().withTimeout(kSoon);
    EXPECT_TRUE(early.waitFor(kBound));
    EXPECT_FALSE(late.cancelled());
}

TEST(Cancel, NoTimeLeftEndsAtOnce) {
    EXPECT_EQ(Cancel::root().withTimeout(0).check().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(Cancel::root().withTimeout(-1).check().code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_TRUE(Cancel::root().withTimeout(INT64_MAX).check().ok());
}

TEST(Cancel, CancellingEndsAWorkWithADeadline) {
    const Cancel parent = Cancel::root();
    const Cancel work = parent.withTimeout(kBound);
    parent.cancel();
    EXPECT_EQ(work.check().code(), absl::StatusCode::kCancelled);
}

TEST(Cancel, WaitForTellsWhetherTheWorkEnded) {
    const Cancel work = Cancel::root();
    EXPECT_FALSE(work.waitFor(0));
    EXPECT_FALSE(work.waitFor(1'000));
    auto waiting = std::async(std::launch::async, [&] { return work.waitFor(kBound); });
    work.cancel();
    EXPECT_TRUE(waiting.get());
    EXPECT_TRUE(work.waitFor(INT64_MAX));
}

TEST(Cancel, CallbacksRunOnceInTheirOrder) {
    const Cancel work = Cancel::root();
    std::vector<int> order;
    const auto a = work.onCancel([&] { order.push_back(1); });
    const auto b = work.onCancel([&] { order.push_back(2); });
    work.cancel();
    work.cancel();
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(Cancel, ACallbackOnAnEndedWorkRunsAtOnce) {
    const Cancel work = Cancel::root();
    work.cancel();
    bool ran = false;
    const auto guard = work.onCancel([&] { ran = true; });
    EXPECT_TRUE(ran);
}

TEST(Cancel, ADestroyedGuardsCallbackDoesNotRun) {
    const Cancel work = Cancel::root();
    int runs = 0;
    {
        const auto guard = work.onCancel([&] { ++runs; });
    }
    auto moved = work.onCancel([&] { runs += 10; });
    Cancel::Guard kept;
    kept = std::move(moved);
    auto replaced = work.onCancel([&] { runs += 100; });
    replaced = Cancel::Guard();
    work.cancel();
    EXPECT_EQ(runs, 10);
}

TEST(Cancel, AGuardMayBeDestroyedByItsCallbackOrAnother) {
    const Cancel work = Cancel::root();
    std::optional<Cancel::Guard> own, other;
    int runs = 0;
    own = work.onCancel([&] {
        ++runs;
        own.reset();
        other.reset();
    });
    other = work.onCancel([&] { runs += 10; });
    work.cancel();
    EXPECT_EQ(runs, 1);
}

TEST(Cancel, DestroyingAGuardWaitsForItsRunningCallback) {
    const Cancel work = Cancel::root();
    std::promise<void> entered, release;
    std::atomic<bool> finished{false};
    std::optional<Cancel::Guard> guard = work.onCancel([&] {
        entered.set_value();
        release.get_future().wait();
        finished = true;
    });
    std::thread canceller([&] { work.cancel(); });
    entered.get_future().wait();
    auto destroyed = std::async(std::launch::async, [&] {
        guard.reset();
        return finished.load();
    });
    EXPECT_EQ(destroyed.wait_for(std::chrono::milliseconds(5)), std::future_status::timeout);
    release.set_value();
    EXPECT_TRUE(destroyed.get());
    canceller.join();
}

TEST(Cancel, ACallbackOfAChildRunsWhenTheParentsDeadlinePasses) {
    const Cancel child = Cancel::root().withTimeout(kSoon).child();
    std::promise<absl::Status> seen;
    const auto guard = child.onCancel([&] { seen.set_value(child.check()); });
    auto future = seen.get_future();
    ASSERT_EQ(future.wait_for(std::chrono::microseconds(kBound)), std::future_status::ready);
    EXPECT_EQ(future.get().code(), absl::StatusCode::kDeadlineExceeded);
}

TEST(Cancel, RacesOfCancellingRegisteringAndDestroyingAreSafe) {
    for (int round = 0; round < 300; ++round) {
        const Cancel parent = Cancel::root();
        const Cancel work = parent.withTimeout(round % 3 == 0 ? 200 : kBound);
        std::atomic<int> runs{0}, alive{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                for (int i = 0; i < 20; ++i) {
                    const Cancel below = work.child();
                    ++alive;
                    const auto guard = below.onCancel([&] { runs += alive > 0 ? 1 : 1'000'000; });
                    if (below.cancelled()) {
                        EXPECT_FALSE(below.check().ok());
                    }
                }
            });
        }
        threads.emplace_back([&] { parent.cancel(); });
        for (auto& thread : threads) thread.join();
        EXPECT_LE(runs, 60);
        EXPECT_TRUE(work.cancelled());
    }
}

}  // namespace
}  // namespace dq
