#include "ingest/committer.h"

#include <absl/synchronization/notification.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <map>
#include <mutex>

#include "core/status.h"
#include "core/text.h"

namespace dq::ingest {
namespace {

constexpr std::int64_t kLong = 600 * kMicrosPerSecond;

std::vector<Row> rowsNamed(const std::string& prefix, int count, std::size_t data = 0) {
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) {
        Row& row = rows.emplace_back();
        row.id = strCat(prefix, "-", i);
        if (data > 0) row.data = std::string(data, 'x');
    }
    return rows;
}

// An append function that counts, and that a test can hold inside its first call.
class GatedLake {
  public:
    Append append() {
        return [this](std::span<const Row> rows, const Cancel& cancel) -> StatusOr<std::int64_t> {
            const auto guard = cancel.onCancel([this] {
                std::lock_guard inner(mutex_);
                changed_.notify_all();
            });
            std::unique_lock lock(mutex_);
            ++calls_;
            changed_.notify_all();
            changed_.wait(lock, [&] { return open_ || cancel.cancelled(); });
            if (!open_) return absl::CancelledError("cancelled");
            if (failures_ > 0) {
                --failures_;
                return failure_;
            }
            for (const Row& row : rows) ++stored_[row.id];
            return ++snapshot_;
        };
    }
    void open() {
        std::lock_guard lock(mutex_);
        open_ = true;
        changed_.notify_all();
    }
    void close() {
        std::lock_guard lock(mutex_);
        open_ = false;
    }
    void failNext(int count, Status failure) {
        std::lock_guard lock(mutex_);
        failures_ = count;
        failure_ = std::move(failure);
    }
    void awaitCalls(int calls) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return calls_ >= calls; });
    }
    int calls() {
        std::lock_guard lock(mutex_);
        return calls_;
    }
    std::map<std::string, int> stored() {
        std::lock_guard lock(mutex_);
        return stored_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = true;
    int calls_ = 0, failures_ = 0;
    Status failure_;
    std::int64_t snapshot_ = 0;
    std::map<std::string, int> stored_;
};

TEST(Committer, ManyThreadsStoreEachRowOnceAndShareCommits) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {});
    constexpr int kThreads = 16, kPosts = 40;
    std::atomic<int> acknowledged = 0;
    std::vector<std::thread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
            for (int post = 0; post < kPosts; ++post) {
                const Outcome outcome =
                    committer.submit({rowsNamed(strCat(thread, "/", post), 1 + post % 3), {}}, kLong, Cancel::root());
                EXPECT_TRUE(outcome.status.ok()) << outcome.status;
                EXPECT_GT(outcome.snapshot, 0);
                acknowledged += static_cast<int>(outcome.stored);
            }
        });
    }
    lake.awaitCalls(1);
    lake.open();
    for (std::thread& thread : threads) thread.join();
    const auto stored = lake.stored();
    EXPECT_EQ(stored.size(), static_cast<std::size_t>(acknowledged));
    for (const auto& [id, count] : stored) EXPECT_EQ(count, 1) << id;
    EXPECT_LT(lake.calls(), kThreads * kPosts);
    EXPECT_EQ(committer.residentBytes(), 0u);
}

TEST(Committer, WhatGathersDuringACommitGoesIntoOneNext) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {});
    std::vector<Ticket> tickets;
    tickets.push_back(committer.enqueue({rowsNamed("first", 1), {}}, kLong, Cancel::root()).value());
    lake.awaitCalls(1);
    for (int i = 0; i < 5; ++i)
        tickets.push_back(committer.enqueue({rowsNamed(std::to_string(i), 2), {}}, kLong, Cancel::root()).value());
    lake.open();
    std::vector<std::int64_t> snapshots;
    for (Ticket& ticket : tickets) snapshots.push_back(ticket.wait(Cancel::root()).snapshot);
    EXPECT_EQ(snapshots, (std::vector<std::int64_t>{1, 2, 2, 2, 2, 2}));
    EXPECT_EQ(lake.calls(), 2);
}

