// Acceptance cases of queries.md and rollups.md about range aggregates.
#include <cmath>
#include <limits>
#include <set>

#include "core/text.h"
#include "query/lake_testing.h"

namespace dq::query {
namespace {

using Floats = FloatAggregation;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kDayLong = kMicrosPerDay;

class Signals : public LakeTest {
  protected:
    static SignalsQuestion day(std::vector<FloatRequest> floats = {}) {
        SignalsQuestion q;
        q.subject = kSubject;
        q.from = kDay;
        q.to = kDay + kDayLong;
        q.interval = kDayLong;
        q.floats = std::move(floats);
        return q;
    }
    // The values of the only bucket.
    std::vector<SignalValue> one(const SignalsQuestion& q) {
        const auto rows = signals(q);
        EXPECT_EQ(rows.size(), 1u);
        return rows.size() == 1 ? rows[0].values : std::vector<SignalValue>{};
    }
    double number(const std::string& name, Floats aggregation, std::optional<FloatFilter> filter = std::nullopt) {
        const auto values = one(day({{name, aggregation, std::move(filter)}}));
        EXPECT_EQ(values.size(), 1u);
        return values.empty() ? kNaN : values[0].number;
    }
    std::vector<Location> fixes(const LocationFilter& filter) {
        SignalsQuestion q = day();
        q.interval = 1;
        q.locations = {{kCoordinatesName, LocationAggregation::kFirst, filter}};
        std::vector<Location> out;
        for (const SignalBucket& bucket : signals(q)) out.push_back(bucket.values.at(0).location);
        return out;
    }
};

TEST_P(Signals, Acceptance01_DuplicatesCountOnce) {
    lake_->add({numberRow("speed", at(0, 0), 60, "a"), numberRow("speed", at(0, 0), 60, "b"),
                numberRow("speed", at(0, 1), 80)});
    EXPECT_EQ(number("speed", Floats::kAvg), 70);
}

TEST_P(Signals, Acceptance02_SourceDecidesBeforeTheCollapse) {
    lake_->add({numberRow("speed", at(0, 0), 999, "a", "X"), numberRow("speed", at(0, 0), 42, "b", "Y")});
    SignalsQuestion q = day({{"speed", Floats::kAvg, {}}});
    EXPECT_EQ(one(q).at(0).number, 999);
    q.source = "Y";
    EXPECT_EQ(one(q).at(0).number, 42);
    q.source = "nobody";
    EXPECT_TRUE(signals(q).empty());
}

TEST_P(Signals, Acceptance03_PoisonedDuplicatesNeverShow) {
    std::vector<SignalRow> rows;
    for (int n = 0; n < 20; ++n) {
        for (int i = 0; i < 40; ++i) {
            const std::string name = strCat("name", n);
            rows.push_back(numberRow(name, at(i % 24, i), n * 100 + i, "a"));
            if (i % 7 == 0) rows.push_back(numberRow(name, at(i % 24, i), -999, "b"));
        }
    }
    lake_->add(rows);
    SignalsQuestion few = day(), all = day();
    for (const char* name : {"name3", "name11", "name19"}) few.floats.push_back({name, Floats::kMin, {}});
    for (int n = 0; n < 20; ++n) all.floats.push_back({strCat("name", n), Floats::kMin, {}});
    const auto few_values = one(few), all_values = one(all);
    ASSERT_EQ(few_values.size(), 3u);
    ASSERT_EQ(all_values.size(), 20u);
    EXPECT_EQ(few_values[0].number, 300);
    EXPECT_EQ(few_values[0].number, all_values[3].number);
    EXPECT_EQ(few_values[1].number, all_values[11].number);
    EXPECT_EQ(few_values[2].number, all_values[19].number);
}

TEST_P(Signals, TiesOfAnIdGoBySourceThenProducerThenValues) {
    SignalRow by_producer = numberRow("b", at(0, 0), 1);
    by_producer.producer = "z";
    SignalRow no_id = numberRow("d", at(0, 0), 1);
    no_id.id = std::nullopt;
    lake_->add({numberRow("a", at(0, 0), 1, "a", "s2"), numberRow("a", at(0, 0), 2, "a", "s1"), by_producer,
                numberRow("b", at(0, 0), 2), numberRow("c", at(0, 0), 9), numberRow("c", at(0, 0), 3),
                numberRow("c", at(0, 0), std::nullopt), no_id, numberRow("d", at(0, 0), 2, "zz")});
    const auto values =
        one(day({{"a", Floats::kAvg, {}}, {"b", Floats::kAvg, {}}, {"c", Floats::kAvg, {}}, {"d", Floats::kAvg, {}}}));
    ASSERT_EQ(values.size(), 4u);
    EXPECT_EQ(values[0].number, 2);
    EXPECT_EQ(values[1].number, 2);
    EXPECT_EQ(values[2].number, 3);
    EXPECT_EQ(values[3].number, 2);  // a row without an id loses
}

TEST_P(Signals, Acceptance05_EmptyDaysGiveNoBucket) {
    lake_->add({numberRow("speed", at(1, 0), 5), numberRow("speed", at(2, 0), 50),
                numberRow("speed", kDay + kDayLong + 1, 100)});
    SignalsQuestion q = day({{"speed", Floats::kAvg, {}}});
    q.to = kDay + 3 * kDayLong;
    const auto rows = signals(q);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].values[0].number, 27.5);
    EXPECT_EQ(rows[1].start, kDay + kDayLong);
    EXPECT_EQ(rows[1].values[0].number, 100);
}

