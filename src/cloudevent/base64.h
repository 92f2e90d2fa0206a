// Standard base64 with padding; CR and LF are ignored wherever they stand, as the producers' libraries do.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace dq::cloudevent {

// Upper bound of the decoded size.
constexpr std::size_t base64Bound(std::size_t text_size) { return text_size / 4 * 3 + 3; }
bool isBase64(std::string_view text);
// Decodes into `out` of base64Bound() bytes; false when the text is malformed, `size` is then meaningless.
bool decodeBase64(std::string_view text, char* out, std::size_t& size);

}  // namespace dq::cloudevent
