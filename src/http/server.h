// HTTP/1.1 server (Boost.Beast behind this face). Handlers are plain functions run on worker threads; I/O has its
// own.
//
//   Server server({.port = 0}, [](const Request& request, const Cancel& cancel) { return Response::text(200, "ok"); });
//   DQ_RETURN_IF_ERROR(server.start());   // server.port() is the port bound
//   server.stop(25'000'000);              // stops accepting, waits for running requests up to 25 s
//
// Limits (server.md §3): header read 10 s, whole request 60 s, idle 120 s, headers 1 MiB, body `max_body_bytes`
// (413 above it). `cancel` ends when the client leaves or the server stops hard. A handler that throws gives 500
// and is logged. Threads: any. A handler must not call stop() of its own server. The server owns framing:
// Content-Length and Transfer-Encoding of a Response are ignored; `Connection: close` in it closes the connection
// after the answer.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/cancel.h"

namespace dq::http {

struct Request {
    std::string method, target;  // target as sent: path?query
    std::string path, query;     // percent-encoding untouched
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    std::string peer_address;  // "127.0.0.1"
    std::uint16_t peer_port = 0;
    bool peer_is_loopback = false;
    // First header of that name in any letter case; "" when absent (has() tells apart).
    std::string_view header(std::string_view name) const;
    bool has(std::string_view name) const;
};

struct Response {
    int status = 200;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string body;
    static Response text(int status, std::string body);  // text/plain; charset=utf-8
    static Response json(int status, std::string body);  // application/json
    // Plain-text error: body ends with a newline, X-Content-Type-Options: nosniff.
    static Response error(int status, std::string_view body);
    Response&& with(std::string name, std::string value) &&;
};

using Handler = std::function<Response(const Request&, const Cancel&)>;

struct ServerOptions {
    std::string address = "0.0.0.0";
    std::uint16_t port = 0;  // 0: any free port
    int workers = 16;        // requests handled at once; further ones wait
    int max_connections = 4096;
    std::size_t max_body_bytes = 4 * 1024 * 1024;
    // Body limit of one path, where it differs; empty: max_body_bytes everywhere.
    std::function<std::size_t(std::string_view path)> body_limit_of;
    std::size_t max_header_bytes = 1024 * 1024;
    std::int64_t header_timeout_micros = 10'000'000, request_timeout_micros = 60'000'000,
                 idle_timeout_micros = 120'000'000;
    std::int64_t write_timeout_micros = 60'000'000;      // without progress; the connection is then reset
    std::size_t max_queued = 1024;                       // requests waiting for a worker; 503 above it
    std::size_t max_buffered_bytes = 256 * 1024 * 1024;  // held for all connections; large requests get 503 above it
};

class Server {
  public:
    Server(ServerOptions options, Handler handler);
    ~Server();
    absl::Status start();  // binds and listens; the error names address and port
    std::uint16_t port() const;
    // False when requests were still running after `drain_micros` (they are then cancelled and their connections
    // closed). Returns when no thread of the server is left, so what handlers use may be released after it.
    bool stop(std::int64_t drain_micros);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dq::http
