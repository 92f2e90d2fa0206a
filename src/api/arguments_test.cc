#include "api/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/api_testing.h"
#include "core/text.h"

namespace dq::api {
namespace {

using graphql::Value;
using testing::ElementsAre;

Value point(double latitude, double longitude) {
    return object({{"latitude", number(latitude)}, {"longitude", number(longitude)}});
}
Value circle(double latitude, double longitude, double radius) {
    return object({{"center", point(latitude, longitude)}, {"radius", number(radius)}});
}
Value polygonOf(std::vector<Value> vertices) { return object({{"inPolygon", list(std::move(vertices))}}); }

// The refusal of a location filter, "" when there is none.
std::string refusal(const Value& filter) {
    const auto out = locationFilter(&filter);
    const std::string* error = std::get_if<std::string>(&out);
    return error == nullptr ? "" : *error;
}
std::optional<query::LocationFilter> accepted(const Value& filter) {
    auto out = locationFilter(&filter);
    EXPECT_EQ(out.index(), 0U);
    return out.index() == 0 ? std::get<0>(std::move(out)) : std::nullopt;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

TEST(Arguments, TimesAreRfc3339OrADateWithATimeInUtcOrNothing) {
    struct Case {
        std::string_view text;
        std::optional<std::string> expected;
    };
    for (const Case& c : {Case{"2026-11-29T12:00:00Z", "2026-11-29T12:00:00Z"},
                          Case{"2026-11-29T12:00:00.123456789+02:30", "2026-11-29T09:30:00.123456789Z"},
                          Case{"2026-11-29 00:00:00", "2026-11-29T00:00:00Z"}, Case{"", "0001-01-01T00:00:00Z"},
                          Case{"2026-11-29", std::nullopt}, Case{"yesterday", std::nullopt},
                          Case{"2026-11-29 00:00:00Z", std::nullopt}, Case{"2026-11-29 00:00:0x", std::nullopt},
                          Case{"2026-02-30 00:00:00", std::nullopt}, Case{"2026-11-29T12:00:00", std::nullopt}}) {
        const auto instant = parseTimeInput(c.text);
        ASSERT_EQ(instant.has_value(), c.expected.has_value()) << c.text;
        EXPECT_EQ(instant ? formatRfc3339(*instant) : "", c.expected.value_or("")) << c.text;
    }
}

TEST(Arguments, TimeAndTextArgumentsThatAreAbsentAreZeroAndEmpty) {
    const auto field = rootField(R"({events(subject: "a", from: "2026-11-29T12:00:00.0000005Z", to: "") {name}})");
    EXPECT_EQ(timeArgument(field, "from").nanos, 500);
    EXPECT_EQ(timeArgument(field, "to"), (Instant{kZeroTime, 0}));
    EXPECT_EQ(timeArgument(field, "absent"), (Instant{kZeroTime, 0}));
    EXPECT_EQ(textArgument(field, "subject"), "a");
    EXPECT_EQ(textArgument(field, "absent"), "");
}

TEST(Arguments, ASourceThatIsAnEthrDidBecomesItsChecksummedAddress) {
    const auto source = [](std::string_view filter) {
        return sourceFilter(rootField(strCat("{availableSignals(subject: \"a\"", filter, ")}")));
    };
    EXPECT_FALSE(source("").has_value());
    EXPECT_FALSE(source(", filter: null").has_value());
    EXPECT_FALSE(source(", filter: {}").has_value());
    EXPECT_FALSE(source(", filter: {source: null}").has_value());
    for (const char* did : {"did:ethr:137:0x9c94c395cbcbde662235e0a9d3bb87ad708561ba",
                            "did:ethr:1:0X9C94C395CBCBDE662235E0A9D3BB87AD708561BA",
                            "did:ethr:1:9c94c395cbcbde662235e0a9d3bb87ad708561ba"}) {
        const auto found = source(strCat(", filter: {source: \"", did, "\"}"));
        ASSERT_TRUE(found.has_value()) << did;
        EXPECT_TRUE(found->valid) << did;
        EXPECT_EQ(found->column, "0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA");
        EXPECT_EQ(found->text, did);
    }
    for (const char* other :
         {"", "nobody", "did:ethr:x:0x9c94c395cbcbde662235e0a9d3bb87ad708561ba", "did:ethr:137:0x9c"}) {
        const auto found = source(strCat(", filter: {source: \"", other, "\"}"));
        ASSERT_TRUE(found.has_value()) << other;
        EXPECT_FALSE(found->valid) << other;
        EXPECT_EQ(found->column, other);
    }
}

TEST(FloatFilter, TakesEveryConditionAndIntegersAsNumbers) {
    const Value value = object({{"eq", integer(1)},
                                {"neq", number(2)},
                                {"gt", number(3)},
                                {"lt", number(4)},
                                {"gte", number(5)},
                                {"lte", number(6)},
                                {"in", list({number(7), integer(8)})},
                                {"notIn", list({number(9)})}});
    const auto filter = floatFilter(&value);
    ASSERT_TRUE(filter.has_value());
    EXPECT_EQ(filter->eq, 1);
    EXPECT_EQ(filter->neq, 2);
    EXPECT_EQ(filter->gt, 3);
    EXPECT_EQ(filter->lt, 4);
    EXPECT_EQ(filter->gte, 5);
    EXPECT_EQ(filter->lte, 6);
    EXPECT_THAT(filter->in, ElementsAre(7, 8));
    EXPECT_THAT(filter->not_in, ElementsAre(9));
}

TEST(FloatFilter, WithoutAConditionIsNone) {
    EXPECT_FALSE(floatFilter(nullptr).has_value());
    const Value none[] = {nothing(),
                          object({}),
                          object({{"gt", nothing()}}),
                          object({{"in", list({})}}),
                          object({{"or", list({})}}),
                          object({{"or", list({object({})})}}),
                          object({{"or", list({object({{"or", list({object({})})}})})}})};
    for (const Value& value : none) EXPECT_FALSE(floatFilter(&value).has_value());
}

TEST(FloatFilter, AlternativesNestAndEmptyOnesAreDropped) {
    const Value value = object({{"gt", number(25)},
                                {"or", list({object({}), object({{"lt", number(15)}}),
                                             object({{"or", list({object({{"eq", number(1)}})})}})})}});
    const auto filter = floatFilter(&value);
    ASSERT_TRUE(filter.has_value());
    ASSERT_EQ(filter->any_of.size(), 2U);
    EXPECT_EQ(filter->any_of[0].lt, 15);
    ASSERT_EQ(filter->any_of[1].any_of.size(), 1U);
    EXPECT_EQ(filter->any_of[1].any_of[0].eq, 1);
    const Value only_alternatives = object({{"or", list({object({{"lt", number(15)}})})}});
    ASSERT_TRUE(floatFilter(&only_alternatives).has_value());
}

TEST(TextFilter, TakesEveryConditionAndNoneWithoutOne) {
    const Value value = object({{"eq", text("a")},
                                {"neq", text("")},
                                {"startsWith", text("b")},
                                {"in", list({text("c")})},
                                {"notIn", list({text("d"), text("e")})},
                                {"or", list({object({{"eq", text("f")}})})}});
    const auto filter = textFilter(&value);
    ASSERT_TRUE(filter.has_value());
    EXPECT_EQ(filter->eq, "a");
    EXPECT_EQ(filter->neq, "");
    EXPECT_EQ(filter->starts_with, "b");
    EXPECT_THAT(filter->in, ElementsAre("c"));
    EXPECT_THAT(filter->not_in, ElementsAre("d", "e"));
    ASSERT_EQ(filter->any_of.size(), 1U);
    EXPECT_EQ(filter->any_of[0].eq, "f");
    for (const Value& none : {nothing(), object({}), object({{"in", list({})}, {"or", list({object({})})}})}) {
        EXPECT_FALSE(textFilter(&none).has_value());
    }
}

TEST(ListFilter, TakesEveryConditionAndNoneWithoutOne) {
    const Value value = object({{"containsAny", list({text("a")})},
                                {"containsAll", list({text("b"), text("c")})},
                                {"notContainsAny", list({text("d")})},
                                {"notContainsAll", list({text("e")})},
                                {"or", list({object({{"containsAny", list({text("f")})}})})}});
    const auto filter = listFilter(&value);
    ASSERT_TRUE(filter.has_value());
    EXPECT_THAT(filter->contains_any, ElementsAre("a"));
    EXPECT_THAT(filter->contains_all, ElementsAre("b", "c"));
    EXPECT_THAT(filter->not_contains_any, ElementsAre("d"));
    EXPECT_THAT(filter->not_contains_all, ElementsAre("e"));
    ASSERT_EQ(filter->any_of.size(), 1U);
    EXPECT_THAT(filter->any_of[0].contains_any, ElementsAre("f"));
    for (const Value& none : {nothing(), object({}), object({{"containsAny", list({})}})}) {
        EXPECT_FALSE(listFilter(&none).has_value());
    }
}

TEST(LocationFilter, Acceptance10_PolygonAndCircleFaultsAreNamed) {
    const Value far = point(9999, 0), unknown = point(kNaN, 0), endless = point(0, kInfinity), wide = point(0, 180.5);
    const Value good = point(0, 0), here = point(0, 1), there = point(1, 1);
    for (const Value& bad : {far, unknown, endless, wide, nothing()}) {
        EXPECT_EQ(refusal(polygonOf({good, here, bad})), "invalid geofence polygon vertex");
    }
    EXPECT_EQ(refusal(polygonOf({good})), "not enough points in geofence filter");
    EXPECT_EQ(refusal(polygonOf({good, here})), "not enough points in geofence filter");
    EXPECT_EQ(refusal(object({{"inCircle", circle(91, 0, 5)}})), "invalid circle filter location");
    EXPECT_EQ(refusal(object({{"inCircle", circle(0, kNaN, 5)}})), "invalid circle filter location");
    for (double radius : {kNaN, kInfinity, -5.0}) {
        EXPECT_EQ(refusal(object({{"inCircle", circle(0, 0, radius)}})), "invalid circle filter radius");
    }
    const auto triangle = accepted(polygonOf({good, here, there}));
    ASSERT_TRUE(triangle.has_value());
    EXPECT_EQ(triangle->polygon.size(), 3U);
    const auto around = accepted(object({{"inCircle", circle(-90, 180, 0)}}));
    ASSERT_TRUE(around.has_value() && around->circle.has_value());
    EXPECT_EQ(around->circle->center.latitude, -90);
    EXPECT_EQ(around->circle->radius_km, 0);
}

TEST(LocationFilter, FaultsAreFoundInOrder) {
    // Too few points come before their values, the polygon before the circle, its centre before its radius.
    const Value few = object({{"inPolygon", list({point(9999, 0)})}, {"inCircle", circle(91, 0, -1)}});
    EXPECT_EQ(refusal(few), "not enough points in geofence filter");
    const Value vertex =
        object({{"inPolygon", list({point(9999, 0), point(0, 0), point(0, 1)})}, {"inCircle", circle(91, 0, -1)}});
    EXPECT_EQ(refusal(vertex), "invalid geofence polygon vertex");
    EXPECT_EQ(refusal(object({{"inCircle", circle(91, 0, -1)}})), "invalid circle filter location");
}

TEST(LocationFilter, EmptyPolygonOrNothingIsNoFilter) {
    EXPECT_FALSE(accepted(polygonOf({})).has_value());
    EXPECT_FALSE(accepted(object({})).has_value());
    EXPECT_FALSE(accepted(nothing()).has_value());
    const auto both =
        accepted(object({{"inPolygon", list({point(0, 0), point(0, 1), point(1, 1)})}, {"inCircle", circle(0, 0, 5)}}));
    ASSERT_TRUE(both.has_value());
    EXPECT_TRUE(both->circle.has_value());
}

// Every aggregation of the schema has a meaning, so that a new one cannot be taken for another.
TEST(Aggregations, AllOfTheSchemaAreKnown) {
    using F = query::FloatAggregation;
    using S = query::StringAggregation;
    using L = query::LocationAggregation;
    EXPECT_EQ(floatAggregation("AVG"), F::kAvg);
    EXPECT_EQ(floatAggregation("MED"), F::kMed);
    EXPECT_EQ(floatAggregation("MAX"), F::kMax);
    EXPECT_EQ(floatAggregation("MIN"), F::kMin);
    EXPECT_EQ(floatAggregation("RAND"), F::kRand);
    EXPECT_EQ(floatAggregation("FIRST"), F::kFirst);
    EXPECT_EQ(floatAggregation("LAST"), F::kLast);
    EXPECT_EQ(stringAggregation("RAND"), S::kRand);
    EXPECT_EQ(stringAggregation("TOP"), S::kTop);
    EXPECT_EQ(stringAggregation("UNIQUE"), S::kUnique);
    EXPECT_EQ(stringAggregation("FIRST"), S::kFirst);
    EXPECT_EQ(stringAggregation("LAST"), S::kLast);
    EXPECT_EQ(locationAggregation("AVG"), L::kAvg);
    EXPECT_EQ(locationAggregation("RAND"), L::kRand);
    EXPECT_EQ(locationAggregation("FIRST"), L::kFirst);
    EXPECT_EQ(locationAggregation("LAST"), L::kLast);
    for (const char* name : {"", "avg", "TOPP"}) {
        EXPECT_FALSE(floatAggregation(name).has_value());
        EXPECT_FALSE(stringAggregation(name).has_value());
        EXPECT_FALSE(locationAggregation(name).has_value());
    }
    EXPECT_FALSE(locationAggregation("MED").has_value());
}

}  // namespace
}  // namespace dq::api
