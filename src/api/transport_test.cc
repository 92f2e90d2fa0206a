#include "api/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text.h"

namespace dq::api {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TransportRequest post(std::string_view body, std::string_view content_type = "application/json") {
    TransportRequest request;
    request.method = "POST";
    request.content_type = content_type;
    request.body = body;
    return request;
}
TransportRequest get(std::string_view query_string) {
    TransportRequest request;
    request.method = "GET";
    request.query_string = query_string;
    return request;
}
TransportRequest bare(std::string_view method) {
    TransportRequest request;
    request.method = method;
    return request;
}
TransportRequest accepting(TransportRequest request, std::string_view accept) {
    request.accept = accept;
    request.has_accept = true;
    return request;
}

graphql::Request taken(const TransportRequest& request) {
    auto read = readRequest(request);
    if (auto* refusal = std::get_if<TransportResponse>(&read)) {
        ADD_FAILURE() << refusal->status << " " << refusal->body;
        return {};
    }
    return std::get<graphql::Request>(std::move(read));
}
TransportResponse refused(const TransportRequest& request) {
    auto read = readRequest(request);
    if (auto* asked = std::get_if<graphql::Request>(&read)) {
        ADD_FAILURE() << "taken: " << asked->query;
        return {};
    }
    return std::get<TransportResponse>(std::move(read));
}

TEST(Transport, Acceptance13_MethodsThatAskNothing) {
    const auto options = refused(bare("OPTIONS"));
    EXPECT_EQ(options.status, 200);
    EXPECT_EQ(options.allow, "OPTIONS, GET, POST");
    EXPECT_EQ(options.body, "");
    const auto head = refused(bare("HEAD"));
    EXPECT_EQ(head.status, 405);
    EXPECT_EQ(head.body, "");
    for (const char* method : {"PUT", "DELETE", "PATCH"}) {
        TransportRequest request = post("{}");
        request.method = method;
        const auto answer = refused(request);
        EXPECT_EQ(answer.status, 400) << method;
        EXPECT_EQ(answer.content_type, "text/plain; charset=utf-8");
        EXPECT_EQ(answer.body, R"({"errors":[{"message":"transport not supported"}],"data":null})");
    }
}

TEST(Transport, Acceptance13_MediaTypesThatAreNoTransport) {
    for (const char* type : {"text/plain", "", "application/graphql", "application/graphql-response+json",
                             "application/x-www-form-urlencoded", "application/jsonp", "multipart/mixed"}) {
        const auto answer = refused(post(R"({"query":"{__typename}"})", type));
        EXPECT_EQ(answer.status, 400) << type;
        EXPECT_THAT(answer.body, HasSubstr("transport not supported")) << type;
    }
    for (const char* type :
         {"application/json", "application/json; charset=utf-8", "Application/JSON", " application/json ;x=y"}) {
        EXPECT_EQ(taken(post(R"({"query":"{__typename}"})", type)).query, "{__typename}") << type;
    }
}

TEST(Transport, AnUpgradeThatCannotBeMadeSaysSo) {
    TransportRequest request = get("query={__typename}");
    request.wants_upgrade = true;
    const auto answer = refused(request);
    EXPECT_EQ(answer.status, 400);
    EXPECT_EQ(answer.body, "Bad Request\n{\"errors\":[{\"message\":\"unable to upgrade\"}],\"data\":null}");
    request.method = "POST";
    EXPECT_EQ(refused(request).status, 405);
    EXPECT_THAT(refused(request).body, StartsWith("Method Not Allowed\n{"));
    request.method = "OPTIONS";  // the row of upgrades is the first of the table
    EXPECT_EQ(refused(request).status, 405);
}

TEST(Transport, GetReadsTheQueryString) {
    const auto request = taken(get(
        "query=query%28%24s%3AString!%29%7Ba%28s%3A%24s%29%7D&operationName=A+b&variables=%7B%22s%22%3A1.0%7D&x=1"));
    EXPECT_EQ(request.query, "query($s:String!){a(s:$s)}");
    EXPECT_EQ(request.operation_name, "A b");
    EXPECT_EQ(request.variables_json, R"({"s":1.0})");
    EXPECT_EQ(taken(get("")).query, "");
    EXPECT_EQ(taken(get("variables=&query=a")).variables_json, "{}");
    EXPECT_EQ(taken(get("variables=null&extensions=%7B%7D")).variables_json, "{}");
    EXPECT_EQ(taken(get("query=%zz&query=a")).query, "a");  // what cannot be decoded is not there
}

TEST(Transport, GetRefusesVariablesAndExtensionsThatAreNoObjects) {
    for (const char* value : {"x", "5", "[]", "%22a%22", "%7B", "%7B%22a%22:tru%7D", "nul"}) {
        for (const char* name : {"variables", "extensions"}) {
            const auto answer = refused(accepting(get(strCat("query=a&", name, "=", value)), "application/json"));
            EXPECT_EQ(answer.status, 400) << value;
            EXPECT_EQ(answer.content_type, "application/json");
            EXPECT_EQ(answer.body,
                      strCat(R"({"errors":[{"message":")", name, R"( could not be decoded"}],"data":null})"));
        }
    }
}

TEST(Transport, Acceptance33_BodiesThatAreNoObject) {
    for (const char* body : {"null",
                             "[]",
                             "",
                             " ",
                             "5",
                             "\"a\"",
                             "{",
                             "x",
                             R"([{"query":"{__typename}"}])",
                             R"({"query":5})",
                             R"({"query":["a"]})",
                             R"({"query":"a","operationName":{}})",
                             R"({"query":"a","variables":[]})",
                             R"({"query":"a","variables":"x"})",
                             R"({"query":"a","zzz":tru})",
                             R"({"query":"a",})",
                             R"({"query":"a" "b":1})",
                             R"({"variables":{"a":tru}})",
                             R"({"query":"a]})",
                             "{\"query\":\"a\\",
                             R"({]})",
                             "{\"query\":\"\xff\"}"}) {
        const auto answer = refused(post(body));
        EXPECT_EQ(answer.status, 400) << body;
        EXPECT_EQ(answer.content_type, "application/json") << body;
        EXPECT_THAT(answer.body, HasSubstr("request body could not be decoded")) << body;
        EXPECT_THAT(answer.body, testing::EndsWith(R"("data":null})")) << body;
    }
}

