// Arbitrary bytes as an events payload of the default module.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.events", "default", "");
    return 0;
}
