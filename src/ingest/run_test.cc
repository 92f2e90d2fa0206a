#include "ingest/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "core/status.h"
#include "core/text.h"
#include "ingest/ingest_testing.h"

namespace dq::ingest {
namespace {

using testing::gzipped;
using testing::statusEvent;
using testing::TempFolder;

// A lake in memory behind the sink that the command uses.
struct MemoryLake {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, int> stored;
    std::vector<std::size_t> bundles;
    std::set<std::string> refused;
    Status refusal = absl::InvalidArgumentError("refused");
    int fail_from = 0, fail_until = 0;  // appends fail_from <= n < fail_until fail
    bool landed_all_the_same = false;   // … after their rows were stored
    Status failure = absl::UnavailableError("away");
    int appends = 0;
    std::int64_t snapshot = 0;

    StatusOr<std::int64_t> append(std::span<const Row> rows) {
        std::lock_guard lock(mutex);
        const bool fails = ++appends >= fail_from && appends < fail_until;
        if (fails && !landed_all_the_same) return failure;
        for (const Row& row : rows) {
            if (refused.contains(row.id)) return refusal;
        }
        for (const Row& row : rows) ++stored[row.id];
        changed.notify_all();
        if (fails) return failure;
        bundles.push_back(rows.size());
        return ++snapshot;
    }
    std::vector<bool> existing(std::span<const Row> rows) {
        std::lock_guard lock(mutex);
        std::vector<bool> out;
        for (const Row& row : rows) out.push_back(stored.contains(row.id));
        return out;
    }
    std::unique_ptr<Sink> sink() {
        return lakeSink(
            [this](std::span<const Row> rows, const Cancel&) { return append(rows); },
            [this](std::span<const Row> rows, const Cancel&) -> StatusOr<std::vector<bool>> { return existing(rows); },
            {});
    }
};

class Run : public ::testing::Test {
  protected:
    Status run(std::vector<std::string> inputs, const Cancel& cancel = Cancel::root()) {
        options_.inputs = std::move(inputs);
        options_.wait = [this](std::int64_t micros, const Cancel&) { waits_.push_back(micros); };
        const auto sink = lake_.sink();
        ProgressLine progress(err_, false, systemClock());
        Validator validator({});
        auto letters = DeadLetterFile::open(folder_.path("dead"));
        EXPECT_TRUE(letters.ok());
        IngestRun ingest(options_, validator, *sink, letters->get(), progress, err_);
        const Status status = ingest.run(cancel);
        counts_ = ingest.counts();
        return status;
    }
    std::string file(const std::vector<std::string>& lines) {
        std::string text;
        for (const std::string& line : lines) text += line + "\n";
        return folder_.write(strCat("in", ++files_), text);
    }
    std::string events(int count, std::string_view prefix = "e") {
        std::vector<std::string> lines;
        for (int i = 0; i < count; ++i) lines.push_back(statusEvent(strCat(prefix, i)));
        return file(lines);
    }
    std::string dead() { return folder_.read("dead"); }

