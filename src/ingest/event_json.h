// A CloudEvent as JSON text, made from its header or from its row.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cloudevent/cloudevent.h"

namespace dq::ingest {

inline constexpr std::size_t kMaxHeaderBytes = 8192;

// True when all of the event but data and data_base64, serialized in the order of writer.md A5, is at most
// kMaxHeaderBytes long.
bool headerFits(const cloudevent::Event& event);
// The header's JSON text, as measured by headerFits.
std::string headerJson(const cloudevent::Event& event);
// The row as one line of JSON that parses back into the same row (voids_id and data_index_key, which no sender may set,
// left out).
std::string rowJson(const cloudevent::Row& row);
// `text` as a JSON string with its quotes.
std::string jsonString(std::string_view text);

}  // namespace dq::ingest
