// Arbitrary bytes as a CloudEvent: parsing must not fail otherwise than by status, and what it accepts must make a
// valid row.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cloudevent/cloudevent.h"
#include "cloudevent/json_scanner.h"
#include "cloudevent/utf8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
    using namespace dq::cloudevent;
    std::string text(reinterpret_cast<const char*>(bytes), size);
    auto event = parse(text);
    canonicalVehicleDid(text);
    ethrDidAddress(text);
    if (!event.ok()) return 0;
    Row row = toRow(*event);
    bool good = isJson(text) && isJson(row.extras) && isValidUtf8(row.extras) &&
                (!row.data || (isJson(*row.data) && isValidUtf8(*row.data)));
    for (const std::string* field : {&row.subject, &row.type, &row.id, &row.source, &row.producer, &row.data_version}) {
        good = good && isValidUtf8(*field);
    }
    if (!good) std::abort();
    return 0;
}