TEST_P(Signals, Acceptance06_UnknownSubjectHasNoBuckets) {
    SignalsQuestion q = day({{"speed", Floats::kAvg, {}}});
    q.subject = "did:erc721:137:0x0:99";
    EXPECT_TRUE(signals(q).empty());
    EXPECT_TRUE(signals(day()).empty());  // no request
}

TEST_P(Signals, BoundsAreExactToTheMicrosecond) {
    lake_->add({numberRow("a", at(1, 0) - 1, 1), numberRow("a", at(1, 0), 2), numberRow("a", at(2, 0) - 1, 3),
                numberRow("a", at(2, 0), 4)});
    SignalsQuestion q = day({{"a", Floats::kMin, {}}, {"a", Floats::kMax, {}}});
    q.from = at(1, 0);
    q.to = at(2, 0);
    const auto values = one(q);
    EXPECT_EQ(values.at(0).number, 2);
    EXPECT_EQ(values.at(1).number, 3);
    q.to = q.from;
    EXPECT_TRUE(signals(q).empty());
}

TEST_P(Signals, BucketsBeforeTheEpochAndOfTheWholeCalendar) {
    lake_->add({numberRow("a", -90 * kMicrosPerSecond, 1), numberRow("a", -30 * kMicrosPerSecond, 2),
                numberRow("a", at(0, 0), 3)});
    SignalsQuestion q = day({{"a", Floats::kAvg, {}}});
    q.from = -100 * kMicrosPerSecond;
    q.to = 0;
    q.interval = 60 * kMicrosPerSecond;
    const auto rows = signals(q);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].start, q.from);
    EXPECT_EQ(rows[1].start, q.from + q.interval);
    q.from = kZeroTime - 300 * kDayLong;  // year 0, below the first literal
    q.to = 253'402'300'800LL * kMicrosPerSecond + kDayLong;
    q.interval = 9'000'000LL * kMicrosPerDay;
    EXPECT_EQ(one(q).at(0).number, 2);
}

TEST_P(Signals, Acceptance07_RandPicksOneRow) {
    lake_->add({numberRow("speed", at(0, 0), 10), numberRow("speed", at(0, 1), 30), fixRow(at(0, 0), 1, 2, 3, 4),
                fixRow(at(0, 1), 5, 6, 7, 8)});
    SignalsQuestion q = day({{"speed", Floats::kRand, {}}});
    q.strings = {{"speed", StringAggregation::kRand}};
    q.locations = {{kCoordinatesName, LocationAggregation::kRand, {}}};
    std::set<double> seen;
    for (int i = 0; i < 60; ++i) {
        const auto values = one(q);
        ASSERT_EQ(values.size(), 3u);
        EXPECT_TRUE(values[0].number == 10 || values[0].number == 30);
        const Location& l = values[2].location;
        EXPECT_EQ(l.longitude, l.latitude + 1);  // one row, not a mixture
        EXPECT_EQ(l.hdop, l.latitude + 2);
        EXPECT_EQ(l.heading, l.latitude + 3);
        seen.insert(values[0].number);
        if (seen.size() == 2 && i > 3) break;
    }
    EXPECT_EQ(seen.size(), 2u);  // fails by chance once in 2⁵⁹ runs
}

