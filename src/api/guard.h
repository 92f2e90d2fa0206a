// Directives of the schema against a caller's claims (graphql.md §4.2).
#pragma once
#include <optional>

#include "auth/auth.h"
#include "graphql/executor.h"

namespace dq::api {

// Refusal of a field, or nullopt. The last listed directive is judged first; no claims: "unauthorized: jwt missing".
std::optional<graphql::FieldError> guardField(const graphql::Field& field, const std::optional<auth::Claims>& claims);

}  // namespace dq::api
