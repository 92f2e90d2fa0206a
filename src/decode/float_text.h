// Numbers that travel as text (decode.md §6, "float text").
#pragma once
#include <optional>
#include <string_view>

namespace dq::decode {

// Decimal or hexadecimal floating point with optional sign, `_` between digits, inf, infinity, nan in any case.
// nullopt when malformed or beyond a double. Does not allocate.
std::optional<double> parseFloatText(std::string_view text);

}  // namespace dq::decode
