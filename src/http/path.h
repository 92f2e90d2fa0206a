// The redirect of unclean paths (server.md §3): `//`, `.` and `..` parts → 307 to the cleaned path, Location
// without host.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "http/server.h"

namespace dq::http {

// The path without empty, `.` and `..` parts, always beginning with one slash; a slash at the end stays. `%2e`
// counts as a dot.
std::string cleanPath(std::string_view path);

// The redirect a request is answered with, or nullopt when its path is clean. The query is kept. CONNECT and `*`
// never redirect.
std::optional<Response> redirectToCleanPath(const Request& request);

}  // namespace dq::http
