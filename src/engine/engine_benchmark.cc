// Appender and column scan over rows shaped like staged signals (11 columns). Reported per row.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <string>

#include "engine/database.h"

namespace dq::engine {
namespace {

constexpr char kTable[] =
    "CREATE OR REPLACE TABLE stage(subject VARCHAR, bucket INTEGER, name VARCHAR, moment TIMESTAMPTZ, source VARCHAR, "
    "id VARCHAR, "
    "number DOUBLE, text VARCHAR, lat DOUBLE, lon DOUBLE, tags VARCHAR[])";
constexpr std::int64_t kRows = 100'000;
constexpr std::string_view kSubject = "did:erc721:137:0x0000000000000000000000000000000000000000:1";
constexpr std::string_view kSource = "0x0000000000000000000000000000000000000001";
constexpr std::string_view kId = "2e9d3b1c-7f7e-4a3b-9d1e-0f6d6c1a2b3c";

template <typename T>
T value(absl::StatusOr<T> result) {
    if (result.ok()) return *std::move(result);
    std::fprintf(stderr, "%s\n", result.status().ToString().c_str());
    std::abort();
}
void check(const absl::Status& status) {
    if (!status.ok()) std::abort();
}

void fill(Connection& connection) {
    Appender appender = value(Appender::open(connection, "memory", "main", "stage"));
    for (std::int64_t i = 0; i < kRows; ++i) {
        appender.string(0, kSubject);
        appender.value<std::int32_t>(1, static_cast<std::int32_t>(i & 255));
        appender.string(2, "powertrainTransmissionTravelledDistance");
        appender.value<std::int64_t>(3, i * 1000);
        appender.string(4, kSource);
        appender.string(5, kId);
        appender.value<double>(6, static_cast<double>(i));
        appender.string(7, "");
        appender.value<double>(8, 52.5);
        appender.value<double>(9, 13.4);
        appender.stringList(10, {});
        check(appender.endRow());
    }
    check(appender.close());
}

void appendRows(benchmark::State& state) {
    Connection connection = value(value(Database::open())->connect());
    for (auto _ : state) {
        state.PauseTiming();
        check(connection.execute(kTable).status());
        state.ResumeTiming();
        fill(connection);
    }
    state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(appendRows)->Unit(benchmark::kMillisecond);

void scanRows(benchmark::State& state) {
    Connection connection = value(value(Database::open())->connect());
    check(connection.execute(kTable).status());
    fill(connection);
    bool streaming = state.range(0) != 0;
    for (auto _ : state) {
        Sql sql{"SELECT subject, name, moment, number, id FROM stage", {}};
        Result result = value(streaming ? connection.stream(sql) : connection.query(sql));
        double sum = 0;
        std::size_t bytes = 0;
        while (std::optional<Chunk> chunk = value(result.next())) {
            auto subject = chunk->strings(0);
            auto name = chunk->strings(1);
            auto moment = chunk->micros(2);
            auto number = chunk->column<double>(3);
            auto id = chunk->strings(4);
            for (idx_t row = 0; row < chunk->size(); ++row) {
                bytes += subject[row].size() + name[row].size() + id[row].size();
                sum += number[row] + static_cast<double>(moment[row]);
            }
        }
        benchmark::DoNotOptimize(sum);
        benchmark::DoNotOptimize(bytes);
    }
    state.SetItemsProcessed(state.iterations() * kRows);
}
BENCHMARK(scanRows)->ArgName("streaming")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void smallQuery(benchmark::State& state) {
    Connection connection = value(value(Database::open())->connect());
    for (auto _ : state) {
        Result result = value(connection.query(Sql{"SELECT $1::BIGINT + 1", {std::int64_t{41}}}));
        std::optional<Chunk> chunk = value(result.next());
        benchmark::DoNotOptimize(chunk->column<std::int64_t>(0)[0]);
    }
}
BENCHMARK(smallQuery)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace dq::engine
