// A lake with a materializer over it, for tests.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text.h"
#include "lake/raw_events.h"
#include "lake/tables.h"
#include "lake/temp_lake_testing.h"
#include "materialize/materializer.h"

namespace dq::materialize {

inline constexpr Micros kStart = 1'792'454'400LL * kMicrosPerSecond;  // 2026-10-20T00:00:00Z

class MaterializeTest : public testing::TestWithParam<lake::CatalogKind> {
  protected:
    void SetUp() override {
        if (lake::TempLake::unavailable(GetParam())) GTEST_SKIP() << "no PostgreSQL: DQ_TEST_POSTGRES_DSN is not set";
        lake_.emplace(GetParam());
    }
    void TearDown() override {
        materializer_.reset();
        lake_.reset();
    }
    // A new process over the same lake.
    void boot(MaterializerOptions options = {}, bool takeover_at_once = true) {
        materializer_.reset();
        metrics_ = std::make_unique<Metrics>();
        if (takeover_at_once) options.writer.takeover_micros = 0;
        decode_.clock = &clock_;
        materializer_ = std::make_unique<Materializer>(lake_->writer(), decode_, options, *metrics_, clock_);
        const auto prepared = materializer_->prepare(Cancel::root());
        ASSERT_TRUE(prepared.ok()) << prepared;
    }
    std::int64_t append(const std::vector<cloudevent::Row>& rows) {
        EXPECT_TRUE(lake::ensureRawEvents(lake_->writer(), Cancel::root()).ok());
        const auto snapshot = lake::appendRawEvents(lake_->writer(), rows, Cancel::root());
        EXPECT_TRUE(snapshot.ok()) << snapshot.status();
        return snapshot.value_or(0);
    }
    std::int64_t drain() {
        const auto rows = materializer_->drain(Cancel::root());
        EXPECT_TRUE(rows.ok()) << rows.status();
        return rows.value_or(-1);
    }
    PassResult pass() {
        const auto result = materializer_->pass(Cancel::root());
        EXPECT_TRUE(result.ok()) << result.status();
        return result.value_or(PassResult{});
    }
    void flush() {
        const auto flushed = materializer_->flush(Cancel::root());
        ASSERT_TRUE(flushed.ok()) << flushed;
    }
    std::int64_t count(const std::string& table) { return lake_->number(strCat("SELECT count(*) FROM lake.", table)); }
    std::string cursor() {
        return lake_->value(
            R"(SELECT "cursor" FROM lake.ingest_progress WHERE "partition" = 'lake.raw_events#snapshot')");
    }
    double metric(const std::string& name) {
        const std::string text = metrics_->render();
        const auto at = text.find("\n" + name + " ");
        return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
    }
    // Rows of the rollups that differ from a recompute of the base tables; "" when none does.
    std::string rollupDifference();

    ManualClock clock_{kStart + 10 * kMicrosPerDay};
    decode::Options decode_;
    std::optional<lake::TempLake> lake_;
    std::unique_ptr<Metrics> metrics_;
    std::unique_ptr<Materializer> materializer_;
};

}  // namespace dq::materialize
