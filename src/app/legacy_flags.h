// Flags of the serving role without a subcommand: one or two dashes, `-f v` or `-f=v` (server.md §1).
#pragma once
#include <absl/status/statusor.h>

#include <optional>
#include <string>
#include <vector>

namespace dq::app {

struct LegacyFlags {
    std::string settings = "settings.yaml";
    std::string backfill_from, backfill_to;  // empty: as if not given
    bool help = false;
};
// InvalidArgument names the first wrong flag.
absl::StatusOr<LegacyFlags> parseLegacyFlags(const std::vector<std::string>& arguments);
std::string legacyUsage();

}  // namespace dq::app
