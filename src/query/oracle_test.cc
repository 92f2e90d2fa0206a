// Random lakes and random questions against the plain loops of naive_testing.h.
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "query/naive_testing.h"

namespace dq::query {
namespace {

constexpr int kQuestions = 40;
// 200 rounds, in the other modes 80.
int lakesOf(const Mode& mode) { return mode.kind == lake::CatalogKind::kFile && !mode.inlining ? 5 : 2; }
constexpr Micros kSpan = 4 * 3600 * kMicrosPerSecond;

class Oracle : public LakeTest {
  protected:
    std::mt19937_64 random_;

    std::int64_t below(std::int64_t n) { return std::uniform_int_distribution<std::int64_t>(0, n - 1)(random_); }
    bool chance(int percent) { return below(100) < percent; }
    template <typename T>
    const T& pick(const std::vector<T>& from) {
        return from[static_cast<std::size_t>(below(static_cast<std::int64_t>(from.size())))];
    }
    std::string name() { return pick<std::string>({"a", "b", "c", kCoordinatesName}); }
    std::string subject() { return pick<std::string>({kSubject, kSubject, "other"}); }
    // Quarters: sums are exact in any order, so answers compare by their bits.
    double number() {
        if (chance(3)) return std::numeric_limits<double>::quiet_NaN();
        return static_cast<double>(below(160) - 40) / 4;
    }
    // A grid, so that points meet edges and vertices of the polygons.
    double coordinate() { return static_cast<double>(below(9)) - 4; }
    // Few instants, so that rows collide.
    Micros instant() { return kDay + below(60) * kSpan / 60 + (chance(20) ? below(3) - 1 : 0); }

    SignalRow signalRow() {
        SignalRow row;
        row.subject = subject();
        row.name = name();
        row.timestamp = chance(2) ? -below(3) * kMicrosPerSecond : instant();
        row.id = pick<std::string>({"a", "b", "c"});
        if (chance(2)) row.id = std::nullopt;
        row.source = pick<std::string>({"s1", "s2"});
        row.producer = pick<std::string>({"p", "q"});
        row.number = chance(6) ? std::nullopt : std::optional(number());
        row.text = chance(6) ? std::nullopt : std::optional(pick<std::string>({"", "x", "y", "Z", "é", "x,y"}));
        for (auto* column : {&row.lat, &row.lon})
            *column = chance(4) ? std::nullopt : std::optional(chance(40) ? 0.0 : coordinate());
        for (auto* column : {&row.hdop, &row.heading}) *column = chance(6) ? std::nullopt : std::optional(number());
        return row;
    }

