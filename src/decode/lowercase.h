// Lower case by simple Unicode mapping, the rule for tags of events.
#pragma once
#include <cstdint>
#include <string_view>

namespace dq::decode {

// True when mapping each code point of `text` to lower case changes nothing. Invalid UTF-8 counts as changed.
bool isLowercased(std::string_view text);

}  // namespace dq::decode
