// The surface as a whole: document in, answer out, over a real lake.
#include "api/graphql_api.h"

#include <gmock/gmock.h>

#include "api/graphql_api_testing.h"
#include "core/log.h"
#include "core/text.h"
#include "graphql/h3.h"

namespace dq::api {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// An answer with one error at one root field, whose value is null.
std::string refused(std::string_view field, std::string_view message, std::string_view extensions) {
    return strCat(R"({"errors":[{"message":")", message, R"(","path":[")", field, R"("])",
                  extensions.empty() ? "" : R"(,"extensions":)", extensions, R"(}],"data":{")", field, R"(":null}})");
}
std::string badRequestAnswer(std::string_view field, std::string_view message) {
    return refused(field, strCat("invalid argument: ", message),
                   R"({"code":"BAD_REQUEST","reason":"Internal Server Error"})");
}
std::string forbidden(std::string_view field, std::string_view message) {
    return refused(field, message, R"({"code":"FORBIDDEN"})");
}

// Texts of the centre of the cell that (40.7, -74) lies in; H3 libraries differ in the last bits.
std::pair<std::string, std::string> centreOfManhattan() {
    const auto centre = graphql::h3CellCenter(40.7, -74.0).value_or(std::pair<double, double>{});
    EXPECT_NEAR(centre.first, 40.704167908350385, 1e-12);
    EXPECT_NEAR(centre.second, -74.01600847979245, 1e-12);
    return {graphql::formatFloat(centre.first), graphql::formatFloat(centre.second)};
}

constexpr char kDay[] = R"(from: "2026-06-01T00:00:00Z", to: "2026-06-02T00:00:00Z")";
std::string daySignals(std::string_view selection, std::string_view interval = "1m") {
    return strCat("{signals(subject: %, interval: \"", interval, "\", ", kDay, "){", selection, "}}");
}

TEST_F(GraphqlApiTest, Acceptance01_LatestValuesWithTheirTimes) {
    EXPECT_EQ(
        ask(1,
            "{signalsLatest(subject: %){lastSeen speed{timestamp value} powertrainType{value} isIgnitionOn{value}}}"),
        R"({"data":{"signalsLatest":{"lastSeen":"2026-11-29T12:00:00Z",)"
        R"("speed":{"timestamp":"2026-11-29T12:00:00Z","value":50.5},"powertrainType":{"value":"ICE"},)"
        R"("isIgnitionOn":null}}})");
}

TEST_F(GraphqlApiTest, Acceptance02_WithoutATokenEachFieldIsRefused) {
    EXPECT_EQ(ask(about(1, "{signalsLatest(subject: %){lastSeen}}"), std::nullopt),
              refused("signalsLatest", "unauthorized: jwt missing", R"({"code":"UNAUTHORIZED"})"));
}

TEST_F(GraphqlApiTest, Acceptance03_AnotherVehiclesTokenIsRefused) {
    const std::string message = "unauthorized: DID in query does not match token claim";
    EXPECT_EQ(ask(about(1, "{signalsLatest(subject: %){lastSeen}}"), claimsOf(vehicle(2))),
              forbidden("signalsLatest", message));
    std::string other_case = vehicle(1);
    other_case.replace(other_case.find("0xbA"), 4, "0xBA");
    EXPECT_EQ(ask(about(1, "{signalsLatest(subject: %){lastSeen}}"), claimsOf(other_case)),
              forbidden("signalsLatest", message));
}

TEST_F(GraphqlApiTest, Acceptance04_NonLocationPrivilegeSeesNoLocation) {
    EXPECT_EQ(ask(1,
                  "{signalsLatest(subject: %){speed{value} currentLocationCoordinates{timestamp} "
                  "currentLocationApproximateCoordinates{timestamp}}}",
                  "{}", vss::kNonLocationData),
              R"({"errors":[{"message":"unauthorized: missing required privilege privilege:GetLocationHistory",)"
              R"("path":["signalsLatest","currentLocationCoordinates"],"extensions":{"code":"FORBIDDEN"}},)"
              R"({"message":"unauthorized: requires at least one of the following privileges )"
              R"([privilege:GetApproximateLocation privilege:GetLocationHistory]",)"
              R"("path":["signalsLatest","currentLocationApproximateCoordinates"],"extensions":{"code":"FORBIDDEN"}}],)"
              R"("data":{"signalsLatest":{"speed":{"value":50.5},"currentLocationCoordinates":null,)"
              R"("currentLocationApproximateCoordinates":null}}})");
}

