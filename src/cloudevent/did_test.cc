#include <gtest/gtest.h>

#include <string>

#include "cloudevent/cloudevent.h"
#include "cloudevent/did.h"
#include "cloudevent/keccak.h"

namespace dq::cloudevent {
namespace {

std::string hexOf(const std::array<std::uint8_t, 32>& digest) {
    std::string out;
    for (std::uint8_t byte : digest) {
        out += "0123456789abcdef"[byte >> 4];
        out += "0123456789abcdef"[byte & 15];
    }
    return out;
}

TEST(Keccak, KnownDigests) {
    EXPECT_EQ(hexOf(keccak256("")), "c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470");
    EXPECT_EQ(hexOf(keccak256("abc")), "4e03657aea45a94fc7d47ba826c8d667c0d1e6e33a64a036ec44f58fa12d6c45");
    EXPECT_EQ(hexOf(keccak256(std::string(135, 'a'))),
              "34367dc248bbd832f4e3e69dfaac2f92638bd0bbd18f2912ba4ef454919cf446");
    EXPECT_EQ(hexOf(keccak256(std::string(136, 'a'))),
              "a6c4d403279fe3e0af03729caada8374b5ca54d8065329a3ebcaeb4b60aa386e");
    EXPECT_EQ(hexOf(keccak256(std::string(137, 'a'))),
              "d869f639c7046b4929fc92a4d988a8b22c55fbadb802c0c66ebcd484f1915f39");
    EXPECT_EQ(hexOf(keccak256(std::string(300, 'a'))),
              "5b7e0e47a96f32a88b4f14ca177982790807c40e1a105742ba0fc1babe1ef826");
}

TEST(Did, ChecksumAddressOfTheStandardsExamples) {
    for (std::string_view address :
         {"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
          "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB", "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
          "0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77"}) {
        std::string lower(address);
        for (char& c : lower) c = static_cast<char>(std::tolower(c));
        EXPECT_EQ(checksumAddress(lower), address);
        EXPECT_EQ(checksumAddress(lower.substr(2)), address);
        EXPECT_EQ(checksumAddress(address), address);
    }
    EXPECT_EQ(checksumAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe"), std::nullopt);
    EXPECT_EQ(checksumAddress("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg"), std::nullopt);
    EXPECT_EQ(checksumAddress("0x0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeA"), std::nullopt);
    EXPECT_EQ(checksumAddress(""), std::nullopt);
}

TEST(Did, Erc721Grammar) {
    const std::string address = "A1b2C3d4E5f60718293a4B5c6D7e8F9012345678";
    auto parse = [&](const std::string& chain, const std::string& contract, const std::string& token) {
        return parseErc721Did("did:erc721:" + chain + ":" + contract + ":" + token);
    };
    auto did = parse("0137", "0X" + address, "+007");
    ASSERT_TRUE(did);
    EXPECT_EQ(did->chain_id, 137u);
    EXPECT_EQ(did->address_hex, "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678");
    EXPECT_EQ(did->token, "7");
    EXPECT_TRUE(parse("18446744073709551615", address, "0"));
    EXPECT_FALSE(parse("18446744073709551616", address, "0"));
    EXPECT_FALSE(parse("+137", address, "0"));
    EXPECT_FALSE(parse("", address, "0"));
    EXPECT_EQ(parse("137", address, "-0")->token, "0");
    for (const char* token : {"-7", "", "+", "-", "0x7", "7 ", "+-7", "7:8"})
        EXPECT_FALSE(parse("137", address, token)) << token;
    EXPECT_TRUE(
        parse("137", address, "115792089237316195423570985008687907853269984665640564039457584007913129639936"));
    EXPECT_FALSE(parseErc721Did("did:erc721:137:" + address));
    EXPECT_FALSE(parseErc721Did("did:nft:137:" + address + "_7"));
    EXPECT_FALSE(parseErc721Did("DID:erc721:137:" + address + ":7"));
    EXPECT_FALSE(parseErc721Did(""));
}

TEST(Did, TokenOfAContract) {
    const char* address = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";
    EXPECT_TRUE(isTokenOf("did:erc721:137:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678:7", 137, address));
    EXPECT_TRUE(isTokenOf("did:erc721:0137:A1B2c3d4e5f60718293a4b5c6d7e8f9012345678:+7", 137, address));
    EXPECT_FALSE(isTokenOf("did:erc721:138:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678:7", 137, address));
    EXPECT_FALSE(isTokenOf("did:erc721:137:0xB1b2C3d4E5f60718293a4B5c6D7e8F9012345678:7", 137, address));
    EXPECT_FALSE(isTokenOf("did:erc721:137:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678:-7", 137, address));
    EXPECT_FALSE(isTokenOf("did:nft:137:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678_7", 137, address));
    EXPECT_FALSE(isTokenOf("did:erc721:137:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678:7", 137, ""));
}

TEST(Did, EthrGivesTheChecksummedAddress) {
    EXPECT_EQ(ethrDidAddress("did:ethr:1:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"),
              "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed");
    EXPECT_EQ(ethrDidAddress("did:ethr:x:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"), std::nullopt);
    EXPECT_EQ(ethrDidAddress("did:ethr:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"), std::nullopt);
    EXPECT_EQ(ethrDidAddress("did:ethr:1:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed:1"), std::nullopt);
    EXPECT_EQ(ethrDidAddress("did:erc721:1:5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"), std::nullopt);
}

TEST(Did, CanonicalVehicleDidRewritesBothForms) {
    const char* canonical = "did:erc721:137:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed:42";
    EXPECT_EQ(canonicalVehicleDid("did:erc721:0137:0x5AAEB6053f3e94c9b9a09f33669435e7ef1beaed:+042"), canonical);
    EXPECT_EQ(canonicalVehicleDid("did:nft:137:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed_42"), canonical);
    EXPECT_EQ(canonicalVehicleDid(canonical), canonical);
    EXPECT_EQ(canonicalVehicleDid("did:nft:137:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed:42"), std::nullopt);
    EXPECT_EQ(canonicalVehicleDid("did:nft:137:0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed_-1"), std::nullopt);
    EXPECT_EQ(canonicalVehicleDid("vehicle 42"), std::nullopt);
}

}  // namespace
}  // namespace dq::cloudevent
