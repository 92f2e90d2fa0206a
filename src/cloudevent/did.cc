#include <absl/strings/str_cat.h>

#include <array>
#include <charconv>

#include "cloudevent/cloudevent.h"
#include "cloudevent/did.h"
#include "cloudevent/keccak.h"

namespace dq::cloudevent {
namespace {

bool allDigits(std::string_view text) {
    for (char c : text) {
        if (c < '0' || c > '9') return false;
    }
    return !text.empty();
}

std::optional<std::uint64_t> parseChainId(std::string_view text) {
    std::uint64_t value = 0;
    if (!allDigits(text)) return std::nullopt;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

char lowerHex(char c) { return c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c; }

// The 40 hex digits of an address, in the case they came in.
std::optional<std::string_view> parseAddress(std::string_view text) {
    if (text.size() == 42 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) text.remove_prefix(2);
    if (text.size() != 40) return std::nullopt;
    for (char c : text) {
        c = lowerHex(c);
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return std::nullopt;
    }
    return text;
}

std::string lowerHex(std::string_view digits) {
    std::string hex(digits);
    for (char& c : hex) c = lowerHex(c);
    return hex;
}

// Optional sign, digits; negative numbers are refused, leading zeros dropped.
std::optional<std::string_view> parseToken(std::string_view text) {
    bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    if (!allDigits(text)) return std::nullopt;
    std::size_t first = text.find_first_not_of('0');
    if (first == std::string_view::npos) return text.substr(text.size() - 1);
    if (negative) return std::nullopt;
    return text.substr(first);
}

// Parts of `text` at each ':'; false when there are not exactly N.
template <std::size_t N>
bool split(std::string_view text, std::array<std::string_view, N>& parts) {
    for (std::size_t i = 0; i < N; ++i) {
        std::size_t colon = text.find(':');
        if ((colon == std::string_view::npos) != (i + 1 == N)) return false;
        parts[i] = text.substr(0, colon);
        if (i + 1 < N) text.remove_prefix(colon + 1);
    }
    return true;
}

struct DidParts {
    std::uint64_t chain_id;
    std::string_view address, token;
    Erc721Did owned() const { return Erc721Did{chain_id, lowerHex(address), std::string(token)}; }
};

std::optional<DidParts> makeDid(std::string_view chain, std::string_view address, std::string_view token) {
    auto chain_id = parseChainId(chain);
    auto hex = parseAddress(address);
    auto digits = parseToken(token);
    if (!chain_id || !hex || !digits) return std::nullopt;
    return DidParts{*chain_id, *hex, *digits};
}

std::optional<DidParts> parseDid(std::string_view text) {
    std::array<std::string_view, 5> parts;
    if (!split(text, parts) || parts[0] != "did" || parts[1] != "erc721") return std::nullopt;
    return makeDid(parts[2], parts[3], parts[4]);
}

std::optional<DidParts> parseLegacyDid(std::string_view text) {
    std::array<std::string_view, 4> parts;
    if (!split(text, parts) || parts[0] != "did" || parts[1] != "nft") return std::nullopt;
    std::size_t bar = parts[3].find('_');
    if (bar == std::string_view::npos) return std::nullopt;
    return makeDid(parts[2], parts[3].substr(0, bar), parts[3].substr(bar + 1));
}

}  // namespace

std::optional<Erc721Did> parseErc721Did(std::string_view text) {
    auto did = parseDid(text);
    if (!did) return std::nullopt;
    return did->owned();
}

bool isTokenOf(std::string_view text, std::uint64_t chain_id, std::string_view address_hex) {
    auto did = parseDid(text);
    if (!did || did->chain_id != chain_id || address_hex.size() != did->address.size()) return false;
    for (std::size_t i = 0; i < address_hex.size(); ++i) {
        if (lowerHex(did->address[i]) != address_hex[i]) return false;
    }
    return true;
}

std::optional<std::string> ethrDidAddress(std::string_view text) {
    std::array<std::string_view, 4> parts;
    if (!split(text, parts) || parts[0] != "did" || parts[1] != "ethr" || !parseChainId(parts[2])) return std::nullopt;
    return checksumAddress(parts[3]);
}

std::optional<std::string> checksumAddress(std::string_view hex) {
    auto digits = parseAddress(hex);
    if (!digits) return std::nullopt;
    std::string lower = lowerHex(*digits);
    auto digest = keccak256(lower);
    std::string out = "0x";
    for (std::size_t i = 0; i < lower.size(); ++i) {
        char c = lower[i];
        int nibble = i % 2 == 0 ? digest[i / 2] >> 4 : digest[i / 2] & 15;
        out += c >= 'a' && nibble >= 8 ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return out;
}

std::optional<std::string> canonicalVehicleDid(std::string_view text) {
    auto did = parseDid(text);
    if (!did) did = parseLegacyDid(text);
    if (!did) return std::nullopt;
    auto address = checksumAddress(did->address);
    if (!address) return std::nullopt;
    return absl::StrCat("did:erc721:", did->chain_id, ":", *address, ":", std::string(did->token));
}

}  // namespace dq::cloudevent
