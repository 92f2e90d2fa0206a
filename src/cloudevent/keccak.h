// Keccak-256 with the original padding that Ethereum uses (not SHA3-256).
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace dq::cloudevent {

std::array<std::uint8_t, 32> keccak256(std::string_view bytes);

}  // namespace dq::cloudevent
