#include "blob/sealer.h"

#include <absl/strings/escaping.h>
#include <gtest/gtest.h>

#include "blob/problem.h"

namespace dq::blob {
namespace {

constexpr char kObjectKey[] = "cloudevent/blobs/golden";
const Sealer& withKey() {
    static const Sealer sealer(std::string(32, '\x2a'));
    return sealer;
}

TEST(Sealer, Acceptance22_TheVectorOpens) {
    std::string sealed;
    ASSERT_TRUE(
        absl::Base64Unescape("REJFMfpbx2YHkkRYAdtRPzuxzz7dwfQJNizKGPt2rTfyuQxLDF656mDN5H8zlpCmikO3wJcKpg==", &sealed));
    EXPECT_EQ(*withKey().open(sealed, kObjectKey), "din<->dq blob format v1");
}

TEST(Sealer, Acceptance22_RoundTripOverheadAndFreshNonce) {
    for (const std::string& plain : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
        const std::string sealed = *withKey().seal(plain, kObjectKey);
        EXPECT_EQ(sealed.size(), plain.size() + 32);
        EXPECT_NE(sealed, *withKey().seal(plain, kObjectKey));
        EXPECT_EQ(*withKey().open(sealed, kObjectKey), plain);
    }
}

TEST(Sealer, Acceptance22_AnotherKeyOfTheObjectOrAnyChangedByteFails) {
    const std::string sealed = *withKey().seal("payload", kObjectKey);
    EXPECT_EQ(problemOf(withKey().open(sealed, "cloudevent/blobs/other").status()), Problem::kDecrypt);
    for (std::size_t i = 4; i < sealed.size(); ++i) {
        std::string changed = sealed;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_EQ(problemOf(withKey().open(changed, kObjectKey).status()), Problem::kDecrypt) << i;
    }
    for (std::size_t size = 4; size < sealed.size(); ++size)
        EXPECT_EQ(problemOf(withKey().open(sealed.substr(0, size), kObjectKey).status()), Problem::kDecrypt) << size;
    EXPECT_EQ(problemOf(Sealer(std::string(32, '\x2b')).open(sealed, kObjectKey).status()), Problem::kDecrypt);
}

TEST(Sealer, Acceptance22_PlainBytesPassWithOrWithoutKey) {
    for (const char* plain : {"", "DBE", "DBE2xxxxxxxxxxxxxxxx", "{\"a\":1}"}) {
        EXPECT_EQ(*withKey().open(plain, kObjectKey), plain);
        EXPECT_EQ(*Sealer().open(plain, kObjectKey), plain);
    }
}

TEST(Sealer, Acceptance20_SealedWithoutKey) {
    EXPECT_EQ(problemOf(Sealer().open("DBE1", kObjectKey).status()), Problem::kSealedNoKey);
    EXPECT_FALSE(Sealer().seal("x", kObjectKey).ok());
    EXPECT_FALSE(Sealer(std::nullopt).hasKey());
}

}  // namespace
}  // namespace dq::blob