TEST_F(GraphqlApiTest, Acceptance05_ApproximatePrivilegeSeesTheCellCentreOnly) {
    const std::string query =
        "{signalsLatest(subject: %){currentLocationApproximateCoordinates{timestamp value{latitude longitude hdop}}}}";
    const auto centre = centreOfManhattan();
    const std::string expected = strCat(R"({"data":{"signalsLatest":{"currentLocationApproximateCoordinates":{)"
                                        R"("timestamp":"2026-11-29T12:00:00Z",)"
                                        R"("value":{"latitude":)",
                                        centre.first, R"(,"longitude":)", centre.second, R"(,"hdop":1.5}}}}})");
    EXPECT_EQ(ask(1, query, "{}", vss::kApproximateLocation), expected);
    EXPECT_EQ(ask(1, query, "{}", vss::kAllTimeLocation), expected);
    const std::string exact = ask(1, "{signalsLatest(subject: %){currentLocationCoordinates{value{latitude}}}}", "{}",
                                  vss::kApproximateLocation);
    EXPECT_THAT(exact, HasSubstr("missing required privilege privilege:GetLocationHistory"));
    EXPECT_THAT(exact, Not(HasSubstr("40.7")));
}

TEST_F(GraphqlApiTest, Acceptance07_AvailableSignalsTellNothingStoredFromNothingAllowed) {
    const std::string query = "{availableSignals(subject: %)}";
    EXPECT_EQ(ask(2, query), R"({"data":{"availableSignals":null}})");
    EXPECT_EQ(ask(5, query), R"({"data":{"availableSignals":null}})");
    EXPECT_EQ(ask(1, query, "{}", 0), R"({"data":{"availableSignals":[]}})");
    EXPECT_EQ(ask(1, query, "{}", vss::kNonLocationData),
              R"({"data":{"availableSignals":["powertrainType","speed"]}})");
    EXPECT_EQ(ask(1, query),
              R"({"data":{"availableSignals":["currentLocationCoordinates","powertrainType","speed"]}})");
    EXPECT_EQ(ask(1, "{availableSignals(subject: %, filter: {source: \"nobody\"})}"),
              R"({"data":{"availableSignals":null}})");
}

// Acceptance 6 here and 25 of the queries page.
TEST_F(GraphqlApiTest, Acceptance06_ListsHoldOnlyWhatThePrivilegesAllow) {
    const std::string query =
        "{signalsSnapshot(subject: %){lastSeen signals{name timestamp valueNumber valueString "
        "valueLocation{latitude}}}}";
    const std::string head = R"({"data":{"signalsSnapshot":{"lastSeen":"2026-11-29T12:00:00Z","signals":[)",
                      tail = "]}}}";
    const auto entry = [](std::string_view name, std::string_view values) {
        return strCat(R"({"name":")", name, R"(","timestamp":"2026-11-29T12:00:00Z",)", values, "}");
    };
    const std::string exact = entry("currentLocationCoordinates",
                                    R"("valueNumber":null,"valueString":null,"valueLocation":{"latitude":40.7})");
    const std::string type = entry("powertrainType", R"("valueNumber":null,"valueString":"ICE","valueLocation":null)");
    const std::string speed = entry("speed", R"("valueNumber":50.5,"valueString":null,"valueLocation":null)");
    const std::string coarse = entry("currentLocationApproximateCoordinates",
                                     strCat(R"("valueNumber":null,"valueString":null,"valueLocation":{)"
                                            R"("latitude":)",
                                            centreOfManhattan().first, "}"));
    EXPECT_EQ(ask(1, query), strCat(head, exact, ",", type, ",", speed, ",", coarse, tail));
    EXPECT_EQ(ask(1, query, "{}", vss::kNonLocationData), strCat(head, type, ",", speed, tail));
    EXPECT_EQ(ask(1, query, "{}", vss::kApproximateLocation), strCat(head, coarse, tail));
    EXPECT_EQ(ask(1, query, "{}", vss::kAllTimeLocation), strCat(head, exact, ",", coarse, tail));
    EXPECT_EQ(ask(1, query, "{}", 0), strCat(head, tail));
}

TEST_F(GraphqlApiTest, Acceptance08_IntervalAndOrderOfTimes) {
    EXPECT_EQ(ask(4, daySignals("speed(agg: AVG)", "bad")),
              refused("signals", R"(failed parsing interval: time: invalid duration \"bad\")", ""));
    EXPECT_EQ(
        ask(4, R"({signals(subject: %, interval: "1h", from: "2026-06-02T00:00:00Z", to: "2026-06-01T00:00:00Z"){)"
               R"(timestamp}})"),
        badRequestAnswer("signals", "from timestamp is after to timestamp"));
}

