// Settings of the writing side: names, defaults, checks (writer.md A4, A6, B1).
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "ingest/bundle.h"

namespace dq::ingest {

struct IngestSettings {
    SinkSettings sink;                                // SINK_*
    std::size_t max_body_bytes = 32 * 1024 * 1024;    // MAX_BODY_BYTES: request body, and one event of a file
    std::uint64_t document_size_threshold = 1048576;  // DOCUMENT_SIZE_THRESHOLD
    std::int64_t allowable_skew_micros = 300 * kMicrosPerSecond;  // ALLOWABLE_TIME_SKEW
    bool fingerprint_validation = true;                           // FINGERPRINT_VALIDATION
    std::string token;                                            // INGEST_TOKEN
};

// Value of a setting, nothing when it is not set; an empty value counts as not set.
using SettingLookup = std::function<std::optional<std::string>(const std::string& name)>;
// One InvalidArgument names every malformed setting.
absl::StatusOr<IngestSettings> readIngestSettings(const SettingLookup& lookup);
// The same from the environment.
absl::StatusOr<IngestSettings> readIngestSettings();

}  // namespace dq::ingest