    TempFolder folder_;
    MemoryLake lake_;
    RunOptions options_;
    RunCounts counts_;
    std::ostringstream err_;
    std::vector<std::int64_t> waits_;
    int files_ = 0;
};

TEST_F(Run, Acceptance32_BadLineGoesToTheDeadLetterFileAndStrictStopsItsBundle) {
    const std::string input = file({statusEvent("a"), statusEvent("b"), "{\"rubbish\":\"\x01", statusEvent("c")});
    ASSERT_TRUE(run({input}).ok());
    EXPECT_EQ(lake_.stored.size(), 3u);
    EXPECT_EQ(counts_.read, 4u);
    EXPECT_EQ(counts_.written, 3u);
    EXPECT_EQ(counts_.rejected, 1u);
    EXPECT_THAT(dead(), ::testing::StartsWith(strCat("{\"file\":\"", input, "\",\"line\":3,\"offset\":")));
    EXPECT_THAT(dead(), ::testing::HasSubstr(R"("raw":"{\"rubbish\":\"\u0001"})"));
    EXPECT_THAT(err_.str(), ::testing::StartsWith(input + ":3: "));

    lake_.stored.clear();
    options_.strict = true;
    ASSERT_TRUE(run({input}).ok());
    EXPECT_TRUE(lake_.stored.empty());
    EXPECT_EQ(counts_.rejected, 1u);
    EXPECT_EQ(counts_.unstored, 2u);
    options_.sink.max_rows = 1;  // the bundles before that of the bad line are stored
    ASSERT_TRUE(run({input}).ok());
    EXPECT_EQ(lake_.stored.size(), 2u);
}

TEST_F(Run, Acceptance33_SkipExistingStoresNothingTwice) {
    options_.skip_existing = true;
    options_.sink.max_rows = 3;
    const std::string input = events(7);
    ASSERT_TRUE(run({input}).ok());
    ASSERT_TRUE(run({input}).ok());
    EXPECT_EQ(counts_.existing, 7u);
    EXPECT_EQ(counts_.written, 0u);
    for (const auto& [id, count] : lake_.stored) EXPECT_EQ(count, 1) << id;
}

TEST_F(Run, Acceptance18_PoisonGoesToTheDeadLetterFileAndTransientRowsAreTriedAgain) {
    lake_.refused = {"e1"};
    ASSERT_TRUE(run({events(3)}).ok());
    EXPECT_EQ(lake_.stored.size(), 2u);
    EXPECT_EQ(counts_.rejected, 1u);
    EXPECT_THAT(dead(), ::testing::HasSubstr("\"line\":2,"));
    EXPECT_THAT(dead(), ::testing::HasSubstr("\\\"id\\\":\\\"e1\\\""));
    // A row refused for a passing reason beside good ones is carried into the next bundles until the tenth time proves
    // it.
    lake_.refusal = absl::ResourceExhaustedError("flaky");
    options_.sink.max_rows = 3;
    ASSERT_TRUE(run({events(40, "f"), file({statusEvent("e1")}), events(40, "g")}).ok());
    EXPECT_EQ(counts_.rejected, 1u);
    EXPECT_EQ(counts_.written, 80u);
    EXPECT_EQ(lake_.stored.size(), 82u);
}

TEST_F(Run, Acceptance19_OutageEndsTheRunAndDropsNothing) {
    lake_.fail_from = 1;
    lake_.fail_until = 1'000'000;
    const Status status = run({events(100)});
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("committed nothing in 10 passes"));
    EXPECT_EQ(counts_.unstored, 100u);
    EXPECT_EQ(counts_.rejected, 0u);
    EXPECT_EQ(dead(), "");
    EXPECT_EQ(waits_, (std::vector<std::int64_t>{500'000, 1'000'000, 2'000'000, 4'000'000, 8'000'000, 16'000'000,
                                                 30'000'000, 30'000'000, 30'000'000}));
}

TEST_F(Run, FailureOfTheNthAppendLosesAndDoublesNothing) {
    options_.sink.max_rows = 4;
    const std::string input = events(10);
    for (int nth = 1; nth <= 8; ++nth) {
        for (const Status& failure :
             {absl::UnavailableError("away"), absl::AbortedError("conflict"), absl::UnknownError("lost ack")}) {
            for (const bool landed : {false, true}) {
                if (landed && !absl::IsUnknown(failure)) continue;
                lake_.stored.clear();
                lake_.appends = 0;
                lake_.fail_from = nth;
                lake_.fail_until = nth + 1;
                lake_.failure = failure;
                lake_.landed_all_the_same = landed;
                ASSERT_TRUE(run({input}).ok()) << nth << failure;
                EXPECT_EQ(lake_.stored.size(), 10u) << nth << failure;
                for (const auto& [id, count] : lake_.stored) EXPECT_EQ(count, 1) << id << nth << failure;
                EXPECT_EQ(counts_.written + counts_.existing, 10u);
                EXPECT_EQ(counts_.rejected, 0u);
            }
        }
    }
}

TEST_F(Run, BundlesFollowTheRowLimitAndOneEach) {
    options_.sink.max_rows = 4;
    ASSERT_TRUE(run({events(6, "a"), events(5, "b")}).ok());
    EXPECT_EQ(lake_.bundles, (std::vector<std::size_t>{4, 4, 3}));
    EXPECT_EQ(counts_.bundles, 3u);
    EXPECT_EQ(counts_.last_snapshot, 3);
    ASSERT_TRUE(run({file({})}).ok());
    EXPECT_EQ(counts_.bundles, 0u);
    EXPECT_EQ(counts_.last_snapshot, std::nullopt);
}

TEST_F(Run, ExactRepeatsOfARunAreDropped) {
    ASSERT_TRUE(run({file({statusEvent("a"), statusEvent("a"), statusEvent("b")}), file({statusEvent("a")})}).ok());
    EXPECT_EQ(counts_.written, 2u);
    EXPECT_EQ(counts_.repeated, 2u);
    RepeatFilter filter(2);
    EXPECT_FALSE(filter.seen("1"));
    EXPECT_FALSE(filter.seen("2"));
    EXPECT_FALSE(filter.seen("3"));
    EXPECT_TRUE(filter.seen("2"));
    EXPECT_FALSE(filter.seen("4"));
    EXPECT_FALSE(filter.seen("1"));  // two generations ago
}

TEST_F(Run, EveryFormatAndGzip) {
    const std::string lines = statusEvent("a") + "\n" + statusEvent("b") + "\n";
    const std::string array = "[" + statusEvent("c") + ",\n" + statusEvent("d") + "]";
    const std::string single = "{\n" + statusEvent("e").substr(1);
    ASSERT_TRUE(run({folder_.write("1", lines), folder_.write("2", gzipped(array)), folder_.write("3", single),
                     folder_.write("4", gzipped(lines) + gzipped(statusEvent("f")))})
                    .ok());
    EXPECT_EQ(lake_.stored.size(), 6u);
    EXPECT_EQ(counts_.repeated, 2u);
}

TEST_F(Run, DamagedInputStoresWhatCameBeforeAndFails) {
    std::string text;
    for (int i = 0; i < 2000; ++i) text += statusEvent(strCat("e", i * 7919 % 100'003)) + "\n";
    const std::string packed = gzipped(text);
    const Status status = run({folder_.write("cut.gz", packed.substr(0, packed.size() / 2))});
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("cut.gz"));
    EXPECT_GT(lake_.stored.size(), 100u);
    EXPECT_EQ(counts_.written, lake_.stored.size());
    EXPECT_EQ(counts_.rejected, 0u);
}

TEST_F(Run, InputsAreCheckedBeforeAnythingIsStored) {
    EXPECT_TRUE(absl::IsNotFound(run({events(3), folder_.path("absent")})));
    EXPECT_TRUE(absl::IsInvalidArgument(run({events(3), folder_.path("dead")})));
    EXPECT_TRUE(absl::IsInvalidArgument(run({events(3), folder_.path("")})));
    EXPECT_TRUE(lake_.stored.empty());
}

TEST_F(Run, StandardInputIsCommittedByAgeAndAtItsEnd) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    options_.stdin_descriptor = ends[0];
    options_.stdin_age_micros = 1;
    std::thread reader([&] { EXPECT_TRUE(run({"-"}).ok()); });
    const std::string first = statusEvent("a") + "\n", second = statusEvent("b");
    ASSERT_EQ(::write(ends[1], first.data(), first.size()), static_cast<ssize_t>(first.size()));
    {
        std::unique_lock lock(lake_.mutex);
        lake_.changed.wait(lock,
                           [&] { return lake_.stored.size() == 1; });  // while the sender still holds the pipe open
    }
    ASSERT_EQ(::write(ends[1], second.data(), second.size()), static_cast<ssize_t>(second.size()));
    ::close(ends[1]);
    reader.join();
    ::close(ends[0]);
    EXPECT_EQ(lake_.stored.size(), 2u);
    EXPECT_EQ(counts_.bundles, 2u);
}

TEST_F(Run, InterruptionCommitsWhatWasRead) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    options_.stdin_descriptor = ends[0];
    const Cancel cancel = Cancel::root();
    const std::string text = statusEvent("a") + "\n";
    ASSERT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    // Standard input stays open and silent after its line, so only the cancellation can end the run.
    std::thread reader([&] { EXPECT_TRUE(absl::IsCancelled(run({events(1, "x"), "-"}, cancel))); });
    cancel.cancel();
    reader.join();
    ::close(ends[0]);
    ::close(ends[1]);
    EXPECT_EQ(counts_.written, counts_.read);
    EXPECT_EQ(counts_.unstored, 0u);
}

TEST(DeadLetterJson, KeepsEveryByte) {
    EXPECT_EQ(
        deadLetterJson({"f", 1, 2, 3, "e\"", "r\n", true}),
        "{\"file\":\"f\",\"line\":1,\"offset\":2,\"bytes\":3,\"error\":\"e\\\"\",\"raw\":\"r\\n\",\"raw_cut\":true}\n");
    EXPECT_THAT(deadLetterJson({"f", 1, 2, 1, "e", "\xff", false}), ::testing::HasSubstr("\"raw_base64\":\"/w==\""));
}

TEST(DeadLetterFile, IsAppendedToAndPrivate) {
    TempFolder folder;
    for (int i = 0; i < 2; ++i) {
        auto file = DeadLetterFile::open(folder.path("dead"));
        ASSERT_TRUE((*file)->write({"f", 1, 0, 1, "e", "r", false}).ok());
        ASSERT_TRUE((*file)->sync().ok());
    }
    const std::string text = folder.read("dead");
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_FALSE(DeadLetterFile::open(folder.path("no/such/folder")).ok());
    auto full = DeadLetterFile::open("/dev/full");
    ASSERT_TRUE((*full)->write({"f", 1, 0, 1, "e", "r", false}).ok());
    EXPECT_FALSE((*full)->sync().ok());
}

TEST(Progress, Text) {
    EXPECT_EQ(progressText({1'234'567, 10 * kMicrosPerSecond, 0, std::nullopt}), "1,234,567 events  123,456/s");
    EXPECT_EQ(progressText({100, 10 * kMicrosPerSecond, 25, 100}), "100 events  10/s  25 %  0:30 left");
    EXPECT_EQ(progressText({100, 3600 * kMicrosPerSecond, 25, 100}), "100 events  0/s  25 %  3:00:00 left");
    EXPECT_EQ(progressText({0, 0, 0, 100}), "0 events  0/s  0 %");
}

TEST(Progress, LineIsQuietWithoutATerminalAndClearsItself) {
    ManualClock clock(0);
    std::ostringstream quiet, shown;
    ProgressLine off(quiet, false, clock);
    {
        ProgressLine on(shown, true, clock);
        on.update(1, 0, std::nullopt);
        EXPECT_EQ(shown.str(), "");
        clock.advance(kMicrosPerSecond);
        on.update(1, 0, std::nullopt);
        off.update(1, 0, std::nullopt);
        on.update(2, 0, std::nullopt);
        EXPECT_EQ(shown.str(), "\r1 events  1/s");
    }
    EXPECT_EQ(shown.str(), "\r1 events  1/s\r             \r");
    EXPECT_EQ(quiet.str(), "");
}

}  // namespace
}  // namespace dq::ingest
