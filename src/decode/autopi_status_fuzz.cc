// Arbitrary bytes as a status payload of AutoPi.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.status",
                             "0x5e31bBc786D7bEd95216383787deA1ab0f1c1897", "");
    return 0;
}
