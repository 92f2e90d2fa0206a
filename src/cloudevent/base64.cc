#include "cloudevent/base64.h"

#include <array>
#include <cstdint>

namespace dq::cloudevent {
namespace {

constexpr std::uint8_t kBad = 255, kSkip = 254, kPad = 253;

constexpr std::array<std::uint8_t, 256> makeTable() {
    std::array<std::uint8_t, 256> table{};
    for (auto& entry : table) entry = kBad;
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < kAlphabet.size(); ++i)
        table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    table['\r'] = table['\n'] = kSkip;
    table['='] = kPad;
    return table;
}
constexpr auto kTable = makeTable();

template <class Sink>
bool decodeEach(std::string_view text, Sink&& sink) {
    std::uint32_t group = 0;
    int have = 0, pads = 0;
    for (char c : text) {
        std::uint8_t v = kTable[static_cast<unsigned char>(c)];
        if (v < 64) {
            if (pads > 0) return false;
            group = group << 6 | v;
            if (++have == 4) {
                sink(static_cast<char>(group >> 16));
                sink(static_cast<char>(group >> 8));
                sink(static_cast<char>(group));
                group = 0;
                have = 0;
            }
        } else if (v == kPad) {
            if (have < 2 || have + ++pads > 4) return false;
        } else if (v != kSkip) {
            return false;
        }
    }
    if (have == 0) return pads == 0;
    if (have + pads != 4) return false;
    if (have == 2) {
        sink(static_cast<char>(group >> 4));
    } else {
        sink(static_cast<char>(group >> 10));
        sink(static_cast<char>(group >> 2));
    }
    return true;
}

}  // namespace

bool isBase64(std::string_view text) {
    return decodeEach(text, [](char) {});
}

bool decodeBase64(std::string_view text, char* out, std::size_t& size) {
    char* p = out;
    bool good = decodeEach(text, [&](char byte) { *p++ = byte; });
    size = static_cast<std::size_t>(p - out);
    return good;
}

}  // namespace dq::cloudevent