TEST_P(Signals, Acceptance08_MedianIsExact) {
    lake_->add({numberRow("odd", at(0, 0), 30), numberRow("odd", at(0, 1), 10), numberRow("odd", at(0, 2), 20),
                numberRow("even", at(0, 0), 10), numberRow("even", at(0, 1), 1), numberRow("even", at(0, 2), 3),
                numberRow("even", at(0, 3), 2)});
    EXPECT_EQ(number("odd", Floats::kMed), 20);
    EXPECT_EQ(number("even", Floats::kMed), 2.5);
    EXPECT_TRUE(signals(day({{"absent", Floats::kMed, {}}})).empty());
}

TEST_P(Signals, NaNIsTheGreatestNumber) {
    lake_->add({numberRow("a", at(0, 0), 1), numberRow("a", at(0, 1), kNaN),
                numberRow("a", at(0, 2), std::numeric_limits<double>::infinity())});
    EXPECT_TRUE(std::isnan(number("a", Floats::kMax)));
    EXPECT_TRUE(std::isnan(number("a", Floats::kAvg)));
    EXPECT_EQ(number("a", Floats::kMin), 1);
    EXPECT_TRUE(std::isinf(number("a", Floats::kMed)));
    FloatFilter filter;
    filter.eq = kNaN;
    EXPECT_TRUE(std::isnan(number("a", Floats::kFirst, filter)));
    filter = {};
    filter.lt = kNaN;
    EXPECT_TRUE(std::isinf(number("a", Floats::kLast, filter)));
    filter = {};
    filter.not_in = {kNaN, std::numeric_limits<double>::infinity()};
    EXPECT_EQ(number("a", Floats::kLast, filter), 1);
}

TEST_P(Signals, Acceptance10_CircleIsGreatCircle) {
    lake_->add({fixRow(at(0, 0), 60, 6)});
    const auto kept = [&](Point center, double radius) { return !fixes({Circle{center, radius}, {}}).empty(); };
    EXPECT_TRUE(kept({60, 5}, 60));
    EXPECT_TRUE(kept({60, 5}, 55.5970));
    EXPECT_FALSE(kept({60, 5}, 55.5969));
    EXPECT_TRUE(kept({60, 6}, 0));
    EXPECT_FALSE(kept({60.0000001, 6}, 0));
    EXPECT_TRUE(kept({-60, -174}, 20016));  // antipode: half the circumference
    EXPECT_FALSE(kept({-60, -174}, 20014));
}

TEST_P(Signals, CircleToleratesForeignCoordinates) {
    lake_->add({fixRow(at(0, 0), std::numeric_limits<double>::infinity(), 6), fixRow(at(0, 1), kNaN, 6),
                fixRow(at(0, 2), 1, 1)});
    EXPECT_EQ(fixes({Circle{{1, 1}, 1}, {}}).size(), 1u);
    EXPECT_EQ(fixes({std::nullopt, {{0, 0}, {0, 9}, {9, 9}, {9, 0}}}).size(), 1u);
}

