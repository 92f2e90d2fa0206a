#include "app/development.h"

#include <absl/container/flat_hash_map.h>

#include <filesystem>

#include "core/clock.h"
#include "core/status.h"

namespace dq::app {
namespace {

constexpr std::string_view kIssuer = "http://127.0.0.1/dq-development";
constexpr std::int64_t kDaySeconds = 86'400;

}  // namespace

settings::Environment developmentDefaults(settings::Environment environment) {
    return [environment = std::move(environment)](const std::string& name) -> std::optional<std::string> {
        static const absl::flat_hash_map<std::string, std::string> defaults = {
            {"PORT", "8080"},
            {"MON_PORT", "8888"},
            {"GRPC_PORT", "8086"},
            {"DIMO_REGISTRY_CHAIN_ID", "137"},
            {"DUCKLAKE_CATALOG_DSN", "dq-data/catalog.ducklake"},
            {"DUCKLAKE_DATA_PATH", "dq-data/lake"},
            {"MATERIALIZER_ENABLED", "true"},
            {"MATERIALIZER_POLL_INTERVAL", "1s"}};
        if (name == "TOKEN_EXCHANGE_ISSUER_URL") return std::string(kIssuer);
        if (name == "TOKEN_EXCHANGE_JWK_KEY_SET_URL") return std::nullopt;
        auto value = environment(name);
        if (value && !value->empty()) return value;
        const auto found = defaults.find(name);
        if (found == defaults.end()) return value;
        return found->second;
    };
}

absl::StatusOr<DevelopmentAuth> developmentAuth(const std::string& subject) {
    DQ_ASSIGN_OR_RETURN(const auto key, auth::DevelopmentKey::generate());
    auth::Claims claims;
    claims.subject = "development";
    claims.asset = subject;
    for (std::uint32_t bit = vss::kNonLocationData; bit <= vss::kApproximateLocation; bit <<= 1) {
        claims.permissions.emplace_back(vss::permissionName(static_cast<vss::Privilege>(bit)));
    }
    DevelopmentAuth out;
    out.issuer = std::string(kIssuer);
    out.keys = auth::KeySet::fixed(key.jwksJson());
    DQ_ASSIGN_OR_RETURN(out.token, key.sign(out.issuer, claims, systemClock().now(), kDaySeconds));
    return out;
}

}  // namespace dq::app
