// Arbitrary bytes as each kind of status payload of Ruptela.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    for (const char* version : {"r/v0/s", "r/v0/loc", "r/v0/dtc"}) {
        dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.status",
                                 "0xF26421509Efe92861a587482100c6d728aBf1CD0", version);
    }
    return 0;
}
