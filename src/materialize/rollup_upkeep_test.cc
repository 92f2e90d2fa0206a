// Rollups kept by the loop: rows equal a recompute, marks survive crashes. Numbers are those of the acceptance cases
// of rollups.md.
#include <gmock/gmock.h>

#include <random>
#include <thread>

#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

using lake::payloadRow;
using lake::statusRow;
using testing::ElementsAre;

constexpr Micros kMinute = 60 * kMicrosPerSecond;

using RollupUpkeep = MaterializeTest;
INSTANTIATE_TEST_SUITE_P(Catalogs, RollupUpkeep,
                         testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres), lake::catalogName);

cloudevent::Row fixRow(int vehicle, const std::string& id, Micros time, double lat, double lon) {
    return payloadRow(vehicle, "dimo.status", id, time,
                      strCat(R"({"signals":[{"name":"currentLocationCoordinates","timestamp":")", formatRfc3339(time),
                             R"(","value":{"latitude":)", lat, R"(,"longitude":)", lon, R"(,"hdop":1}}]})"));
}
cloudevent::Row eventRow(int vehicle, const std::string& id, Micros time, const std::string& name,
                         const std::string& source = "") {
    auto row =
        payloadRow(vehicle, "dimo.events", id, time,
                   strCat(R"({"events":[{"name":")", name, R"(","timestamp":")", formatRfc3339(time), R"("}]})"));
    if (!source.empty()) row.source = source;
    return row;
}

