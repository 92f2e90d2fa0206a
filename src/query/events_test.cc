// Acceptance cases of queries.md §9 about events and their summaries.
#include "core/text.h"
#include "query/lake_testing.h"

namespace dq::query {
namespace {

class Events : public LakeTest {
  protected:
    static EventsQuestion window(Micros from = kDay, Micros to = kDay + 3 * kMicrosPerDay) {
        EventsQuestion q;
        q.subject = kSubject;
        q.from = from;
        q.to = to;
        return q;
    }
    std::vector<std::string> names(const EventsQuestion& q) {
        std::vector<std::string> out;
        for (const Event& event : events(q)) out.push_back(event.name);
        return out;
    }
    std::size_t tagged(const ListFilter& filter) {
        EventsQuestion q = window();
        q.tags = filter;
        return events(q).size();
    }
    std::size_t named(const TextFilter& filter) {
        EventsQuestion q = window();
        q.name = filter;
        return events(q).size();
    }
    static std::size_t observations(const std::string& metrics, const std::string& op) {
        const std::string key = strCat("dq_lake_read_seconds_count{op=\"", op, "\"} ");
        const std::size_t found = metrics.find(key);
        return found == std::string::npos ? 0 : static_cast<std::size_t>(std::stoi(metrics.substr(found + key.size())));
    }
};
using Names = std::vector<std::string>;

TEST_P(Events, Acceptance15_NewestFirstInAHalfOpenWindow) {
    lake_->add({EventRow{"trip.start", at(10, 0)}, EventRow{"harsh.brake", at(11, 0)}, EventRow{"trip.end", at(12, 0)},
                EventRow{"harsh.brake", at(33, 0)}, EventRow{"no.tags", at(34, 0)}});
    EXPECT_EQ(names(window()), (Names{"no.tags", "harsh.brake", "trip.end", "harsh.brake", "trip.start"}));
    EXPECT_EQ(names(window(at(11, 0), at(33, 0))), (Names{"trip.end", "harsh.brake"}));
    EXPECT_TRUE(names(window(at(11, 0), at(11, 0))).empty());
}

TEST_P(Events, EqualTimesGoByNameThenSource) {
    lake_->add({EventRow{"b.x", at(1, 0), "s1"}, EventRow{"a.x", at(1, 0), "s2"}, EventRow{"a.x", at(1, 0), "s1"}});
    const auto rows = events(window());
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].name + rows[0].source, "a.xs1");
    EXPECT_EQ(rows[1].name + rows[1].source, "a.xs2");
    EXPECT_EQ(rows[2].name + rows[2].source, "b.xs1");
}

TEST_P(Events, LowestIdWinsAndNullsRead) {
    EventRow first{"a.x", at(1, 0), "s1", "a", 5, "first"}, second{"a.x", at(1, 0), "s1", "b", 6, "second"};
    EventRow nulls{"n.x", at(2, 0)};
    nulls.source = std::nullopt;
    nulls.duration_ns = std::nullopt;
    nulls.metadata = std::nullopt;
    nulls.tags = std::nullopt;
    EventRow long_one{"z.x", at(0, 0)};
    long_one.duration_ns = 18'446'744'073'709'551'615ull;
    lake_->add({second, first, nulls, long_one});
    const auto rows = events(window());
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].name, "n.x");
    EXPECT_EQ(rows[0].source + rows[0].metadata, "");
    EXPECT_EQ(rows[0].duration_ns, 0u);
    EXPECT_EQ(rows[1].metadata, "first");
    EXPECT_EQ(rows[1].duration_ns, 5u);
    EXPECT_EQ(rows[2].duration_ns, 18'446'744'073'709'551'615ull);
}

TEST_P(Events, Acceptance16_Tags) {
    const auto row = [](std::string name, std::optional<std::vector<std::string>> tags) {
        EventRow out{std::move(name), at(1, 0)};
        out.tags = std::move(tags);
        return out;
    };
    lake_->add({row("a.a", Names{"trip"}), row("a.b", Names{"driving", "safety"}), row("a.c", Names{"safety"}),
                row("a.d", Names{})});
    ListFilter trip, safety, any;
    trip.contains_any = {"trip"};
    safety.contains_any = {"safety"};
    any.any_of = {trip, safety};
    EXPECT_EQ(tagged(safety), 2u);
    ListFilter all;
    all.contains_all = {"driving", "safety"};
    EXPECT_EQ(tagged(all), 1u);
    ListFilter none;
    none.not_contains_any = {"trip"};
    EXPECT_EQ(tagged(none), 3u);
    EXPECT_EQ(tagged(any), 3u);
    ListFilter not_all;
    not_all.not_contains_all = {"driving", "safety"};
    EXPECT_EQ(tagged(not_all), 3u);
    EXPECT_EQ(tagged(ListFilter{}), 4u);
    lake_->add({row("a.e", std::nullopt)});  // NULL satisfies nothing
    EXPECT_EQ(tagged(none), 3u);
    EXPECT_EQ(tagged(not_all), 3u);
    EXPECT_EQ(tagged(ListFilter{}), 5u);
}

