// Cost of the language and of writing answers.
#include <benchmark/benchmark.h>

#include "graphql/executor.h"
#include "graphql/h3.h"

namespace dq::graphql {
namespace {

// Buckets of a time series made on the fly: only the writing is measured.
class Bucket final : public Object {
  public:
    explicit Bucket(std::size_t index) : index_(index) {}
    Resolved resolve(const Field& field) const override {
        if (field.definition->name == "timestamp")
            return TimeValue{static_cast<Micros>(index_) * 60 * kMicrosPerSecond};
        return static_cast<double>(index_) * 0.37;
    }

  private:
    std::size_t index_;
};
class Buckets final : public ObjectList {
  public:
    explicit Buckets(std::size_t size) : size_(size) {}
    std::size_t size() const override { return size_; }
    std::shared_ptr<const Object> at(std::size_t index) const override { return std::make_shared<Bucket>(index); }

  private:
    std::size_t size_;
};

Hooks hooksFor(std::size_t buckets) {
    Hooks hooks;
    hooks.guard = [](const Field&) -> std::optional<FieldError> { return std::nullopt; };
    hooks.resolve_roots = [buckets](std::span<const Field* const> fields) {
        return std::vector<Resolved>(fields.size(),
                                     std::shared_ptr<const ObjectList>(std::make_shared<Buckets>(buckets)));
    };
    return hooks;
}

std::string series(int fields) {
    std::string query =
        "query($s:String!){signals(subject:$s,interval:\"1m\",from:\"2026-11-29T00:00:00Z\",to:\"2026-11-30T00:00:"
        "00Z\"){timestamp ";
    for (int i = 1; i < fields; ++i) query += "a" + std::to_string(i) + ":speed(agg:MAX,filter:{gt:5}) ";
    return query + "}}";
}

void loadSchema(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(Executor({}));
}
BENCHMARK(loadSchema);

void plan(benchmark::State& state) {
    const Executor executor({});
    const Hooks hooks = hooksFor(0);
    const Request request{series(static_cast<int>(state.range(0))), "",
                          R"({"s":"did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1"})", true};
    for (auto _ : state) benchmark::DoNotOptimize(executor.execute(request, hooks));
}
BENCHMARK(plan)->Arg(2)->Arg(10)->Arg(99);

void answer(benchmark::State& state) {
    const Executor executor({});
    const Hooks hooks = hooksFor(static_cast<std::size_t>(state.range(0)));
    const Request request{series(static_cast<int>(state.range(1))), "", R"({"s":"x"})", true};
    std::size_t bytes = 0;
    for (auto _ : state) bytes += executor.execute(request, hooks).body.size();
    state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}
BENCHMARK(answer)->Args({10'000, 5})->Args({10'000, 99})->Unit(benchmark::kMillisecond);

void cellCenter(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(h3CellCenter(40.7128, -74.0060));
}
BENCHMARK(cellCenter);

}  // namespace
}  // namespace dq::graphql
