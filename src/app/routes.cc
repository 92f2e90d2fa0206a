#include "app/routes.h"

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "embedded/playground_html.h"
#include "http/path.h"

namespace dq::app {
namespace {

using http::Request;
using http::Response;

Response fromTransport(api::TransportResponse answer) {
    Response response;
    response.status = answer.status;
    if (!answer.content_type.empty()) response.headers.emplace_back("Content-Type", answer.content_type);
    if (!answer.allow.empty()) response.headers.emplace_back("Allow", answer.allow);
    if (answer.status != 200 && answer.content_type.starts_with("text/plain"))
        response.headers.emplace_back("X-Content-Type-Options", "nosniff");
    response.body = std::move(answer.body);
    return response;
}

// Whom a request came from, as proxies tell it.
std::string sourceOf(const Request& request) {
    for (const char* name : {"X-Forwarded-For", "X-Real-IP"}) {
        if (const std::string_view told = request.header(name); !told.empty()) return std::string(told);
    }
    return strCat(request.peer_address, ":", request.peer_port);
}

Response tokenRefusal(const Request& request, const absl::Status& status) {
    logError("error validating token", {{"method", request.method},
                                        {"path", request.path},
                                        {"sourceIp", sourceOf(request)},
                                        {"error", status.message()}});
    if (absl::IsUnavailable(status)) {
        return Response::json(503, R"({"message":"Signing keys are not available; retry shortly."})")
            .with("Retry-After", "5");
    }
    return Response::json(401, R"({"message":"JWT is invalid."})");
}

}  // namespace

Response MainRoutes::handle(const Request& request, const Cancel& cancel) const {
    if (auto redirect = http::redirectToCleanPath(request)) return *redirect;
    if (request.path == "/query") return query(request, cancel);
    if (request.path == "/v1/events") return postEvents(request, cancel);
    if (request.path == "/ready")
        return readiness->ready() ? Response::text(200, "ok") : Response::text(503, "not ready");
    if (request.path == "/mcp")
        return Response::error(501, "the Model Context Protocol is not available in this build");
    Response page;
    page.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
    page.body = std::string(embedded::playground_html);
    return page;
}

Response MainRoutes::query(const Request& request, const Cancel& cancel) const {
    auto slot = global_limit->enter(cancel);
    if (!slot) {
        metrics->counters("dq_requests_rejected_global_total", "Requests shed by the process-wide cap")
            .Add({{"transport", "http"}})
            .Increment();
        return Response::error(429, "server is at its concurrent-request limit; retry shortly")
            .with("Retry-After", "1");
    }
    const Cancel deadline = cancel.withTimeout(max_request_micros);
    std::optional<auth::Claims> claims;
    const auto token = auth::bearerToken(request.header("Authorization"));
    if (!token.ok()) return tokenRefusal(request, token.status());
    if (*token) {
        auto valid = tokens->validate(**token);
        if (!valid.ok()) return tokenRefusal(request, valid.status());
        claims = std::move(*valid);
    }
    const auto own = subject_limit->enter(claims ? claims->subject : "");
    if (!own) {
        metrics->counter("dq_requests_rejected_concurrency_total", "HTTP requests refused by the per-subject cap")
            .Increment();
        return Response::error(429, "too many concurrent requests");
    }
    api::TransportRequest transport;
    transport.method = request.method;
    transport.query_string = request.query;
    transport.content_type = request.header("Content-Type");
    transport.accept = request.header("Accept");
    transport.has_accept = request.has("Accept");
    transport.wants_upgrade = !request.header("Upgrade").empty();
    transport.body = request.body;
    Response response = fromTransport(graphql->handle(transport, claims, deadline));
    if (transport.wants_upgrade) response.headers.emplace_back("Sec-Websocket-Version", "13");
    return response;
}

Response MainRoutes::postEvents(const Request& request, const Cancel& cancel) const {
    if (events == nullptr) return Response::error(403, "this process reads the lake only and takes no events");
    ingest::PostRequest post;
    post.method = request.method;
    post.content_type = request.header("Content-Type");
    post.content_encoding = request.header("Content-Encoding");
    post.authorization = request.header("Authorization");
    post.host = request.header("Host");
    post.body = request.body;
    post.peer_is_loopback = request.peer_is_loopback;
    ingest::PostResponse answer = events->handle(post, cancel);
    Response response;
    response.status = answer.status;
    response.headers.emplace_back("Content-Type", answer.content_type);
    if (answer.retry_after_seconds > 0)
        response.headers.emplace_back("Retry-After", strCat(answer.retry_after_seconds));
    response.body = std::move(answer.body);
    return response;
}

std::size_t bodyLimit(std::string_view path, std::size_t events_limit) {
    constexpr std::size_t kGeneral = 4 * 1024 * 1024;
    return path == "/v1/events" ? events_limit : kGeneral;
}

Response handleMonitoring(const Request& request, const Metrics& metrics) {
    if (request.method != "GET" && request.method != "HEAD")
        return Response::error(405, "Method Not Allowed").with("Allow", "GET, HEAD");
    const auto plain = [](std::string body) {
        Response response;
        response.headers.emplace_back("Content-Type", "text/plain");
        response.body = std::move(body);
        return response;
    };
    if (request.path == "/") return plain("ok");
    if (request.path == "/health") return plain("healthy");
    if (request.path == "/metrics") {
        Response response;
        response.headers.emplace_back("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        response.body = metrics.render();
        return response;
    }
    return Response::error(404, "404 page not found");
}

}  // namespace dq::app
