#include "app/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/log.h"
#include "core/text.h"
#include "ingest/committer.h"
#include "ingest/ingest_metrics.h"
#include "ingest/validate.h"
#include "query/lake_testing.h"

namespace dq::app {
namespace {

using http::Request;
using http::Response;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kIssuer[] = "https://auth.example";

Request request(std::string method, std::string target, std::vector<std::pair<std::string, std::string>> headers = {},
                std::string body = "") {
    Request out;
    out.method = std::move(method);
    out.target = std::move(target);
    const std::size_t mark = out.target.find('?');
    out.path = out.target.substr(0, mark);
    out.query = mark == std::string::npos ? "" : out.target.substr(mark + 1);
    out.headers = std::move(headers);
    out.body = std::move(body);
    out.peer_address = "192.0.2.1";
    out.peer_port = 1234;
    return out;
}

std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
        if (key == name) return value;
    }
    return "";
}

const auth::DevelopmentKey& signingKey() {
    static const auth::DevelopmentKey* key = [] {
        auto made = auth::DevelopmentKey::generate();
        DQ_CHECK(made.ok(), "a test key");
        return new auth::DevelopmentKey(*std::move(made));
    }();
    return *key;
}

std::string bearer(const std::string& subject = "0xDeveloper") {
    auth::Claims claims;
    claims.subject = subject;
    claims.asset = query::kSubject;
    claims.permissions = {"privilege:GetNonLocationHistory"};
    auto token = signingKey().sign(kIssuer, claims, systemClock().now(), 600);
    EXPECT_TRUE(token.ok()) << token.status();
    return strCat("Bearer ", token.ok() ? *token : "");
}

// Routes over an empty lake, and everything they need with it.
class RoutesTest : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        lake_ = query::TestLake::open({}).release();
        reader_ = new query::Reader(lake_->lake(), {}, lake_->metrics());
    }
    static void TearDownTestSuite() {
        delete reader_;
        delete lake_;
        reader_ = nullptr;
        lake_ = nullptr;
    }

    Response ask(const Request& asked, const Cancel& cancel = Cancel::root()) const {
        return routes_.handle(asked, cancel);
    }
    Response askTypename(std::vector<std::pair<std::string, std::string>> headers = {}) const {
        return ask(request("GET", "/query?query=%7B__typename%7D", std::move(headers)));
    }
    void takeEvents(std::string token = "") {
        committer_ = std::make_unique<ingest::Committer>(
            [this](std::span<const ingest::Row> rows, const Cancel&) -> absl::StatusOr<std::int64_t> {
                stored_ += rows.size();
                return 7;
            },
            ingest::Committer::Options{});
        events_ = std::make_unique<ingest::EventsEndpoint>(ingest::EventsEndpoint::Options{.token = std::move(token)},
                                                           validator_, *committer_);
        routes_.events = events_.get();
    }

    static query::TestLake* lake_;
    static query::Reader* reader_;
    Metrics metrics_;
    api::GraphqlApi graphql_{*reader_, metrics_};
    auth::TokenValidator tokens_{kIssuer, auth::KeySet::fixed(signingKey().jwksJson())};
    bool healthy_ = true;
    Readiness readiness_{
        {.cache_micros = 0, .grace_micros = 0, .give_up_micros = INT64_MAX},
        [this] { return healthy_ ? absl::OkStatus() : absl::UnavailableError("the catalog's password is wrong"); },
        [] {}};
    std::atomic<std::size_t> stored_{0};
    ingest::Validator validator_{{}};
    std::unique_ptr<ingest::Committer> committer_;
    std::unique_ptr<ingest::EventsEndpoint> events_;
    http::GlobalLimiter global_limit_{1, 1'000};
    http::SubjectLimiter subject_limit_{2};
    MainRoutes routes_{.graphql = &graphql_,
                       .tokens = &tokens_,
                       .readiness = &readiness_,
                       .events = nullptr,
                       .global_limit = &global_limit_,
                       .subject_limit = &subject_limit_,
                       .metrics = &metrics_};
};
query::TestLake* RoutesTest::lake_ = nullptr;
query::Reader* RoutesTest::reader_ = nullptr;