TEST(Transport, Acceptance33_WhatFollowsTheObjectIsIgnored) {
    for (const char* rest : {" x", "}", "\"", "[", "{\"query\":\"other\"}"}) {
        EXPECT_EQ(taken(post(strCat(R"( {"query":"{a}"})", rest))).query, "{a}") << rest;
    }
}

TEST(Transport, ABodyMayLackLeaveNullRepeatOrAddMembers) {
    EXPECT_EQ(taken(post("{}")).query, "");
    EXPECT_EQ(taken(post(R"({"query":null,"variables":null,"operationName":null})")).query, "");
    EXPECT_EQ(taken(post(R"({"query":"a","variables":null})")).variables_json, "{}");
    EXPECT_EQ(taken(post(R"({"query":"a","extensions":5,"zzz":[{}]})")).query, "a");
    const auto last = taken(post(R"({"query":"a","query":"b","variables":{"x":1},"variables":{"y":2}})"));
    EXPECT_EQ(last.query, "b");
    EXPECT_EQ(last.variables_json, R"({"y":2})");
    const auto whole =
        taken(post(R"({"operationName":"N","variables":{"f":1.0,"i":123456789012345678901234567890,"s":"{}}]"},)"
                   R"("query":"\u007ba\n}"})"));
    EXPECT_EQ(whole.operation_name, "N");
    EXPECT_EQ(whole.query, "{a\n}");
    EXPECT_EQ(whole.variables_json,
              R"({"f":1.0,"i":123456789012345678901234567890,"s":"{}}]"})");  // numbers keep their text
}

