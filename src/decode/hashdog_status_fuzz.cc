// Arbitrary bytes as a status payload of HashDog.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.status",
                             "0x4c674ddE8189aEF6e3b58F5a36d7438b2b1f6Bc2", "");
    return 0;
}
