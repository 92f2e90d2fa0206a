// Arbitrary bytes as an events payload of Ruptela.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.events",
                             "0xF26421509Efe92861a587482100c6d728aBf1CD0", "r/v0/cmd");
    return 0;
}