TEST_P(Signals, Acceptance11_PolygonBoundaryIsOutside) {
    std::vector<SignalRow> rows;
    const Point outside[] = {{1, 1}, {0, .5}, {.5, 0}, {1, .5}, {.5, 1}, {1, 0}, {0, 1}, {1.5, .5}};
    int second = 0;
    for (const Point& p : outside) rows.push_back(fixRow(at(0, 0, ++second), p.latitude, p.longitude));
    rows.push_back(fixRow(at(0, 1), .5, .5));
    lake_->add(rows);
    const std::vector<Point> square = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    std::vector<Point> closed = square, reversed(square.rbegin(), square.rend());
    closed.push_back(square[0]);
    for (const auto& ring : {square, closed, reversed}) {
        const auto kept = fixes({std::nullopt, ring});
        ASSERT_EQ(kept.size(), 1u);
        EXPECT_EQ(kept[0].latitude, .5);
    }
    EXPECT_TRUE(fixes({std::nullopt, {{.5, .5}, {.5, .5}, {.5, .5}}}).empty());
    EXPECT_TRUE(fixes({std::nullopt, {{0, 0}, {.5, .5}, {1, 1}}}).empty());
    // Pentagram around (0.5, 0.5): even-odd leaves its centre out and its arms in.
    std::vector<Point> star;
    for (int i = 0; i < 5; ++i) star.push_back({.5 + std::sin(4 * M_PI * i / 5), .5 + std::cos(4 * M_PI * i / 5)});
    lake_->add({fixRow(at(0, 2), .5, 1.3)});
    const auto in_star = fixes({std::nullopt, star});
    ASSERT_FALSE(in_star.empty());
    EXPECT_EQ(in_star.back().longitude, 1.3);
    for (const Location& l : in_star) EXPECT_FALSE(l.latitude == .5 && l.longitude == .5);
}

TEST_P(Signals, PolygonHasNoAntimeridianAndMayBeLong) {
    lake_->add({fixRow(at(0, 0), .5, .001), fixRow(at(0, 1), .5, 179.5)});
    const auto kept = fixes({std::nullopt, {{0, 179}, {0, -179}, {1, -179}, {1, 179}}});
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].longitude, .001);
    std::vector<Point> ring;
    for (int i = 0; i < 5000; ++i) ring.push_back({std::sin(2 * M_PI * i / 5000), std::cos(2 * M_PI * i / 5000)});
    EXPECT_EQ(fixes({std::nullopt, ring}).size(), 1u);
    EXPECT_EQ(fixes({std::nullopt, {}}).size(), 2u);
    EXPECT_EQ(fixes({Circle{{.5, 179.5}, 1}, ring}).at(0).longitude, 179.5);  // the circle wins
}

TEST_P(Signals, Acceptance12_AFixBeatsNullIsland) {
    lake_->add(
        {fixRow(at(0, 0), 0, 0, 9, 9, "a", "X"), fixRow(at(0, 0), 40, -70, 1, 2, "b", "Y"), fixRow(at(0, 1), 0, 0)});
    SignalsQuestion q = day();
    q.locations = {{kCoordinatesName, LocationAggregation::kLast, {}}};
    EXPECT_EQ(one(q).at(0).location.latitude, 40);
    EXPECT_EQ(one(q).at(0).location.hdop, 1);
    q.source = "X";
    EXPECT_TRUE(signals(q).empty());
}

TEST_P(Signals, AFixMayHaveOneZeroCoordinateButNoNull) {
    SignalRow no_longitude = fixRow(at(0, 2), 5, 5);
    no_longitude.lon = std::nullopt;
    lake_->add({fixRow(at(0, 0), 0, 5), fixRow(at(0, 1), 5, 0), no_longitude});
    SignalsQuestion q = day();
    q.locations = {{kCoordinatesName, LocationAggregation::kFirst, {}},
                   {kCoordinatesName, LocationAggregation::kLast, {}}};
    EXPECT_EQ(one(q).at(0).location.longitude, 5);
    EXPECT_EQ(one(q).at(1).location.latitude, 5);
    EXPECT_EQ(one(q).at(1).location.longitude, 0);
}

TEST_P(Signals, Acceptance26_AliasesAndFiltersStandAlone) {
    lake_->add({numberRow("speed", at(0, 0), 10), numberRow("speed", at(0, 1), 50), numberRow("speed", at(1, 0), 20)});
    FloatFilter filter;
    filter.gt = 30;
    SignalsQuestion q =
        day({{"speed", Floats::kMax, {}}, {"speed", Floats::kMin, {}}, {"speed", Floats::kAvg, filter}});
    q.interval = 3600 * kMicrosPerSecond;
    const auto rows = signals(q);
    ASSERT_EQ(rows.size(), 2u);
    ASSERT_EQ(rows[0].values.size(), 3u);
    EXPECT_EQ(rows[0].values[0].number, 50);
    EXPECT_EQ(rows[0].values[1].number, 10);
    EXPECT_EQ(rows[0].values[2].number, 50);
    ASSERT_EQ(rows[1].values.size(), 2u);  // the filtered request has no row there
    EXPECT_EQ(rows[1].values[1].number, 20);
}

