// What a failing engine call at any place of a pass leads to: nothing lost, nothing doubled, and the next pass goes on.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/fault.h"
#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

using engine::Call;
using engine::ErrorClass;
using testing::HasSubstr;

// Fails the n-th call that it counts, once.
class FailNth : public engine::FaultInjector {
  public:
    enum class When { kBefore, kAfter };
    FailNth(int nth, ErrorClass error, When when, std::optional<Call> only = std::nullopt)
        : nth_(nth), error_(error), when_(when), only_(only) {}
    Status before(Call call, std::string_view) override { return hit(call, When::kBefore); }
    Status after(Call call, std::string_view) override { return hit(call, When::kAfter); }
    bool fired() const { return fired_; }

  private:
    Status hit(Call call, When when) {
        if (when != when_ || (only_ && *only_ != call) || calls_++ != nth_) return absl::OkStatus();
        fired_ = true;
        return engine::faultOf(error_);
    }
    const int nth_;
    const ErrorClass error_;
    const When when_;
    const std::optional<Call> only_;
    std::atomic<int> calls_{0};
    std::atomic<bool> fired_{false};
};

class FaultsTest : public MaterializeTest {
  protected:
    static std::vector<cloudevent::Row> readings(int vehicle, int count) {
        std::vector<cloudevent::Row> rows;
        for (int i = 0; i < count; ++i)
            rows.push_back(lake::statusRow(vehicle, strCat("e", i), kStart + i * kMicrosPerSecond, "speed",
                                           static_cast<double>(i)));
        return rows;
    }
    // Everything the vehicle sent is at rest once, and the rollups agree.
    void expectExact(int vehicle, int rows) {
        EXPECT_EQ(
            lake_->number(strCat("SELECT count(*) FROM lake.signals WHERE subject = '", lake::subjectOf(vehicle), "'")),
            rows);
        EXPECT_EQ(lake_->number(strCat("SELECT count(DISTINCT cloud_event_id) FROM lake.signals WHERE subject = '",
                                       lake::subjectOf(vehicle), "'")),
                  rows);
        EXPECT_EQ(rollupDifference(), "");
    }
    void settle() {
        for (int attempt = 0; attempt < 5; ++attempt) {
            if (materializer_->drain(Cancel::root()).ok() && materializer_->flush(Cancel::root()).ok()) return;
        }
        ADD_FAILURE() << "does not come to rest";
    }
    MaterializerOptions smallWindows() {
        MaterializerOptions options;
        options.limits.window_rows = 3;
        options.writer.backoff_micros = 10;
        return options;
    }
};
INSTANTIATE_TEST_SUITE_P(Catalogs, FaultsTest, testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres),
                         lake::catalogName);