TEST_F(GraphqlApiTest, Acceptance09_FormsOfTimes) {
    EXPECT_EQ(ask(4, R"({signals(subject: %, interval: "24h", from: "2026-06-01 00:00:00", to: "2026-06-02 00:00:00"){)"
                     R"(timestamp speed(agg: MAX)}})"),
              R"({"data":{"signals":[{"timestamp":"2026-06-01T00:00:00Z","speed":0}]}})");
    EXPECT_EQ(ask(4, R"({signals(subject: %, interval: "1h", from: "", to: "2026-06-02T00:00:00Z"){timestamp}})"),
              badRequestAnswer("signals", "from timestamp is zero"));
    EXPECT_EQ(ask(4, R"({signals(subject: %, interval: "1h", from: "2026-06-02T00:00:00Z", to: ""){timestamp}})"),
              badRequestAnswer("signals", "to timestamp is zero"));
    const std::string answer = ask(4, R"({signals(subject: %, interval: "1h", from: "yesterday", to: ""){timestamp}})");
    EXPECT_THAT(answer, HasSubstr(R"("path":["signals","from"])"));
    EXPECT_THAT(answer, HasSubstr("time should be RFC3339Nano formatted string"));
    // A coercion error wins over a missing token.
    EXPECT_THAT(ask(R"({signals(subject: "x", interval: "1h", from: "yesterday", to: ""){timestamp}})", std::nullopt),
                HasSubstr(R"("path":["signals","from"])"));
}

TEST_F(GraphqlApiTest, Acceptance10_GeofencesThroughVariables) {
    const auto fence = [&](std::string_view type, std::string_view member, std::string_view value) {
        return ask(6,
                   strCat("query($v: ", type, "){signals(subject: %, interval: \"1h\", ", kDay,
                          "){currentLocationCoordinates(agg: FIRST, filter: {", member, ": $v}){latitude}}}"),
                   strCat(R"({"v":)", value, "}"));
    };
    const auto polygon = [&](std::string_view value) { return fence("[FilterLocation!]", "inPolygon", value); };
    const auto circle = [&](std::string_view value) { return fence("InCircleFilter", "inCircle", value); };
    for (const char* vertex : {R"({"latitude":"NaN","longitude":0})", R"({"latitude":0,"longitude":"+Inf"})",
                               R"({"latitude":9999,"longitude":0})"}) {
        EXPECT_EQ(polygon(strCat(R"([{"latitude":0,"longitude":0},{"latitude":0,"longitude":1},)", vertex, "]")),
                  badRequestAnswer("signals", "invalid geofence polygon vertex"));
    }
    EXPECT_EQ(polygon(R"([{"latitude":0,"longitude":0},{"latitude":0,"longitude":1}])"),
              badRequestAnswer("signals", "not enough points in geofence filter"));
    for (const char* radius : {"\"NaN\"", "\"Inf\"", "-5"}) {
        EXPECT_EQ(circle(strCat(R"({"center":{"latitude":0,"longitude":0},"radius":)", radius, "}")),
                  badRequestAnswer("signals", "invalid circle filter radius"));
    }
    EXPECT_EQ(polygon(R"([{"latitude":0,"longitude":1},{"latitude":0,"longitude":3},{"latitude":3,"longitude":2}])"),
              R"({"data":{"signals":[{"currentLocationCoordinates":{"latitude":1}}]}})");
    EXPECT_EQ(circle(R"({"center":{"latitude":5,"longitude":6},"radius":5})"),
              R"({"data":{"signals":[{"currentLocationCoordinates":{"latitude":5}}]}})");
}

TEST_F(GraphqlApiTest, Acceptance11_ComplexityUpToTheLimit) {
    std::string fields;
    for (int i = 0; i < 49; ++i) strAppend(&fields, " a", i, ": speed{value}");
    const std::string passes = ask(1, strCat("{signalsLatest(subject: %){lastSeen", fields, "}}"));
    EXPECT_THAT(passes,
                StartsWith(R"({"data":{"signalsLatest":{"lastSeen":"2026-11-29T12:00:00Z","a0":{"value":50.5})"));
    TransportRequest request;
    request.method = "POST";
    request.content_type = "application/json";
    const std::string body =
        strCat(R"({"query":"{signalsLatest(subject:\")", vehicle(1), R"(\"){)", fields, R"( b: speed{value}}}"})");
    request.body = body;
    const auto answer = api_.handle(request, claimsOf(vehicle(1)), Cancel::root());
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr("operation has complexity 101, which exceeds the limit of 100"));
    EXPECT_THAT(answer.body, HasSubstr("COMPLEXITY_LIMIT_EXCEEDED"));
}

