// What the writer reads out of an event's data: which kinds of event it holds, a VIN, the target of a tombstone.
#pragma once
#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

#include "cloudevent/cloudevent.h"

namespace dq::ingest {

// Types of the events that a body without a type holds: `vin` fingerprint, non-empty `signals` status, non-empty
// `events` events; several may apply, none is dimo.unknown (writer.md A3.2).
std::vector<std::string_view> typesOfData(std::string_view data);
// Member `vin` of the data; InvalidArgument when there is none that is a text.
absl::StatusOr<std::string> vinOfData(std::string_view data);
// `voidsId` of a tombstone's data: an object with an identifier there, and a `reason` of at most 512 bytes if any.
absl::StatusOr<std::string> voidedId(const cloudevent::Event& event);
// Bytes of the payload: those of data, or 3/4 of the base64 text's.
std::uint64_t payloadBytes(const cloudevent::Row& row);

}  // namespace dq::ingest
