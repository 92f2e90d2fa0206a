#include "query/filters.h"

#include <absl/strings/str_join.h>

#include <functional>

#include "core/text.h"
#include "query/literals.h"

namespace dq::query {
namespace {

// The rule that the three kinds of filter share: leafs AND-ed, alternatives OR-ed to them.
std::optional<std::string> combine(const std::vector<std::string>& leafs, std::vector<std::string> alternatives) {
    if (alternatives.empty()) {
        if (leafs.empty()) return std::nullopt;
        return absl::StrJoin(leafs, " AND ");
    }
    if (!leafs.empty()) alternatives.insert(alternatives.begin(), absl::StrJoin(leafs, " AND "));
    for (std::string& alternative : alternatives) alternative = strCat("(", alternative, ")");
    return absl::StrJoin(alternatives, " OR ");
}

template <typename Filter>
std::vector<std::string> alternativesOf(const std::vector<Filter>& filters,
                                        const std::function<std::optional<std::string>(const Filter&)>& build) {
    std::vector<std::string> out;
    for (const Filter& filter : filters) {
        if (std::optional<std::string> condition = build(filter)) out.push_back(*std::move(condition));
    }
    return out;
}

std::string doubleList(const std::vector<double>& values) {
    return absl::StrJoin(values, ", ", [](std::string* out, double value) { strAppend(out, doubleLiteral(value)); });
}

std::string boundList(const std::vector<std::string>& values, std::vector<engine::Value>& binds) {
    return absl::StrJoin(values, ", ",
                         [&](std::string* out, const std::string& value) { strAppend(out, parameter(binds, value)); });
}

}  // namespace

std::optional<std::string> floatCondition(const FloatFilter& filter, std::string_view column) {
    std::vector<std::string> leafs;
    const auto compare = [&](const std::optional<double>& value, std::string_view sign) {
        if (value) leafs.push_back(strCat(column, " ", sign, " ", doubleLiteral(*value)));
    };
    compare(filter.eq, "=");
    compare(filter.neq, "<>");
    compare(filter.gt, ">");
    compare(filter.lt, "<");
    compare(filter.gte, ">=");
    compare(filter.lte, "<=");
    if (!filter.not_in.empty()) leafs.push_back(strCat(column, " NOT IN (", doubleList(filter.not_in), ")"));
    if (!filter.in.empty()) leafs.push_back(strCat(column, " IN (", doubleList(filter.in), ")"));
    return combine(leafs, alternativesOf<FloatFilter>(filter.any_of,
                                                      [&](const FloatFilter& f) { return floatCondition(f, column); }));
}

std::optional<std::string> textCondition(const TextFilter& filter, std::string_view column,
                                         std::vector<engine::Value>& binds) {
    std::vector<std::string> leafs;
    if (filter.eq) leafs.push_back(strCat(column, " = ", parameter(binds, *filter.eq)));
    if (filter.neq) leafs.push_back(strCat(column, " <> ", parameter(binds, *filter.neq)));
    if (!filter.not_in.empty()) leafs.push_back(strCat(column, " NOT IN (", boundList(filter.not_in, binds), ")"));
    if (!filter.in.empty()) leafs.push_back(strCat(column, " IN (", boundList(filter.in, binds), ")"));
    if (filter.starts_with)
        leafs.push_back(strCat("starts_with(", column, ", ", parameter(binds, *filter.starts_with), ")"));
    return combine(leafs, alternativesOf<TextFilter>(
                              filter.any_of, [&](const TextFilter& f) { return textCondition(f, column, binds); }));
}

std::optional<std::string> listCondition(const ListFilter& filter, std::string_view column,
                                         std::vector<engine::Value>& binds) {
    std::vector<std::string> leafs;
    const auto add = [&](const std::vector<std::string>& values, std::string_view call) {
        if (!values.empty())
            leafs.push_back(
                strCat(call, "(", column, ", ", parameter(binds, engine::StringList(values)), "::VARCHAR[])"));
    };
    add(filter.contains_any, "list_has_any");
    add(filter.contains_all, "list_has_all");
    add(filter.not_contains_any, "NOT list_has_any");
    add(filter.not_contains_all, "NOT list_has_all");
    return combine(leafs, alternativesOf<ListFilter>(
                              filter.any_of, [&](const ListFilter& f) { return listCondition(f, column, binds); }));
}

}  // namespace dq::query