TEST_F(GraphqlApiTest, Acceptance12_InvalidDocumentsHaveTheirStatus) {
    const auto status = [&](std::string_view body, std::string_view accept, std::string_view part) {
        TransportRequest request;
        request.method = "POST";
        request.content_type = "application/json";
        request.accept = accept;
        request.has_accept = true;
        request.body = body;
        const auto answer = api_.handle(request, std::nullopt, Cancel::root());
        EXPECT_THAT(answer.body, HasSubstr(part));
        return answer.status;
    };
    constexpr char kJson[] = "application/json", kResponse[] = "application/graphql-response+json";
    EXPECT_EQ(status(R"({"query":"{nope}"})", kJson, "GRAPHQL_VALIDATION_FAILED"), 422);
    EXPECT_EQ(status(R"({"query":"{nope}"})", kResponse, "GRAPHQL_VALIDATION_FAILED"), 400);
    EXPECT_EQ(status(R"({"query":"{"})", kJson, "GRAPHQL_PARSE_FAILED"), 422);
    EXPECT_EQ(status(R"({"query":"{"})", kResponse, "GRAPHQL_PARSE_FAILED"), 400);
    EXPECT_EQ(status(R"({"query":"query($s:String!){availableSignals(subject:$s)}"})", kJson,
                     R"({"errors":[{"message":"must be defined","path":["variable","s"],)"),
              422);
    EXPECT_EQ(status("{}", kJson, "no operation provided"), 422);
    const std::string deep = strCat(std::string(100'000, '['), std::string(100'000, ']'));
    EXPECT_EQ(status(strCat(R"({"query":"query($s:String!){availableSignals(subject:$s)}","variables":{)"
                            R"("s":)",
                            deep, "}}"),
                     kJson, "GRAPHQL_VALIDATION_FAILED"),
              422);
    EXPECT_EQ(status(R"({"query":"query A{__typename} query B{__typename}"})", kJson, "GRAPHQL_VALIDATION_FAILED"),
              422);
    EXPECT_EQ(status(R"({"query":"{__typename}"})", kResponse, R"({"data":{"__typename":"Query"}})"), 200);
}

TEST_F(GraphqlApiTest, EventsNewestFirstWithTheirMembers) {
    const std::string query = strCat("{events(subject: %, ", kDay, "){timestamp name source durationNs metadata}}");
    EXPECT_EQ(
        ask(6, query),
        R"({"data":{"events":[{"timestamp":"2026-06-01T00:00:40Z","name":"behavior.harshCornering","source":"s1",)"
        R"("durationNs":0,"metadata":null},)"
        R"({"timestamp":"2026-06-01T00:00:30Z","name":"behavior.harshBraking","source":"s1","durationNs":1500,)"
        R"("metadata":"{\"a\":\"\u003cb\u003e\"}"}]}})");
    EXPECT_EQ(ask(2, query), R"({"data":{"events":[]}})");
    EXPECT_EQ(ask(6, query, "{}", vss::kNonLocationData),
              forbidden("events", "unauthorized: missing required privilege privilege:GetLocationHistory"));
}

TEST_F(GraphqlApiTest, EventNamePatternsAreChecked) {
    const auto filtered = [&](std::string_view filter) {
        return ask(6, strCat("{events(subject: %, ", kDay, ", filter: {name: ", filter, "}){name}}"));
    };
    const auto bad = [&](std::string_view name) {
        return badRequestAnswer("events", strCat("event name '", name,
                                                 "' does not match namespace pattern (e.g. 'behavior.harshBraking')"));
    };
    const std::string braking = R"({"data":{"events":[{"name":"behavior.harshBraking"}]}})";
    EXPECT_EQ(filtered(R"({eq: "behavior.harshBraking"})"), braking);
    EXPECT_EQ(filtered(R"({startsWith: "behavior.harshB"})"), braking);
    EXPECT_EQ(filtered(R"({neq: "x", notIn: ["behavior.harshCornering"], in: []})"), braking);
    EXPECT_EQ(filtered(R"({eq: "harsh"})"), bad("harsh"));
    EXPECT_EQ(filtered(R"({in: ["behavior.harshBraking", "a.b.c"]})"), bad("a.b.c"));
    EXPECT_EQ(filtered(R"({neq: "x", or: [{neq: "y"}, {or: [{eq: "1.a"}]}]})"), bad("1.a"));
    EXPECT_EQ(filtered(R"({startsWith: "beh_"})"),
              badRequestAnswer(
                  "events",
                  "event name prefix 'beh_' does not match namespace pattern (e.g. 'behavior.' or 'behavior.harsh')"));
    EXPECT_EQ(
        ask(6, R"({events(subject: %, from: "2026-06-02T00:00:00Z", to: "2026-06-01T00:00:00Z", filter: {name: {eq: )"
               R"("harsh"}}){name}})"),
        badRequestAnswer("events", "from timestamp is after to timestamp"));
}

