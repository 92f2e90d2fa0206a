#include "app/serve_settings.h"

#include "app/development.h"
#include "core/status.h"
#include "core/text.h"

namespace dq::app {

absl::StatusOr<ServeSettings> loadServeSettings(const ServeOptions& options, const settings::Environment& environment) {
    auto settings = settings::loadSettings(options.settings_file,
                                           options.development ? developmentDefaults(environment) : environment);
    auto ingest = ingest::readIngestSettings(environment);
    if (!settings.ok() && !ingest.ok()) {
        return absl::InvalidArgumentError(strCat(settings.status().message(), "; ", ingest.status().message()));
    }
    if (!settings.ok()) return settings.status();
    const Status server = settings->checkServer();
    if (!server.ok() && !ingest.ok()) {
        return absl::InvalidArgumentError(strCat(server.message(), "; ", ingest.status().message()));
    }
    DQ_RETURN_IF_ERROR(server);
    if (!ingest.ok()) return ingest.status();
    return ServeSettings{*std::move(settings), *std::move(ingest)};
}

}  // namespace dq::app
