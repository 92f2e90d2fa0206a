// Telemetry messages of Tesla vehicles (decode.md §8.5): protobuf in base64 in JSON.
#pragma once
#include <vector>

#include "decode/module.h"

namespace dq::decode {

inline constexpr std::string_view kTelemetryVersion = "fleet_telemetry/v1.0.0";

Outcome readTeslaTelemetry(const Work& work, std::vector<RawSignal>& out);

}  // namespace dq::decode