TEST_F(RoutesTest, ReadyAnswersAnyMethodAndNeverSaysWhyNot) {
    for (const char* method : {"GET", "POST", "HEAD", "DELETE"}) {
        const Response response = ask(request(method, "/ready"));
        EXPECT_EQ(response.status, 200) << method;
        EXPECT_EQ(response.body, "ok");
        EXPECT_EQ(header(response, "Content-Type"), "text/plain; charset=utf-8");
    }
    healthy_ = false;
    const Response response = ask(request("GET", "/ready"));
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.body, "not ready");
    healthy_ = true;
    EXPECT_EQ(ask(request("GET", "/ready")).status, 200);
    readiness_.stop();
    EXPECT_EQ(ask(request("GET", "/ready")).status, 503);
}

TEST_F(RoutesTest, EveryOtherPathIsThePlayground) {
    for (const char* path : {"/", "/query/", "/mcp/x", "/favicon.ico", "/no/such", "/ready/", "/v1/events/"}) {
        for (const char* method : {"GET", "POST"}) {
            const Response response = ask(request(method, path));
            EXPECT_EQ(response.status, 200) << path;
            EXPECT_EQ(header(response, "Content-Type"), "text/html; charset=utf-8");
            EXPECT_THAT(response.body, AllOf(HasSubstr("<html"), HasSubstr("/query")));
        }
    }
}

TEST_F(RoutesTest, UncleanPathsAreRedirectedWithoutAHost) {
    for (const auto& [target, location] : {std::pair<std::string, std::string>{"//query", "/query"},
                                           {"/a/../query", "/query"},
                                           {"/./ready", "/ready"},
                                           {"//query?query=a", "/query?query=a"}}) {
        const Response response = ask(request("GET", target));
        EXPECT_EQ(response.status, 307) << target;
        EXPECT_EQ(header(response, "Location"), location);
    }
}

TEST_F(RoutesTest, McpIsNotInThisBuild) {
    const Response response = ask(request("POST", "/mcp", {{"Content-Type", "application/json"}}, "{}"));
    EXPECT_EQ(response.status, 501);
    EXPECT_THAT(response.body, HasSubstr("not available in this build"));
    EXPECT_EQ(header(response, "X-Content-Type-Options"), "nosniff");
}

TEST_F(RoutesTest, QueryCarriesTheTransportsAnswer) {
    const Response get = askTypename();
    EXPECT_EQ(get.status, 200);
    EXPECT_EQ(header(get, "Content-Type"), "application/json");
    EXPECT_EQ(get.body, R"({"data":{"__typename":"Query"}})");
    const Response posted = ask(request(
        "POST", "/query", {{"content-type", "application/json"}, {"accept", "application/graphql-response+json"}},
        R"({"query":"{nope}"})"));
    EXPECT_EQ(posted.status, 400);
    EXPECT_EQ(header(posted, "Content-Type"), "application/graphql-response+json");
    const Response options = ask(request("OPTIONS", "/query"));
    EXPECT_EQ(options.status, 200);
    EXPECT_EQ(header(options, "Allow"), "OPTIONS, GET, POST");
    const Response put = ask(request("PUT", "/query"));
    EXPECT_EQ(put.status, 400);
    EXPECT_EQ(header(put, "X-Content-Type-Options"), "nosniff");
    const Response upgrade = askTypename({{"Upgrade", "websocket"}});
    EXPECT_EQ(upgrade.status, 400);
    EXPECT_EQ(header(upgrade, "Sec-Websocket-Version"), "13");
}

TEST_F(RoutesTest, AValidTokensClaimsReachTheResolvers) {
    const std::string target = strCat("/query?query=%7BavailableSignals(subject:%22", query::kSubject, "%22)%7D");
    EXPECT_EQ(ask(request("GET", target, {{"Authorization", bearer()}})).body, R"({"data":{"availableSignals":null}})");
    EXPECT_THAT(ask(request("GET", target)).body, HasSubstr("jwt missing"));
}

TEST_F(RoutesTest, Acceptance12_MalformedAuthorizationIs401AndBlanksAreNone) {
    LogCapture capture;
    for (const char* value : {"Basic abc", "Bearer a b", "Bearer", "Bearer  x", "Bearer x.y.z", "x"}) {
        const Response response = askTypename({{"Authorization", value}});
        EXPECT_EQ(response.status, 401) << value;
        EXPECT_EQ(response.body, R"({"message":"JWT is invalid."})");
        EXPECT_EQ(header(response, "Content-Type"), "application/json");
    }
    for (const char* value : {"", " ", "\t "}) EXPECT_EQ(askTypename({{"Authorization", value}}).status, 200);
    EXPECT_EQ(askTypename({{"Authorization", bearer().replace(0, 6, "bEARER")}}).status, 200);
}