TEST(Transport, DeepNestingCostsNoStack) {
    const std::string open(100'000, '['), close(100'000, ']');
    EXPECT_EQ(refused(post(strCat(R"({"query":"a","zzz":)", open))).status, 400);
    EXPECT_EQ(taken(post(strCat(R"({"zzz":)", open, close, R"(,"query":"a"})"))).query, "a");
    EXPECT_EQ(taken(post(strCat(R"({"variables":{"v":)", open, close, "}}"))).variables_json.size(), 200'006U);
}

std::string form(std::string_view operations, std::string_view map) {
    return strCat("--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n", operations,
                  "\r\n--b\r\ncontent-disposition: form-data; name=map\r\nContent-Type: application/json\r\n\r\n", map,
                  "\r\n--b--\r\n");
}

TEST(Transport, MultipartFormsGiveTheirOperations) {
    for (const char* type : {"multipart/form-data; boundary=b", "Multipart/Form-Data; charset=x; Boundary=\"b\""}) {
        const auto request = taken(post(form(R"({"query":"{__typename}","variables":{"a":1}})", "{}"), type));
        EXPECT_EQ(request.query, "{__typename}") << type;
        EXPECT_EQ(request.variables_json, R"({"a":1})");
    }
    EXPECT_EQ(
        taken(post(strCat("preamble\r\n", form(R"({"query":"a"})", " { } ")), "multipart/form-data; boundary=b")).query,
        "a");
}

TEST(Transport, MultipartFormsThatAreNoneAreRefusedWith422) {
    const std::string one_part =
        "--b\r\nContent-Disposition: form-data; name=\"operations\"\r\n\r\n{\"query\":\"a\"}\r\n--b--\r\n";
    const std::string swapped = "--b\r\nContent-Disposition: form-data; name=\"map\"\r\n\r\n{}\r\n--b--\r\n";
    struct Case {
        std::string body, type, message;
    };
    for (const Case& c :
         {Case{one_part, "multipart/form-data; boundary=b", "second part must be map"},
          Case{swapped, "multipart/form-data; boundary=b", "first part must be operations"},
          Case{"", "multipart/form-data; boundary=b", "first part must be operations"},
          Case{"--b", "multipart/form-data; boundary=b", "first part must be operations"},
          Case{"--b\r\nno header end\r\n--b--", "multipart/form-data; boundary=b", "first part must be operations"},
          Case{one_part, "multipart/form-data; boundary=c", "first part must be operations"},
          Case{one_part, "multipart/form-data", "no boundary"},
          Case{form(R"({"query":"a"})", R"({"0":["variables.f"]})"), "multipart/form-data; boundary=b",
               "no argument takes a file"},
          Case{form(R"({"query":"a"})", "x"), "multipart/form-data; boundary=b", "map must be an empty object"},
          Case{form("[]", "{}"), "multipart/form-data; boundary=b", "could not be decoded"}}) {
        const auto answer = refused(post(c.body, c.type));
        EXPECT_EQ(answer.status, 422) << c.body;
        EXPECT_THAT(answer.body, HasSubstr(c.message)) << c.body;
    }
}

TEST(Transport, TheFirstKnownTypeOfAcceptCounts) {
    constexpr std::string_view kJson = "application/json", kResponse = "application/graphql-response+json";
    EXPECT_EQ(negotiate(bare("GET")), kJson);
    struct Case {
        std::string_view accept, expected;
    };
    for (const Case& c :
         {Case{"", kResponse}, Case{"text/xml", kResponse}, Case{"*/*", kJson}, Case{"application/*", kJson},
          Case{"application/json;q=0.1, application/graphql-response+json", kJson},
          Case{"application/graphql-response+json;q=0, application/json;q=1", kResponse},
          Case{"text/html, application/graphql-response+json;q=0.1, application/json", kResponse},
          Case{"text/html,*/*;q=0.8", kJson}, Case{"APPLICATION/JSON", kJson}, Case{"application/json2", kResponse}}) {
        EXPECT_EQ(negotiate(accepting(bare("GET"), c.accept)), c.expected) << c.accept;
    }
}

TEST(Transport, StatusFollowsTheKindOfResponseAndTheMediaType) {
    using Kind = graphql::Response::Kind;
    struct Case {
        Kind kind;
        int json, response;
    };
    for (const Case& c : {Case{Kind::kRan, 200, 200}, Case{Kind::kParseFailed, 422, 400},
                          Case{Kind::kInvalid, 422, 400}, Case{Kind::kTooComplex, 200, 200}}) {
        graphql::Response response;
        response.kind = c.kind;
        response.has_errors = true;
        response.body = "body";
        const auto json = writeResponse(accepting(bare("POST"), "application/json"), response);
        EXPECT_EQ(json.status, c.json);
        EXPECT_EQ(json.content_type, "application/json");
        EXPECT_EQ(json.body, "body");
        const auto other = writeResponse(accepting(bare("POST"), "application/graphql-response+json"), response);
        EXPECT_EQ(other.status, c.response);
        EXPECT_EQ(other.content_type, "application/graphql-response+json");
    }
}

}  // namespace
}  // namespace dq::api
