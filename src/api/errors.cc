#include "api/errors.h"

#include "core/log.h"
#include "core/text.h"

namespace dq::api {

using graphql::FieldError;

FieldError badRequest(std::string_view text) {
    return {strCat("invalid argument: ", text), "BAD_REQUEST", "Internal Server Error"};
}

FieldError readFailure(const absl::Status& status, std::string_view field) {
    const bool late = absl::IsCancelled(status) || absl::IsDeadlineExceeded(status);
    FieldError error = late ? FieldError{"request exceeded or is estimated to exceed the maximum execution time",
                                         "SERVICE_UNAVAILABLE", "Service Unavailable"}
                            : FieldError{"failed to query db", "INTERNAL_SERVER_ERROR", "Internal Server Error"};
    logError(error.message, {{"gqlPath", field}, {"code", error.code}, {"error", status.message()}});
    return error;
}

FieldError notInThisBuild(std::string_view field) {
    return {strCat(field, " is not available in this build"), "NOT_AVAILABLE", ""};
}

}  // namespace dq::api
