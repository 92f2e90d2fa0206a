// The protobuf messages of Tesla telemetry (tesla_telemetry_wire.csv), read as proto3 readers do: unknown fields and
// fields of another wire type are skipped, the last of a scalar wins, repeated messages merge, strings must be UTF-8.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace dq::decode {

// The oneof of message Value; `field` is the number of the member that is set, 0 for none.
struct TelemetryValue {
    std::uint32_t field = 0;
    std::uint64_t integer = 0;  // bool, int and enum members
    double real = 0;            // float and double members
    std::string_view text;
    double latitude = 0, longitude = 0;
    std::array<bool, 6> doors{};  // in the order of message Doors
};

struct TelemetryDatum {
    std::int32_t key = 0;
    bool has_value = false;
    TelemetryValue value;
};

struct TelemetryTime {
    std::int64_t seconds = 0;
    std::int32_t nanos = 0;
};

// False when the bytes are no such message. `data` is replaced; `created_at` stays empty when absent.
bool readTelemetry(std::string_view bytes, std::vector<TelemetryDatum>& data, std::optional<TelemetryTime>& created_at);

}  // namespace dq::decode
