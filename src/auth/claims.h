// Header and payload of a token, as types. Inside of this folder only.
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "auth/auth.h"

namespace dq::auth {

// What a token says, not yet compared with anything.
struct TokenClaims {
    std::string issuer;
    std::vector<std::string> audience;
    std::optional<long double> expires, not_before,
        issued_at;  // seconds; a long double holds every JSON number we take
    Claims claims;
};

// `kid` of a header whose `alg` is exactly RS256 and that demands no extension (`crit`). Unauthenticated otherwise, and
// when one of these members is given twice.
absl::StatusOr<std::string> parseTokenHeader(std::string_view json);

// Unauthenticated when a claim that we read has another type than server.md §4 says, or is given twice. null counts as
// absent.
absl::StatusOr<TokenClaims> parseTokenClaims(std::string_view json);

}  // namespace dq::auth
