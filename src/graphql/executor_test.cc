#include "graphql/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "graphql/errors.h"
#include "graphql/executor_testing.h"

namespace dq::graphql {
namespace {

using testing::FakeObject;
using testing::Harness;
using testing::list;
using testing::object;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::shared_ptr<const Object> shared(FakeObject value) { return std::make_shared<FakeObject>(std::move(value)); }

FakeObject floatSignal(double value) {
    return FakeObject().set("timestamp", TimeValue{1'796'040'000'500'000}).set("value", value);
}

TEST(Executor, WritesEveryKindOfValue) {
    Harness harness;
    harness.roots.set(
        "signalsLatest",
        object(FakeObject()
                   .set("lastSeen", TimeValue{1'796'040'000'000'000})
                   .set("speed", object(floatSignal(1e6)))
                   .set("currentLocationCoordinates",
                        object(FakeObject().set(
                            "value",
                            object(FakeObject().set("latitude", 40.5).set("longitude", -74.0).set("hdop", 0.0)))))));
    EXPECT_EQ(
        harness.body(
            "{signalsLatest(subject:\"s\"){t:__typename lastSeen speed{timestamp value}"
            " currentLocationCoordinates{value{latitude longitude hdop}} heading:currentLocationHeading{value}}}"),
        R"({"data":{"signalsLatest":{"t":"SignalCollection","lastSeen":"2026-11-30T12:00:00Z",)"
        R"("speed":{"timestamp":"2026-11-30T12:00:00.5Z","value":1e+06},)"
        R"("currentLocationCoordinates":{"value":{"latitude":40.5,"longitude":-74,"hdop":0}},"heading":null}}})");
    harness.roots.set("dataSummary", object(FakeObject()
                                                .set("numberOfSignals", std::uint64_t{1} << 63)
                                                .set("availableSignals", StringListValue{{"a", "<b>"}})
                                                .set("firstSeen", TimeValue{0})
                                                .set("signalDataSummary", list({}))));
    EXPECT_EQ(
        harness.body(
            "{dataSummary(subject:\"s\"){numberOfSignals availableSignals firstSeen signalDataSummary{name}}}"),
        R"({"data":{"dataSummary":{"numberOfSignals":9223372036854775808,"availableSignals":["a","\u003cb\u003e"],)"
        R"("firstSeen":"1970-01-01T00:00:00Z","signalDataSummary":[]}}})");
}

TEST(Executor, StoredJsonIsInlinedAndRubbishIsNull) {
    Harness harness;
    const auto data = [&](const char* json) {
        harness.roots.set("cloudEvents",
                          list({shared(FakeObject().set("data", RawJson{json}).set("dataBase64", "QQ=="))}));
        return harness.body("{cloudEvents(subject:\"s\"){data dataBase64}}");
    };
    EXPECT_EQ(data("{ \"a\" : 1 }"), R"({"data":{"cloudEvents":[{"data":{"a":1},"dataBase64":"QQ=="}]}})");
    EXPECT_EQ(data("not json"), R"({"data":{"cloudEvents":[{"data":null,"dataBase64":"QQ=="}]}})");
    EXPECT_EQ(data(""), R"({"data":{"cloudEvents":[{"data":null,"dataBase64":"QQ=="}]}})");
}

TEST(Executor, ZeroInstantIsNull) {
    Harness harness;
    harness.roots.set("signalsLatest", object(FakeObject().set("lastSeen", TimeValue{kZeroTime})));
    EXPECT_EQ(harness.body("{signalsLatest(subject:\"s\"){lastSeen}}"),
              R"({"data":{"signalsLatest":{"lastSeen":null}}})");
}

// A non-finite number is an error at its field and null up to the nearest nullable ancestor, never invalid JSON.
TEST(Executor, Complaint43_NanAndInfinityBecomeNullPlusAnError) {
    for (const double bad : {kNan, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()}) {
        Harness harness;
        harness.roots.set("signalsLatest", object(FakeObject().set("speed", object(floatSignal(bad)))));
        EXPECT_EQ(harness.body("{signalsLatest(subject:\"s\"){lastSeen speed{value}}}"),
                  R"({"errors":[{"message":"cannot marshal infinite no NaN float values",)"
                  R"("path":["signalsLatest","speed","value"]}],)"
                  R"("data":{"signalsLatest":{"lastSeen":null,"speed":null}}})");
    }
    Harness harness;
    harness.roots.set("signals", list({shared(FakeObject().set("timestamp", TimeValue{0}).set("speed", kNan))}));
    EXPECT_EQ(
        harness.body("{signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){timestamp speed(agg:AVG)}}"),
        R"({"errors":[{"message":"cannot marshal infinite no NaN float values","path":["signals",0,"speed"]}],)"
        R"("data":{"signals":[{"timestamp":"1970-01-01T00:00:00Z","speed":null}]}})");
}

TEST(Executor, NullTravelsToTheNearestNullableAncestor) {
    Harness harness;
    harness.roots.set("availableSignals", StringListValue{{"speed"}});
    harness.roots.set("latestCloudEvent", FieldError{"cloud event not found", "", ""});
    EXPECT_EQ(harness.body("{a:availableSignals(subject:\"s\") b:latestCloudEvent(subject:\"s\"){dataUrl}}"),
              R"({"errors":[{"message":"cloud event not found","path":["b"]}],"data":null})");
    // An item that may not be null takes its list with it; the errors of its siblings are told too.
    harness.roots.set("cloudEvents", list({shared(FakeObject().set("header", FieldError{"first", "C", "R"})),
                                           shared(FakeObject().set("header", NullValue{})), nullptr}));
    EXPECT_EQ(
        harness.body("{cloudEvents(subject:\"s\"){header{id}}}"),
        R"({"errors":[{"message":"first","path":["cloudEvents",0,"header"],"extensions":{"code":"C","reason":"R"}},)"
        R"({"message":"must not be null","path":["cloudEvents",1,"header"]},)"
        R"({"message":"must not be null","path":["cloudEvents",2]}],"data":null})");
    // `events` itself is nullable.
    harness.roots.set("events", list({shared(FakeObject().set("name", std::string("x"))), shared(FakeObject())}));
    EXPECT_EQ(harness.body("{availableSignals(subject:\"s\") events(subject:\"s\",from:\"2026\",to:\"2026\"){name}}"),
              R"({"errors":[{"message":"must not be null","path":["events",1,"name"]}],)"
              R"("data":{"availableSignals":["speed"],"events":null}})");
}

TEST(Executor, ErrorsComeFirstAndAreLeftOutWhenEmpty) {
    Harness harness;
    harness.roots.set("signalsLatest",
                      FieldError{"failed to query db", "INTERNAL_SERVER_ERROR", "Internal Server Error"});
    const Response failed = harness.run("{signalsLatest(subject:\"s\"){lastSeen}}");
    EXPECT_EQ(failed.body, R"({"errors":[{"message":"failed to query db","path":["signalsLatest"],)"
                           R"("extensions":{"code":"INTERNAL_SERVER_ERROR","reason":"Internal Server Error"}}],)"
                           R"("data":{"signalsLatest":null}})");
    EXPECT_TRUE(failed.has_errors);
    EXPECT_EQ(failed.data_bytes, std::string(R"({"signalsLatest":null})").size());
    EXPECT_EQ(failed.complexity, 2);
    EXPECT_FALSE(harness.run("{__typename}").has_errors);
    EXPECT_EQ(errorBody("a \"b\"", "CODE"),
              R"({"errors":[{"message":"a \"b\"","extensions":{"code":"CODE"}}],"data":null})");
    EXPECT_EQ(errorBody("a"), R"({"errors":[{"message":"a"}],"data":null})");
}

TEST(Executor, GuardIsAskedForEveryValueOfFieldsWithDirectives) {
    Harness harness;
    int asked = 0;
    harness.guard = [&](const Field& field) -> std::optional<FieldError> {
        ++asked;
        const AppliedDirective* all = field.definition->directive("requiresAllOfPrivileges");
        if (field.definition->name != "speed") return std::nullopt;
        EXPECT_NE(all, nullptr);
        EXPECT_THAT(all->list, ::testing::ElementsAre("VEHICLE_NON_LOCATION_DATA"));
        return FieldError{"no speed", "", ""};
    };
    int resolved = 0;
    const auto bucket =
        shared(FakeObject().set("timestamp", TimeValue{0}).setAnswer("speed", [&](const Field&) -> Resolved {
            ++resolved;
            return 1.0;
        }));
    harness.roots.set("signals", list({bucket, bucket}));
    EXPECT_EQ(
        harness.body("{signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){timestamp speed(agg:AVG)}}"),
        R"({"errors":[{"message":"no speed","path":["signals",0,"speed"]},)"
        R"({"message":"no speed","path":["signals",1,"speed"]}],)"
        R"("data":{"signals":[{"timestamp":"1970-01-01T00:00:00Z","speed":null},)"
        R"({"timestamp":"1970-01-01T00:00:00Z","speed":null}]}})");
    EXPECT_EQ(asked, 3);  // the root and two values
    EXPECT_EQ(resolved, 0);
}

TEST(Executor, RefusedRootIsNotResolved) {
    Harness harness;
    harness.guard = [](const Field&) -> std::optional<FieldError> {
        return FieldError{"unauthorized: jwt missing", "", ""};
    };
    EXPECT_EQ(harness.body("{__typename signalsLatest(subject:\"s\"){lastSeen}}"),
              R"({"errors":[{"message":"unauthorized: jwt missing","path":["signalsLatest"]}],)"
              R"("data":{"__typename":"Query","signalsLatest":null}})");
    EXPECT_TRUE(harness.asked.empty());
}

TEST(Executor, RootOutcomesAreTold) {
    Harness harness;
    harness.options.scalar_check = testing::checkTime;
    harness.roots.set("signalsLatest", FieldError{"x", "", ""});
    harness.guard = [](const Field& field) -> std::optional<FieldError> {
        return field.definition->name == "dataSummary" ? std::optional(FieldError{"no", "", ""}) : std::nullopt;
    };
    harness.run(
        "{__typename a:availableSignals(subject:\"s\") signalsLatest(subject:\"s\"){speed{value}} "
        "dataSummary(subject:\"s\"){firstSeen}"
        " events(subject:\"s\",from:\"x\",to:\"2026\"){name} __type(name:\"Query\"){name}}");
    EXPECT_THAT(harness.done, ::testing::UnorderedElementsAre(std::pair<std::string, bool>("availableSignals", false),
                                                              std::pair<std::string, bool>("signalsLatest", true),
                                                              std::pair<std::string, bool>("dataSummary", true),
                                                              std::pair<std::string, bool>("__type", false)));
}

TEST(Executor, ResolversThatThrowFailTheirFieldOnly) {
    Harness harness;
    harness.roots.set(
        "signalsLatest",
        object(FakeObject()
                   .setAnswer("speed", [](const Field&) -> Resolved { throw std::runtime_error("secret"); })
                   .set("lastSeen", TimeValue{0})));
    EXPECT_EQ(harness.body("{signalsLatest(subject:\"s\"){speed{value} lastSeen}}"),
              R"({"errors":[{"message":"internal system error","path":["signalsLatest","speed"]}],)"
              R"("data":{"signalsLatest":{"speed":null,"lastSeen":"1970-01-01T00:00:00Z"}}})");
    harness.roots.setAnswer("dataSummary", [](const Field&) -> Resolved { throw 1; });
    EXPECT_EQ(harness.body("{dataSummary(subject:\"s\"){firstSeen}}"),
              R"({"errors":[{"message":"internal system error","path":["dataSummary"]}],"data":{"dataSummary":null}})");
}

TEST(Executor, ErrorsBeyondTheBoundAreCounted) {
    Harness harness;
    const auto bad = shared(FakeObject().set("timestamp", TimeValue{0}).set("speed", kNan));
    harness.roots.set("signals", list(std::vector<std::shared_ptr<const Object>>(ErrorList::kMaxErrors + 7, bad)));
    const std::string body =
        harness.body("{signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){speed(agg:AVG)}}");
    const auto document = testing::parseJson(body);
    EXPECT_EQ(document["errors"].Size(), ErrorList::kMaxErrors + 1);
    EXPECT_STREQ(document["errors"][ErrorList::kMaxErrors]["message"].GetString(), "7 more errors are left out");
    EXPECT_EQ(document["data"]["signals"].Size(), ErrorList::kMaxErrors + 7);
}

TEST(Executor, FieldDefinitionsComeInSchemaOrder) {
    const Executor executor({});
    const auto roots = executor.fieldsOf("Query");
    ASSERT_EQ(roots.size(), 11u);
    EXPECT_EQ(roots[0].name, "signals");
    EXPECT_EQ(roots[0].type, "[SignalAggregations!]");
    EXPECT_EQ(roots[0].named_type, "SignalAggregations");
    EXPECT_TRUE(roots[0].is_list && roots[0].item_non_null && !roots[0].non_null);
    EXPECT_EQ(roots[10].name, "dailyActivity");
    const AppliedDirective* all = roots[8].directive("requiresAllOfPrivileges");
    ASSERT_NE(all, nullptr);
    EXPECT_THAT(all->list, ::testing::ElementsAre("VEHICLE_NON_LOCATION_DATA", "VEHICLE_ALL_TIME_LOCATION"));
    EXPECT_EQ(roots[8].directives.front().name, "requiresVehicleToken");
    EXPECT_EQ(roots[8].directive("nope"), nullptr);
    EXPECT_EQ(executor.fieldsOf("SignalAggregations").size(), executor.fieldsOf("SignalCollection").size());
    for (const FieldDefinition& field : executor.fieldsOf("SignalAggregations")) {
        if (field.name == "speed") {
            EXPECT_EQ(field.agg_type, "FloatAggregation");
        }
        EXPECT_EQ(field.agg_type.empty(), field.name == "timestamp") << field.name;
    }
    EXPECT_TRUE(executor.fieldsOf("Nope").empty());
    EXPECT_TRUE(executor.fieldsOf("SignalFilter").empty());
}

}  // namespace
}  // namespace dq::graphql
