#include "api/api_testing.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/text.h"

namespace dq::api {

std::string vehicle(int number) { return strCat(kVehicles, number); }

auth::Claims claimsOf(const std::string& asset, vss::Privileges held) {
    auth::Claims claims;
    claims.subject = "0xDeveloper";
    claims.asset = asset;
    claims.privileges = held;
    for (std::uint32_t bit = vss::kNonLocationData; bit <= vss::kApproximateLocation; bit <<= 1) {
        if ((held & bit) == 0) continue;
        claims.permissions.emplace_back(vss::permissionName(static_cast<vss::Privilege>(bit)));
    }
    return claims;
}

graphql::Field rootField(const std::string& query, const std::string& variables) {
    // Fields point into the executor's schema.
    static const graphql::Executor* executor = new graphql::Executor({});
    std::optional<graphql::Field> found;
    graphql::Hooks hooks;
    hooks.resolve_roots = [&](std::span<const graphql::Field* const> fields) {
        if (!fields.empty()) found = *fields[0];
        return std::vector<graphql::Resolved>(fields.size(), graphql::NullValue{});
    };
    graphql::Request request;
    request.query = query;
    request.variables_json = variables;
    const graphql::Response response = executor->execute(request, hooks);
    EXPECT_TRUE(found.has_value()) << response.body;
    return found.value_or(graphql::Field{});
}

graphql::Value number(double value) { return {value}; }
graphql::Value integer(std::int64_t value) { return {value}; }
graphql::Value text(std::string value) { return {std::move(value)}; }
graphql::Value nothing() { return {}; }
graphql::Value list(std::vector<graphql::Value> items) { return {graphql::List(std::move(items))}; }
graphql::Value object(std::vector<graphql::Member> members) { return {graphql::Members(std::move(members))}; }

double seriesValue(const Metrics& metrics, std::string_view series) {
    const std::string text = strCat("\n", metrics.render());
    const std::string line = strCat("\n", series, " ");
    const std::size_t at = text.find(line);
    return at == std::string::npos ? -1 : std::strtod(text.c_str() + at + line.size(), nullptr);
}

}  // namespace dq::api
