// Documents: selection, merging, complexity, introspection, the errors of bad ones, and the bounds of hostile ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "graphql/executor_testing.h"

namespace dq::graphql {
namespace {

using testing::FakeObject;
using testing::firstCode;
using testing::firstMessage;
using testing::Harness;
using testing::object;

Harness latest() {
    Harness harness;
    harness.roots.set("signalsLatest",
                      object(FakeObject()
                                 .set("lastSeen", TimeValue{0})
                                 .set("speed", object(FakeObject().set("value", 5.0).set("timestamp", TimeValue{0})))));
    return harness;
}

std::string times(int n, const std::function<std::string(int)>& part) {
    std::string text;
    for (int i = 0; i < n; ++i) text += part(i);
    return text;
}
std::string aliases(int n) {
    return times(n, [](int i) { return "a" + std::to_string(i) + ":speed{value} "; });
}

TEST(Document, FragmentsDirectivesAndMerging) {
    Harness harness = latest();
    EXPECT_EQ(harness.body(R"(
        query Q($yes: Boolean!, $no: Boolean = false) {
          one: signalsLatest(subject: "s") { ...A speed { value } skipped: lastSeen @skip(if: $yes) }
          one: signalsLatest(subject: "s") {
            ... on SignalCollection { speed { timestamp } } ... @include(if: $no) { x: lastSeen }
          }
          gone: signalsLatest(subject: "s") @include(if: $no) { lastSeen }
          both: signalsLatest(subject: "s") @skip(if: false) @include(if: $yes) { lastSeen lastSeen ...A ...A }
        }
        fragment A on SignalCollection { n: __typename, lastSeen ...B }
        fragment B on SignalCollection { speed { v: value } })",
                           R"({"yes":true})"),
              R"({"data":{"one":{"n":"SignalCollection","lastSeen":"1970-01-01T00:00:00Z",)"
              R"("speed":{"v":5,"value":5,"timestamp":"1970-01-01T00:00:00Z"}},)"
              R"("both":{"lastSeen":"1970-01-01T00:00:00Z","n":"SignalCollection","speed":{"v":5}}}})");
    EXPECT_EQ(harness.asked.size(), 2u);
}

TEST(Document, FieldsWithOtherArgumentsDoNotMerge) {
    EXPECT_EQ(
        firstCode(latest().body("{a:signalsLatest(subject:\"s\"){lastSeen} a:signalsLatest(subject:\"t\"){lastSeen}}")),
        "GRAPHQL_VALIDATION_FAILED");
    EXPECT_EQ(firstCode(latest().body("{signalsLatest(subject:\"s\"){a:lastSeen a:speed{value}}}")),
              "GRAPHQL_VALIDATION_FAILED");
}

TEST(Document, ComplexityCountsSelections) {
    const auto complexity = [](const std::string& query, const std::string& variables = "{}") {
        return latest().run(query, variables).complexity;
    };
    EXPECT_EQ(complexity("{signalsLatest(subject:\"x\"){lastSeen speed{value}}}"), 4);
    EXPECT_EQ(complexity("{__typename}"), 1);
    EXPECT_EQ(complexity("{signalsLatest(subject:\"x\"){...F ...F} b:signalsLatest(subject:\"x\"){...F}} fragment F on "
                         "SignalCollection{lastSeen speed{value}}"),
              11);
    EXPECT_EQ(complexity("query($s:Boolean!){signalsLatest(subject:\"x\"){lastSeen @skip(if:$s) "
                         "...@include(if:false){speed{value}}}}",
                         R"({"s":true})"),
              4);
    EXPECT_EQ(complexity("{__schema{queryType{name}} __typename}"), 1);
    EXPECT_EQ(complexity("{__type(name:\"Query\"){name fields{name}}}"), 4);
    EXPECT_EQ(complexity("{nope}"), -1);
    EXPECT_EQ(complexity("query A{__typename} query B{__typename}"), -1);
}

TEST(Document, Acceptance11_ComplexityLimit) {
    Harness harness = latest();
    const Response refused = harness.run("{signalsLatest(subject:\"s\"){" + aliases(50) + "}}");
    EXPECT_EQ(refused.kind, Response::Kind::kTooComplex);
    EXPECT_EQ(refused.complexity, 101);
    EXPECT_EQ(refused.body, R"({"errors":[{"message":"operation has complexity 101, which exceeds the limit of 100",)"
                            R"("extensions":{"code":"COMPLEXITY_LIMIT_EXCEEDED"}}],"data":null})");
    EXPECT_TRUE(harness.asked.empty());
    const Response runs = harness.run("{signalsLatest(subject:\"s\"){lastSeen " + aliases(49) + "}}");
    EXPECT_EQ(runs.kind, Response::Kind::kRan);
    EXPECT_EQ(runs.complexity, 100);
    EXPECT_FALSE(runs.has_errors);
}

TEST(Document, Acceptance12_ParseAndValidationFailures) {
    const auto outcome = [](const std::string& query) {
        const Response response = latest().run(query);
        return std::pair(response.kind, firstCode(response.body));
    };
    const std::pair parse(Response::Kind::kParseFailed, std::string("GRAPHQL_PARSE_FAILED"));
    const std::pair invalid(Response::Kind::kInvalid, std::string("GRAPHQL_VALIDATION_FAILED"));
    for (const char* query : {"{", "{signalsLatest(subject:\"x\"", "{}", "query", "}", "{a:}", "\xFF", "{a(b:\"x)}",
                              "type X{a:Int}", "extend type Query{a:Int}", "{a}}", "{signalsLatest(){lastSeen}}"}) {
        EXPECT_EQ(outcome(query), parse) << query;
    }
    for (const char* query :
         {"", " \n,#c\n\t", "\xEF\xBB\xBF", "fragment F on Query{__typename}", "{nope}", "mutation{x}",
          "subscription{x}", "{signalsLatest(subject:\"x\")}", "{availableSignals(subject:\"x\"){a}}", "{...F}",
          "{...on Nope{a}}", "{...F} fragment F on Query{...F}", "{__typename} fragment F on Query{__typename}",
          "{__typename @nope}", "{__typename} {__typename}", "query A{__typename} query A{__typename}",
          "query A{__typename} query B{__typename}"}) {
        EXPECT_EQ(outcome(query), invalid) << query;
    }
    EXPECT_EQ(
        latest().body("{nope}"),
        R"({"errors":[{"message":"Cannot query field \"nope\" on type \"Query\".",)"
        R"("locations":[{"line":1,"column":2}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}],"data":null})");
    EXPECT_EQ(firstMessage(latest().body("fragment F on Query{__typename}")), "no operation provided");
    EXPECT_EQ(firstMessage(latest().body("mutation{x}")), "The schema has no \"mutation\" root type defined");
}

