// What the race tests share: how long, which seed, the clock, a lake with a decoder's options, waiting for rest.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "core/log.h"
#include "feeder.h"
#include "lake/temp_lake_testing.h"
#include "materialize/materializer.h"
#include "reader.h"

namespace dq::race {

// DQ_RACE_SECONDS, 60 by default.
std::int64_t raceMicros();
// DQ_RACE_SEED, else a random one.
std::uint64_t raceSeed();

// Near the times of the events; elapsed time is real.
class RaceClock final : public Clock {
  public:
    Micros now() const override { return kNow + steadyMicros() - began_; }
    std::int64_t steadyMicros() const override { return systemClock().steadyMicros(); }

  private:
    const std::int64_t began_ = systemClock().steadyMicros();
};

decode::Options decodeOptions(const Clock& clock);
// Small windows and spans, short intervals.
materialize::MaterializerOptions materializerOptions(std::mt19937_64& random);
// Value of a metric; 0 while it is absent.
double metricOf(const Metrics& metrics, const std::string& name);

class RaceTest : public testing::TestWithParam<lake::CatalogKind> {
  protected:
    void SetUp() override;
    void TearDown() override;

    // With small inserts of append-only tables kept as rows of the catalog, or without, as the seed says. A table that
    // was created with inlining on and laid out after that has two tables of inlined rows, of which maintenance drops
    // one.
    // Gives that number of rows, 0 without.
    int createRawEvents(Feeder& feeder);
    // Where feeder and maintenance work: on PostgreSQL an engine instance of their own, as another process has; a
    // catalog file admits one.
    lake::Lake& outside();
    // Stops the race; the first text is reported.
    void violated(const std::string& what);
    // Waits until everything up to `snapshot` is decoded and no subject is marked, or `stop_` is cancelled.
    void waitForRest(lake::Lake& lake, std::int64_t snapshot, std::int64_t longest = 300 * kMicrosPerSecond);

    const std::uint64_t seed_ = raceSeed();
    std::mt19937_64 random_{seed_};
    RaceClock clock_;
    Cancel stop_ = Cancel::root();
    std::optional<lake::TempLake> lake_;
    Sent sent_;

  private:
    std::unique_ptr<lake::Lakes> others_;
    std::optional<testing::ScopedTrace> trace_;
    std::optional<LogCapture> log_;
};

// "text (3 times); …" of counted errors, "none" without.
std::string listErrors(const std::map<std::string, int>& errors);

}  // namespace dq::race
