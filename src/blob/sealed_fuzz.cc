// Any bytes and any key either open, or fail with a problem; what was sealed opens again.
#include <cstdint>
#include <string>

#include "blob/problem.h"
#include "blob/sealer.h"
#include "core/status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const dq::blob::Sealer sealer(std::string(32, 'k'));
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    const auto opened = sealer.open(bytes, "cloudevent/blobs/x");
    if (!opened.ok())
        DQ_CHECK(dq::blob::problemOf(opened.status()) == dq::blob::Problem::kDecrypt, "another problem than decrypt");
    const auto sealed = sealer.seal(bytes, bytes);
    DQ_CHECK(sealed.ok() && sealer.open(*sealed, bytes).value() == bytes, "sealed bytes do not open");
    return 0;
}
