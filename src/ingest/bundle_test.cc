#include "ingest/bundle.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <stdexcept>

#include "core/status.h"
#include "core/text.h"

namespace dq::ingest {
namespace {

constexpr std::int64_t kMinute = 60 * kMicrosPerSecond;
constexpr std::uint64_t kMebibyte = 1024 * 1024;

// A lake in memory: refuses the named rows with the given error, counts attempts.
struct FakeLake {
    std::set<std::string> stored;
    std::set<std::string> refused;
    Status refusal = absl::InvalidArgumentError("refused");
    int fail_nth = 0;  // 1-based attempt that fails whatever it holds
    Status nth_failure = absl::UnavailableError("away");
    int attempts = 0;
    std::int64_t snapshot = 0;

    Append append() {
        return [this](std::span<const Row> rows, const Cancel&) -> StatusOr<std::int64_t> {
            ++attempts;
            if (attempts == fail_nth) return nth_failure;
            for (const Row& row : rows) {
                if (refused.contains(row.id)) return refusal;
            }
            for (const Row& row : rows) EXPECT_TRUE(stored.insert(row.id).second) << row.id << " was stored twice";
            return ++snapshot;
        };
    }
};

std::vector<Row> rowsNamed(std::initializer_list<const char*> ids) {
    std::vector<Row> rows;
    for (const char* id : ids) rows.emplace_back().id = id;
    return rows;
}

std::vector<Row> manyRows(int count) {
    std::vector<Row> rows;
    for (int i = 0; i < count; ++i) rows.emplace_back().id = std::to_string(i);
    return rows;
}

BundleResult commit(FakeLake& lake, const std::vector<Row>& rows, std::uint16_t delivered = 0) {
    return commitBundle(rows, std::vector<std::uint16_t>(rows.size(), delivered), lake.append(), Cancel::root());
}

TEST(Bundle, Acceptance16_Triggers) {
    const SinkSettings settings;
    EXPECT_FALSE(bundleDue(settings, 10, kMebibyte, 2 * kMinute));
    EXPECT_TRUE(bundleDue(settings, 10, 20 * kMebibyte, 2 * kMinute));
    EXPECT_TRUE(bundleDue(settings, 10, kMebibyte, 6 * kMinute));
    EXPECT_TRUE(bundleDue(settings, 100'000, 1, 0));
    EXPECT_TRUE(bundleDue(settings, 1, 128 * kMebibyte, 0));
    EXPECT_FALSE(bundleDue(settings, 99'999, 128 * kMebibyte - 1, 0));
    EXPECT_FALSE(bundleDue(settings, 0, 0, 60 * kMinute));
    Row row;
    row.data = std::string(1000, 'x');
    EXPECT_EQ(residentBytes(row), 1512u);
}

TEST(Bundle, Acceptance17_ResidentCeiling) {
    EXPECT_EQ(residentCeiling(128 * kMebibyte, 1), 512 * kMebibyte);
    EXPECT_EQ(residentCeiling(128 * kMebibyte, 2), 384 * kMebibyte);
    EXPECT_EQ(residentCeiling(128 * kMebibyte, 4), 384 * kMebibyte);
}

TEST(Bundle, Acceptance18_PoisonBetweenGoodRows) {
    FakeLake lake;
    lake.refused = {"poison"};
    const auto rows = rowsNamed({"a", "poison", "b"});
    const BundleResult result = commit(lake, rows);
    EXPECT_EQ(lake.stored, (std::set<std::string>{"a", "b"}));
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_EQ(result.faults[0].row, 1u);
    EXPECT_TRUE(result.faults[0].poison);
    EXPECT_EQ(result.snapshot, lake.snapshot);

    FakeLake shaky;
    shaky.refused = {"poison"};
    shaky.refusal = absl::UnavailableError("flaky");
    const BundleResult transient = commit(shaky, rows);
    EXPECT_EQ(shaky.stored, (std::set<std::string>{"a", "b"}));
    ASSERT_EQ(transient.faults.size(), 1u);
    EXPECT_FALSE(transient.faults[0].poison);
    FakeLake tenth;
    tenth.refused = {"poison"};
    tenth.refusal = absl::UnavailableError("flaky");
    EXPECT_FALSE(commit(tenth, rows, 8).faults.at(0).poison);
    tenth.stored.clear();
    EXPECT_TRUE(commit(tenth, rows, 9).faults.at(0).poison);
}

TEST(Bundle, Acceptance19_NothingIsPoisonWhenAllWritesFail) {
    for (const Status& failure :
         {absl::UnavailableError("away"), absl::InvalidArgumentError("no such column"), absl::InternalError("?"),
          absl::AbortedError("conflict"), absl::ResourceExhaustedError("memory")}) {
        FakeLake lake;
        for (const Row& row : manyRows(100)) lake.refused.insert(row.id);
        lake.refusal = failure;
        const BundleResult result = commit(lake, manyRows(100), 10);
        EXPECT_LE(lake.attempts, 8);
        ASSERT_EQ(result.faults.size(), 100u);
        for (std::size_t i = 0; i < 100; ++i) {
            EXPECT_EQ(result.faults[i].row, i);
            EXPECT_FALSE(result.faults[i].poison);
        }
    }
    FakeLake lake;
    int calls = 0;
    const Cancel cancel = Cancel::root();
    const Append cancelling = [&](std::span<const Row>, const Cancel&) -> StatusOr<std::int64_t> {
        if (++calls == 3) cancel.cancel();
        return absl::InvalidArgumentError("refused");
    };
    const auto rows = manyRows(100);
    const BundleResult cancelled = commitBundle(rows, {}, cancelling, cancel);
    EXPECT_EQ(cancelled.faults.size(), 100u);
    for (const RowFault& fault : cancelled.faults) EXPECT_FALSE(fault.poison);
    EXPECT_EQ(calls, 3);
}

// One row in a full bundle must not look like a writer that is down, wherever it lies.
TEST(Bundle, Complaint46_OnePoisonRowInALargeBundleIsFoundAtAnyPlace) {
    for (int place : {0, 1, 49'999, 50'000, 99'999}) {
        FakeLake lake;
        lake.refused = {std::to_string(place)};
        const BundleResult result = commit(lake, manyRows(100'000));
        ASSERT_EQ(result.faults.size(), 1u) << place;
        EXPECT_EQ(result.faults[0].row, static_cast<std::size_t>(place));
        EXPECT_TRUE(result.faults[0].poison);
        EXPECT_EQ(lake.stored.size(), 99'999u);
    }
}

TEST(Bundle, Complaint46_ARowAloneInItsBundleIsNeverPoisonForTheLakesWord) {
    FakeLake lake;
    lake.refused = {"a"};
    const BundleResult result = commit(lake, rowsNamed({"a"}), 50);
    ASSERT_EQ(result.faults.size(), 1u);
    EXPECT_FALSE(result.faults[0].poison);
    auto broken = rowsNamed({"a"});
    broken[0].data = "\xff";
    EXPECT_TRUE(commit(lake, broken).faults.at(0).poison);  // no lake could store it
}

TEST(Bundle, Acceptance21_DeterministicFaultOfOneRowIsOneAttempt) {
    FakeLake lake;
    lake.refused = {"a"};
    EXPECT_EQ(commit(lake, rowsNamed({"a"})).attempts, 1);
    EXPECT_EQ(lake.attempts, 1);
}

TEST(Bundle, UnknownOutcomeIsNotTakenApart) {
    FakeLake lake;
    lake.fail_nth = 1;
    lake.nth_failure = absl::UnknownError("the answer to COMMIT was lost");
    const BundleResult result = commit(lake, manyRows(10));
    EXPECT_EQ(lake.attempts, 1);
    EXPECT_EQ(result.faults.size(), 10u);
    EXPECT_TRUE(absl::IsUnknown(result.faults[0].reason));
}

TEST(Bundle, FailureOfTheNthAttemptLosesAndDoublesNothing) {
    const std::set<std::string> poison = {"0", "7", "31"};
    for (int nth = 1; nth <= 40; ++nth) {
        FakeLake lake;
        lake.refused = poison;
        lake.fail_nth = nth;
        std::vector<Row> pending = manyRows(32);
        std::set<std::string> dead;
        for (int pass = 0; pass < 5 && !pending.empty(); ++pass) {
            const BundleResult result = commit(lake, pending, static_cast<std::uint16_t>(pass));
            std::vector<Row> next;
            for (const RowFault& fault : result.faults) {
                if (fault.poison) {
                    dead.insert(pending[fault.row].id);
                } else {
                    next.push_back(pending[fault.row]);
                }
            }
            pending = std::move(next);
        }
        for (const std::string& id : dead)
            EXPECT_TRUE(poison.contains(id)) << "healthy row " << id << " dropped, n " << nth;
        EXPECT_EQ(lake.stored.size(), 29u) << nth;
        EXPECT_EQ(dead.size() + pending.size(), 3u) << nth;
    }
}

TEST(Bundle, RandomFaultsKeepEveryHealthyRow) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE(strCat("seed ", seed));
    std::mt19937 random(seed);
    for (int round = 0; round < 300; ++round) {
        FakeLake lake;
        const int count = 1 + static_cast<int>(random() % 200);
        for (int i = 0; i < count; ++i) {
            if (random() % 20 == 0) lake.refused.insert(std::to_string(i));
        }
        const auto rows = manyRows(count);
        const BundleResult result = commit(lake, rows);
        EXPECT_EQ(lake.stored.size() + result.faults.size(), rows.size());
        for (const RowFault& fault : result.faults) {
            EXPECT_TRUE(!fault.poison || lake.refused.contains(rows[fault.row].id));
        }
    }
}

TEST(Bundle, EmptyBundleMakesNoAttemptAndAThrowIsAFault) {
    FakeLake lake;
    EXPECT_EQ(commit(lake, {}).attempts, 0);
    EXPECT_EQ(lake.attempts, 0);
    const Append throwing = [](std::span<const Row>, const Cancel&) -> StatusOr<std::int64_t> {
        throw std::runtime_error("no");
    };
    const auto rows = rowsNamed({"a"});
    const BundleResult result = commitBundle(rows, {}, throwing, Cancel::root());
    EXPECT_TRUE(absl::IsInternal(result.faults.at(0).reason));
}

}  // namespace
}  // namespace dq::ingest
