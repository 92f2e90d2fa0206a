// What a serving process is told: the server's settings and those of the writing side, checked together.
#pragma once
#include <absl/status/statusor.h>

#include "app/serve.h"
#include "ingest/ingest_settings.h"
#include "settings/settings.h"

namespace dq::app {

struct ServeSettings {
    settings::Settings settings;
    ingest::IngestSettings ingest;
};

// One InvalidArgument names every malformed value, of both kinds of settings; when there is none, everything a server
// cannot start with. Development mode fills in what nobody set.
absl::StatusOr<ServeSettings> loadServeSettings(const ServeOptions& options, const settings::Environment& environment);

}  // namespace dq::app
