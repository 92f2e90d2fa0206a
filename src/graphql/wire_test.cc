// Recorded requests: status class, codes, paths and data are as recorded; wording is free.
#include <gtest/gtest.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "core/time.h"
#include "graphql/executor_testing.h"

namespace dq::graphql {
namespace {

using rapidjson::Value;

std::string textOf(const Value& value) {
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
    value.Accept(writer);
    return {buffer.GetString(), buffer.GetSize()};
}

// Codes and paths of all errors, in order.
std::vector<std::string> outline(const Value& body) {
    std::vector<std::string> lines;
    if (!body.HasMember("errors")) return lines;
    for (const auto& error : body["errors"].GetArray()) {
        lines.push_back((error.HasMember("path") ? textOf(error["path"]) : "") + " " +
                        (error.HasMember("extensions") ? textOf(error["extensions"]) : ""));
    }
    return lines;
}

std::string optionalText(const Value& object, const char* name, const std::string& fallback) {
    return object.HasMember(name) ? textOf(object[name]) : fallback;
}

int statusOf(const Response& response) {
    const bool unprocessable =
        response.kind == Response::Kind::kParseFailed || response.kind == Response::Kind::kInvalid;
    return unprocessable ? 422 : 200;
}

TEST(Wire, RecordedExchangesWithoutData) {
    const Executor executor({});
    int replayed = 0;
    for (const std::string& line : testing::readLines(DQ_SOURCE_DIR "/src/graphql/testdata/wire.jsonl")) {
        const auto exchange = testing::parseJson(line);
        SCOPED_TRACE(testing::member(exchange, "name"));
        Request request{testing::member(exchange, "query"), testing::member(exchange, "operationName"),
                        textOf(exchange["variables"]), exchange["introspection"].GetBool()};
        Hooks hooks;
        hooks.guard = [](const Field& field) -> std::optional<FieldError> {
            if (field.definition->directive("requiresVehicleToken") == nullptr) return std::nullopt;
            return FieldError{"unauthorized: jwt missing", "", ""};
        };
        hooks.resolve_roots = [](std::span<const Field* const> fields) {
            return std::vector<Resolved>(fields.size(), FieldError{"unauthorized: no token claims", "", ""});
        };
        const Response response = executor.execute(request, hooks);
        const auto body = testing::parseJson(response.body);
        const int status = exchange["status"].GetInt();
        EXPECT_EQ(statusOf(response), status == 400 ? 422 : status);  // 400 is the other content type's 422
        EXPECT_EQ(outline(body), outline(exchange["json"])) << response.body;
        EXPECT_EQ(body["data"], exchange["json"]["data"]) << response.body;
        if (response.kind == Response::Kind::kRan || response.kind == Response::Kind::kTooComplex) {
            EXPECT_EQ(testing::firstMessage(response.body), testing::firstMessage(textOf(exchange["json"])));
        }
        ++replayed;
    }
    EXPECT_EQ(replayed, 25);
}

// Root values of a recorded answer; fields it has an error for fail with it.
std::vector<Resolved> replay(const Value& answer, std::span<const Field* const> fields) {
    std::vector<Resolved> results;
    for (const Field* field : fields) {
        const Value& data = answer["data"];
        const char* key = field->response_key.c_str();
        const bool known = data.IsObject() && data.HasMember(key) && !data[key].IsNull();
        results.push_back(known ? testing::fromJson(*field->definition, data[key]) : Resolved(NullValue{}));
    }
    return results;
}

// Payloads of the JSON scalar are replaced by the fake resolver; they are compared elsewhere.
// Times are compared to the microsecond, which is what values carry.
void normalize(Value& value, rapidjson::Document::AllocatorType& memory) {
    if (value.IsString()) {
        if (const auto time = parseRfc3339(value.GetString()))
            value.SetString(formatRfc3339(time->micros).c_str(), memory);
    }
    if (value.IsObject()) {
        auto item = value.MemberBegin();
        for (rapidjson::SizeType i = 0; i < value.MemberCount(); ++i, ++item) {
            const bool payload = item->name == "data" && !item->value.IsNull() && value.HasMember("header");
            if (payload) item->value.SetNull();
            normalize(item->value, memory);
        }
    } else if (value.IsArray()) {
        for (auto& item : value.GetArray()) normalize(item, memory);
    }
}

TEST(Wire, RecordedRequestsPlanAndTheirAnswersAreRewritten) {
    const Executor executor({});
    int refused = 0, rewritten = 0, total = 0;
    for (const std::string& line : testing::readLines(DQ_SOURCE_DIR "/data/golden/a/queries.jsonl.gz")) {
        const auto recorded = testing::parseJson(line);
        if (!recorded.HasMember("query")) continue;
        SCOPED_TRACE(testing::member(recorded, "name"));
        ++total;
        const Value& answer = recorded["response"];
        Request request{testing::member(recorded, "query"), testing::member(recorded, "operationName"),
                        optionalText(recorded, "variables", "{}"), true};
        Hooks hooks;
        hooks.resolve_roots = [&](std::span<const Field* const> fields) { return replay(answer, fields); };
        const Response response = executor.execute(request, hooks);
        EXPECT_EQ(statusOf(response), recorded["status"].GetInt()) << response.body.substr(0, 500);
        if (response.kind != Response::Kind::kRan) {
            EXPECT_EQ(testing::firstCode(response.body), testing::firstCode(textOf(answer)));
            ++refused;
        } else if (!answer.HasMember("errors")) {
            auto body = testing::parseJson(response.body);
            rapidjson::Document expected;
            expected.CopyFrom(answer, expected.GetAllocator());
            normalize(body, body.GetAllocator());
            normalize(expected, expected.GetAllocator());
            EXPECT_EQ(body["data"], expected["data"]) << response.body.substr(0, 500);
            EXPECT_FALSE(response.has_errors);
            ++rewritten;
        }
    }
    EXPECT_EQ(total, 375);
    EXPECT_GT(refused, 10);
    EXPECT_GT(rewritten, 200);
}

}  // namespace
}  // namespace dq::graphql