TEST_P(RollupUpkeep, Acceptance01_02_03_04_CountsAndWinners) {
    boot();
    append({statusRow(1, "c2", kStart, "speed", 41), statusRow(1, "c1", kStart, "speed", 40)});
    append({statusRow(1, "c3", kStart + 10 * kMinute, "speed", 80),
            statusRow(1, "c3", kStart + 10 * kMinute, "speed", 80)});
    append({statusRow(1, "c4", kStart + kMinute, "speed", 5)});
    drain();
    flush();
    EXPECT_THAT(lake_->rows("SELECT value_number, \"count\", first_seen FROM lake.signals_latest"),
                ElementsAre("80.0|3|2026-10-20 00:00:00+00"));
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(RollupUpkeep, Acceptance09_10_11_Fixes) {
    boot();
    append({fixRow(1, "f1", kStart + 5 * kMinute, 42, -83), statusRow(1, "s", kStart + 9 * kMinute, "speed", 1),
            fixRow(1, "f0", kStart + kMinute, 1, 1), fixRow(1, "f2", kStart + 7 * kMinute, 0, 0)});
    append({fixRow(2, "b", kStart, 42, -83), fixRow(2, "a", kStart, 0, 0)});
    drain();
    flush();
    EXPECT_THAT(lake_->rows(
                    R"(SELECT loc_lat, loc_lon, loc_ts, "timestamp", "count" FROM lake.signals_latest WHERE name =
                'currentLocationCoordinates' ORDER BY subject)"),
                ElementsAre("42.0|-83.0|2026-10-20 00:05:00+00|2026-10-20 00:07:00+00|3",
                            "42.0|-83.0|2026-10-20 00:00:00+00|2026-10-20 00:00:00+00|1"));
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(RollupUpkeep, Acceptance08_16_OldReadings) {
    boot();
    append({statusRow(1, "new", kStart, "speed", 7)});
    drain();
    flush();
    append({statusRow(1, "old", kStart - 100 * kMicrosPerDay, "speed", 3),
            statusRow(2, "ancient", -3'600 * kMicrosPerSecond, "speed", 1)});
    drain();
    flush();
    EXPECT_THAT(lake_->rows("SELECT value_number, \"count\", first_seen FROM lake.signals_latest ORDER BY subject"),
                ElementsAre("7.0|2|2026-07-12 00:00:00+00", "1.0|1|1969-12-31 23:00:00+00"));
}

TEST_P(RollupUpkeep, Acceptance18_OnlyTouchedSubjectsChange) {
    boot();
    append({statusRow(1, "a", kStart, "speed", 1), statusRow(2, "b", kStart, "speed", 2),
            statusRow(3, "c", kStart, "speed", 3)});
    drain();
    flush();
    // A row nobody touches keeps a value that no recompute would give.
    lake_->run(strCat("UPDATE lake.signals_latest SET value_number = 99 WHERE subject = '", lake::subjectOf(2), "'"));
    append({statusRow(1, "d", kStart + kMinute, "speed", 10)});
    drain();
    flush();
    EXPECT_THAT(lake_->rows("SELECT value_number FROM lake.signals_latest ORDER BY subject"),
                ElementsAre("10.0", "99.0", "3.0"));
}

TEST_P(RollupUpkeep, Acceptance20_27_RebuildGivesTheSameRows) {
    boot();
    for (int i = 0; i < 5; ++i)
        append(
            {statusRow(i, strCat("a", i), kStart + i, "speed", i), fixRow(i, strCat("f", i), kStart + i, 10 + i, 20)});
    drain();
    flush();
    const auto before = lake_->rows("FROM lake.signals_latest ORDER BY ALL");
    lake_->run("DELETE FROM lake.signals_latest");
    ASSERT_TRUE(materializer_->rebuildRollups(Cancel::root()).ok());
    EXPECT_EQ(lake_->rows("FROM lake.signals_latest ORDER BY ALL"), before);
}

TEST_P(RollupUpkeep, Acceptance21_22_EventCounts) {
    boot();
    const std::string block = "security.engineBlock", unblock = "security.engineUnblock";
    append({eventRow(1, "a", kStart + 1, block), eventRow(1, "b", kStart + 2, unblock),
            eventRow(1, "c", kStart + 3, block), eventRow(1, "dup", kStart + 1, block), eventRow(2, "d", kStart, block),
            eventRow(2, "e", kStart, block, "0x7777777777777777777777777777777777777777")});
    drain();
    flush();
    EXPECT_THAT(lake_->rows("SELECT name, \"count\" FROM lake.events_latest ORDER BY subject, name"),
                ElementsAre("security.engineBlock|2", "security.engineUnblock|1", "security.engineBlock|2"));
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(RollupUpkeep, Acceptance23_24_MissingEventsRollupIsBuiltAtBoot) {
    boot();
    append({eventRow(1, "a", kStart, "behavior.harshBraking")});
    drain();
    flush();
    lake_->run("DROP TABLE lake.events_latest");
    lake_->run(R"(DELETE FROM lake.ingest_progress WHERE "partition" = 'lake.events_latest#complete')");
    boot();
    flush();
    EXPECT_THAT(lake_->rows("SELECT name, \"count\" FROM lake.events_latest"), ElementsAre("behavior.harshBraking|1"));
}

TEST_P(RollupUpkeep, Acceptance26_KillBeforeTheFlushLosesNothing) {
    boot();
    append({eventRow(1, "a", kStart, "behavior.harshBraking"), statusRow(1, "s", kStart, "speed", 3)});
    drain();
    EXPECT_EQ(count("events_latest"), 0);
    boot();  // the dirty sets of the process are gone, its marks are not
    flush();
    EXPECT_EQ(rollupDifference(), "");
    EXPECT_EQ(count("events_latest"), 1);
    EXPECT_EQ(count("signals_dirty_subjects") + count("events_dirty_subjects"), 0);
}

TEST_P(RollupUpkeep, Acceptance27_ReferenceLakeWithoutLocationTimes) {
    boot();
    append({fixRow(1, "f", kStart, 42, -83)});
    drain();
    flush();
    lake_->run("UPDATE lake.signals_latest SET loc_ts = NULL");
    boot();
    flush();
    EXPECT_EQ(rollupDifference(), "");
}

// Nothing is left to decode and no commit comes: the loop must still outwait the dead writer's lease and flush.
TEST_P(RollupUpkeep, MarksOfAKilledWriterAreFlushedOnceItsLeaseHasAged) {
    boot();
    append({statusRow(1, "a", kStart, "speed", 1), eventRow(1, "b", kStart, "behavior.harshBraking")});
    drain();
    MaterializerOptions options;
    options.poll_interval = 1'000;
    options.rollup_interval = 1;
    options.writer.takeover_micros = 30 * kMicrosPerSecond;
    boot(options, /*takeover_at_once=*/false);
    const Cancel stop = Cancel::root();
    std::thread loop([&] { EXPECT_TRUE(materializer_->run(stop).ok()); });
    const auto marks = [&] { return count("signals_dirty_subjects") + count("events_dirty_subjects"); };
    for (int turn = 0; turn < 2'000 && marks() > 0; ++turn) clock_.advance(kMicrosPerSecond);
    stop.cancel();
    loop.join();
    EXPECT_EQ(marks(), 0);
    EXPECT_EQ(rollupDifference(), "");
}

TEST_P(RollupUpkeep, FlushWithoutMarksMintsNothing) {
    boot();
    append({statusRow(1, "a", kStart, "speed", 1)});
    drain();
    flush();
    const std::int64_t before = lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')");
    flush();
    EXPECT_EQ(lake_->number("SELECT count(*) FROM ducklake_snapshots('lake')"), before);
}

TEST_P(RollupUpkeep, Acceptance12_RandomRoundsStayExact) {
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE(strCat("seed ", seed));
    std::mt19937 random(seed);
    std::vector<cloudevent::Row> sent;
    for (int round = 0; round < 12; ++round) {
        MaterializerOptions options;
        options.limits.window_rows = 2 + random() % 5;
        options.limits.workers = 1 + static_cast<int>(random() % 3);
        const bool crash = random() % 3 == 0;
        if (crash) options.limits.after_window = [](int) { return absl::InternalError("killed"); };
        boot(options);
        std::vector<cloudevent::Row> bundle;
        for (int i = 0; i < 12; ++i) {
            if (!sent.empty() && random() % 4 == 0) {
                bundle.push_back(sent[random() % sent.size()]);  // redelivery
                continue;
            }
            const int vehicle = static_cast<int>(random() % 3);
            const Micros time = kStart + static_cast<Micros>(random() % 40) * kMinute;  // disorder and collisions
            const std::string id = strCat("i", random() % 50);
            switch (random() % 3) {
                case 0:
                    bundle.push_back(statusRow(vehicle, id, time, "speed", static_cast<double>(random() % 100)));
                    break;
                case 1: bundle.push_back(fixRow(vehicle, id, time, static_cast<double>(random() % 2) * 42, 0)); break;
                default: bundle.push_back(eventRow(vehicle, id, time, "behavior.harshBraking"));
            }
            sent.push_back(bundle.back());
        }
        append(bundle);
        if (crash) {
            ignore(materializer_->drain(Cancel::root()).status(), "killed on purpose");
            boot();
        }
        drain();
        if (round % 4 == 3) {
            flush();
            ASSERT_EQ(rollupDifference(), "") << "round " << round;
        }
    }
}

}  // namespace
}  // namespace dq::materialize
