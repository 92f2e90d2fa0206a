// Writer, feeder, maintenance and reader together on one lake: every row once, at every snapshot that can be seen.
//
// Runs for DQ_RACE_SECONDS. On PostgreSQL feeder and maintenance work through an engine instance of their own, as
// another process would; a catalog file admits one instance, so all share it there.
#include "core/status.h"
#include "core/text.h"
#include "maintainer.h"
#include "race_testing.h"

namespace dq::race {
namespace {

INSTANTIATE_TEST_SUITE_P(Catalogs, RaceTest, testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres),
                         lake::catalogName);

TEST_P(RaceTest, EveryRowOnceBesideMaintenance) {
    lake::Lake& outside = this->outside();

    Metrics metrics;
    materialize::Materializer materializer(lake_->writer(), decodeOptions(clock_), materializerOptions(random_),
                                           metrics, clock_);
    const Status prepared = materializer.prepare(Cancel::root());
    ASSERT_TRUE(prepared.ok()) << prepared;
    Feeder feeder(outside, sent_, random_());
    const bool inlined = createRawEvents(feeder) > 0;
    // The engine loses inlined rows of tables that are deleted from, and raw_events is made by others.
    Maintainer maintainer(outside, random_(), /*deletes=*/!inlined);
    Reader reader(lake_->lakes().reader(), sent_);

    const Cancel maintaining = stop_.child(), reading = stop_.child(), decoding = Cancel::root();
    std::thread writer([&] {
        const Status ended = materializer.run(decoding);
        if (!ended.ok()) violated(strCat("the loop ended by itself: ", ended.message()));
    });
    std::thread maintenance([&] { maintainer.run(maintaining); });
    std::thread looking([&] { reader.run(reading, [&](const std::string& what) { violated(what); }); });
    std::thread feeding([&] { feeder.run(stop_.withTimeout(raceMicros())); });
    feeding.join();
    maintaining.cancel();
    maintenance.join();
    waitForRest(lake_->lakes().reader(), feeder.lastSnapshot());
    reading.cancel();
    looking.join();
    decoding.cancel();
    writer.join();

    if (!HasFailure()) {
        const auto found = reader.look(/*all=*/true);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(*found, "") << "at rest";
    }
    EXPECT_GT(maintainer.done(), 0);
    const std::string summary = strCat(
        sent_.count(kSignals), " signals and ", sent_.count(kEvents), " events of ", feeder.rows(), " raw rows in ",
        feeder.bundles(), " bundles (", feeder.redelivered(), " delivered again, ", feeder.repeatedAppends(),
        " appends repeated); ", lake_->number("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"), " commits; ",
        reader.checked(), " snapshots checked; ", maintainer.done(), " maintenance runs, ", maintainer.conflicts(),
        " conflicts, ", maintainer.closerExpiries(), " expiries beyond the floor, ", maintainer.deleted(),
        " raw rows deleted, other errors: ", listErrors(maintainer.errors()),
        "; decoder: ", metricOf(metrics, R"(dq_materializer_lost_races_total{reason="conflict"})"),
        " windows repeated, ", metricOf(metrics, "dq_materializer_pass_errors_total"), " failed passes, ",
        metricOf(metrics, "dq_materializer_cursor_resets_total"),
        " spans out of the base table; reads cut short: ", listErrors(reader.errors()));
    std::printf("race %s, seed %llu: %s\n", lake::catalogName({GetParam(), 0}).c_str(),
                static_cast<unsigned long long>(seed_), summary.c_str());
}

}  // namespace
}  // namespace dq::race
