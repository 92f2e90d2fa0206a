#include "cloudevent/keccak.h"

#include <bit>
#include <cstring>

namespace dq::cloudevent {
namespace {

using State = std::array<std::uint64_t, 25>;  // lane (x, y) at x + 5 y
constexpr std::size_t kRate = 136;            // bytes absorbed a block: 1600 - 2 * 256 bits

// Round constants and rotations come from their definitions: a 7-bit LFSR, and the walk (x, y) -> (y, 2x + 3y).
constexpr std::array<std::uint64_t, 24> makeRoundConstants() {
    std::array<std::uint64_t, 24> constants{};
    std::uint32_t lfsr = 1;
    for (auto& constant : constants) {
        for (int j = 0; j < 7; ++j) {
            if (lfsr & 1) constant |= 1ull << ((1 << j) - 1);
            lfsr = lfsr << 1 ^ (lfsr & 0x80 ? 0x171u : 0u);
        }
    }
    return constants;
}
constexpr std::array<int, 25> makeRotations() {
    std::array<int, 25> rotations{};
    int x = 1, y = 0;
    for (int t = 0; t < 24; ++t) {
        rotations[static_cast<std::size_t>(x + 5 * y)] = (t + 1) * (t + 2) / 2 % 64;
        int next = (2 * x + 3 * y) % 5;
        x = y;
        y = next;
    }
    return rotations;
}
constexpr auto kRoundConstants = makeRoundConstants();
constexpr auto kRotations = makeRotations();

void permute(State& a) {
    for (std::uint64_t constant : kRoundConstants) {
        std::array<std::uint64_t, 5> column{};
        for (std::size_t x = 0; x < 5; ++x) column[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        State b;
        for (std::size_t x = 0; x < 5; ++x) {
            std::uint64_t theta = column[(x + 4) % 5] ^ std::rotl(column[(x + 1) % 5], 1);
            for (std::size_t y = 0; y < 5; ++y) {
                b[y + 5 * ((2 * x + 3 * y) % 5)] = std::rotl(a[x + 5 * y] ^ theta, kRotations[x + 5 * y]);
            }
        }
        for (std::size_t y = 0; y < 25; y += 5) {
            for (std::size_t x = 0; x < 5; ++x) a[x + y] = b[x + y] ^ (~b[(x + 1) % 5 + y] & b[(x + 2) % 5 + y]);
        }
        a[0] ^= constant;
    }
}

void absorb(State& state, const char* block) {
    for (std::size_t i = 0; i < kRate; ++i) {
        state[i / 8] ^= static_cast<std::uint64_t>(static_cast<unsigned char>(block[i])) << (8 * (i % 8));
    }
    permute(state);
}

}  // namespace

std::array<std::uint8_t, 32> keccak256(std::string_view bytes) {
    State state{};
    for (; bytes.size() >= kRate; bytes.remove_prefix(kRate)) absorb(state, bytes.data());
    std::array<char, kRate> last{};
    if (!bytes.empty()) std::memcpy(last.data(), bytes.data(), bytes.size());
    last[bytes.size()] = 0x01;
    last[kRate - 1] = static_cast<char>(last[kRate - 1] | 0x80);
    absorb(state, last.data());
    std::array<std::uint8_t, 32> digest;
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>(state[i / 8] >> (8 * (i % 8)));
    return digest;
}

}  // namespace dq::cloudevent