TEST(Document, Acceptance33_SeveralOperationsNeedAName) {
    Harness harness;
    const std::string two = "query A{__typename} query B{b:__typename}";
    EXPECT_EQ(firstMessage(harness.run(two).body), "operation  not found");
    EXPECT_EQ(harness.run(two).kind, Response::Kind::kInvalid);
    EXPECT_EQ(harness.run(two, "{}", "B").body, R"({"data":{"b":"Query"}})");
    EXPECT_EQ(firstMessage(harness.run(two, "{}", "X").body), "operation X not found");
    EXPECT_EQ(firstMessage(harness.run("{__typename}", "{}", "X").body), "operation X not found");
    EXPECT_EQ(harness.run("query A{__typename}").body, R"({"data":{"__typename":"Query"}})");
}

TEST(Document, UnknownNamesGetSuggestions) {
    EXPECT_EQ(firstMessage(latest().body("{signalLatest(subject:\"s\"){lastSeen}}")),
              "Cannot query field \"signalLatest\" on type \"Query\". Did you mean \"signalsLatest\" or \"signals\"?");
    EXPECT_THAT(
        firstMessage(latest().body("{signals(subject:\"s\",interval:\"1\",from:\"2\",to:\"3\"){speed(agg:MODE)}}")),
        ::testing::EndsWith("Did you mean the enum value \"MED\"?"));
}

