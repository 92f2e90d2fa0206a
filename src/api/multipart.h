// The GraphQL multipart request form, as far as a schema without uploads needs it (graphql.md §1). Pure.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>

namespace dq::api {

// JSON text of the part `operations`. The parts `operations` and `map` must come first and in this order, and `map` be
// an empty object, since nothing takes a file. InvalidArgument says what is wrong with the form.
absl::StatusOr<std::string> multipartOperations(std::string_view content_type, std::string_view body);

}  // namespace dq::api
