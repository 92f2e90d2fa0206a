// Routes of the main and the monitoring server (server.md §3, §5).
#pragma once
#include <memory>
#include <string>

#include "api/graphql_api.h"
#include "app/readiness.h"
#include "auth/auth.h"
#include "core/metrics.h"
#include "http/admission.h"
#include "http/server.h"
#include "ingest/http_events.h"

namespace dq::app {

// Everything pointed to must outlive the routes; `events` may be null (a reader takes none).
struct MainRoutes {
    api::GraphqlApi* graphql;
    const auth::TokenValidator* tokens;
    Readiness* readiness;
    ingest::EventsEndpoint* events;
    http::GlobalLimiter* global_limit;
    http::SubjectLimiter* subject_limit;
    Metrics* metrics;
    std::int64_t max_request_micros = 300'000'000;

    http::Response handle(const http::Request& request, const Cancel& cancel) const;

  private:
    http::Response query(const http::Request& request, const Cancel& cancel) const;
    http::Response postEvents(const http::Request& request, const Cancel& cancel) const;
};

// The largest body a path of the main server takes.
std::size_t bodyLimit(std::string_view path, std::size_t events_limit);

http::Response handleMonitoring(const http::Request& request, const Metrics& metrics);

}  // namespace dq::app