TEST_F(RoutesTest, Acceptance18_ARefusedTokenIsLoggedWithItsSource) {
    LogCapture capture;
    askTypename({{"Authorization", "Bearer very.secret.token"}, {"X-Forwarded-For", "a, b"}, {"X-Real-IP", "c"}});
    EXPECT_THAT(capture.text(),
                AllOf(HasSubstr("error validating token"), HasSubstr(R"("sourceIp":"a, b")"),
                      HasSubstr(R"("method":"GET")"), HasSubstr(R"("path":"/query")"), Not(HasSubstr("secret"))));
    askTypename({{"Authorization", "Bearer x"}, {"X-Real-IP", "c"}});
    EXPECT_THAT(capture.text(), HasSubstr(R"("sourceIp":"c")"));
    askTypename({{"Authorization", "Bearer x"}});
    EXPECT_THAT(capture.text(), HasSubstr(R"("sourceIp":"192.0.2.1:1234")"));
}

TEST_F(RoutesTest, Acceptance13_KeysThatCannotBeHadAre503) {
    LogCapture capture;
    auth::TokenValidator keyless(
        kIssuer,
        std::make_shared<auth::KeySet>(auth::KeySet::Options{
            .url = "https://auth.example/keys", .issuer = kIssuer, .get = [](const std::string&, std::int64_t) {
                return absl::StatusOr<std::string>(absl::UnavailableError("the key service is away"));
            }}));
    routes_.tokens = &keyless;
    const Response response = askTypename({{"Authorization", bearer()}});
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(header(response, "Retry-After"), "5");
    EXPECT_EQ(askTypename().status, 200);
}

TEST_F(RoutesTest, Acceptance06_AFullProcessSheds) {
    auto held = global_limit_.enter(Cancel::root());
    ASSERT_TRUE(held.has_value());
    const Response shed = askTypename();
    EXPECT_EQ(shed.status, 429);
    EXPECT_EQ(header(shed, "Retry-After"), "1");
    EXPECT_EQ(shed.body, "server is at its concurrent-request limit; retry shortly\n");
    EXPECT_THAT(metrics_.render(), HasSubstr(R"(dq_requests_rejected_global_total{transport="http"} 1)"));
    // Neither readiness nor the page needs a slot.
    EXPECT_EQ(ask(request("GET", "/ready")).status, 200);
    EXPECT_EQ(ask(request("GET", "/")).status, 200);
    held.reset();
    EXPECT_EQ(askTypename().status, 200);
    EXPECT_EQ(askTypename().status, 200);  // each request gives its slot back
}

TEST_F(RoutesTest, Acceptance08_ASubjectAtItsLimitIsRefusedAndOthersPass) {
    auto first = subject_limit_.enter("a"), second = subject_limit_.enter("a");
    const Response refused = askTypename({{"Authorization", bearer("a")}});
    EXPECT_EQ(refused.status, 429);
    EXPECT_EQ(header(refused, "Retry-After"), "");
    EXPECT_EQ(refused.body, "too many concurrent requests\n");
    EXPECT_THAT(metrics_.render(), HasSubstr("dq_requests_rejected_concurrency_total 1"));
    EXPECT_EQ(askTypename({{"Authorization", bearer("b")}}).status, 200);
    EXPECT_EQ(askTypename().status, 200);
    first.reset();
    EXPECT_EQ(askTypename({{"Authorization", bearer("a")}}).status, 200);
    second.reset();
    EXPECT_EQ(subject_limit_.keys(), 0U);
}

TEST_F(RoutesTest, ARequestThatRunsTooLongIsStillAGraphqlAnswer) {
    LogCapture capture;
    routes_.max_request_micros = 0;
    const std::string target = strCat("/query?query=%7BavailableSignals(subject:%22", query::kSubject, "%22)%7D");
    const Response response = ask(request("GET", target, {{"Authorization", bearer()}}));
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(response.body, HasSubstr("SERVICE_UNAVAILABLE"));
}

std::vector<std::pair<std::string, std::string>> eventHeaders() {
    return {{"Content-Type", "application/cloudevents+json"}, {"Host", "localhost:8080"}};
}
std::string anEvent() {
    return strCat(R"({"specversion":"1.0","type":"dimo.status",)"
                  R"("source":"0x5555555555555555555555555555555555555555","subject":")",
                  query::kSubject,
                  R"(","producer":"did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:7","id":"e",)"
                  R"("time":"2026-06-08T10:00:00Z","data":{"signals":[]}})");
}

