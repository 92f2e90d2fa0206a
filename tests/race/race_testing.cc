#include "race_testing.h"

#include <cstdio>
#include <cstdlib>

#include "core/status.h"
#include "core/text.h"

namespace dq::race {

std::int64_t raceMicros() {
    const char* seconds = std::getenv("DQ_RACE_SECONDS");
    return (seconds != nullptr ? std::strtoll(seconds, nullptr, 10) : 60) * kMicrosPerSecond;
}

std::uint64_t raceSeed() {
    const char* seed = std::getenv("DQ_RACE_SEED");
    return seed != nullptr ? std::strtoull(seed, nullptr, 10) : std::random_device{}();
}

decode::Options decodeOptions(const Clock& clock) {
    decode::Options options;
    options.chain_id = 137;
    options.vehicle_address_hex = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    options.clock = &clock;
    return options;
}

materialize::MaterializerOptions materializerOptions(std::mt19937_64& random) {
    const auto between = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1));
    };
    materialize::MaterializerOptions options;
    options.poll_interval = between(2'000, 50'000);
    options.rollup_interval = between(50'000, 500'000);
    options.span.max_snapshots = static_cast<int>(between(1, 8));
    options.limits.window_rows = static_cast<std::size_t>(between(10, 150));
    options.limits.workers = static_cast<int>(between(1, 3));
    return options;
}

double metricOf(const Metrics& metrics, const std::string& name) {
    const std::string text = metrics.render();
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

void RaceTest::SetUp() {
    if (lake::TempLake::unavailable(GetParam())) GTEST_SKIP() << "no PostgreSQL: DQ_TEST_POSTGRES_DSN is not set";
    std::printf("seed %llu (DQ_RACE_SEED repeats its choices)\n", static_cast<unsigned long long>(seed_));
    std::fflush(stdout);
    trace_.emplace(__FILE__, __LINE__, strCat("seed ", seed_));
    log_.emplace();
    lake_.emplace(GetParam());
}

lake::Lake& RaceTest::outside() {
    if (GetParam() == lake::CatalogKind::kFile) return lake_->writer();
    if (others_ == nullptr) {
        auto opened = lake::Lakes::open(lake_->config(), /*writer=*/true);
        EXPECT_TRUE(opened.ok()) << opened.status();
        others_ = std::move(opened).value();
    }
    return others_->writer();
}

void RaceTest::TearDown() {
    others_.reset();
    lake_.reset();
    if (log_ && (HasFailure() || std::getenv("DQ_RACE_LOG") != nullptr)) {
        const std::size_t kShown = std::getenv("DQ_RACE_LOG") != nullptr ? SIZE_MAX : 12'000;
        const std::string text = log_->text();
        std::printf("the end of the log:\n%s\n", text.substr(text.size() - std::min(text.size(), kShown)).c_str());
    }
    log_.reset();
    trace_.reset();
}

int RaceTest::createRawEvents(Feeder& feeder) {
    const int rows = static_cast<int>(random_() % 3) * 10;
    const std::string option = strCat("CALL lake.set_option('data_inlining_row_limit', ", rows, ")");
    const bool before = GetParam() == lake::CatalogKind::kPostgres && random_() % 2 == 0;
    if (before) lake_->run(option);
    feeder.prepare();
    if (!before) lake_->run(option);
    return rows;
}

void RaceTest::violated(const std::string& what) {
    if (!stop_.cancelled()) ADD_FAILURE() << what;
    stop_.cancel();
}

void RaceTest::waitForRest(lake::Lake& lake, std::int64_t snapshot, std::int64_t longest) {
    const std::int64_t begin = clock_.steadyMicros();
    std::string last;
    while (clock_.steadyMicros() - begin < longest && !HasFailure()) {
        const auto rest = [&]() -> StatusOr<bool> {
            DQ_ASSIGN_OR_RETURN(auto connection, lake.acquire());
            DQ_ASSIGN_OR_RETURN(const std::int64_t cursor, cursorOf(*connection));
            DQ_ASSIGN_OR_RETURN(const std::int64_t marks, marksOf(*connection));
            last = strCat("cursor ", cursor, " of ", snapshot, ", ", marks, " marks");
            return cursor >= snapshot && marks == 0;
        }();
        if (rest.ok() && *rest) return;
        if (!rest.ok()) last = std::string(rest.status().message());
        Cancel::root().waitFor(20'000);
    }
    if (!HasFailure()) violated(strCat("not at rest after ", longest / kMicrosPerSecond, " s: ", last));
}

std::string listErrors(const std::map<std::string, int>& errors) {
    if (errors.empty()) return "none";
    std::string out;
    for (const auto& [text, times] : errors) strAppend(&out, out.empty() ? "" : "; ", text, " (", times, " times)");
    return out;
}

}  // namespace dq::race