// The checks of `signals` in the order of the page: each document has the fault named and one that comes later.
TEST_F(GraphqlApiTest, SignalsCheckTheirArgumentsInOrder) {
    const auto asked = [&](std::string_view interval, std::string_view from, std::string_view to,
                           std::string_view selection) {
        return ask(strCat(R"({signals(subject: "", interval: ")", interval, R"(", from: ")", from, R"(", to: ")", to,
                          R"(", filter: {source: "nobody"}){)", selection, "}}"),
                   claimsOf(""));
    };
    const std::string one = "2026-06-01T00:00:00Z", two = "2026-06-02T00:00:00Z";
    const std::string fence =
        "currentLocationCoordinates(agg: AVG, filter: {inPolygon: [{latitude: 0, longitude: 0}]}){latitude}";
    const std::string plain = "speed(agg: AVG)";
    EXPECT_THAT(asked("1d", "", "", fence), HasSubstr(R"(time: unknown unit \"d\" in duration \"1d\")"));
    EXPECT_EQ(asked("0s", "", "", fence), badRequestAnswer("signals", "from timestamp is zero"));
    EXPECT_EQ(asked("0s", two, "", fence), badRequestAnswer("signals", "to timestamp is zero"));
    EXPECT_EQ(asked("0s", two, one, fence), badRequestAnswer("signals", "from timestamp is after to timestamp"));
    for (const char* interval : {"0s", "500ns", "-1h"}) {
        EXPECT_EQ(asked(interval, one, two, fence), badRequestAnswer("signals", "interval is not a positive integer"));
    }
    EXPECT_EQ(asked("1us", one, two, fence),
              badRequestAnswer("signals",
                               "interval too small for the requested window (exceeds the aggregation bucket limit)"));
    EXPECT_EQ(asked("1h", one, two, fence), badRequestAnswer("signals", "not enough points in geofence filter"));
    EXPECT_EQ(asked("1h", one, two, plain), badRequestAnswer("signals", "subject is required"));
    EXPECT_EQ(ask(6, strCat(R"({signals(subject: %, interval: "1h", )", kDay,
                            R"(, filter: {source: "nobody"}){timestamp}})")),
              badRequestAnswer("signals", "source 'nobody' is not a valid ethr DID"));
    EXPECT_EQ(ask(6, strCat(R"({signals(subject: %, interval: "1h", )", kDay, "){timestamp}}")),
              R"({"data":{"signals":null}})");
}

TEST_F(GraphqlApiTest, LatestAndEventsWantASubject) {
    EXPECT_EQ(ask("{signalsLatest(subject: \"\"){lastSeen}}", claimsOf("")),
              badRequestAnswer("signalsLatest", "subject is required"));
    EXPECT_EQ(ask(strCat("{events(subject: \"\", ", kDay, "){name}}"), claimsOf("")),
              badRequestAnswer("events", "subject is required"));
    EXPECT_EQ(ask(6, "{signalsLatest(subject: %, filter: {source: \"x\"}){lastSeen}}"),
              badRequestAnswer("signalsLatest", "source 'x' is not a valid ethr DID"));
}