TEST_P(Signals, Acceptance26b_Nulls) {
    lake_->add({numberRow("speed", at(0, 0, 1), 5), numberRow("speed", at(0, 0, 2), std::nullopt),
                numberRow("none", at(0, 0), std::nullopt), textRow("text", at(0, 0), std::nullopt)});
    EXPECT_EQ(number("speed", Floats::kLast), 5);
    EXPECT_EQ(number("speed", Floats::kAvg), 5);
    EXPECT_EQ(number("none", Floats::kAvg), 0);
    EXPECT_EQ(number("none", Floats::kLast), 0);
    FloatFilter filter;
    filter.neq = 7;
    EXPECT_EQ(number("speed", Floats::kLast, filter), 5);
    EXPECT_TRUE(signals(day({{"none", Floats::kLast, filter}})).empty());
    SignalsQuestion q = day();
    for (auto a : {StringAggregation::kTop, StringAggregation::kUnique, StringAggregation::kLast})
        q.strings.push_back({"text", a});
    const auto values = one(q);
    ASSERT_EQ(values.size(), 3u);
    for (const SignalValue& value : values) EXPECT_EQ(value.text, "");
}

TEST_P(Signals, TopTiesGoToTheTextSeenFirst) {
    std::vector<SignalRow> rows;
    for (int i = 0; i < 40; ++i) rows.push_back(textRow("gear", at(0, i), i % 2 == 0 ? "Z" : "A"));
    rows.push_back(textRow("other", at(0, 0), "once"));
    lake_->add(rows);
    SignalsQuestion q = day();
    q.strings = {{"gear", StringAggregation::kTop}, {"other", StringAggregation::kTop}};
    EXPECT_EQ(one(q).at(0).text, "Z");
    EXPECT_EQ(one(q).at(1).text, "once");
}

TEST_P(Signals, UniqueIsSortedBytewiseAndNotEscaped) {
    int minute = 0;
    for (const char* text : {"é", "a", "B", "Z", "_", "<", "", "a,b", "a"})
        lake_->add({textRow("t", at(0, ++minute), text)});
    SignalsQuestion q = day();
    q.strings = {{"t", StringAggregation::kUnique}};
    EXPECT_EQ(one(q).at(0).text, ",<,B,Z,_,a,a,b,é");
}

TEST_P(Signals, RefusedRequestsOnlySayThatARowIsThere) {
    lake_->add({numberRow("speed", at(0, 0), 10), numberRow("speed", at(1, 0), 70), fixRow(at(2, 0), 0, 0),
                fixRow(at(3, 0), 1, 1), textRow("t", at(4, 0), "x")});
    FloatFilter fast;
    fast.gt = 50;
    SignalsQuestion q = day({{"speed", Floats::kAvg, {}, true}, {"speed", Floats::kAvg, fast, true}});
    q.interval = 3600 * kMicrosPerSecond;
    q.strings = {{"t", StringAggregation::kTop, true}};
    q.locations = {{kCoordinatesName, LocationAggregation::kAvg, {}, true}};
    const auto rows = signals(q);
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[0].values.size(), 1u);
    EXPECT_EQ(rows[1].values.size(), 2u);
    EXPECT_EQ(rows[1].values[1].number, 0);
    EXPECT_EQ(rows[2].start, at(3, 0));
    EXPECT_EQ(rows[2].values[0].kind, RequestKind::kLocation);
    EXPECT_EQ(rows[3].values[0].text, "");
    q.floats.pop_back();
    q.locations.clear();
    EXPECT_EQ(signals(q).size(), 3u);  // no value column at all
}

INSTANTIATE_TEST_SUITE_P(Lakes, Signals, testing::ValuesIn(plainModes()), ModeName());

}  // namespace
}  // namespace dq::query
