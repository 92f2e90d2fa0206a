#include "app/legacy_flags.h"

#include "core/status.h"
#include "core/text.h"

namespace dq::app {

absl::StatusOr<LegacyFlags> parseLegacyFlags(const std::vector<std::string>& arguments) {
    LegacyFlags flags;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (argument.size() < 2 || argument[0] != '-')
            return absl::InvalidArgumentError(strCat("unexpected argument: ", argument));
        std::string name = argument.substr(argument[1] == '-' ? 2 : 1);
        std::optional<std::string> value;
        if (const auto equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        }
        if (name == "h" || name == "help") {
            flags.help = true;
            return flags;
        }
        std::string* target = name == "settings"        ? &flags.settings
                              : name == "backfill-from" ? &flags.backfill_from
                              : name == "backfill-to"   ? &flags.backfill_to
                                                        : nullptr;
        if (target == nullptr) return absl::InvalidArgumentError(strCat("flag provided but not defined: -", name));
        if (!value) {
            if (i + 1 == arguments.size()) return absl::InvalidArgumentError(strCat("flag needs an argument: -", name));
            value = arguments[++i];
        }
        *target = *value;
    }
    return flags;
}

std::string legacyUsage() {
    return "Usage: dq [flags] | dq <command>\n"
           "  -settings FILE        settings file (default settings.yaml; optional)\n"
           "  -backfill-from TIME   RFC 3339; decode raw events of this range again, then exit\n"
           "  -backfill-to TIME\n"
           "Commands: serve, ingest, version; dq <command> --help\n";
}

}  // namespace dq::app
