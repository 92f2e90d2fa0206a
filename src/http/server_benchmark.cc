// Requests a second of a trivial handler over keep-alive connections on loopback, client and server in one process.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "http/http_testing.h"
#include "http/server.h"

namespace dq::http {
namespace {

// One request at a time on each of `connections` connections: all are sent, then all are read.
void keepAlive(benchmark::State& state) {
    ServerOptions options;
    options.address = "127.0.0.1";
    options.workers = 4;
    const std::string body(static_cast<std::size_t>(state.range(1)), 'x');
    Server server(options, [&](const Request&, const Cancel&) { return Response::json(200, body); });
    if (!server.start().ok()) return state.SkipWithError("cannot start");
    std::vector<std::unique_ptr<RawClient>> clients;
    for (int i = 0; i < state.range(0); ++i) clients.push_back(std::make_unique<RawClient>(server.port()));
    const std::string request = post("/query", R"({"query":"{ __typename }"})", "Content-Type: application/json\r\n");
    for (auto _ : state) {
        for (auto& client : clients) {
            if (!client->send(request)) return state.SkipWithError("cannot send");
        }
        for (auto& client : clients) {
            if (!client->read()) return state.SkipWithError("no answer");
        }
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(keepAlive)->Args({1, 100})->Args({16, 100})->Args({64, 100})->Args({16, 100'000})->UseRealTime();

void connectAskClose(benchmark::State& state) {
    ServerOptions options;
    options.address = "127.0.0.1";
    Server server(options, [](const Request&, const Cancel&) { return Response::text(200, "ok"); });
    if (!server.start().ok()) return state.SkipWithError("cannot start");
    for (auto _ : state) {
        RawClient client(server.port());
        if (!client.send(get("/ready")) || !client.read()) return state.SkipWithError("no answer");
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(connectAskClose)->UseRealTime();

}  // namespace
}  // namespace dq::http
