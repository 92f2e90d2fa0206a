// Reads over a wide lake: 200 vehicles in 200 buckets, 20 signals each 10 s for two hours of five days (72 000 rows a
// vehicle). Each benchmark asks for another vehicle in turn and reports the median and the 95th percentile in ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "core/hash.h"
#include "core/text.h"
#include "lake/tables.h"
#include "query/reader.h"

namespace dq::query {
namespace {

constexpr int kVehicles = 200, kDays = 5;
constexpr Micros kFirstDay = 1'780'272'000LL * kMicrosPerSecond;

std::string vehicle(int number) { return strCat("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:", number); }

void must(const Status& status) {
    if (status.ok()) return;
    std::cerr << status << "\n";
    std::exit(1);
}

class WideLake {
  public:
    WideLake() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dq-query-bench-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        lake::LakeConfig config;
        config.catalog_dsn = folder_ + "/catalog.ducklake";
        config.data_path = folder_ + "/data";
        config.threads = 2;
        if (const char* extensions = std::getenv("DUCKDB_EXTENSION_DIR")) config.extension_directory = extensions;
        auto lakes = lake::Lakes::open(config, /*writer=*/true, nullptr);
        must(lakes.status());
        lakes_ = *std::move(lakes);
        must(lake::ensureDecodedTables(lakes_->writer(), Cancel::root()).status());
        fill();
        reader_ = std::make_unique<Reader>(lakes_->reader(), ReaderOptions{}, metrics_);
    }
    ~WideLake() {
        reader_.reset();
        lakes_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Reader& reader() { return *reader_; }

  private:
    void fill() {
        auto lease = lakes_->writer().acquire();
        must(lease.status());
        std::string vehicles;
        for (int v = 0; v < kVehicles; ++v) {
            strAppend(&vehicles, v == 0 ? "" : ", ", "(", engine::quoteLiteral(vehicle(v)), ", ",
                      subjectBucket(vehicle(v)), ")");
        }
        for (int day = 0; day < kDays; ++day) {
            must((*lease)
                     ->execute(strCat(R"(INSERT INTO lake.signals
SELECT s, b, CASE n WHEN 0 THEN 'currentLocationCoordinates' WHEN 1 THEN 'powertrainType' ELSE 'signal' || n END,
       )",
                                      engine::timestampLiteral(kFirstDay + day * kMicrosPerDay),
                                      R"( + to_seconds(28800 + i * 10),
       '0x5555555555555555555555555555555555555555', 'p', 'event-' || i || '-' || b, (hash(i, n) % 10000) / 100.0,
       CASE n WHEN 1 THEN 'kind' || i % 3 ELSE '' END, CASE n WHEN 0 THEN 40 + i / 1000.0 ELSE 0 END,
       CASE n WHEN 0 THEN -74 + i / 1000.0 ELSE 0 END, 1.2, 90
FROM (VALUES )",
                                      vehicles, ") v(s, b), range(720) r(i), range(20) q(n)"))
                     .status());
        }
        must((*lease)
                 ->execute(R"(INSERT INTO lake.signals_latest
SELECT subject, any_value(subject_bucket), name, max("timestamp"), arg_max(value_number, "timestamp"),
       arg_max(value_string, "timestamp"), arg_max(loc_lat, "timestamp"), arg_max(loc_lon, "timestamp"), 0, 0,
       max("timestamp"), count(*), min("timestamp"), max("timestamp")
FROM lake.signals GROUP BY subject, name)")
                 .status());
    }
    std::string folder_;
    Metrics metrics_;
    std::unique_ptr<lake::Lakes> lakes_;
    std::unique_ptr<Reader> reader_;
};

WideLake& wideLake() {
    static WideLake lake;
    return lake;
}

// Runs `ask` in a session of its own each time, as a request does.
template <typename Ask>
void measure(benchmark::State& state, Ask ask) {
    Reader& reader = wideLake().reader();
    std::vector<double> millis;
    int next = 0;
    for (auto _ : state) {
        const auto began = std::chrono::steady_clock::now();
        auto session = reader.begin(Cancel::root());
        must(session.status());
        must(ask(*session, vehicle(next++ % kVehicles)));
        millis.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count());
    }
    std::sort(millis.begin(), millis.end());
    state.counters["p50_ms"] = millis[millis.size() / 2];
    state.counters["p95_ms"] = millis[millis.size() * 95 / 100];
}

SignalsQuestion question(const std::string& subject, int days, std::int64_t interval) {
    SignalsQuestion q;
    q.subject = subject;
    q.from = kFirstDay;
    q.to = kFirstDay + days * kMicrosPerDay;
    q.interval = interval;
    return q;
}

void latestOfTheRollup(benchmark::State& state) {
    measure(state, [](Session& session, const std::string& subject) {
        return session.latest(subject, std::nullopt, "allLatest").status();
    });
}
void latestOfASource(benchmark::State& state) {
    measure(state, [](Session& session, const std::string& subject) {
        return session.latest(subject, "0x5555555555555555555555555555555555555555", "allLatest").status();
    });
}
void oneSignalOneDay(benchmark::State& state) {
    measure(state, [](Session& session, const std::string& subject) {
        SignalsQuestion q = question(subject, 1, 3600 * kMicrosPerSecond);
        q.floats = {{"signal5", FloatAggregation::kAvg, {}}};
        return session.signals(q).status();
    });
}
void allSignalsFiveDays(benchmark::State& state) {
    measure(state, [](Session& session, const std::string& subject) {
        SignalsQuestion q = question(subject, kDays, 3600 * kMicrosPerSecond);
        for (int n = 2; n < 20; ++n) {
            for (auto a : {FloatAggregation::kAvg, FloatAggregation::kMax, FloatAggregation::kMed}) {
                q.floats.push_back({strCat("signal", n), a, {}});
            }
        }
        q.strings = {{"powertrainType", StringAggregation::kTop}};
        q.locations = {{"currentLocationCoordinates", LocationAggregation::kLast, {}}};
        return session.signals(q).status();
    });
}
void everyTenSecondsFiveDays(benchmark::State& state) {
    measure(state, [](Session& session, const std::string& subject) {
        SignalsQuestion q = question(subject, kDays, 10 * kMicrosPerSecond);
        for (int n = 2; n < 20; ++n) q.floats.push_back({strCat("signal", n), FloatAggregation::kLast, {}});
        return session.signals(q).status();
    });
}
void geofenceOfPoints(benchmark::State& state) {
    measure(state, [&](Session& session, const std::string& subject) {
        SignalsQuestion q = question(subject, kDays, 3600 * kMicrosPerSecond);
        LocationFilter fence;
        for (int i = 0; i < state.range(0); ++i) {
            const double angle = 2 * M_PI * i / static_cast<double>(state.range(0));
            fence.polygon.push_back({40.36 + .3 * std::sin(angle), -73.64 + .3 * std::cos(angle)});
        }
        q.locations = {{"currentLocationCoordinates", LocationAggregation::kLast, fence}};
        return session.signals(q).status();
    });
}

BENCHMARK(latestOfTheRollup)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(latestOfASource)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(oneSignalOneDay)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(allSignalsFiveDays)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(everyTenSecondsFiveDays)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(geofenceOfPoints)->Arg(4)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace dq::query
