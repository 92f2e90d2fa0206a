// Resolvers of tests: objects made of values, and objects that answer from a recorded JSON response.
#pragma once
#include <rapidjson/document.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "graphql/executor.h"

namespace dq::graphql::testing {

// Answers fields by name; unknown ones are null.
class FakeObject final : public Object {
  public:
    using Answer = std::function<Resolved(const Field&)>;
    FakeObject& set(const std::string& field, Resolved value) {
        answers_[field] = [value](const Field&) { return value; };
        return *this;
    }
    FakeObject& setAnswer(const std::string& field, Answer answer) {
        answers_[field] = std::move(answer);
        return *this;
    }
    Resolved resolve(const Field& field) const override {
        const auto found = answers_.find(field.definition->name);
        return found == answers_.end() ? Resolved(NullValue{}) : found->second(field);
    }

  private:
    std::map<std::string, Answer> answers_;
};

class FakeList final : public ObjectList {
  public:
    explicit FakeList(std::vector<std::shared_ptr<const Object>> items) : items_(std::move(items)) {}
    std::size_t size() const override { return items_.size(); }
    std::shared_ptr<const Object> at(std::size_t index) const override { return items_[index]; }

  private:
    std::vector<std::shared_ptr<const Object>> items_;
};

Resolved object(FakeObject value);
Resolved list(std::vector<std::shared_ptr<const Object>> items);

// One request over root values given by field name.
struct Harness {
    Executor::Options options;
    FakeObject roots;
    std::function<std::optional<FieldError>(const Field&)> guard;
    std::vector<Field> asked;                        // copies of the root fields that were resolved
    std::vector<std::pair<std::string, bool>> done;  // root_done calls
    bool introspection = true;

    Response run(std::string query, std::string variables = "{}", std::string operation_name = "");
    std::string body(std::string query, std::string variables = "{}") {
        return run(std::move(query), std::move(variables)).body;
    }
};

// Value of a recorded response as a resolver would give it for `definition`.
Resolved fromJson(const FieldDefinition& definition, const rapidjson::Value& json);

rapidjson::Document parseJson(std::string_view text);
std::string member(const rapidjson::Value& object, const char* name);
// Code of the first error of a body, "" without one.
std::string firstCode(std::string_view body);
std::string firstMessage(std::string_view body);
std::string readFile(const std::string& path);  // may be gzip
std::vector<std::string> readLines(const std::string& path);

// `scalar_check` for Time that takes what starts with a year.
std::optional<std::string> checkTime(std::string_view scalar, Value& value);

}  // namespace dq::graphql::testing
