// Speed of the steps before the commit, in bytes and events a second: splitting, checking, and the way of a batch
// through the endpoint.
#include <benchmark/benchmark.h>

#include "core/text.h"
#include "ingest/http_events.h"
#include "ingest/reader.h"
#include "ingest/validate.h"

namespace dq::ingest {
namespace {

std::string event(int number) {
    std::string out = strCat(
        R"({"specversion":"1.0","type":"dimo.status","source":"0x5555555555555555555555555555555555555555","subject":)",
        R"("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:)", number % 1000, R"(","producer":)",
        R"("did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:7","id":"e)", number,
        R"(","time":"2026-06-08T10:00:00Z","dataversion":"default/v1.0","data":{"signals":[)");
    for (int i = 0; i < 10; ++i) {
        strAppend(&out, i > 0 ? "," : "", R"({"name":"speed","timestamp":"2026-06-08T10:00:00Z","value":)", i, "}");
    }
    return out + "]}}";
}

std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += event(i) + "\n";
    return text;
}

void report(benchmark::State& state, std::size_t bytes, int events) {
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes));
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * events);
}

void readLines(benchmark::State& state) {
    const std::string text = lines(10'000);
    for (auto _ : state) {
        EventReader reader(memorySource(text), {});
        while (reader.next()->kind != ReadKind::kEnd) {}
    }
    report(state, text.size(), 10'000);
}
BENCHMARK(readLines);

void readArray(benchmark::State& state) {
    std::string text = "[" + event(0);
    for (int i = 1; i < 10'000; ++i) text += "," + event(i);
    text += "]";
    for (auto _ : state) {
        EventReader reader(memorySource(text), {});
        while (reader.next()->kind != ReadKind::kEnd) {}
    }
    report(state, text.size(), 10'000);
}
BENCHMARK(readArray);

void validate(benchmark::State& state) {
    const std::string text = event(1);
    Validator validator({});
    for (auto _ : state) benchmark::DoNotOptimize(validator.check(text));
    report(state, text.size(), 1);
}
BENCHMARK(validate);

void postLines(benchmark::State& state) {
    const std::string text = lines(1000);
    Validator validator({});
    Committer committer([](std::span<const Row>, const Cancel&) -> absl::StatusOr<std::int64_t> { return 1; }, {});
    EventsEndpoint endpoint({}, validator, committer);
    for (auto _ : state) {
        const PostResponse response = endpoint.handle(
            {.content_type = "application/x-ndjson", .body = text, .peer_is_loopback = true}, Cancel::root());
        if (response.status != 200) state.SkipWithError("not stored");
    }
    report(state, text.size(), 1000);
}
BENCHMARK(postLines)->UseRealTime();

}  // namespace
}  // namespace dq::ingest
