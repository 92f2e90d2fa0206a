// Arbitrary bytes as the telemetry document of Tesla, and as one protobuf message inside a well-formed document.
#include <string>

#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    constexpr std::string_view kSource = "0xc4035Fecb1cc906130423EF05f9C20977F643722",
                               kVersion = "fleet_telemetry/v1.0.0";
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.status", kSource, kVersion);
    std::string document = "{\"payloads\":[[";
    for (std::size_t i = 0; i < size; ++i) document += (i > 0 ? "," : "") + std::to_string(bytes[i]);
    dq::decode::checkPayload(document + "]]}", "dimo.status", kSource, kVersion);
    return 0;
}