// Every call of a pass and of a flush in turn.
TEST_P(FaultsTest, TheNthCallFails) {
    boot(smallWindows());
    int vehicle = 0;
    bool fired = true;
    for (int nth = 0; fired; ++nth) {
        append(readings(++vehicle, 7));
        {
            FailNth fault(nth, nth % 2 == 0 ? ErrorClass::kUnavailable : ErrorClass::kOther, FailNth::When::kBefore);
            const engine::FaultScope scope(fault);
            ignore(materializer_->drain(Cancel::root()).status(), "it may fail, or recover by itself");
            ignore(materializer_->flush(Cancel::root()), "likewise");
            fired = fault.fired();
        }
        settle();
        if (nth % 10 == 0 || !fired) expectExact(vehicle, 7);
        ASSERT_LT(nth, 2000);
    }
    EXPECT_GT(vehicle, 20);
    EXPECT_EQ(count("signals"), vehicle * 7);
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(FaultsTest, Acceptance32_Acceptance39_LostAcknowledgementsHaveLanded) {
    boot(smallWindows());
    append(readings(1, 9));
    drain();
    for (int nth = 0; nth < 3; ++nth) {  // windows 0 and 1 are intermediate, 2 is the last
        append(readings(nth + 2, 9));
        const double before = metric("dq_materializer_landed_commits_total");
        {
            FailNth fault(nth, ErrorClass::kOutcomeUnknown, FailNth::When::kAfter, Call::kCommit);
            const engine::FaultScope scope(fault);
            EXPECT_GT(drain(), 0);
            EXPECT_TRUE(fault.fired());
        }
        EXPECT_EQ(metric("dq_materializer_landed_commits_total"), before + 1);
        EXPECT_GT(lake_->number("SELECT count(*) FROM lake.signals_dirty_subjects"), 0);
        settle();
        expectExact(nth + 2, 9);
    }
    EXPECT_EQ(metric("dq_materializer_pass_errors_total"), 0);
}

TEST_P(FaultsTest, Acceptance40_ACommitThatDidNotLandIsRepeatedWithoutDecodingAgain) {
    boot(smallWindows());
    append(readings(2, 1));
    drain();
    append(readings(1, 9));
    FailNth fault(1, ErrorClass::kOutcomeUnknown, FailNth::When::kBefore, Call::kCommit);
    {
        const engine::FaultScope scope(fault);
        EXPECT_EQ(drain(), 9);
    }
    EXPECT_TRUE(fault.fired());
    EXPECT_EQ(metric("dq_materializer_landed_commits_total"), 0);
    EXPECT_EQ(metric(R"(dq_materializer_lost_races_total{reason="conflict"})"), 1);
    EXPECT_EQ(metric(R"(dq_materializer_rows_total{table="signals"})"), 10);
    settle();
    expectExact(1, 9);
}

TEST_P(FaultsTest, AConflictAtCommitIsRetriedAndIsNoPassError) {
    boot(smallWindows());
    append(readings(2, 1));
    drain();
    append(readings(1, 9));
    {
        FailNth fault(0, ErrorClass::kConflict, FailNth::When::kBefore, Call::kCommit);
        const engine::FaultScope scope(fault);
        EXPECT_EQ(drain(), 9);
    }
    EXPECT_EQ(metric("dq_materializer_pass_errors_total"), 0);
    EXPECT_EQ(metric(R"(dq_materializer_lost_races_total{reason="conflict"})"), 1);
    settle();
    expectExact(1, 9);
}

// Short transactions lose fewer races: after three lost ones the windows that follow are smaller, until one succeeds.
TEST_P(FaultsTest, WindowsHalveAfterThreeFailuresInARow) {
    class FailFirst : public engine::FaultInjector {
      public:
        Status before(Call call, std::string_view) override {
            if (call != Call::kCommit || failed_ == 3) return absl::OkStatus();
            ++failed_;
            return engine::faultOf(ErrorClass::kConflict);
        }
        Status after(Call, std::string_view) override { return absl::OkStatus(); }

      private:
        std::atomic<int> failed_{0};
    };
    MaterializerOptions options;
    options.limits.window_rows = 4000;
    options.writer.backoff_micros = 10;
    boot(options);
    append(readings(2, 1));
    drain();
    std::vector<cloudevent::Row> rows;
    for (int i = 0; i < 12'000; ++i) rows.push_back(lake::statusRow(1, strCat("e", i), kStart + i, "speed", i));
    append(rows);
    FailFirst fault;
    const engine::FaultScope scope(fault);
    const PassResult result = pass();
    EXPECT_EQ(result.rows, 12'000);
    EXPECT_EQ(result.intermediate_windows, 3);  // 4000 after three failures, 2000 at once, 4000, and the last 2000
    EXPECT_EQ(metric(R"(dq_materializer_lost_races_total{reason="conflict"})"), 3);
    EXPECT_EQ(count("signals"), 12'001);
}

// The loop replaces a dead engine by itself; the file catalog's other side goes on with the new one.
TEST_P(FaultsTest, ADeadEngineIsReplacedAndThePassRepeated) {
    MaterializerOptions options = smallWindows();
    options.poll_interval = 20'000;
    boot(options);
    append(readings(1, 9));
    FailNth fault(2, ErrorClass::kEngineDead, FailNth::When::kBefore, Call::kStatement);
    const engine::FaultScope scope(fault);
    const Cancel cancel = Cancel::root();
    std::jthread loop([&] { ignore(materializer_->run(cancel), "cancelled below"); });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (materializer_->cursor() == 0 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    cancel.cancel();
    loop.join();
    EXPECT_TRUE(fault.fired());
    EXPECT_GT(materializer_->cursor(), 0);
    EXPECT_EQ(metric("dq_materializer_pass_errors_total"), 1);
    settle();
    expectExact(1, 9);
}

}  // namespace
}  // namespace dq::materialize
