// UTF-8 as the lake needs it: text columns hold valid UTF-8 only, so every bad byte of outside text becomes U+FFFD.
//
// "Bad" is judged byte by byte: no overlong forms, no surrogates, nothing above U+10FFFF; of a sequence that breaks
// off each byte is bad by itself.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace dq::cloudevent {

inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// True when no byte is above 0x7F.
inline bool isAscii(std::string_view text) {
    const char* p = text.data();
    const char* end = p + text.size();
    std::uint64_t seen = 0;
    for (; end - p >= 8; p += 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        seen |= word;
    }
    for (; p < end; ++p) seen |= static_cast<unsigned char>(*p) & 0x80u;
    return (seen & 0x8080808080808080ull) == 0;
}

bool isValidUtf8(std::string_view text);
// Length of the sequence at the front of `text` (not empty), 0 when its first byte is bad. `rune` receives the code
// point.
int decodeRune(std::string_view text, char32_t& rune);
// Writes at most four bytes.
std::size_t encodeRune(char32_t rune, char* out);
// Bytes of `text` with every bad byte replaced.
std::size_t repairedSize(std::string_view text);
// `out` holds repairedSize(text) bytes.
void repairTo(std::string_view text, char* out);
std::string repaired(std::string_view text);

}  // namespace dq::cloudevent
