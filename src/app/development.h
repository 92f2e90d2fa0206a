// `serve --dev`: one person, one machine, no key service.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <string>

#include "auth/auth.h"
#include "settings/settings.h"

namespace dq::app {

inline constexpr char kDevelopmentAddress[] = "127.0.0.1";

// Values for whatever a server needs and nobody set: ports, chain, a catalog under ./dq-data, decoding on, a poll
// each second.
settings::Environment developmentDefaults(settings::Environment environment);

struct DevelopmentAuth {
    std::shared_ptr<auth::KeySet> keys;
    std::string issuer, token;  // token: one day, all privileges, for one vehicle
};
absl::StatusOr<DevelopmentAuth> developmentAuth(const std::string& subject);

}  // namespace dq::app