TEST_P(Events, TagsDecideOnTheWinner) {
    EventRow winner{"a.x", at(1, 0), "s1", "a"}, loser{"a.x", at(1, 0), "s1", "b"};
    winner.tags = Names{"new"};
    loser.tags = Names{"old"};
    lake_->add({winner, loser});
    ListFilter old_tag, new_tag;
    old_tag.contains_any = {"old"};
    new_tag.contains_any = {"new"};
    EXPECT_EQ(tagged(old_tag), 0u);
    EXPECT_EQ(tagged(new_tag), 1u);
}

TEST_P(Events, Acceptance17_NamesAndSources) {
    lake_->add({EventRow{"trip.start", at(1, 0)}, EventRow{"trip.end", at(2, 0), "s2"},
                EventRow{"harsh.brake", at(3, 0)}, EventRow{"tr%p_\\", at(4, 0)}});
    TextFilter start, end, either;
    start.eq = "trip.start";
    end.eq = "trip.end";
    either.any_of = {start, end};
    EXPECT_EQ(named(either), 2u);
    EXPECT_EQ(named(TextFilter{}), 4u);
    TextFilter not_x, prefix, literal, listed, without;
    not_x.neq = "x";
    prefix.starts_with = "trip.";
    literal.starts_with = "tr%p_\\";
    listed.in = {"trip.start", "'; DROP TABLE lake.events; --", "harsh.brake"};
    without.not_in = {"trip.start"};
    EXPECT_EQ(named(not_x), 4u);
    EXPECT_EQ(named(prefix), 2u);
    EXPECT_EQ(named(literal), 1u);
    EXPECT_EQ(named(listed), 2u);
    EXPECT_EQ(named(without), 3u);
    EventsQuestion q = window();
    q.source = TextFilter{};
    q.source->eq = "s2";
    q.name = prefix;
    EXPECT_EQ(names(q), (Names{"trip.end"}));
}

TEST_P(Events, Acceptance18_CountsBySourceNotById) {
    lake_->add({EventRow{"a.x", at(1, 0), "s1", "a"}, EventRow{"a.x", at(1, 0), "s1", "b"},
                EventRow{"a.x", at(1, 0), "s2", "a"}});
    EXPECT_EQ(events(window()).size(), 2u);
    const auto scanned = summaries();
    ASSERT_EQ(scanned.size(), 1u);
    EXPECT_EQ(scanned[0].count, 2u);
    lake_->recompute();
    EXPECT_EQ(summaries().at(0).count, 2u);
}

TEST_P(Events, Acceptance20_RollupThenScan) {
    lake_->add({EventRow{"b.x", at(1, 0)}, EventRow{"a.x", at(2, 0)}, EventRow{"a.x", at(3, 0)}});
    auto rows = summaries();  // table there, subject absent: both
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].name, "a.x");
    EXPECT_EQ(rows[0].count, 2u);
    EXPECT_EQ(rows[0].first_seen, at(2, 0));
    EXPECT_EQ(rows[0].last_seen, at(3, 0));
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesRollup"), 1u);
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesScan"), 1u);
    lake_->recompute();  // subject present: rollup only
    EXPECT_EQ(summaries().size(), 2u);
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesRollup"), 2u);
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesScan"), 1u);
    spoil();
    lake_->run("DROP TABLE lake.events_latest");  // no table: scan only
    rows = summaries();
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].name, "b.x");
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesRollup"), 2u);
    EXPECT_EQ(observations(lake_->metrics().render(), "eventSummariesScan"), 2u);
    EXPECT_TRUE(summaries("did:unknown").empty());
}

TEST_P(Events, DoubledSummaryRowsGiveTheNewest) {
    lake_->add({EventRow{"a.x", at(1, 0)}});
    lake_->recompute();
    lake_->run(
        "INSERT INTO lake.events_latest SELECT subject, subject_bucket, name, 9, first_seen, last_seen + INTERVAL 1 "
        "HOUR FROM lake.events_latest");
    const auto rows = summaries();
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].count, 9u);
}

INSTANTIATE_TEST_SUITE_P(Lakes, Events, testing::ValuesIn(modes()), ModeName());

}  // namespace
}  // namespace dq::query
