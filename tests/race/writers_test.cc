// Two decoders contend for one PostgreSQL catalog, each killed and replaced again and again: every row once.
//
// A decoder ends in one of two ways: it is cancelled and frees its lease, or it is dropped in the middle of a pass and
// leaves the lease behind. The other takes a lease over after a fraction of a second, so it also takes it from
// decoders that still live.
#include "core/status.h"
#include "core/text.h"
#include "race_testing.h"

namespace dq::race {
namespace {

class WritersTest : public RaceTest {
  protected:
    struct Totals {
        std::atomic<std::int64_t> lives = 0, killed = 0, fenced = 0, conflicts = 0, failed_passes = 0;
    };

    // Lives of one decoder after another, over an engine instance of its own, until `until` is cancelled. None is cut
    // short any more once `in_peace` is.
    void decode(std::uint64_t seed, const Cancel& in_peace, const Cancel& until) {
        std::mt19937_64 random(seed);
        auto lakes = lake::Lakes::open(lake_->config(), /*writer=*/true);
        if (!lakes.ok()) return violated(strCat("open: ", lakes.status().message()));
        while (!until.cancelled()) {
            ++totals_.lives;
            auto options = materializerOptions(random);
            options.span.max_snapshots =
                1 + static_cast<int>(random() % 3);  // what a life ends is read again by the next
            options.writer.takeover_micros =
                (random() % 3 == 0 ? 50'000 : 300'000) + static_cast<std::int64_t>(random() % 500'000);
            if (in_peace.cancelled()) options.writer.takeover_micros = 3 * kMicrosPerSecond;
            options.writer.backoff_micros = 5'000;
            Metrics metrics;
            materialize::Materializer decoder((*lakes)->writer(), decodeOptions(clock_), options, metrics, clock_);
            if (!decoder.prepare(until).ok()) continue;  // cancelled, or a conflict of two boots
            const std::int64_t micros = 50'000 + static_cast<std::int64_t>(random() % 4'000'000);
            const Cancel life = in_peace.cancelled() ? until : until.withTimeout(micros);
            if (random() % 2 == 0 || in_peace.cancelled()) {
                ignore(decoder.run(life), "ends when its life does");
            } else {
                ++totals_.killed;
                dropped(decoder, life, options.poll_interval);
            }
            totals_.fenced += lost(metrics, "fenced") + lost(metrics, "cursor");
            totals_.conflicts += lost(metrics, "conflict");
            totals_.failed_passes += static_cast<std::int64_t>(metricOf(metrics, "dq_materializer_pass_errors_total"));
        }
    }

    // Passes and flushes without the clean end of run().
    static void dropped(materialize::Materializer& decoder, const Cancel& life, std::int64_t poll) {
        while (!life.cancelled()) {
            const auto pass = decoder.pass(life);
            using State = materialize::PassResult::State;
            if (pass.ok() && pass->state == State::kProgress) continue;
            life.waitFor(poll);
        }
    }

    static std::int64_t lost(const Metrics& metrics, const std::string& reason) {
        return static_cast<std::int64_t>(
            metricOf(metrics, strCat("dq_materializer_lost_races_total{reason=\"", reason, "\"}")));
    }

    Totals totals_;
};

INSTANTIATE_TEST_SUITE_P(Catalogs, WritersTest, testing::Values(lake::CatalogKind::kPostgres), lake::catalogName);

TEST_P(WritersTest, EveryRowOnceWithTwoDecodersKilledAndReplaced) {
    {
        Metrics metrics;
        materialize::Materializer first(lake_->writer(), decodeOptions(clock_), {}, metrics, clock_);
        const Status prepared = first.prepare(Cancel::root());
        ASSERT_TRUE(prepared.ok()) << prepared;
    }
    Feeder feeder(lake_->writer(), sent_, random_());
    createRawEvents(feeder);
    Reader reader(lake_->lakes().reader(), sent_);
    const Cancel reading = stop_.child(), in_peace = Cancel::root(), decoding = Cancel::root();
    const std::uint64_t seeds[] = {random_(), random_()};
    std::thread one([&] { decode(seeds[0], in_peace, decoding); });
    std::thread two([&] { decode(seeds[1], in_peace, decoding); });
    std::thread looking([&] { reader.run(reading, [&](const std::string& what) { violated(what); }); });
    std::thread feeding([&] { feeder.run(stop_.withTimeout(raceMicros())); });
    feeding.join();
    in_peace.cancel();
    waitForRest(lake_->lakes().reader(), feeder.lastSnapshot());
    reading.cancel();
    looking.join();
    decoding.cancel();
    one.join();
    two.join();

    if (!HasFailure()) {
        const auto found = reader.look(/*all=*/true);
        ASSERT_TRUE(found.ok()) << found.status();
        EXPECT_EQ(*found, "") << "at rest";
    }
    const std::string summary = strCat(
        sent_.count(kSignals), " signals and ", sent_.count(kEvents), " events of ", feeder.rows(), " raw rows in ",
        feeder.bundles(), " bundles; ", lake_->number("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"),
        " commits; ", reader.checked(), " snapshots checked; ", totals_.lives.load(), " lives of decoders, ",
        totals_.killed.load(), " left their lease behind; ", totals_.fenced.load(), " windows fenced, ",
        totals_.conflicts.load(), " repeated, ", totals_.failed_passes.load(),
        " failed passes; reads cut short: ", listErrors(reader.errors()));
    std::printf("writers, seed %llu: %s\n", static_cast<unsigned long long>(seed_), summary.c_str());
}

}  // namespace
}  // namespace dq::race
