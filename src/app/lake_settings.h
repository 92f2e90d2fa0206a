// Settings → configurations of the folders that know no settings.
#pragma once
#include "decode/decoder.h"
#include "lake/lake.h"
#include "materialize/materializer.h"
#include "settings/settings.h"

namespace dq::app {

lake::LakeConfig lakeConfig(const settings::Settings& settings);
decode::Options decodeOptions(const settings::Settings& settings);
// InvalidArgument for a BLOB_BUCKET that names nothing; reaches no network.
absl::StatusOr<materialize::PayloadOptions> payloadOptions(const settings::Settings& settings);
// Without its payloads.
materialize::MaterializerOptions materializerOptions(const settings::Settings& settings);

}  // namespace dq::app
