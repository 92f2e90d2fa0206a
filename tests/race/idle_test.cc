// A decoder with nothing to do leaves no trace: no snapshot, no file.
#include <filesystem>

#include "core/status.h"
#include "core/text.h"
#include "race_testing.h"

namespace dq::race {
namespace {

constexpr int kPolls = 200;

class IdleTest : public RaceTest {
  protected:
    // Files of the data folder and snapshots of the catalog.
    std::string traces() {
        std::size_t files = 0;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(lake_->folder() + "/data"))
            files += entry.is_regular_file() ? 1 : 0;
        return strCat(files, " files, ", lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')"),
                      " snapshots, head ", lake_->number("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"));
    }
};

INSTANTIATE_TEST_SUITE_P(Catalogs, IdleTest, testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres),
                         lake::catalogName);

TEST_P(IdleTest, TwoHundredPollsMintNoSnapshotAndNoFile) {
    auto options = materializerOptions(random_);
    options.poll_interval = 1'000;
    options.rollup_interval = 1;
    const Cancel live = Cancel::root();
    const auto decoder = [&](Metrics& metrics) {
        auto made = std::make_unique<materialize::Materializer>(lake_->writer(), decodeOptions(clock_), options,
                                                                metrics, clock_);
        const Status prepared = made->prepare(live);
        EXPECT_TRUE(prepared.ok()) << prepared;
        return made;
    };
    const auto poll = [&](materialize::Materializer& of) {
        for (int i = 0; i < kPolls; ++i) {
            const auto pass = of.pass(live);
            ASSERT_TRUE(pass.ok()) << pass.status();
            ASSERT_EQ(pass->rows, 0);
            if (i % 10 != 0) continue;
            const Status flushed = of.flush(live);
            ASSERT_TRUE(flushed.ok()) << flushed;
        }
    };

    Metrics metrics;
    auto first = decoder(metrics);
    const std::string empty = traces();
    poll(*first);
    EXPECT_EQ(traces(), empty) << "before there are raw events";

    Feeder feeder(lake_->writer(), sent_, random_());
    feeder.prepare();
    feeder.run(Cancel::root().withTimeout(300'000));
    const auto drained = first->drain(live);
    ASSERT_TRUE(drained.ok()) << drained.status();
    ASSERT_TRUE(first->flush(live).ok());
    ASSERT_TRUE(first->drain(live).ok());
    const std::string rest = traces();
    poll(*first);
    EXPECT_EQ(traces(), rest) << "after a drain";
    first->release();
    first.reset();

    const std::string released = traces();
    Metrics later_metrics;
    auto later = decoder(later_metrics);
    poll(*later);
    EXPECT_EQ(traces(), released) << "a later process over the same lake";

    // The loop itself: 1 ms between polls, so a second holds the 200 on any machine that decodes at all.
    ASSERT_TRUE(later->run(Cancel::root().withTimeout(2 * kMicrosPerSecond)).ok());
    EXPECT_EQ(traces(), released) << "the running loop";
}

}  // namespace
}  // namespace dq::race