TEST(Document, Acceptance27_IntrospectionListsQueryInSchemaOrder) {
    Harness harness;
    const std::string query = "{__schema{queryType{fields{name}} mutationType{name} subscriptionType{name}}}";
    const auto document = testing::parseJson(harness.body(query));
    std::vector<std::string> names;
    for (const auto& field : document["data"]["__schema"]["queryType"]["fields"].GetArray())
        names.push_back(testing::member(field, "name"));
    EXPECT_THAT(names, ::testing::ElementsAre("signals", "signalsLatest", "availableSignals", "dataSummary",
                                              "signalsSnapshot", "latestCloudEvent", "cloudEvents",
                                              "availableCloudEventTypes", "events", "segments", "dailyActivity"));
    EXPECT_TRUE(document["data"]["__schema"]["mutationType"].IsNull());
    EXPECT_TRUE(document["data"]["__schema"]["subscriptionType"].IsNull());
    harness.introspection = false;
    EXPECT_EQ(harness.body(query),
              R"({"errors":[{"message":"introspection disabled","path":["__schema"]}],"data":{"__schema":null}})");
    EXPECT_EQ(harness.body("{__typename}"), R"({"data":{"__typename":"Query"}})");
}

// What graphql-js and GraphiQL send.
std::string standardIntrospection() {
    std::string type_ref = "kind name";
    for (int i = 0; i < 9; ++i) type_ref = "kind name ofType{" + type_ref + "}";
    return R"(query IntrospectionQuery{__schema{description
        queryType{name kind} mutationType{name kind} subscriptionType{name kind}
        types{...FullType} directives{name
        description isRepeatable locations args(includeDeprecated:true){...InputValue}}}}
        fragment FullType on __Type{kind name description specifiedByURL fields(includeDeprecated:true){name description
        args(includeDeprecated:true){...InputValue} type{...TypeRef} isDeprecated deprecationReason}
        inputFields(includeDeprecated:true){...InputValue} interfaces{...TypeRef} enumValues(includeDeprecated:true){
        name description
        isDeprecated deprecationReason} possibleTypes{...TypeRef}}
        fragment InputValue on __InputValue{name description type{...TypeRef} defaultValue isDeprecated
        deprecationReason}
        fragment TypeRef on __Type{)" +
           type_ref + "}";
}

TEST(Document, StandardIntrospectionRuns) {
    Harness harness;
    const Response response = harness.run(standardIntrospection());
    ASSERT_FALSE(response.has_errors) << response.body.substr(0, 300);
    EXPECT_EQ(response.complexity, 0);
    const auto document = testing::parseJson(response.body);
    bool found = false;
    for (const auto& type : document["data"]["__schema"]["types"].GetArray())
        found |= testing::member(type, "name") == "SignalAggregations";
    EXPECT_TRUE(found);
    EXPECT_EQ(response.body.find_first_of("<>&"), std::string::npos);
}

TEST(Document, IntrospectionMixesWithOtherFields) {
    Harness harness = latest();
    EXPECT_EQ(
        harness.body("query($n:String!,$d:Boolean!){a:signalsLatest(subject:\"s\"){lastSeen} t:__type(name:$n){name "
                     "...F kind @skip(if:$d)} "
                     "n:__type(name:\"Nope\"){name} z:__typename} fragment F on __Type{ofType{name}}",
                     R"({"n":"Time","d":true})"),
        R"({"data":{"a":{"lastSeen":"1970-01-01T00:00:00Z"},"t":{"name":"Time","ofType":null},"n":null,"z":"Query"}})");
}