// Acceptance 6 of the queries page.
TEST_F(GraphqlApiTest, Queries06_AnUnknownVehicleHasEmptyAnswers) {
    EXPECT_EQ(ask(2, daySignals("speed(agg: AVG)")), R"({"data":{"signals":null}})");
    EXPECT_EQ(ask(2, "{signalsLatest(subject: %){lastSeen}}"), R"({"data":{"signalsLatest":{"lastSeen":null}}})");
    EXPECT_EQ(ask(2, "{signalsSnapshot(subject: %){lastSeen signals{name}}}"),
              R"({"data":{"signalsSnapshot":{"lastSeen":null,"signals":[]}}})");
    EXPECT_EQ(ask(2,
                  "{dataSummary(subject: %){numberOfSignals availableSignals firstSeen lastSeen "
                  "signalDataSummary{name} eventDataSummary{name}}}"),
              R"({"data":{"dataSummary":{"numberOfSignals":0,"availableSignals":[],"firstSeen":"2026-11-29T12:00:01Z",)"
              R"("lastSeen":"1900-01-01T00:00:00Z","signalDataSummary":[],"eventDataSummary":[]}}})");
}

// Acceptance 14 of the queries page: a location without a fix.
TEST_F(GraphqlApiTest, Queries14_ALocationThatNeverHadAFix) {
    EXPECT_EQ(
        ask(7, "{signalsLatest(subject: %){currentLocationCoordinates{timestamp value{latitude longitude hdop}}}}"),
        R"({"data":{"signalsLatest":{"currentLocationCoordinates":{"timestamp":"1970-01-01T00:00:00Z","value":{)"
        R"("latitude":0,"longitude":0,"hdop":0}}}}})");
    EXPECT_THAT(ask(7, "{signalsSnapshot(subject: %){signals{name timestamp valueNumber valueLocation{latitude}}}}"),
                HasSubstr(R"({"name":"currentLocationCoordinates","timestamp":"2026-06-01T00:00:05Z","valueNumber":0,)"
                          R"("valueLocation":null})"));
}

TEST_F(GraphqlApiTest, DataSummaryCountsAndItsExtremesOfVisibleNames) {
    const std::string query =
        "{dataSummary(subject: %){numberOfSignals availableSignals firstSeen lastSeen signalDataSummary{name "
        "numberOfSignals firstSeen lastSeen} "
        "eventDataSummary{name numberOfEvents firstSeen lastSeen}}}";
    EXPECT_EQ(
        ask(6, query),
        R"({"data":{"dataSummary":{"numberOfSignals":5,"availableSignals":["currentLocationCoordinates","speed"],)"
        R"("firstSeen":"2026-06-01T00:00:10Z","lastSeen":"2026-06-01T00:01:40Z","signalDataSummary":[)"
        R"({"name":"currentLocationCoordinates","numberOfSignals":2,"firstSeen":"2026-06-01T00:00:20Z",)"
        R"("lastSeen":"2026-06-01T00:01:40Z"},)"
        R"({"name":"speed","numberOfSignals":3,"firstSeen":"2026-06-01T00:00:10Z",)"
        R"("lastSeen":"2026-06-01T00:01:10Z"}],"eventDataSummary":[)"
        R"({"name":"behavior.harshBraking","numberOfEvents":1,"firstSeen":"2026-06-01T00:00:30Z",)"
        R"("lastSeen":"2026-06-01T00:00:30Z"},)"
        R"({"name":"behavior.harshCornering","numberOfEvents":1,"firstSeen":"2026-06-01T00:00:40Z",)"
        R"("lastSeen":"2026-06-01T00:00:40Z"}]}}})");
    EXPECT_EQ(ask(6, "{dataSummary(subject: %){numberOfSignals firstSeen lastSeen}}", "{}", vss::kAllTimeLocation),
              R"({"data":{"dataSummary":{"numberOfSignals":2,"firstSeen":"2026-06-01T00:00:20Z",)"
              R"("lastSeen":"2026-06-01T00:01:40Z"}}})");
    EXPECT_EQ(ask(6, "{dataSummary(subject: %){numberOfSignals firstSeen lastSeen}}", "{}", vss::kNonLocationData),
              R"({"data":{"dataSummary":{"numberOfSignals":3,"firstSeen":"2026-06-01T00:00:10Z",)"
              R"("lastSeen":"2026-06-01T00:01:10Z"}}})");
    EXPECT_EQ(ask(6, "{dataSummary(subject: %){numberOfSignals availableSignals firstSeen lastSeen}}", "{}", 0),
              R"({"data":{"dataSummary":{"numberOfSignals":0,"availableSignals":[],"firstSeen":"2026-06-01T00:00:30Z",)"
              R"("lastSeen":"2026-06-01T00:00:40Z"}}})");
}

