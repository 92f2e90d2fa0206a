// Rows per second of the default module on payloads as the lake generator makes them: ten signals, one of them a
// location.
#include <benchmark/benchmark.h>
#include <simdjson.h>

#include <memory>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace dq::decode {
namespace {

constexpr Micros kTime = 1'792'000'000LL * kMicrosPerSecond;
constexpr std::string_view kSource = "0x5555555555555555555555555555555555555555";

struct Event {
    std::string subject, producer, id, type, payload;
    std::size_t size = 0;
};

std::string statusPayload(int i) {
    std::string time = "2026-10-" + std::to_string(10 + i % 20) + "T" + std::to_string(10 + i % 14) + ":23:45." +
                       std::to_string(100 + i % 900) + "Z";
    double r = i % 10'000 / 100.0;
    auto item = [&](const char* name, const std::string& value) {
        return "{\"name\":\"" + std::string(name) + "\",\"timestamp\":\"" + time + "\",\"value\":" + value + "}";
    };
    auto number = [](double value) {
        char text[32];
        std::snprintf(text, sizeof text, "%.6g", value);
        return std::string(text);
    };
    return "{\"signals\":[" + item("speed", number(r)) + "," +
           item("powertrainCombustionEngineSpeed", std::to_string(600 + i % 3000)) + "," +
           item("powertrainFuelSystemRelativeLevel", std::to_string(i % 100)) + "," +
           item("powertrainTransmissionTravelledDistance", std::to_string(10'000 + i)) + "," +
           item("exteriorAirTemperature", number(r / 4)) + "," +
           item("lowVoltageBatteryCurrentVoltage", number(11.5 + r / 50)) + "," +
           item("isIgnitionOn", std::to_string(i % 2)) + "," + item("obdEngineLoad", number(r)) + "," +
           item("powertrainFuelSystemSupportedFuelTypes", "\"GASOLINE\"") + "," +
           item("currentLocationCoordinates", "{\"latitude\":" + number(40 + r / 100) + ",\"longitude\":" +
                                                  number(-74 + r / 100) + ",\"hdop\":1.2,\"heading\":90}") +
           "]}";
}

std::vector<Event> makeEvents(std::string_view type, std::string (*payload)(int)) {
    std::vector<Event> events;
    for (int i = 0; i < 2'000; ++i) {
        std::string vehicle = std::to_string(i % 1'000 + 1);
        Event event{"did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:" + vehicle,
                    "did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:" + vehicle, "e" + std::to_string(i),
                    std::string(type), payload(i)};
        event.size = event.payload.size();
        event.payload.append(simdjson::SIMDJSON_PADDING, ' ');
        events.push_back(std::move(event));
    }
    return events;
}

void decodeAll(benchmark::State& state, const std::vector<Event>& events, std::string_view source = kSource,
               std::string_view version = "default/v1.0") {
    Options options;
    options.chain_id = 137;
    options.vehicle_address_hex = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    Decoder decoder(options);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    std::int64_t rows = 0, bytes = 0;
    for (auto _ : state) {
        batch.clear();
        for (const Event& event : events) {
            Input input{event.subject, source,  event.producer, event.id,
                        event.type,    version, kTime,          std::string_view(event.payload).substr(0, event.size),
                        false};
            decoder.decode(input, *scratch, batch);
            bytes += static_cast<std::int64_t>(event.size);
        }
        rows += static_cast<std::int64_t>(batch.signals.size() + batch.events.size());
        if (batch.failed != 0) state.SkipWithError("a payload failed");
    }
    state.SetItemsProcessed(rows);
    state.SetBytesProcessed(bytes);
}

void DefaultStatus(benchmark::State& state) { decodeAll(state, makeEvents("dimo.status", statusPayload)); }
BENCHMARK(DefaultStatus);

std::string eventsPayload(int i) {
    return "{\"events\":[{\"name\":\"behavior.harshBraking\",\"timestamp\":\"2026-10-20T10:23:45." +
           std::to_string(100 + i % 900) +
           "Z\",\"durationNs\":1000000000,\"metadata\":\"{}\",\"tags\":[\"behavior.harshbraking\"]}]}";
}
void DefaultEvents(benchmark::State& state) { decodeAll(state, makeEvents("dimo.events", eventsPayload)); }
BENCHMARK(DefaultEvents);

std::string autoPiPayload(int i) {
    auto item = [&](const char* name, const std::string& value) {
        return "{\"name\":\"" + std::string(name) + "\",\"timestamp\":" + std::to_string(1'791'000'000'000 + i) +
               ",\"value\":" + value + "}";
    };
    return "{\"vehicle\":{\"signals\":[" + item("speed", std::to_string(i % 200)) + "," + item("rpm", "1800") + "," +
           item("coolantTemp", "90") + "," + item("fuelLevel", "55.5") + "," + item("odometer", "123456") + "," +
           item("fuelType", "\"Gasoline\"") + "," + item("latitude", "48.2") + "," + item("longitude", "16.3") + "," +
           item("hdop", "1.5") + "," + item("unknown", "1") + "]}}";
}
void AutoPi(benchmark::State& state) {
    decodeAll(state, makeEvents("dimo.status", autoPiPayload), "0x5e31bBc786D7bEd95216383787deA1ab0f1c1897");
}
BENCHMARK(AutoPi);

std::string ruptelaPayload(int i) {
    char speed[8];
    std::snprintf(speed, sizeof speed, "%02X", i % 250);
    return "{\"pos\":{\"lat\":522721466,\"lon\":-9014316,\"alt\":1048,\"dir\":7370,\"spd\":11,\"hdop\":6},\"prt\":0,"
           "\"signals\":{"
           "\"94\":\"1F40\",\"95\":\"" +
           std::string(speed) +
           "\",\"96\":\"5A\",\"97\":\"30\",\"98\":\"31\",\"29\":\"3158\",\"409\":\"1\",\"645\":\"0001E240\","
           "\"107\":\"0020\",\"103\":\"20\",\"642\":\"FFFF\",\"722\":\"FF\",\"985\":\"0\"}}";
}
void Ruptela(benchmark::State& state) {
    decodeAll(state, makeEvents("dimo.status", ruptelaPayload), "0xF26421509Efe92861a587482100c6d728aBf1CD0", "r/v0/s");
}
BENCHMARK(Ruptela);

}  // namespace
}  // namespace dq::decode
