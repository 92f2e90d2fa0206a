// The vehicle gate's question, asked once per status event: no allocation.
#pragma once
#include <cstdint>
#include <string_view>

namespace dq::cloudevent {

// Is `text` a did:erc721 of this chain and contract (40 lower-case hex digits) with any token?
bool isTokenOf(std::string_view text, std::uint64_t chain_id, std::string_view address_hex);

}  // namespace dq::cloudevent