// Hostile documents end quickly with an error; the answer stays small.
void expectRefused(const std::string& query, const std::string& code, Executor::Options options = {}) {
    Harness harness = latest();
    harness.options = options;
    const auto start = std::chrono::steady_clock::now();
    const Response response = harness.run(query);
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
    EXPECT_EQ(firstCode(response.body), code) << query.substr(0, 100) << " => " << response.body.substr(0, 300);
    EXPECT_LT(took.count(), 30'000) << query.substr(0, 100);
    EXPECT_LT(response.body.size(), 200'000u);
    EXPECT_TRUE(harness.asked.empty());
}

TEST(Document, Complaint42_AliasAndFragmentBombs) {
    expectRefused("{signalsLatest(subject:\"s\"){" + aliases(5000) + "}}", "COMPLEXITY_LIMIT_EXCEEDED");
    expectRefused(
        "{" + times(3000, [](int i) { return "a" + std::to_string(i) + ":availableSignals(subject:\"s\") "; }) + "}",
        "COMPLEXITY_LIMIT_EXCEEDED");
    expectRefused("{" + times(2000, [](int i) { return "a" + std::to_string(i) + ":__schema{types{name}} "; }) + "}",
                  "GRAPHQL_VALIDATION_FAILED");
    const auto bomb = [](int n, const std::string& type, const std::string& last,
                         const std::function<std::string(std::string)>& use) {
        return times(n, [&](int i) {
            return "fragment F" + std::to_string(i) + " on " + type + "{" +
                   (i + 1 < n ? use("...F" + std::to_string(i + 1)) : last) + "} ";
        });
    };
    expectRefused("{signalsLatest(subject:\"s\"){...F0}}" +
                      bomb(60, "SignalCollection", "lastSeen",
                           [](auto next) { return next + " " + next + " ..." + "{" + next + "}"; }),
                  "COMPLEXITY_LIMIT_EXCEEDED");
    expectRefused(
        "{__schema{types{...F0}}}" +
            bomb(30, "__Type", "name",
                 [](auto next) { return "a:ofType{" + next + "} b:ofType{" + next + "} c:ofType{" + next + "}"; }),
        "GRAPHQL_VALIDATION_FAILED");
    expectRefused("{__schema{types{fields{type{fields{type{fields{type{fields{name}}}}}}}}}}",
                  "GRAPHQL_VALIDATION_FAILED");
}

TEST(Document, Complaint42_SizeTokensAndDepth) {
    Executor::Options small;
    small.max_document_bytes = 100;
    Harness exact;
    exact.options = small;
    EXPECT_EQ(exact.run("{__typename}" + std::string(88, ' ')).kind, Response::Kind::kRan);
    expectRefused("{__typename}" + std::string(89, ' '), "GRAPHQL_PARSE_FAILED", small);
    Executor::Options large;
    large.max_document_bytes = 64 * 1024 * 1024;
    expectRefused(times(200'000, [](int) { return "{"; }), "GRAPHQL_PARSE_FAILED", large);
    expectRefused("{a(b:" + std::string(200'000, '[') + "}", "GRAPHQL_PARSE_FAILED", large);
    expectRefused("query($a:" + std::string(100'000, '[') + "Int", "GRAPHQL_PARSE_FAILED", large);
    expectRefused("{" + times(100'000, [](int) { return "a "; }) + "}", "GRAPHQL_PARSE_FAILED", large);
    expectRefused("{" + times(200, [](int) { return "...{"; }) + "__typename" + std::string(201, '}'),
                  "GRAPHQL_PARSE_FAILED");
    expectRefused("query(" + times(501, [](int i) { return "$v" + std::to_string(i) + ":Int "; }) + "){__typename}",
                  "GRAPHQL_VALIDATION_FAILED");
    expectRefused("{" + times(20'000, [](int i) { return "x" + std::to_string(i) + " "; }) + "}",
                  "GRAPHQL_VALIDATION_FAILED");
    expectRefused("{" + std::string(200'000, 'x') + "}", "GRAPHQL_VALIDATION_FAILED");
    expectRefused("{__typename " + times(10'000, [](int) { return "@skip(if:true)"; }) + "}",
                  "GRAPHQL_VALIDATION_FAILED", large);
    expectRefused("{...F0}" +
                      times(1000,
                            [](int i) {
                                return "fragment F" + std::to_string(i) + " on Query{...F" + std::to_string(i + 1) +
                                       "} ";
                            }) +
                      "fragment F1000 on Query{__typename}",
                  "GRAPHQL_VALIDATION_FAILED");
}

TEST(Document, VariablesThatAreNoObject) {
    for (const char* variables : {"[]", "x", "{", "5", "\"a\"", "\xFF"}) {
        EXPECT_NE(latest().run("{__typename}", variables).kind, Response::Kind::kRan) << variables;
    }
    for (const char* variables : {"", "null", "{}", " {\"a\":1} "}) {
        EXPECT_EQ(latest().run("{__typename}", variables).kind, Response::Kind::kRan) << variables;
    }
    const std::string deep = "{\"f\":" + std::string(200'000, '[') + "}";
    EXPECT_EQ(latest().run("{__typename}", deep).kind, Response::Kind::kInvalid);
}

}  // namespace
}  // namespace dq::graphql