TEST(Committer, SharedCommitsKeepToTheirLimitsAndCanBeOff) {
    for (const bool share : {true, false}) {
        GatedLake lake;
        lake.close();
        Committer committer(lake.append(), {.max_rows = 5, .share_commits = share});
        std::vector<Ticket> tickets;
        for (int i = 0; i < 5; ++i) {
            tickets.push_back(committer.enqueue({rowsNamed(std::to_string(i), 2), {}}, kLong, Cancel::root()).value());
            if (i == 0) lake.awaitCalls(1);
        }
        lake.open();
        for (Ticket& ticket : tickets) EXPECT_EQ(ticket.wait(Cancel::root()).stored, 2u);
        EXPECT_EQ(lake.calls(), share ? 3 : 5);  // 1 + 2 + 2 submissions, or each alone
    }
}

TEST(Committer, Acceptance17_OverTheCeilingCallersWaitForACommitOrStop) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {.resident_ceiling = 10'000});
    Ticket first =
        committer.enqueue({rowsNamed("big", 1, 50'000), {}}, 0, Cancel::root()).value();  // alone it may be over
    lake.awaitCalls(1);
    const auto refused = committer.enqueue({rowsNamed("x", 1), {}}, 1000, Cancel::root());
    EXPECT_TRUE(absl::IsResourceExhausted(refused.status())) << refused.status();
    Cancel gone = Cancel::root();
    gone.cancel();
    EXPECT_TRUE(absl::IsCancelled(committer.enqueue({rowsNamed("x", 1), {}}, kLong, gone).status()));
    std::thread waiter([&] { EXPECT_EQ(committer.submit({rowsNamed("late", 1), {}}, -1, Cancel::root()).stored, 1u); });
    lake.open();
    waiter.join();
    EXPECT_EQ(first.wait(Cancel::root()).stored, 1u);

    // Queued bundles count as well as the one under way.
    lake.close();
    const int calls = lake.calls();
    ASSERT_TRUE(committer.enqueue({rowsNamed("a", 1, 4000), {}}, 0, Cancel::root()).ok());
    lake.awaitCalls(calls + 1);
    ASSERT_TRUE(committer.enqueue({rowsNamed("b", 1, 4000), {}}, 0, Cancel::root()).ok());
    EXPECT_TRUE(
        absl::IsResourceExhausted(committer.enqueue({rowsNamed("c", 1, 4000), {}}, 0, Cancel::root()).status()));
    absl::Notification started;
    std::thread stopped([&] {
        started.Notify();
        EXPECT_FALSE(committer.submit({rowsNamed("d", 1, 4000), {}}, -1, Cancel::root()).status.ok());
    });
    started.WaitForNotification();
    committer.stop(0);
    stopped.join();
}

TEST(Committer, StopDrainsWhatWaitsAndRefusesTheRest) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {});
    Ticket first = committer.enqueue({rowsNamed("a", 1), {}}, kLong, Cancel::root()).value();
    lake.awaitCalls(1);
    Ticket second = committer.enqueue({rowsNamed("b", 1), {}}, kLong, Cancel::root()).value();
    std::thread stopper([&] { committer.stop(kLong); });
    lake.open();
    stopper.join();
    EXPECT_TRUE(first.wait(Cancel::root()).status.ok());
    EXPECT_TRUE(second.wait(Cancel::root()).status.ok());
    EXPECT_TRUE(absl::IsUnavailable(committer.enqueue({rowsNamed("c", 1), {}}, kLong, Cancel::root()).status()));
    EXPECT_EQ(lake.stored().size(), 2u);
}

TEST(Committer, StopBeyondItsBudgetCancelsAndLeavesRowsPending) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {});
    Ticket first = committer.enqueue({rowsNamed("a", 3), {}}, kLong, Cancel::root()).value();
    lake.awaitCalls(1);
    Ticket second = committer.enqueue({rowsNamed("b", 2), {}}, kLong, Cancel::root()).value();
    committer.stop(1000);
    const Outcome cancelled = first.wait(Cancel::root());
    EXPECT_FALSE(cancelled.status.ok());
    ASSERT_EQ(cancelled.faults.size(), 3u);
    for (const RowFault& fault : cancelled.faults) EXPECT_FALSE(fault.poison);
    const Outcome never_begun = second.wait(Cancel::root());
    EXPECT_TRUE(absl::IsUnavailable(never_begun.status));
    EXPECT_EQ(never_begun.fault_rows.size(), 2u);
    EXPECT_TRUE(lake.stored().empty());
}

