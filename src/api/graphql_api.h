// The GraphQL surface: transport rules, execution, metrics. One object per process; threads: any.
#pragma once
#include <optional>

#include "api/transport.h"
#include "auth/auth.h"
#include "core/clock.h"
#include "core/metrics.h"
#include "graphql/executor.h"
#include "query/reader.h"

namespace dq::api {

class GraphqlApi {
  public:
    GraphqlApi(query::Reader& reader, Metrics& metrics, const Clock& clock = systemClock());
    // `claims`: of a valid token, or nothing. `cancel` carries the request's deadline.
    TransportResponse handle(const TransportRequest& request, const std::optional<auth::Claims>& claims,
                             const Cancel& cancel);
    graphql::Response execute(const graphql::Request& request, const std::optional<auth::Claims>& claims,
                              const Cancel& cancel);

  private:
    void count(const graphql::Response& response);
    query::Reader& reader_;
    const Clock& clock_;
    graphql::Executor executor_;
    prometheus::Family<prometheus::Counter>& requests_;
    prometheus::Family<prometheus::Histogram>& field_seconds_;
};

}  // namespace dq::api
