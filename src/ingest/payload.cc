#include "ingest/payload.h"

#include <absl/strings/escaping.h>
#include <simdjson.h>

#include "core/status.h"
#include "core/text.h"
#include "ingest/validate.h"

namespace dq::ingest {
namespace {

constexpr std::size_t kMaxReasonBytes = 512;

// Parses `data` and calls `use` with its root object; false when it is not an object.
template <typename Use>
bool withObject(std::string_view data, Use use) {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(data.data(), data.size()).get(root) != simdjson::SUCCESS) return false;
    simdjson::dom::object object;
    if (root.get(object) != simdjson::SUCCESS) return false;
    use(object);
    return true;
}

bool hasElements(const simdjson::dom::object& object, std::string_view name) {
    simdjson::dom::array array;
    return object[name].get(array) == simdjson::SUCCESS && array.begin() != array.end();
}

}  // namespace

std::vector<std::string_view> typesOfData(std::string_view data) {
    std::vector<std::string_view> types;
    withObject(data, [&](const simdjson::dom::object& object) {
        simdjson::dom::element vin;
        if (object["vin"].get(vin) == simdjson::SUCCESS && !vin.is_null())
            types.push_back(cloudevent::kFingerprintType);
        if (hasElements(object, "signals")) types.push_back(cloudevent::kStatusType);
        if (hasElements(object, "events")) types.push_back(cloudevent::kEventsType);
    });
    if (types.empty()) types.push_back("dimo.unknown");
    return types;
}

StatusOr<std::string> vinOfData(std::string_view data) {
    StatusOr<std::string> vin = absl::InvalidArgumentError("data.vin: a fingerprint needs a VIN as text");
    withObject(data, [&](const simdjson::dom::object& object) {
        std::string_view text;
        if (object["vin"].get(text) == simdjson::SUCCESS) vin = std::string(text);
    });
    return vin;
}

StatusOr<std::string> voidedId(const cloudevent::Event& event) {
    std::string decoded;
    std::string_view data = event.data;
    if (data.empty() && !event.data_base64.empty()) {
        if (!absl::Base64Unescape(event.data_base64, &decoded))
            return absl::InvalidArgumentError("data_base64: not base64");
        data = decoded;
    }
    if (data.empty()) return absl::InvalidArgumentError("data: a tombstone needs data");
    StatusOr<std::string> voids_id = absl::InvalidArgumentError("data.voidsId: a tombstone names the id that it voids");
    const bool is_object = withObject(data, [&](const simdjson::dom::object& object) {
        std::string_view text;
        if (object["voidsId"].get(text) == simdjson::SUCCESS && isIdentifier(text)) voids_id = std::string(text);
        simdjson::dom::element reason;
        if (object["reason"].get(reason) != simdjson::SUCCESS || reason.is_null()) return;
        if (reason.get(text) != simdjson::SUCCESS) {
            voids_id = absl::InvalidArgumentError("data.reason: not a text");
        } else if (text.size() > kMaxReasonBytes) {
            voids_id = absl::InvalidArgumentError(strCat("data.reason: over ", kMaxReasonBytes, " bytes"));
        }
    });
    if (!is_object) return absl::InvalidArgumentError("data: a tombstone's data is a JSON object");
    return voids_id;
}

std::uint64_t payloadBytes(const cloudevent::Row& row) {
    if (row.data_base64) return row.data_base64->size() * 3 / 4;
    return row.data ? row.data->size() : 0;
}

}  // namespace dq::ingest
