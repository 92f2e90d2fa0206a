#include "http/admission.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace dq::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

TEST(GlobalLimiter, Acceptance06_HeldPlaceShedsTheNextAfterTheWait) {
    GlobalLimiter limiter(1);
    const auto held = limiter.enter(Cancel::root());
    ASSERT_TRUE(held);
    const auto start = steady_clock::now();
    EXPECT_FALSE(limiter.enter(Cancel::root()));
    const auto waited = steady_clock::now() - start;
    EXPECT_GE(waited, milliseconds(100));
    EXPECT_LT(waited, milliseconds(5000));
}

TEST(GlobalLimiter, Acceptance06_ZeroMeansNoLimit) {
    GlobalLimiter limiter(0);
    std::vector<std::optional<Slot>> held;
    for (int i = 0; i < 5; ++i) held.push_back(limiter.enter(Cancel::root()));
    for (const auto& slot : held) EXPECT_TRUE(slot);
}

TEST(GlobalLimiter, Acceptance07_AFreedPlaceLetsTheWaitingRequestPass) {
    constexpr std::int64_t kNever = 60'000'000;
    GlobalLimiter limiter(1, kNever);
    auto held = limiter.enter(Cancel::root());
    ASSERT_TRUE(held);
    std::atomic<bool> passed = false;
    std::thread waiting([&] { passed = limiter.enter(Cancel::root()).has_value(); });
    std::ignore = Cancel::root().waitFor(50'000);
    EXPECT_FALSE(passed);
    const auto start = steady_clock::now();
    held.reset();
    waiting.join();
    EXPECT_TRUE(passed);
    EXPECT_LT(steady_clock::now() - start, milliseconds(20'000));
    EXPECT_TRUE(limiter.enter(Cancel::root()));
}

TEST(GlobalLimiter, ACancelledWaiterIsShedAtOnce) {
    GlobalLimiter limiter(1, 60'000'000);
    auto held = limiter.enter(Cancel::root());
    const Cancel leaving = Cancel::root();
    std::atomic<bool> shed = false;
    std::thread waiting([&] { shed = !limiter.enter(leaving).has_value(); });
    leaving.cancel();
    waiting.join();
    EXPECT_TRUE(shed);
    held.reset();
    EXPECT_TRUE(limiter.enter(Cancel::root()));
}

TEST(GlobalLimiter, AnAlreadyCancelledCallerDoesNotWait) {
    GlobalLimiter limiter(1, 60'000'000);
    const auto held = limiter.enter(Cancel::root());
    const Cancel gone = Cancel::root();
    gone.cancel();
    EXPECT_FALSE(limiter.enter(gone));
}

TEST(GlobalLimiter, ACrashingHolderFreesItsPlace) {
    GlobalLimiter limiter(1, 0);
    try {
        const auto slot = limiter.enter(Cancel::root());
        ASSERT_TRUE(slot);
        throw std::runtime_error("crash");
    } catch (const std::runtime_error&) {}
    EXPECT_TRUE(limiter.enter(Cancel::root()));
}

TEST(GlobalLimiter, NeverMoreThanTheLimitAndNoPlaceIsLost) {
    constexpr int kLimit = 3;
    GlobalLimiter limiter(kLimit, 200);
    std::atomic<int> inside = 0, most = 0, entered = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 200; ++i) {
                const Cancel cancel = Cancel::root();
                if ((i + t) % 7 == 0) cancel.cancel();
                const auto slot = limiter.enter(cancel);
                if (!slot) continue;
                ++entered;
                const int now = ++inside;
                for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {}
                std::this_thread::yield();
                --inside;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_LE(most, kLimit);
    EXPECT_GT(entered, 0);
    std::vector<std::optional<Slot>> all;
    for (int i = 0; i < kLimit; ++i) all.push_back(limiter.enter(Cancel::root()));
    for (const auto& slot : all) EXPECT_TRUE(slot);
    EXPECT_FALSE(limiter.enter(Cancel::root()));
}

TEST(GlobalLimiter, ASlotMayOutliveItsLimiter) {
    std::optional<Slot> slot;
    {
        GlobalLimiter limiter(1);
        slot = limiter.enter(Cancel::root());
    }
    EXPECT_TRUE(slot);
    slot.reset();
}

TEST(SubjectLimiter, Acceptance08_TwoPerSubject) {
    SubjectLimiter limiter(2);
    auto a1 = limiter.enter("a");
    auto a2 = limiter.enter("a");
    EXPECT_TRUE(a1 && a2);
    EXPECT_FALSE(limiter.enter("a"));
    EXPECT_TRUE(limiter.enter("b"));
    a1.reset();
    a1 = limiter.enter("a");
    EXPECT_TRUE(a1);
    a1.reset();
    a2.reset();
    EXPECT_EQ(limiter.keys(), 0U);
}

TEST(SubjectLimiter, Acceptance08_ZeroDisablesAndAnEmptyKeyIsNeverLimited) {
    SubjectLimiter off(0);
    auto first = off.enter("a"), second = off.enter("a"), third = off.enter("a");
    EXPECT_TRUE(first && second && third);
    EXPECT_EQ(off.keys(), 0U);
    SubjectLimiter one(1);
    auto no_key = one.enter(""), no_key_again = one.enter("");
    EXPECT_TRUE(no_key && no_key_again);
    EXPECT_EQ(one.keys(), 0U);
}

TEST(SubjectLimiter, Acceptance08_ACrashingHandlerFreesItsSlot) {
    SubjectLimiter limiter(1);
    try {
        const auto slot = limiter.enter("a");
        ASSERT_TRUE(slot);
        throw std::runtime_error("crash");
    } catch (const std::runtime_error&) {}
    EXPECT_EQ(limiter.keys(), 0U);
    EXPECT_TRUE(limiter.enter("a"));
}

TEST(SubjectLimiter, Acceptance08_TwoHundredConcurrentEntersLeaveNoEntry) {
    SubjectLimiter limiter(2);
    std::vector<std::thread> threads;
    std::atomic<int> entered = 0;
    for (int i = 0; i < 200; ++i) {
        threads.emplace_back([&, i] {
            const auto slot = limiter.enter(i % 2 == 0 ? "same" : "key" + std::to_string(i));
            if (slot) ++entered;
            std::this_thread::yield();
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_GE(entered, 100);
    EXPECT_EQ(limiter.keys(), 0U);
}

TEST(Slot, AssigningReleasesWhatItHeld) {
    int released = 0;
    Slot slot([&] { released += 1; });
    slot = Slot([&] { released += 10; });
    EXPECT_EQ(released, 1);
    Slot moved = std::move(slot);
    slot = Slot();
    EXPECT_EQ(released, 1);
    moved = Slot();
    EXPECT_EQ(released, 11);
}

}  // namespace
}  // namespace dq::http
