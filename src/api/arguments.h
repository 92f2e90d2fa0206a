// Coerced GraphQL arguments → questions of query/. Pure.
#pragma once
#include <optional>
#include <string>
#include <variant>

#include "graphql/executor.h"
#include "query/types.h"

namespace dq::api {

// Text argument; "" when absent.
std::string textArgument(const graphql::Field& field, std::string_view name);
// Time argument in µs. The text was checked at coercion; "" and an absent one are the zero time.
Instant timeArgument(const graphql::Field& field, std::string_view name);

// Input text of the Time scalar: RFC 3339, `YYYY-MM-DD hh:mm:ss` (UTC), or "" for the zero time.
std::optional<Instant> parseTimeInput(std::string_view text);

// SignalFilter.source: nullopt when no filter names one. `valid` is false when the text is no ethr DID; `column` is
// then the text itself.
struct SourceFilter {
    std::string text, column;
    bool valid = false;
};
std::optional<SourceFilter> sourceFilter(const graphql::Field& field);

// A filter without any condition is none.
std::optional<query::FloatFilter> floatFilter(const graphql::Value* value);
std::optional<query::TextFilter> textFilter(const graphql::Value* value);
std::optional<query::ListFilter> listFilter(const graphql::Value* value);
// The error is the text after "invalid argument: ".
std::variant<std::optional<query::LocationFilter>, std::string> locationFilter(const graphql::Value* value);

std::optional<query::FloatAggregation> floatAggregation(std::string_view name);
std::optional<query::StringAggregation> stringAggregation(std::string_view name);
std::optional<query::LocationAggregation> locationAggregation(std::string_view name);

}  // namespace dq::api