TEST_F(RoutesTest, AReaderTakesNoEvents) {
    const Response response = ask(request("POST", "/v1/events", eventHeaders(), anEvent()));
    EXPECT_EQ(response.status, 403);
    EXPECT_THAT(response.body, HasSubstr("reads the lake only"));
}

TEST_F(RoutesTest, EventsReachTheirEndpointWithWhereTheyComeFrom) {
    takeEvents();
    Request remote = request("POST", "/v1/events", eventHeaders(), anEvent());
    EXPECT_EQ(ask(remote).status, 401);
    EXPECT_EQ(stored_, 0U);
    Request local = remote;
    local.peer_is_loopback = true;
    EXPECT_EQ(ask(local).status, 200);
    EXPECT_EQ(stored_, 1U);
    local.headers.back().second = "attacker.example";
    EXPECT_EQ(ask(local).status, 401);
    Request wrong_type =
        request("POST", "/v1/events", {{"Content-Type", "text/plain"}, {"Host", "localhost"}}, anEvent());
    wrong_type.peer_is_loopback = true;
    EXPECT_EQ(ask(wrong_type).status, 415);
    Request get = request("GET", "/v1/events", eventHeaders());
    get.peer_is_loopback = true;
    EXPECT_EQ(ask(get).status, 405);
}

TEST_F(RoutesTest, EventsWithTheTokenOfTheProcess) {
    takeEvents("letmein");
    Request asked = request("POST", "/v1/events", eventHeaders(), anEvent());
    EXPECT_EQ(ask(asked).status, 401);
    asked.headers.emplace_back("Authorization", "Bearer letmein");
    EXPECT_EQ(ask(asked).status, 200);
    EXPECT_EQ(stored_, 1U);
}

TEST_F(RoutesTest, StoppedCommitterAsksToComeAgain) {
    takeEvents();
    committer_->stop(0);
    Request local = request("POST", "/v1/events", eventHeaders(), anEvent());
    local.peer_is_loopback = true;
    const Response response = ask(local);
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(header(response, "Retry-After"), "5");
}

TEST(BodyLimit, EventsHaveTheirOwn) {
    EXPECT_EQ(bodyLimit("/v1/events", 99), 99U);
    for (const char* path : {"/query", "/", "/v1/events/", "/ready"})
        EXPECT_EQ(bodyLimit(path, 99), 4'194'304U) << path;
}

TEST(Monitoring, Acceptance14_PathsAndMethods) {
    Metrics metrics;
    metrics.counter("a_total", "A").Increment();
    struct Case {
        const char *method, *path;
        int status;
        std::string body, type;
    };
    constexpr char kPlain[] = "text/plain", kError[] = "text/plain; charset=utf-8";
    for (const Case& c :
         {Case{"GET", "/", 200, "ok", kPlain}, Case{"HEAD", "/", 200, "ok", kPlain},
          Case{"GET", "/health", 200, "healthy", kPlain}, Case{"HEAD", "/health", 200, "healthy", kPlain},
          Case{"GET", "/health/", 404, "404 page not found\n", kError},
          Case{"GET", "/nope", 404, "404 page not found\n", kError},
          Case{"GET", "/debug/pprof/", 404, "404 page not found\n", kError},
          Case{"POST", "/health", 405, "Method Not Allowed\n", kError},
          Case{"POST", "/nope", 405, "Method Not Allowed\n", kError},
          Case{"OPTIONS", "/metrics", 405, "Method Not Allowed\n", kError}}) {
        const Response response = handleMonitoring(request(c.method, c.path), metrics);
        EXPECT_EQ(response.status, c.status) << c.method << " " << c.path;
        EXPECT_EQ(response.body, c.body) << c.method << " " << c.path;
        EXPECT_EQ(header(response, "Content-Type"), c.type) << c.path;
        EXPECT_EQ(header(response, "Allow"), c.status == 405 ? "GET, HEAD" : "") << c.path;
        EXPECT_EQ(header(response, "X-Content-Type-Options"), c.status == 200 ? "" : "nosniff") << c.path;
    }
    const Response response = handleMonitoring(request("GET", "/metrics"), metrics);
    EXPECT_EQ(response.status, 200);
    EXPECT_THAT(header(response, "Content-Type"), testing::StartsWith("text/plain"));
    EXPECT_THAT(response.body, HasSubstr("a_total 1"));
}

}  // namespace
}  // namespace dq::app