// Acceptance 26 of the queries page, and filters that belong to one alias only.
TEST_F(GraphqlApiTest, Queries26_AliasesAreAnsweredEachForItself) {
    EXPECT_EQ(
        ask(6,
            daySignals("timestamp max: speed(agg: MAX) min: speed(agg: MIN) fast: speed(agg: AVG, filter: {gt: 15})")),
        R"({"data":{"signals":[{"timestamp":"2026-06-01T00:00:00Z","max":30,"min":10,"fast":30},)"
        R"({"timestamp":"2026-06-01T00:01:00Z","max":50,"min":50,"fast":50}]}})");
    EXPECT_EQ(
        ask(6, daySignals("speed(agg: LAST, filter: {lt: 20}) currentLocationCoordinates(agg: LAST){longitude hdop} "
                          "currentLocationApproximateCoordinates(agg: LAST){hdop}")),
        R"({"data":{"signals":[{"speed":10,"currentLocationCoordinates":{"longitude":2,"hdop":0.5},)"
        R"("currentLocationApproximateCoordinates":{"hdop":0.5}},)"
        R"({"speed":null,"currentLocationCoordinates":{"longitude":6,"hdop":0.8},)"
        R"("currentLocationApproximateCoordinates":{"hdop":0.8}}]}})");
}

TEST_F(GraphqlApiTest, Queries26b_NullNumbers) {
    EXPECT_EQ(
        ask(3, strCat(R"({signalsLatest(subject: %, filter: {source: ")", kDidA, R"("}){speed{timestamp value}}})")),
        R"({"data":{"signalsLatest":{"speed":{"timestamp":"2026-06-01T00:00:02Z","value":5}}}})");
    EXPECT_EQ(ask(3, daySignals("last: speed(agg: LAST) avg: speed(agg: AVG)")),
              R"({"data":{"signals":[{"last":5,"avg":5}]}})");
    EXPECT_EQ(
        ask(3, daySignals("timestamp speed(agg: AVG)", "1s")),
        R"({"data":{"signals":[{"timestamp":"2026-06-01T00:00:01Z","speed":5},{"timestamp":"2026-06-01T00:00:02Z",)"
        R"("speed":0}]}})");
    EXPECT_EQ(ask(3, daySignals("timestamp speed(agg: AVG, filter: {neq: 7})", "1s")),
              R"({"data":{"signals":[{"timestamp":"2026-06-01T00:00:01Z","speed":5}]}})");
}

TEST_F(GraphqlApiTest, Queries26c_BucketsOfARefusedFieldAppearWithAnErrorEach) {
    const std::string answer =
        ask(4,
            R"({signals(subject: %, interval: "24h", from: "2026-06-01T00:00:00Z", to: "2026-06-08T00:00:00Z"){)"
            R"(speed(agg: AVG)}})",
            "{}", 0);
    std::string errors, values;
    for (int bucket = 0; bucket < 5; ++bucket) {
        strAppend(&errors, bucket == 0 ? "" : ",",
                  R"({"message":"unauthorized: missing required privilege privilege:GetNonLocationHistory",)"
                  R"("path":["signals",)",
                  bucket, R"(,"speed"],"extensions":{"code":"FORBIDDEN"}})");
        strAppend(&values, bucket == 0 ? "" : ",", R"({"speed":null})");
    }
    EXPECT_EQ(answer, strCat(R"({"errors":[)", errors, R"(],"data":{"signals":[)", values, "]}}"));
    EXPECT_EQ(ask(4,
                  R"({signals(subject: %, interval: "24h", from: "2027-06-01T00:00:00Z", to: "2027-06-08T00:00:00Z"){)"
                  R"(speed(agg: AVG)}})",
                  "{}", 0),
              R"({"data":{"signals":null}})");
}

TEST_F(GraphqlApiTest, Queries26d_TheIntervalIsJudgedBeforeTheSource) {
    const auto asked = [&](std::string_view interval) {
        return ask(6, strCat("{signals(subject: %, interval: \"", interval, "\", ", kDay,
                             R"(, filter: {source: "nobody"}){speed(agg: AVG)}})"));
    };
    EXPECT_EQ(asked("x"), refused("signals", R"(failed parsing interval: time: invalid duration \"x\")", ""));
    EXPECT_EQ(asked("1h"), badRequestAnswer("signals", "source 'nobody' is not a valid ethr DID"));
}

// Acceptance 28 of the queries page.
TEST_F(GraphqlApiTest, Queries28_ASourceDidMeetsTheChecksummedAddress) {
    for (const char* chain : {"1", "137"}) {
        EXPECT_EQ(ask(3, strCat("{availableSignals(subject: %, filter: {source: \"did:ethr:", chain,
                                ":0x9c94c395cbcbde662235e0a9d3bb87ad708561ba\"})}")),
                  R"({"data":{"availableSignals":["speed"]}})");
    }
}