TEST(Committer, CallerWhoLeavesGetsItsReasonAndTheRowsGoOn) {
    GatedLake lake;
    lake.close();
    Committer committer(lake.append(), {});
    Cancel request = Cancel::root();
    Ticket ticket = committer.enqueue({rowsNamed("a", 1), {}}, kLong, request).value();
    lake.awaitCalls(1);
    request.cancel();
    EXPECT_TRUE(absl::IsCancelled(ticket.wait(request).status));
    lake.open();
    committer.stop(kLong);
    EXPECT_EQ(lake.stored().size(), 1u);
}

TEST(Committer, FaultsOfASharedCommitGoToTheSubmissionTheyBelongTo) {
    GatedLake gate;
    gate.close();
    const Append gated = gate.append();
    const Append lake = [&](std::span<const Row> rows, const Cancel& cancel) -> StatusOr<std::int64_t> {
        for (const Row& row : rows) {
            if (row.id == "b-1") return absl::InvalidArgumentError("refused");
        }
        return gated(rows, cancel);
    };
    Metrics registry;
    IngestMetrics metrics(registry);
    Committer committer(lake, {.metrics = &metrics});
    Ticket first = committer.enqueue({rowsNamed("x", 1), {}}, kLong, Cancel::root()).value();
    gate.awaitCalls(1);
    Ticket a = committer.enqueue({rowsNamed("a", 3), {}}, kLong, Cancel::root()).value();
    Ticket b = committer.enqueue({rowsNamed("b", 3), {}}, kLong, Cancel::root()).value();
    gate.open();
    EXPECT_EQ(first.wait(Cancel::root()).stored, 1u);
    const Outcome of_a = a.wait(Cancel::root()), of_b = b.wait(Cancel::root());
    EXPECT_EQ(of_a.stored, 3u);
    EXPECT_TRUE(of_a.faults.empty());
    EXPECT_EQ(of_b.stored, 2u);
    ASSERT_EQ(of_b.faults.size(), 1u);
    EXPECT_EQ(of_b.faults[0].row, 1u);
    EXPECT_TRUE(of_b.faults[0].poison);
    EXPECT_EQ(of_b.fault_rows.at(0).id, "b-1");
    EXPECT_TRUE(of_b.status.ok());
    EXPECT_EQ(metrics.poison_rows.Value(), 1);
    EXPECT_GT(metrics.commits.Value(), 1);
    EXPECT_GT(metrics.commit_failures.Value(), 0);
    EXPECT_EQ(metrics.buffered_bytes.Value(), 0);
    EXPECT_EQ(metrics.inflight_bytes.Value(), 0);
}

TEST(Committer, TellsHowLongNothingWasCommitted) {
    ManualClock clock(0);
    GatedLake lake;
    Committer committer(lake.append(), {.clock = &clock});
    lake.failNext(1, absl::UnavailableError("away"));
    EXPECT_FALSE(committer.submit({rowsNamed("a", 1), {}}, kLong, Cancel::root()).status.ok());
    clock.advance(7 * kMicrosPerSecond);
    EXPECT_EQ(committer.failingForMicros(), 7 * kMicrosPerSecond);
    EXPECT_TRUE(committer.submit({rowsNamed("a", 1), {}}, kLong, Cancel::root()).status.ok());
    EXPECT_EQ(committer.failingForMicros(), 0);
}

}  // namespace
}  // namespace dq::ingest
