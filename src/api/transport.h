// GraphQL over HTTP without an HTTP server: what a request says, and what an answer says (graphql.md §1). Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "graphql/executor.h"

namespace dq::api {

struct TransportRequest {
    std::string_view method, query_string, content_type, accept, body;
    bool has_accept = false, wants_upgrade = false;
};

struct TransportResponse {
    int status = 200;
    std::string content_type;  // "" = none
    std::string body;
    std::string allow;  // Allow header, "" = none
};

// The GraphQL request, or the answer to one that never reaches execution.
std::variant<graphql::Request, TransportResponse> readRequest(const TransportRequest& request);
// Status and content type of an executed request.
TransportResponse writeResponse(const TransportRequest& request, graphql::Response response);

// "application/json" or "application/graphql-response+json": the first type of Accept that is known, in written
// order; q values are ignored; nothing known: the latter; no header: the former.
std::string_view negotiate(const TransportRequest& request);

}  // namespace dq::api