    EventRow eventRow() {
        EventRow row{pick<std::string>({"a.x", "a.y", "b.x"}), instant()};
        row.subject = subject();
        row.source = pick<std::string>({"s1", "s2"});
        row.id = "e" + std::to_string(below(1'000'000'000));  // a tie of ids is not the oracle's matter
        row.duration_ns = static_cast<std::uint64_t>(below(100));
        row.metadata = pick<std::string>({"", "{}"});
        for (const char* tag : {"t", "u", "v"}) {
            if (chance(40)) row.tags->push_back(tag);
        }
        return row;
    }

    FloatFilter floatFilter(int depth) {
        FloatFilter out;
        if (chance(30)) out.eq = number();
        if (chance(30)) out.neq = number();
        if (chance(30)) out.gt = number();
        if (chance(15)) out.lt = number();
        if (chance(15)) out.gte = number();
        if (chance(15)) out.lte = number();
        if (chance(15)) out.in = {number(), number(), number()};
        if (chance(15)) out.not_in = {number(), number()};
        for (int i = 0; depth > 0 && chance(40) && i < 3; ++i) out.any_of.push_back(floatFilter(depth - 1));
        return out;
    }

    LocationFilter locationFilter() {
        LocationFilter out;
        if (chance(40)) out.circle = Circle{{coordinate() + .25, coordinate()}, static_cast<double>(below(900)) + .123};
        for (int i = 0; chance(80) && i < 1; ++i) {
            for (std::int64_t n = 3 + below(6); n > 0; --n) out.polygon.push_back({coordinate(), coordinate()});
        }
        return out;
    }

    SignalsQuestion question() {
        SignalsQuestion q;
        q.subject = subject();
        q.from = kDay + (chance(50) ? 0 : below(kSpan)) - (chance(10) ? 3 * kMicrosPerDay : 0);
        if (chance(5)) q.from = -kMicrosPerDay;
        q.to = q.from + below(2 * kSpan);
        q.interval = 1 + below(chance(50) ? kSpan : kSpan / 20);
        if (chance(40)) q.source = pick<std::string>({"s1", "s2", "s3"});
        for (std::int64_t n = below(6); n > 0; --n) {
            FloatRequest request{
                name(),
                pick<FloatAggregation>({FloatAggregation::kAvg, FloatAggregation::kMed, FloatAggregation::kMax,
                                        FloatAggregation::kMin, FloatAggregation::kFirst, FloatAggregation::kLast}),
                {}};
            if (chance(50)) request.filter = floatFilter(2);
            request.presence_only = chance(15);
            q.floats.push_back(std::move(request));
        }
        for (std::int64_t n = below(5); n > 0; --n) {
            q.strings.push_back({name(),
                                 pick<StringAggregation>({StringAggregation::kTop, StringAggregation::kUnique,
                                                          StringAggregation::kFirst, StringAggregation::kLast}),
                                 chance(15)});
        }
        for (std::int64_t n = below(5); n > 0; --n) {
            LocationRequest request{chance(70) ? kCoordinatesName : name(),
                                    pick<LocationAggregation>({LocationAggregation::kAvg, LocationAggregation::kFirst,
                                                               LocationAggregation::kLast}),
                                    {}};
            if (chance(50)) request.filter = locationFilter();
            request.presence_only = chance(15);
            q.locations.push_back(std::move(request));
        }
        return q;
    }

    EventsQuestion eventsQuestion() {
        EventsQuestion q;
        q.subject = subject();
        q.from = kDay + below(kSpan / 2);
        q.to = q.from + below(kSpan);
        if (chance(50)) {
            q.name = TextFilter{};
            if (chance(50)) q.name->starts_with = pick<std::string>({"a.", "b.", "a.x"});
            if (chance(30)) q.name->not_in = {"a.y"};
            if (chance(30)) q.name->in = {"a.x", "b.x"};
        }
        if (chance(30)) {
            q.source = TextFilter{};
            q.source->neq = "s1";
        }
        if (chance(50)) {
            q.tags = ListFilter{};
            if (chance(40)) q.tags->contains_any = {"t", "u"};
            if (chance(30)) q.tags->contains_all = {"u", "v"};
            if (chance(30)) q.tags->not_contains_any = {"v"};
            if (chance(30)) q.tags->not_contains_all = {"t", "u"};
        }
        return q;
    }
};

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || a == b || std::abs(a - b) < 1e-12 * std::abs(a);
}
bool same(const Location& a, const Location& b) {
    return same(a.latitude, b.latitude) && same(a.longitude, b.longitude) && same(a.hdop, b.hdop) &&
           same(a.heading, b.heading);
}

// Which requests have a value: kind:index.
std::string valuesOf(const SignalBucket& bucket) {
    std::string out;
    for (const SignalValue& v : bucket.values) out += std::to_string(int(v.kind)) + ":" + std::to_string(v.index) + " ";
    return out;
}

void expectSame(const std::vector<SignalBucket>& got, const std::vector<SignalBucket>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t b = 0; b < got.size(); ++b) {
        ASSERT_EQ(got[b].start, want[b].start);
        ASSERT_EQ(valuesOf(got[b]), valuesOf(want[b])) << "bucket " << b;
        for (std::size_t i = 0; i < got[b].values.size(); ++i) {
            const SignalValue &g = got[b].values[i], &w = want[b].values[i];
            ASSERT_EQ(std::pair(g.kind, g.index), std::pair(w.kind, w.index));
            ASSERT_TRUE(same(g.number, w.number)) << "float " << g.index << ": " << g.number << ", wanted " << w.number;
            ASSERT_EQ(g.text, w.text) << "text " << g.index;
            ASSERT_TRUE(same(g.location, w.location)) << "location " << g.index;
        }
    }
}

void expectSame(const std::vector<LatestSignal>& got, const std::vector<LatestSignal>& want) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
        const LatestSignal &g = got[i], &w = want[i];
        ASSERT_EQ(g.name, w.name);
        ASSERT_EQ(std::tuple(g.timestamp, g.location_time, g.count, g.first_seen, g.last_seen),
                  std::tuple(w.timestamp, w.location_time, w.count, w.first_seen, w.last_seen))
            << g.name;
        ASSERT_TRUE(same(g.value_number, w.value_number)) << g.name;
        ASSERT_EQ(g.value_string, w.value_string) << g.name;
        ASSERT_TRUE(same(g.location, w.location)) << g.name;
    }
}

