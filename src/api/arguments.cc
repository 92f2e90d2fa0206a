#include "api/arguments.h"

#include <cmath>

#include "cloudevent/cloudevent.h"

namespace dq::api {
namespace {

using graphql::Field;
using graphql::Value;

std::optional<double> numberMember(const Value& object, std::string_view name) {
    const Value* member = object.member(name);
    if (member == nullptr) return std::nullopt;
    if (const double* number = member->number()) return *number;
    if (const std::int64_t* integer = member->integer()) return static_cast<double>(*integer);
    return std::nullopt;
}

std::optional<std::string> textMember(const Value& object, std::string_view name) {
    const Value* member = object.member(name);
    if (member == nullptr || member->string() == nullptr) return std::nullopt;
    return *member->string();
}

std::vector<std::string> textsMember(const Value& object, std::string_view name) {
    std::vector<std::string> out;
    const Value* member = object.member(name);
    if (member == nullptr || member->list() == nullptr) return out;
    for (const Value& item : *member->list()) {
        if (item.string() != nullptr) out.push_back(*item.string());
    }
    return out;
}

std::vector<double> numbersMember(const Value& object, std::string_view name) {
    std::vector<double> out;
    const Value* member = object.member(name);
    if (member == nullptr || member->list() == nullptr) return out;
    for (const Value& item : *member->list()) {
        if (item.number() != nullptr) out.push_back(*item.number());
        if (item.integer() != nullptr) out.push_back(static_cast<double>(*item.integer()));
    }
    return out;
}

// The `or` members that yield a condition.
template <typename Filter, typename Parse>
std::vector<Filter> alternatives(const Value& object, Parse parse) {
    std::vector<Filter> out;
    const Value* member = object.member("or");
    if (member == nullptr || member->list() == nullptr) return out;
    for (const Value& item : *member->list()) {
        if (auto filter = parse(&item)) out.push_back(std::move(*filter));
    }
    return out;
}

std::optional<query::Point> pointOf(const Value* value) {
    if (value == nullptr || value->members() == nullptr) return std::nullopt;
    const auto latitude = numberMember(*value, "latitude"), longitude = numberMember(*value, "longitude");
    if (!latitude || !longitude) return std::nullopt;
    const bool sound = std::isfinite(*latitude) && std::isfinite(*longitude) && std::abs(*latitude) <= 90 &&
                       std::abs(*longitude) <= 180;
    if (!sound) return std::nullopt;
    return query::Point{*latitude, *longitude};
}

}  // namespace

std::string textArgument(const Field& field, std::string_view name) {
    const Value* value = field.argument(name);
    return value != nullptr && value->string() != nullptr ? *value->string() : "";
}

std::optional<Instant> parseTimeInput(std::string_view text) {
    if (text.empty()) return Instant{kZeroTime, 0};
    if (auto instant = parseRfc3339(text)) return instant;
    // `YYYY-MM-DD hh:mm:ss`, read as UTC.
    if (text.size() != 19 || text[10] != ' ') return std::nullopt;
    std::string dated(text);
    dated[10] = 'T';
    return parseRfc3339(dated + "Z");
}

Instant timeArgument(const Field& field, std::string_view name) {
    return parseTimeInput(textArgument(field, name)).value_or(Instant{kZeroTime, 0});
}

std::optional<SourceFilter> sourceFilter(const Field& field) {
    const Value* filter = field.argument("filter");
    if (filter == nullptr || filter->members() == nullptr) return std::nullopt;
    const auto text = textMember(*filter, "source");
    if (!text) return std::nullopt;
    if (auto address = cloudevent::ethrDidAddress(*text)) return SourceFilter{*text, *address, true};
    return SourceFilter{*text, *text, false};
}

std::optional<query::FloatFilter> floatFilter(const Value* value) {
    if (value == nullptr || value->members() == nullptr) return std::nullopt;
    query::FloatFilter filter;
    filter.eq = numberMember(*value, "eq");
    filter.neq = numberMember(*value, "neq");
    filter.gt = numberMember(*value, "gt");
    filter.lt = numberMember(*value, "lt");
    filter.gte = numberMember(*value, "gte");
    filter.lte = numberMember(*value, "lte");
    filter.in = numbersMember(*value, "in");
    filter.not_in = numbersMember(*value, "notIn");
    filter.any_of = alternatives<query::FloatFilter>(*value, floatFilter);
    const bool condition = filter.eq || filter.neq || filter.gt || filter.lt || filter.gte || filter.lte ||
                           !filter.in.empty() || !filter.not_in.empty() || !filter.any_of.empty();
    if (!condition) return std::nullopt;
    return filter;
}

std::optional<query::TextFilter> textFilter(const Value* value) {
    if (value == nullptr || value->members() == nullptr) return std::nullopt;
    query::TextFilter filter;
    filter.eq = textMember(*value, "eq");
    filter.neq = textMember(*value, "neq");
    filter.starts_with = textMember(*value, "startsWith");
    filter.in = textsMember(*value, "in");
    filter.not_in = textsMember(*value, "notIn");
    filter.any_of = alternatives<query::TextFilter>(*value, textFilter);
    const bool condition = filter.eq || filter.neq || filter.starts_with || !filter.in.empty() ||
                           !filter.not_in.empty() || !filter.any_of.empty();
    if (!condition) return std::nullopt;
    return filter;
}

std::optional<query::ListFilter> listFilter(const Value* value) {
    if (value == nullptr || value->members() == nullptr) return std::nullopt;
    query::ListFilter filter;
    filter.contains_any = textsMember(*value, "containsAny");
    filter.contains_all = textsMember(*value, "containsAll");
    filter.not_contains_any = textsMember(*value, "notContainsAny");
    filter.not_contains_all = textsMember(*value, "notContainsAll");
    filter.any_of = alternatives<query::ListFilter>(*value, listFilter);
    const bool condition = !filter.contains_any.empty() || !filter.contains_all.empty() ||
                           !filter.not_contains_any.empty() || !filter.not_contains_all.empty() ||
                           !filter.any_of.empty();
    if (!condition) return std::nullopt;
    return filter;
}

std::variant<std::optional<query::LocationFilter>, std::string> locationFilter(const Value* value) {
    if (value == nullptr || value->members() == nullptr) return std::optional<query::LocationFilter>();
    query::LocationFilter filter;
    if (const Value* polygon = value->member("inPolygon"); polygon != nullptr && polygon->list() != nullptr) {
        const auto& vertices = *polygon->list();
        if (vertices.size() == 1 || vertices.size() == 2) return std::string("not enough points in geofence filter");
        for (const Value& vertex : vertices) {
            const auto point = pointOf(&vertex);
            if (!point) return std::string("invalid geofence polygon vertex");
            filter.polygon.push_back(*point);
        }
    }
    if (const Value* circle = value->member("inCircle"); circle != nullptr && circle->members() != nullptr) {
        const auto center = pointOf(circle->member("center"));
        if (!center) return std::string("invalid circle filter location");
        const auto radius = numberMember(*circle, "radius");
        if (!radius || !std::isfinite(*radius) || *radius < 0) return std::string("invalid circle filter radius");
        filter.circle = query::Circle{*center, *radius};
    }
    if (!filter.circle && filter.polygon.empty()) return std::optional<query::LocationFilter>();
    return std::optional<query::LocationFilter>(std::move(filter));
}

std::optional<query::FloatAggregation> floatAggregation(std::string_view name) {
    using A = query::FloatAggregation;
    if (name == "AVG") return A::kAvg;
    if (name == "MED") return A::kMed;
    if (name == "MAX") return A::kMax;
    if (name == "MIN") return A::kMin;
    if (name == "RAND") return A::kRand;
    if (name == "FIRST") return A::kFirst;
    if (name == "LAST") return A::kLast;
    return std::nullopt;
}

std::optional<query::StringAggregation> stringAggregation(std::string_view name) {
    using A = query::StringAggregation;
    if (name == "RAND") return A::kRand;
    if (name == "TOP") return A::kTop;
    if (name == "UNIQUE") return A::kUnique;
    if (name == "FIRST") return A::kFirst;
    if (name == "LAST") return A::kLast;
    return std::nullopt;
}

std::optional<query::LocationAggregation> locationAggregation(std::string_view name) {
    using A = query::LocationAggregation;
    if (name == "AVG") return A::kAvg;
    if (name == "RAND") return A::kRand;
    if (name == "FIRST") return A::kFirst;
    if (name == "LAST") return A::kLast;
    return std::nullopt;
}

}  // namespace dq::api
