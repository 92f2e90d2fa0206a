// Text of one variable to its member of Settings. Inside of this folder only.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "settings/settings.h"

namespace dq::settings {

// Sets the member, or tells the rule that the text breaks (a sentence that names the variable). The text is not empty.
using Setter = std::optional<std::string> (*)(std::string_view name, const std::string& text, Settings& out);

struct Binding {
    std::string_view name;
    Setter set;
    bool is_bool = false;
};

std::span<const Binding> bindings();
const Binding* findBinding(std::string_view name);

// A value for a message: quoted, control characters escaped, cut when long.
std::string shown(std::string_view value);

// The key of standard base64 of exactly 32 bytes; line ends are ignored as usual decoders do.
std::optional<std::string> decodeBlobKey(std::string_view base64);

}  // namespace dq::settings
