// The worked examples of queries.md §14, row by row (acceptance 4).
#include "query/lake_testing.h"

namespace dq::query {
namespace {

constexpr std::int64_t kMinute = 60 * kMicrosPerSecond;
using Floats = FloatAggregation;

class Fixture : public LakeTest {
  protected:
    void SetUp() override {
        LakeTest::SetUp();
        if (lake_ == nullptr) return;
        lake_->add({numberRow("speed", at(0, 0, 10), 10), numberRow("speed", at(0, 0, 20), 80, "a", "s2"),
                    numberRow("speed", at(0, 0, 50), 30), numberRow("speed", at(0, 1, 10), 50),
                    numberRow("speed", at(0, 2, 30), 20), textRow("powertrainType", at(0, 0, 5), "HEV"),
                    textRow("powertrainType", at(0, 0, 45), "EV"), textRow("powertrainType", at(0, 0, 55), "EV"),
                    textRow("powertrainType", at(0, 1, 5), "EV"), fixRow(at(0, 0, 20), 1, 2, .5, 90),
                    fixRow(at(0, 0, 40), 3, 4, .7, 180), fixRow(at(0, 1, 20), 0, 0),
                    fixRow(at(0, 1, 40), 5, 6, .8, 270)});
    }
    static SignalsQuestion question(Micros from, Micros to, std::optional<std::string> source = "s1") {
        SignalsQuestion q;
        q.subject = kSubject;
        q.from = from;
        q.to = to;
        q.interval = kMinute;
        q.source = std::move(source);
        return q;
    }
    // {minute, value} of the one request's buckets.
    std::vector<std::pair<Micros, double>> speeds(SignalsQuestion q, Floats aggregation,
                                                  std::optional<FloatFilter> filter = std::nullopt) {
        q.floats = {{"speed", aggregation, std::move(filter)}};
        std::vector<std::pair<Micros, double>> out;
        for (const SignalBucket& bucket : signals(q)) out.emplace_back(bucket.start, bucket.values.at(0).number);
        return out;
    }
    std::vector<std::pair<Micros, Location>> places(SignalsQuestion q, LocationAggregation aggregation,
                                                    std::optional<LocationFilter> filter = std::nullopt) {
        q.locations = {{kCoordinatesName, aggregation, std::move(filter)}};
        std::vector<std::pair<Micros, Location>> out;
        for (const SignalBucket& bucket : signals(q)) out.emplace_back(bucket.start, bucket.values.at(0).location);
        return out;
    }
};
using Numbers = std::vector<std::pair<Micros, double>>;

TEST_P(Fixture, Acceptance04_SourceAllFloatAggregates) {
    SignalsQuestion q = question(at(0, 0), at(0, 5));
    for (Floats f : {Floats::kAvg, Floats::kMin, Floats::kMax, Floats::kFirst, Floats::kLast, Floats::kMed})
        q.floats.push_back({"speed", f, {}});
    const std::vector<SignalBucket> rows = signals(q);
    ASSERT_EQ(rows.size(), 3u);
    const double want[3][6] = {{20, 10, 30, 10, 30, 20}, {50, 50, 50, 50, 50, 50}, {20, 20, 20, 20, 20, 20}};
    for (std::size_t b = 0; b < 3; ++b) {
        EXPECT_EQ(rows[b].start, at(0, static_cast<int>(b)));
        ASSERT_EQ(rows[b].values.size(), 6u);
        for (std::uint32_t i = 0; i < 6; ++i) {
            EXPECT_EQ(rows[b].values[i].index, i);
            EXPECT_EQ(rows[b].values[i].number, want[b][i]) << b << " " << i;
        }
    }
}

TEST_P(Fixture, Acceptance04_NoSourceSeesBoth) {
    EXPECT_EQ(speeds(question(at(0, 0), at(0, 1), std::nullopt), Floats::kMax), (Numbers{{at(0, 0), 80}}));
}

TEST_P(Fixture, Acceptance04_BucketsAlignToFrom) {
    EXPECT_EQ(speeds(question(at(0, 0, 30), at(0, 3, 30)), Floats::kAvg),
              (Numbers{{at(0, 0, 30), 40}, {at(0, 2, 30), 20}}));
    lake_->add({numberRow("speed", at(10, 17, 42, 500'000), 7)});
    SignalsQuestion q = question(at(10, 5, 30), at(11, 0));
    q.interval = 5 * kMinute;
    EXPECT_EQ(speeds(q, Floats::kAvg), (Numbers{{at(10, 15, 30), 7}}));
}

TEST_P(Fixture, Acceptance04_Texts) {
    SignalsQuestion q = question(at(0, 0), at(0, 2));
    for (auto a :
         {StringAggregation::kFirst, StringAggregation::kLast, StringAggregation::kUnique, StringAggregation::kTop}) {
        q.strings.push_back({"powertrainType", a});
    }
    const auto rows = signals(q);
    ASSERT_EQ(rows.size(), 2u);
    const char* want[2][4] = {{"HEV", "EV", "EV,HEV", "EV"}, {"EV", "EV", "EV", "EV"}};
    for (std::size_t b = 0; b < 2; ++b) {
        ASSERT_EQ(rows[b].values.size(), 4u);
        for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(rows[b].values[i].text, want[b][i]) << b << " " << i;
    }
}

TEST_P(Fixture, Acceptance04_Locations) {
    const auto q = question(at(0, 0), at(0, 2));
    const auto first = places(q, LocationAggregation::kFirst), last = places(q, LocationAggregation::kLast),
               mean = places(q, LocationAggregation::kAvg);
    ASSERT_EQ(first.size(), 2u);
    EXPECT_EQ(first[0].second.latitude, 1);
    EXPECT_EQ(first[0].second.heading, 90);
    EXPECT_EQ(last[0].second.latitude, 3);
    EXPECT_EQ(last[0].second.longitude, 4);
    EXPECT_EQ(mean[0].second.latitude, 2);
    EXPECT_EQ(mean[0].second.longitude, 3);
    EXPECT_DOUBLE_EQ(mean[0].second.hdop, .6);
    EXPECT_EQ(mean[0].second.heading, 135);
    for (const auto& answer : {first, last, mean}) {
        EXPECT_EQ(answer[1].second.latitude, 5);
        EXPECT_EQ(answer[1].second.longitude, 6);
        EXPECT_EQ(answer[1].second.hdop, .8);
    }
}

TEST_P(Fixture, Acceptance04_FloatFilters) {
    const auto q = question(at(0, 0), at(0, 5));
    FloatFilter above;
    above.gt = 15;
    EXPECT_EQ(speeds(q, Floats::kAvg, above), (Numbers{{at(0, 0), 30}, {at(0, 1), 50}, {at(0, 2), 20}}));
    FloatFilter low, high, either;
    low.lt = 15;
    high.gt = 45;
    either.any_of = {low, high};
    EXPECT_EQ(speeds(q, Floats::kAvg, either), (Numbers{{at(0, 0), 10}, {at(0, 1), 50}}));
    FloatFilter mixed;
    mixed.gt = 25;
    mixed.any_of = {low};
    EXPECT_EQ(speeds(q, Floats::kAvg, mixed), (Numbers{{at(0, 0), 20}, {at(0, 1), 50}}));
}

TEST_P(Fixture, Acceptance04_Geofences) {
    LocationFilter circle;
    circle.circle = Circle{{3, 4}, 5};
    const auto q = question(at(0, 0), at(0, 1));
    auto kept = places(q, LocationAggregation::kFirst, circle);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].second.latitude, 3);
    circle.circle->radius_km = 314.39;  // (1,2) is 314.40 km away
    EXPECT_EQ(places(q, LocationAggregation::kFirst, circle)[0].second.latitude, 3);
    circle.circle->radius_km = 314.41;
    EXPECT_EQ(places(q, LocationAggregation::kFirst, circle)[0].second.latitude, 1);
    LocationFilter polygon;
    polygon.polygon = {{.5, 1.5}, {.5, 2.5}, {1.5, 2.5}, {1.5, 1.5}};
    kept = places(q, LocationAggregation::kLast, polygon);
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].second.latitude, 1);
    EXPECT_EQ(kept[0].second.longitude, 2);
}

INSTANTIATE_TEST_SUITE_P(Lakes, Fixture, testing::ValuesIn(modes()), ModeName());

}  // namespace
}  // namespace dq::query