TEST_F(GraphqlApiTest, Queries27_ADepartedCallerIsAnsweredServiceUnavailable) {
    graphql::Request request;
    request.query = about(1, "{signalsLatest(subject: %){lastSeen}}");
    const std::string expected =
        refused("signalsLatest", "request exceeded or is estimated to exceed the maximum execution time",
                R"({"code":"SERVICE_UNAVAILABLE","reason":"Service Unavailable"})");
    LogCapture capture;
    const Cancel gone = Cancel::root();
    gone.cancel();
    EXPECT_EQ(api_.execute(request, claimsOf(vehicle(1)), gone).body, expected);
    const Cancel late = Cancel::root().withTimeout(1);
    ASSERT_TRUE(late.waitFor(10 * kMicrosPerSecond));
    EXPECT_EQ(api_.execute(request, claimsOf(vehicle(1)), late).body, expected);
}

TEST_F(GraphqlApiTest, FieldsOfALaterBuildSaySo) {
    const std::string answer =
        ask(1, strCat("{dailyActivity(subject: %, ", kDay, ", mechanism: IGNITION_DETECTION){segmentCount}}"));
    EXPECT_EQ(answer,
              R"({"errors":[{"message":"dailyActivity is not available in this build","path":["dailyActivity"],)"
              R"("extensions":{"code":"NOT_AVAILABLE"}}],"data":null})");
    EXPECT_THAT(ask(1, "{cloudEvents(subject: %){header{id}}}"), HasSubstr("NOT_AVAILABLE"));
}

TEST_F(GraphqlApiTest, Acceptance23_RootFieldsAreTimedByNameAndOutcome) {
    LogCapture capture;
    ask(1, "{a: availableSignals(subject: %)}");
    ask(1, "{signalsLatest(subject: %, filter: {source: \"x\"}){speed{value}}}");
    ask(1, "{signalsLatest(subject: \"other\"){speed{value}}}");
    ask(1, R"({signals(subject: %, interval: "1h", from: "yesterday", to: ""){timestamp}})");
    ask("{__schema{queryType{name}} __typename}", std::nullopt);
    const auto observed = [&](std::string_view field, std::string_view status) {
        return seriesValue(metrics_,
                           strCat("dq_graphql_field_seconds_count{field=\"", field, "\",status=\"", status, "\"}"));
    };
    EXPECT_EQ(observed("availableSignals", "success"), 1);
    EXPECT_EQ(observed("availableSignals", "error"), -1);
    EXPECT_EQ(observed("signalsLatest", "error"), 2);
    EXPECT_EQ(observed("__schema", "success"), 1);
    EXPECT_EQ(observed("signals", "error"), -1);  // its resolver never ran
    EXPECT_THAT(metrics_.render(), Not(HasSubstr("field=\"speed\"")));
    EXPECT_THAT(metrics_.render(), HasSubstr("le=\"0.001\""));
}

TEST_F(GraphqlApiTest, Acceptance28_ResponsesAreCountedBySizeComplexityAndStatus) {
    const auto counted = [&](std::string_view size, std::string_view complexity, std::string_view status) {
        return seriesValue(metrics_, strCat("graphql_request_total{complexity=\"", complexity, "\",response_size=\"",
                                            size, "\",status=\"", status, "\"}"));
    };
    ask("{__schema{types{name description fields{name description} inputFields{name} enumValues{name}}}}",
        std::nullopt);
    EXPECT_EQ(counted("10-100KB", "0-5", "success"), 1) << metrics_.render();
    ask(1, "{availableSignals(subject: %)}");
    EXPECT_EQ(counted("0-10KB", "0-5", "success"), 1);
    ask(1, "{availableSignals(subject: \"other\")}");
    EXPECT_EQ(counted("0-10KB", "0-5", "with_errors"), 1);
    ask("{", std::nullopt);
    ask("{nope}", std::nullopt);
    EXPECT_EQ(counted("0-10KB", "unknown", "with_errors"), 2);
    std::string fields;
    for (int i = 0; i < 10; ++i) strAppend(&fields, " a", i, ": speed{value}");
    ask(1, strCat("{signalsLatest(subject: %){", fields, "}}"));  // 1 + 20
    EXPECT_EQ(counted("0-10KB", "21-40", "success"), 1);
}

}  // namespace
}  // namespace dq::api
