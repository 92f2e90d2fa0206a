// Counts heap allocations of this program, to show that decoding allocates nothing per row once its buffers have grown.
#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "cloudevent/cloudevent.h"
#include "decode/decode_testing.h"

namespace {
std::atomic<std::size_t> allocations{0};
}  // namespace

// Not inlined: a compiler that sees through one of a pair takes it for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
    allocations.fetch_add(1, std::memory_order_relaxed);
    if (void* block = std::malloc(size == 0 ? 1 : size)) return block;
    throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
void operator delete[](void* block) noexcept { operator delete(block); }
void operator delete(void* block, std::size_t) noexcept { operator delete(block); }
void operator delete[](void* block, std::size_t) noexcept { operator delete(block); }

namespace dq::decode {
namespace {

// Every kind of text: verbatim, escaped, invalid UTF-8, numbers as text, locations, tags, duplicates, bad items.
std::vector<std::pair<std::string, std::string>> mixedPayloads() {
    std::vector<std::pair<std::string, std::string>> payloads;
    for (const Vector& vector : readVectors()) {
        if (vector.payload)
            payloads.emplace_back(vector.name.starts_with("dev") ? "dimo.events" : "dimo.status", *vector.payload);
    }
    const std::string time = ",\"timestamp\":\"2025-03-04T05:06:07Z\",\"value\":";
    for (int n = 0; n < 200; ++n) {
        payloads.emplace_back(
            "dimo.status",
            absl::StrCat("{\"signals\":[{\"name\":\"speed\"", time, n, ".25},{\"name\":\"obdMAP\"", time, "\"", n,
                         "e1\"},{\"name\":\"powertrainType\"", time, "\"a\\u00e9\xff", n,
                         "\"},{\"name\":\"currentLocationCoordinates\"", time, "{\"latitude\":1,\"longitude\":", n,
                         "}},{\"name\":\"nope\"", time, "1},{\"na\\u006de\":\"speed\"", time, "1}]}"));
        payloads.emplace_back(
            "dimo.events",
            absl::StrCat("{\"events\":[{\"name\":\"safety.collision\",\"timestamp\":\"2025-03-04T05:06:07Z\",",
                         "\"metadata\":\"{\\\"n\\\":", n, "}\",\"tags\":[\"a\",\"\\u00e9\",\"b", n, "\"]}]}"));
    }
    for (auto& [type, text] : payloads) text.append(64, ' ');
    return payloads;
}

// All recorded vectors, under the source and version they came with.
TEST(Allocation, NoneForAnyDialect) {
    std::vector<std::pair<cloudevent::Row, std::string>> rows;
    for (const Vector& vector : readVectors()) {
        auto event = cloudevent::parse(vector.cloud_event);
        if (!event.ok()) continue;
        cloudevent::Row row = cloudevent::toRow(*event);
        std::string payload = vector.payload ? *vector.payload : row.data.value_or("");
        rows.emplace_back(row, payload + std::string(64, ' '));
    }
    ManualClock clock(kTestNow);
    Decoder decoder = makeDecoder(Compat::kRepair, clock);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    auto pass = [&] {
        batch.clear();
        for (const auto& [row, text] : rows) {
            Input input{row.subject, row.source,       row.producer, row.id,
                        row.type,    row.data_version, row.time,     std::string_view(text).substr(0, text.size() - 64),
                        false};
            decoder.decode(input, *scratch, batch);
        }
    };
    pass();
    ASSERT_GE(batch.signals.size(), 600u);
    std::size_t before = allocations.load();
    for (int i = 0; i < 3; ++i) pass();
    EXPECT_EQ(allocations.load() - before, 0u);
}

TEST(Allocation, NoneAfterWarmUp) {
    auto payloads = mixedPayloads();
    ManualClock clock(kTestNow);
    for (Compat compat : {Compat::kExact, Compat::kRepair}) {
        Decoder decoder = makeDecoder(compat, clock);
        ScratchPtr scratch = makeScratch();
        Batch batch;
        auto pass = [&] {
            batch.clear();
            for (const auto& [type, text] : payloads) {
                Input input{kSubject, "s", "p", "e", type, "v", 0, std::string_view(text).substr(0, text.size() - 64),
                            false};
                decoder.decode(input, *scratch, batch);
            }
        };
        pass();
        std::size_t rows = batch.signals.size() + batch.events.size();
        std::size_t before = allocations.load();
        for (int i = 0; i < 3; ++i) pass();
        EXPECT_EQ(allocations.load() - before, 0u);
        EXPECT_GE(rows, 1000u);
        EXPECT_EQ(batch.signals.size() + batch.events.size(), rows);
    }
}

}  // namespace
}  // namespace dq::decode
