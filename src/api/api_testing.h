// Helpers of this folder's tests.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/auth.h"
#include "core/metrics.h"
#include "graphql/executor.h"
#include "graphql/value.h"
#include "vss/signals.h"

namespace dq::api {

inline constexpr vss::Privileges kEveryPrivilege = (vss::kApproximateLocation << 1) - 1;
inline constexpr char kVehicles[] = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:";

// Vehicle of a number: kVehicles with it at the end.
std::string vehicle(int number);
// Claims of a token for one vehicle.
auth::Claims claimsOf(const std::string& asset, vss::Privileges held = kEveryPrivilege);

// The first root field of a document as the executor would hand it to a resolver; Time arguments stay unchecked.
graphql::Field rootField(const std::string& query, const std::string& variables = "{}");

graphql::Value number(double value);
graphql::Value integer(std::int64_t value);
graphql::Value text(std::string value);
graphql::Value nothing();
graphql::Value list(std::vector<graphql::Value> items);
graphql::Value object(std::vector<graphql::Member> members);

// Value of a series as it is rendered: `name{label="x"}`; -1 when there is no such series.
double seriesValue(const Metrics& metrics, std::string_view series);

}  // namespace dq::api