TEST_P(Oracle, RandomQuestions) {
    const char* given = std::getenv("DQ_TEST_SEED");  // to repeat a failed run
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    RecordProperty("seed", std::to_string(seed));
    random_.seed(seed);
    std::vector<SignalRow> rows;
    std::vector<EventRow> events;
    std::size_t values = 0, found = 0;
    for (int lake = 0; lake < lakesOf(GetParam()); ++lake) {
        std::vector<SignalRow> more;
        std::vector<EventRow> more_events;
        for (int i = 0; i < 250; ++i) more.push_back(signalRow());
        for (int i = 0; i < 60; ++i) more_events.push_back(eventRow());
        lake_->add(more);
        lake_->add(more_events);
        rows.insert(rows.end(), more.begin(), more.end());
        events.insert(events.end(), more_events.begin(), more_events.end());
        Reader reader = makeReader();
        auto session = reader.begin(Cancel::root());
        ASSERT_TRUE(session.ok());
        for (int round = 0; round < kQuestions; ++round) {
            SCOPED_TRACE("lake " + std::to_string(lake) + ", round " + std::to_string(round));
            const SignalsQuestion q = question();
            const auto buckets = session->signals(q);
            ASSERT_TRUE(buckets.ok()) << buckets.status();
            expectSame(*buckets, naiveSignals(rows, q));
            for (const SignalBucket& bucket : *buckets) values += bucket.values.size();
            const EventsQuestion e = eventsQuestion();
            const auto got = session->events(e);
            ASSERT_TRUE(got.ok()) << got.status();
            const std::vector<Event> want = naiveEvents(events, e);
            ASSERT_EQ(got->size(), want.size());
            for (std::size_t i = 0; i < want.size(); ++i) {
                const Event &g = (*got)[i], &w = want[i];
                ASSERT_EQ(std::tie(g.timestamp, g.name, g.source, g.duration_ns, g.metadata),
                          std::tie(w.timestamp, w.name, w.source, w.duration_ns, w.metadata));
            }
            found += got->size();
            if (HasFatalFailure()) return;
        }
        for (const std::string& of : {kSubject, std::string("other")}) {
            for (const char* source : {"s1", "s2", "s3"}) {
                const auto latest = session->latest(of, source, "allLatest");
                ASSERT_TRUE(latest.ok()) << latest.status();
                expectSame(**latest, naiveLatest(rows, of, source));
            }
            const auto summaries = session->eventSummaries(of);
            const auto want = naiveSummaries(events, of);
            ASSERT_EQ(summaries->size(), want.size());
            for (std::size_t i = 0; i < want.size(); ++i) {
                EXPECT_EQ((*summaries)[i].name, want[i].name);
                EXPECT_EQ((*summaries)[i].count, want[i].count);
                EXPECT_EQ((*summaries)[i].first_seen, want[i].first_seen);
                EXPECT_EQ((*summaries)[i].last_seen, want[i].last_seen);
            }
        }
    }
    EXPECT_GT(values, 400u);  // the questions are not all empty
    EXPECT_GT(found, 200u);
}

INSTANTIATE_TEST_SUITE_P(Lakes, Oracle, testing::ValuesIn(modes()), ModeName());

}  // namespace
}  // namespace dq::query
