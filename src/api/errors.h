// Errors of resolvers as callers see them (graphql.md §6). One table: class → message, code, reason.
#pragma once
#include <absl/status/status.h>

#include <string_view>

#include "graphql/value.h"

namespace dq::api {

// Argument check: "invalid argument: <text>", BAD_REQUEST. The constant reason is what clients of the reference see.
graphql::FieldError badRequest(std::string_view text);
// A failed read: time-outs and departures are SERVICE_UNAVAILABLE, anything else is INTERNAL_SERVER_ERROR; the cause
// goes to the log only.
graphql::FieldError readFailure(const absl::Status& status, std::string_view field);
// A field of the schema that this build does not serve.
graphql::FieldError notInThisBuild(std::string_view field);

}  // namespace dq::api
