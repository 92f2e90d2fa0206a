// GraphQL execution: a request becomes a plan (rust/: parse, validate, coerce, merge, introspect), the plan is walked
// here, values come from resolvers given by the caller.
//
// Order at each field: argument coercion errors first, then the guard (directives), then the value. Null propagation,
// error paths and response layout follow graphql.md §1, §2, §6: {"errors":[…],"data":…}, errors first and omitted when
// empty. Threads: a Schema and an Executor are immutable and shared. Nothing a caller sends crashes or grows them:
// documents are bounded in bytes, tokens, depth and complexity.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphql/value.h"

namespace dq::graphql {

// A directive used on a field definition of the schema, e.g. {"requiresAllOfPrivileges", {"VEHICLE_RAW_DATA"}}.
struct AppliedDirective {
    std::string name;
    std::vector<std::string> list;  // its list-of-enum argument, if it has one
};
struct FieldDefinition {
    std::string parent_type, name;
    std::string type;        // as written: "[SignalAggregations!]"
    std::string named_type;  // "SignalAggregations"
    bool non_null = false, is_list = false, item_non_null = false;
    std::string agg_type;                      // type of its `agg` argument, "" without one
    std::vector<AppliedDirective> directives;  // schema order
    const AppliedDirective* directive(std::string_view directive_name) const;
};

// One selected field after fragments, @skip, @include and merging. Children are of the one concrete object type.
struct Field {
    const FieldDefinition* definition = nullptr;
    std::string response_key;
    Members arguments;  // coerced; defaults applied; absent ones absent
    std::vector<std::pair<std::vector<std::string>, std::string>> argument_errors;  // path below the field, message
    std::vector<Field> selections;
    const Value* argument(std::string_view name) const;
};

struct Request {
    std::string query, operation_name;
    std::string variables_json = "{}";  // a JSON object, numbers kept as text until coerced
    bool introspection = true;
};

struct Hooks {
    // Directives of one field; a returned error refuses it. Asked for fields with directives only, once per value.
    std::function<std::optional<FieldError>(const Field&)> guard;
    // Resolves all root fields that passed coercion and guard, in document order; results index-aligned.
    std::function<std::vector<Resolved>(std::span<const Field* const>)> resolve_roots;
    // Told of each root field's outcome (metrics); may be empty.
    std::function<void(const Field&, bool error)> root_done;
};

struct Response {
    enum class Kind { kRan, kParseFailed, kInvalid, kTooComplex };
    Kind kind = Kind::kRan;
    std::string body;  // whole JSON text
    std::size_t data_bytes = 0;
    bool has_errors = false;
    int complexity = -1;  // -1 when it was not computed
};

// Checks a custom scalar's input text and may replace it; an error text is the coercion error. Called for Time only.
using ScalarCheck = std::function<std::optional<std::string>(std::string_view scalar, Value& value)>;

class Executor {
  public:
    struct Options {
        int complexity_limit = 100;  // exactly the limit passes
        std::size_t max_document_bytes = 256 * 1024;
        ScalarCheck scalar_check;
    };
    explicit Executor(Options options);
    ~Executor();
    Response execute(const Request& request, const Hooks& hooks) const;
    // Field definitions of a type of the schema, in schema order.
    std::span<const FieldDefinition> fieldsOf(std::string_view type) const;

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// A response that never reached execution: {"errors":[{"message":…,"extensions":{"code":…}}],"data":null}.
std::string errorBody(std::string_view message, std::string_view code = {});
// Text of a Float as the contract wants it: 100000 → "100000", 1000000 → "1e+06", -74 → "-74" (graphql.md §3).
std::string formatFloat(double value);

}  // namespace dq::graphql
