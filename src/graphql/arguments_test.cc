// Coercion of literals, defaults and variables, and the errors of those that do not fit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graphql/executor_testing.h"

namespace dq::graphql {
namespace {

using testing::firstCode;
using testing::Harness;

// Runs the request; the first root's arguments, or none when it was not resolved.
struct Asked {
    std::vector<Field> fields;
    std::string body;
    const Value& argument(std::string_view name) const {
        static const Value kAbsent{std::string("<absent>")};
        const Value* value = fields.empty() ? nullptr : fields[0].argument(name);
        return value == nullptr ? kAbsent : *value;
    }
    bool has(std::string_view name) const { return !fields.empty() && fields[0].argument(name) != nullptr; }
};

Asked ask(const std::string& query, const std::string& variables = "{}") {
    Harness harness;
    harness.options.scalar_check = testing::checkTime;
    harness.roots.set("cloudEvents", testing::list({}));
    harness.roots.set("segments", testing::list({}));
    const std::string body = harness.body(query, variables);
    return {harness.asked, body};
}

std::string fieldError(const std::string& path, const std::string& message, const std::string& data) {
    return R"({"errors":[{"message":")" + message + R"(","path":)" + path + R"(}],"data":)" + data + "}";
}

std::string variableError(const std::string& path, const std::string& message) {
    return R"({"errors":[{"message":")" + message + R"(","path":["variable",)" + path +
           R"(],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null})";
}

const std::string kLimit = "query($n:Int){cloudEvents(subject:\"s\",limit:$n){dataUrl}}";

TEST(Arguments, DefaultsAndAbsence) {
    const Asked plain = ask("{cloudEvents(subject:\"s\"){dataUrl}}");
    EXPECT_EQ(*plain.argument("limit").integer(), 10);
    EXPECT_EQ(*plain.argument("subject").string(), "s");
    EXPECT_FALSE(plain.has("filter"));
    EXPECT_TRUE(ask("{cloudEvents(subject:\"s\",limit:null){dataUrl}}").argument("limit").isNull());
    EXPECT_EQ(*ask(kLimit).argument("limit").integer(), 10);  // no value = not written
    EXPECT_TRUE(ask(kLimit, R"({"n":null})").argument("limit").isNull());
    EXPECT_EQ(*ask("query($n:Int=7){cloudEvents(subject:\"s\",limit:$n){dataUrl}}").argument("limit").integer(), 7);
    const Asked member = ask("query($t:String){cloudEvents(subject:\"s\",filter:{type:$t,id:\"i\"}){dataUrl}}");
    ASSERT_EQ(member.argument("filter").members()->size(), 1u);
    EXPECT_EQ(*member.argument("filter").member("id")->string(), "i");
}

TEST(Arguments, InputObjectDefaultsApplyToLiteralsAndVariables) {
    const std::string head = "segments(subject:\"s\",from:\"2026\",to:\"2026\",mechanism:IDLING,config:";
    const Asked literal = ask("{" + head + "{maxIdleRpm:900}){duration}}");
    const Asked given = ask("query($c:SegmentConfig){" + head + "$c){duration}}", R"({"c":{"maxIdleRpm":"900"}})");
    for (const Asked* asked : {&literal, &given}) {
        const Members& members = *asked->argument("config").members();
        ASSERT_EQ(members.size(), 5u);
        EXPECT_EQ(members[0].first, "maxGapSeconds");
        EXPECT_EQ(*members[0].second.integer(), 300);
        EXPECT_EQ(*asked->argument("config").member("maxIdleRpm")->integer(), 900);
    }
    EXPECT_EQ(*literal.argument("mechanism").string(), "IDLING");
}

TEST(Arguments, IntIs64Bit) {
    EXPECT_EQ(*ask("{cloudEvents(subject:\"s\",limit:9223372036854775807){dataUrl}}").argument("limit").integer(),
              INT64_MAX);
    EXPECT_EQ(*ask("{cloudEvents(subject:\"s\",limit:-3000000000){dataUrl}}").argument("limit").integer(),
              -3'000'000'000);
    EXPECT_EQ(
        *ask("query($n:Int=3000000000){cloudEvents(subject:\"s\",limit:$n){dataUrl}}").argument("limit").integer(),
        3'000'000'000);
    EXPECT_EQ(*ask(kLimit, R"({"n":-9223372036854775808})").argument("limit").integer(), INT64_MIN);
    EXPECT_EQ(firstCode(ask("{cloudEvents(subject:\"s\",limit:9223372036854775808){dataUrl}}").body),
              "GRAPHQL_VALIDATION_FAILED");
    EXPECT_EQ(firstCode(ask("{cloudEvents(subject:\"s\",limit:1.0){dataUrl}}").body), "GRAPHQL_VALIDATION_FAILED");
    EXPECT_EQ(firstCode(ask("{cloudEvents(subject:\"s\",limit:\"1\"){dataUrl}}").body), "GRAPHQL_VALIDATION_FAILED");
}

TEST(Arguments, IntVariablesTakeDigitsAsText) {
    EXPECT_EQ(*ask(kLimit, R"({"n":"12"})").argument("limit").integer(), 12);
    EXPECT_EQ(ask(kLimit, R"({"n":"12x"})").body,
              fieldError(R"(["cloudEvents","limit"])", R"(strconv.ParseInt: parsing \"12x\": invalid syntax)", "null"));
    EXPECT_EQ(ask(kLimit, R"({"n":1.0})").body,
              fieldError(R"(["cloudEvents","limit"])", R"(strconv.ParseInt: parsing \"1.0\": invalid syntax)", "null"));
    EXPECT_EQ(ask(kLimit, R"({"n":92233720368547758070})").body,
              fieldError(R"(["cloudEvents","limit"])",
                         R"(strconv.ParseInt: parsing \"92233720368547758070\": value out of range)", "null"));
    EXPECT_EQ(ask(kLimit, R"({"n":true})").body, variableError(R"("n")", "cannot use bool as Int"));
    EXPECT_EQ(ask(kLimit, R"({"n":[1]})").body, variableError(R"("n")", "cannot use slice as Int"));
}

// Nested values of variables take numbers as text as well, so that NaN and infinities get through.
TEST(Arguments, FloatVariablesTakeText) {
    Harness harness;
    const auto bucket = std::make_shared<testing::FakeObject>();
    std::vector<double> seen;
    bucket->setAnswer("speed", [&](const Field& field) -> Resolved {
        const Value* filter = field.argument("filter");
        for (const char* name : {"eq", "gt", "lt"}) seen.push_back(*filter->member(name)->number());
        for (const Value& item : *filter->member("in")->list()) seen.push_back(*item.number());
        return 1.0;
    });
    harness.roots.set("signals", testing::list({bucket}));
    const std::string query =
        "query($f:SignalFloatFilter){signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){speed(agg:MAX,"
        "filter:$f)}}";
    EXPECT_EQ(harness.body(query, R"({"f":{"eq":"NaN","gt":"Inf","lt":"-Inf","in":["1.5",2,-3e2]}})"),
              R"({"data":{"signals":[{"speed":1}]}})");
    ASSERT_EQ(seen.size(), 6u);
    EXPECT_TRUE(std::isnan(seen[0]));
    EXPECT_TRUE(std::isinf(seen[1]) && seen[1] > 0 && std::isinf(seen[2]) && seen[2] < 0);
    EXPECT_EQ(std::vector(seen.begin() + 3, seen.end()), (std::vector<double>{1.5, 2, -300}));
    EXPECT_EQ(
        harness.body(query, R"({"f":{"in":[1,"1e999"]}})"),
        fieldError(R"(["signals",0,"speed","filter","in",1])",
                   R"(strconv.ParseFloat: parsing \"1e999\": value out of range)", R"({"signals":[{"speed":null}]})"));
    EXPECT_EQ(harness.body(query, R"({"f":{"eq":"fast"}})"),
              fieldError(R"(["signals",0,"speed","filter","eq"])",
                         R"(strconv.ParseFloat: parsing \"fast\": invalid syntax)", R"({"signals":[{"speed":null}]})"));
    EXPECT_EQ(
        firstCode(harness.body(
            "{signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){speed(agg:MAX,filter:{eq:\"1\"})}}")),
        "GRAPHQL_VALIDATION_FAILED");
}

TEST(Arguments, IntegerLiteralsAreFloatsWhereFloatIsWanted) {
    Harness harness;
    const auto bucket = std::make_shared<testing::FakeObject>();
    bucket->setAnswer("speed",
                      [](const Field& field) -> Resolved { return *field.argument("filter")->member("gt")->number(); });
    harness.roots.set("signals", testing::list({bucket}));
    EXPECT_EQ(
        harness.body(
            "query($x:Float=3){signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){"
            "a:speed(agg:MAX,filter:{gt:5}) b:speed(agg:MAX,filter:{gt:$x}) c:speed(agg:MAX,filter:{gt:-1.5e2})}}"),
        R"({"data":{"signals":[{"a":5,"b":3,"c":-150}]}})");
}

TEST(Arguments, StringVariablesTakeNumbersButNoBooleans) {
    const std::string query = "query($s:String!){cloudEvents(subject:$s){dataUrl}}";
    EXPECT_EQ(*ask(query, R"({"s":5})").argument("subject").string(), "5");
    EXPECT_EQ(*ask(query, R"({"s":1.50})").argument("subject").string(), "1.50");
    EXPECT_EQ(*ask(query, R"({"s":"a\u0000é"})").argument("subject").string(), std::string("a\0é", 4));
    EXPECT_EQ(ask(query, R"({"s":true})").body, variableError(R"("s")", "cannot use bool as String"));
    EXPECT_EQ(ask(query, R"({"s":{}})").body, variableError(R"("s")", "cannot use map as String"));
    EXPECT_EQ(ask(query, R"({"s":null})").body, variableError(R"("s")", "cannot be null"));
    EXPECT_EQ(ask(query).body, variableError(R"("s")", "must be defined"));
    EXPECT_EQ(ask(query, R"({"s":"a","s":"b","other":[{}]})").argument("subject").string()->c_str(), std::string("b"));
}

TEST(Arguments, ListsObjectsAndEnumsInVariables) {
    const std::string filter = "query($f:CloudEventFilter){cloudEvents(subject:\"s\",filter:$f){dataUrl}}";
    const Asked one = ask(filter, R"({"f":{"types":"a"}})");  // a single value stands for a list of one
    ASSERT_EQ(one.argument("filter").member("types")->list()->size(), 1u);
    EXPECT_EQ(*one.argument("filter").member("types")->list()->front().string(), "a");
    EXPECT_EQ(ask(filter, R"({"f":{"types":["a",null]}})").body, variableError(R"("f","types",1)", "cannot be null"));
    EXPECT_EQ(ask(filter, R"({"f":{"nope":1}})").body, variableError(R"("f","nope")", "unknown field"));
    // Names of unknown members are the caller's text, digits and nothing at all included.
    EXPECT_EQ(ask(filter, R"({"f":{"007":1}})").body, variableError(R"("f","007")", "unknown field"));
    EXPECT_EQ(ask(filter, R"({"f":{"":1}})").body, variableError(R"("f","")", "unknown field"));
    EXPECT_LT(ask(filter, "{\"f\":{\"" + std::string(100'000, 'x') + "\":1}}").body.size(), 500u);
    EXPECT_EQ(ask(filter, R"({"f":[]})").body, variableError(R"("f")", "must be a CloudEventFilter"));
    const std::string segments =
        "query($m:DetectionMechanism!,$r:[SegmentSignalRequest!]){segments(subject:\"s\",from:\"2026\",to:\"2026\","
        "mechanism:$m,signalRequests:$r){duration}}";
    const Asked good = ask(segments, R"({"m":"REFUEL","r":[{"agg":"MAX","name":"speed"}]})");
    EXPECT_EQ(*good.argument("mechanism").string(), "REFUEL");
    const Members& request = *good.argument("signalRequests").list()->front().members();
    EXPECT_EQ(request[0].first, "name");  // schema order
    EXPECT_EQ(*request[1].second.string(), "MAX");
    EXPECT_EQ(ask(segments, R"({"m":"NOPE"})").body, variableError(R"("m")", "NOPE is not a valid DetectionMechanism"));
    EXPECT_EQ(ask(segments, R"({"m":true})").body, variableError(R"("m")", "enums must be ints or strings"));
    EXPECT_EQ(ask(segments, R"({"m":"REFUEL","r":[{"name":"speed"}]})").body,
              variableError(R"("r",0,"agg")", "must be defined"));
}

TEST(Arguments, Acceptance09_TimeErrorsNameTheArgument) {
    const std::string from = "from:\"yesterday\",to:\"2026-11-29T00:00:00Z\"";
    EXPECT_EQ(
        ask("{signals(subject:\"s\",interval:\"1m\"," + from + "){timestamp}}").body,
        fieldError(R"(["signals","from"])", "time should be RFC3339Nano formatted string", R"({"signals":null})"));
    EXPECT_EQ(ask("query($t:Time!){events(subject:\"s\",from:\"2026\",to:$t){name}}", R"({"t":5})").body,
              fieldError(R"(["events","to"])", "time should be RFC3339Nano formatted string", R"({"events":null})"));
    EXPECT_EQ(
        ask("{cloudEvents(subject:\"s\",filter:{after:\"2026\",before:\"x\"}){dataUrl}}").body,
        fieldError(R"(["cloudEvents","filter","before"])", "time should be RFC3339Nano formatted string", "null"));
    // The first bad argument in schema order stands for all.
    EXPECT_EQ(ask("query($n:Int){segments(subject:\"s\",from:\"x\",to:\"y\",mechanism:IDLING,limit:$n){duration}}",
                  R"({"n":"z"})")
                  .body,
              fieldError(R"(["segments","from"])", "time should be RFC3339Nano formatted string", "null"));
}

TEST(Arguments, CoercionWinsOverTheGuard) {
    Harness harness;
    harness.options.scalar_check = testing::checkTime;
    int guarded = 0;
    harness.guard = [&](const Field&) -> std::optional<FieldError> {
        ++guarded;
        return FieldError{"unauthorized: jwt missing", "", ""};
    };
    EXPECT_EQ(
        harness.body("{signals(subject:\"s\",interval:\"1m\",from:\"x\",to:\"2026\"){timestamp}}"),
        fieldError(R"(["signals","from"])", "time should be RFC3339Nano formatted string", R"({"signals":null})"));
    EXPECT_EQ(guarded, 0);
}

TEST(Arguments, ScalarCheckMayReplaceTheValue) {
    Harness harness;
    harness.options.scalar_check = [](std::string_view, Value& value) -> std::optional<std::string> {
        value.data = std::int64_t{42};
        return std::nullopt;
    };
    harness.body("{events(subject:\"s\",from:\"a\",to:\"b\"){name}}");
    ASSERT_EQ(harness.asked.size(), 1u);
    EXPECT_EQ(*harness.asked[0].argument("from")->integer(), 42);
}

TEST(Arguments, RejectedByValidation) {
    for (const char* query : {
             "{cloudEvents{dataUrl}}",
             "{cloudEvents(subject:null){dataUrl}}",
             "{cloudEvents(subject:5){dataUrl}}",
             "{cloudEvents(subject:\"s\",nope:1){dataUrl}}",
             "{cloudEvents(subject:\"s\",filter:{nope:1}){dataUrl}}",
             "{cloudEvents(subject:$s){dataUrl}}",
             "query($s:String){cloudEvents(subject:$s){dataUrl}}",
             "query($s:Int!){cloudEvents(subject:$s){dataUrl}}",
             "query($s:SignalCollection){__typename}",
             "query($s:String!){__typename}",
             "{cloudEvents(subject:\"s\",subject:\"s\"){dataUrl}}",
             "query($s:String!,$s:String!){cloudEvents(subject:$s){dataUrl}}",
             "query($n:Int=\"1\"){cloudEvents(subject:\"s\",limit:$n){dataUrl}}",
         }) {
        const Asked asked = ask(query, R"({"s":"a"})");
        EXPECT_EQ(firstCode(asked.body), "GRAPHQL_VALIDATION_FAILED") << query;
        EXPECT_TRUE(asked.fields.empty()) << query;
    }
}

TEST(Arguments, OneVariableInManyFieldsIsBounded) {
    std::string items = "1";
    for (int i = 0; i < 20'000; ++i) items += ",1";
    std::string query = "query($f:SignalFloatFilter){signals(subject:\"s\",interval:\"1m\",from:\"2026\",to:\"2026\"){";
    for (int i = 0; i < 90; ++i) query += "a" + std::to_string(i) + ":speed(agg:MAX,filter:$f) ";
    EXPECT_EQ(ask(query + "}}", "{\"f\":{\"in\":[" + items + "]}}").body,
              R"({"errors":[{"message":"the arguments of this operation are too large",)"
              R"("extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null})");
}

}  // namespace
}  // namespace dq::graphql
