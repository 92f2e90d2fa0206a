// Arbitrary bytes as an answer of Tesla's fleet interface.
#include "decode/fuzz_checks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    dq::decode::checkPayload({reinterpret_cast<const char*>(bytes), size}, "dimo.status",
                             "0xc4035Fecb1cc906130423EF05f9C20977F643722", "");
    return 0;
}
