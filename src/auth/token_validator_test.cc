#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "auth/auth.h"
#include "auth/auth_testing.h"
#include "auth/claims.h"
#include "auth/jwk.h"
#include "core/status.h"

namespace dq::auth {
namespace {

using testing::HasSubstr;
using testing::Not;

class Token : public testing::Test {
  protected:
    StatusOr<Claims> validate(std::string_view token) const { return validator_.validate(token); }
    // The code of a signed token with this payload.
    absl::StatusCode codeOf(const std::map<std::string, std::string>& changes) const {
        return validate(signedToken(payload(changes))).status().code();
    }
    StatusOr<Claims> withHeader(const std::string& header) const {
        auto token = testKey().signRaw(header, payload());
        EXPECT_TRUE(token.ok()) << token.status();
        return validate(*token);
    }

    ManualClock clock_{kTestNow};
    TokenValidator validator_{kTestIssuer, KeySet::fixed(testKey().jwksJson()), &clock_};
};

constexpr auto kInvalid = absl::StatusCode::kUnauthenticated;
constexpr auto kValid = absl::StatusCode::kOk;

std::string message(const StatusOr<Claims>& claims) { return std::string(claims.status().message()); }

std::string part(std::string_view json) {
    std::string out;
    absl::WebSafeBase64Escape(std::string(json), &out);
    return out;
}

TEST_F(Token, Acceptance11_AValidTokenGivesItsClaims) {
    const auto claims = validate(signedToken(
        payload({{"permissions",
                  R"(["privilege:GetNonLocationHistory","privilege:GetRawData","privilege:ManufacturerMint"])"}})));
    ASSERT_TRUE(claims.ok()) << claims.status();
    EXPECT_EQ(claims->subject, "0xDeveloper");
    EXPECT_EQ(claims->asset, "did:erc721:137:0xbA57:42");
    EXPECT_THAT(claims->permissions, testing::ElementsAre("privilege:GetNonLocationHistory", "privilege:GetRawData",
                                                          "privilege:ManufacturerMint"));
    EXPECT_EQ(claims->privileges, vss::kNonLocationData | vss::kRawData);
}

TEST_F(Token, Acceptance11_IssuerByteForByte) {
    EXPECT_EQ(codeOf({{"iss", R"("https://other.example")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"iss", R"("https://auth.example/")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"iss", R"("https://AUTH.example")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"iss", ""}}), kInvalid);
    EXPECT_EQ(codeOf({{"iss", R"(["https://auth.example"])"}}), kInvalid);
    const TokenValidator other("HTTPS://auth.example#", KeySet::fixed(testKey().jwksJson()), &clock_);
    EXPECT_TRUE(other.validate(signedToken(payload())).ok());
}

TEST_F(Token, Acceptance11_Audience) {
    EXPECT_EQ(codeOf({{"aud", R"("dimo.zone")"}}), kValid);
    EXPECT_EQ(codeOf({{"aud", R"(["other","dimo.zone"])"}}), kValid);
    EXPECT_EQ(codeOf({{"aud", R"(["other"])"}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", R"("dimo.zone.evil")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", "[]"}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", ""}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", "null"}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", R"(["dimo.zone",5])"}}), kInvalid);
    EXPECT_EQ(codeOf({{"aud", "5"}}), kInvalid);
}

TEST_F(Token, Acceptance11_Times) {
    const auto second = [](std::int64_t offset) { return std::to_string(kTestSecond + offset); };
    EXPECT_EQ(codeOf({{"exp", ""}}), kValid);
    EXPECT_EQ(codeOf({{"iat", ""}}), kValid);
    EXPECT_EQ(codeOf({{"exp", second(-1)}}), kInvalid);
    EXPECT_EQ(codeOf({{"iat", second(1)}}), kInvalid);
    EXPECT_EQ(codeOf({{"nbf", second(1)}}), kInvalid);
    EXPECT_EQ(codeOf({{"nbf", second(0)}}), kValid);
    EXPECT_EQ(codeOf({{"iat", second(0)}}), kValid);
    EXPECT_EQ(codeOf({{"exp", "1e300"}}), kValid);
    EXPECT_EQ(codeOf({{"exp", "-1e300"}}), kInvalid);
    EXPECT_EQ(codeOf({{"exp", "18446744073709551615"}}), kValid);
    EXPECT_EQ(codeOf({{"exp", "1e999"}}), kInvalid);
    EXPECT_EQ(codeOf({{"exp", "true"}}), kInvalid);
}

TEST_F(Token, ATokenDiesAsTheSecondOfItsExpBegins) {
    const std::string token = signedToken(payload({{"exp", std::to_string(kTestSecond)}}));
    EXPECT_TRUE(validate(token).ok());
    clock_.advance(1);
    EXPECT_EQ(validate(token).status().code(), kInvalid);
    EXPECT_EQ(codeOf({{"exp", fmt::format("{}.5", kTestSecond)}}), kValid);
    EXPECT_EQ(codeOf({{"nbf", fmt::format("{}.5", kTestSecond)}}), kInvalid);
    clock_.advance(600'000);
    EXPECT_EQ(codeOf({{"exp", fmt::format("{}.5", kTestSecond)}}), kInvalid);
    EXPECT_EQ(codeOf({{"nbf", fmt::format("{}.5", kTestSecond)}}), kValid);
}

TEST_F(Token, Acceptance11_KeyAndAlgorithm) {
    const std::string kid = kidOf(testKey());
    EXPECT_THAT(message(withHeader(R"({"alg":"RS256"})")), HasSubstr("names no key"));
    EXPECT_THAT(message(withHeader(R"({"alg":"RS256","kid":""})")), HasSubstr("names no key"));
    EXPECT_THAT(message(withHeader(R"({"alg":"RS256","kid":"other"})")), HasSubstr("not known"));
    EXPECT_THAT(message(withHeader(R"({"alg":"RS256","kid":["a"]})")), HasSubstr("kid"));
    for (const char* algorithm : {"RS384", "RS512", "PS256"}) {
        const auto refused = withHeader(fmt::format(R"({{"alg":"{}","kid":"{}"}})", algorithm, kid));
        EXPECT_EQ(refused.status().code(), kInvalid) << algorithm;
        EXPECT_THAT(message(refused), HasSubstr("not signed with RS256"));
    }
    for (const char* algorithm : {"none", "HS256", "rs256", "RS256 "}) {
        const std::string header = fmt::format(R"({{"alg":"{}","kid":"{}"}})", algorithm, kid);
        EXPECT_THAT(message(validate(part(header) + "." + part(payload()) + "." + part("x"))),
                    HasSubstr("not signed with RS256"));
    }
    EXPECT_EQ(validate(part(R"({"alg":"none"})") + "." + part(payload()) + ".").status().code(), kInvalid);
}

TEST_F(Token, Acceptance11_SignatureOfAnotherKeyOrText) {
    const std::string forged =
        *testKey(1).signRaw(fmt::format(R"({{"alg":"RS256","kid":"{}"}})", kidOf(testKey())), payload());
    EXPECT_THAT(message(validate(forged)), HasSubstr("signature"));
    const std::string token = signedToken(payload());
    const std::size_t first = token.find('.'), second = token.rfind('.');
    const std::string other = part(payload({{"sub", R"("0xOther")"}}));
    EXPECT_THAT(message(validate(token.substr(0, first + 1) + other + token.substr(second))), HasSubstr("signature"));
    std::string flipped = token;
    flipped[second + 5] = flipped[second + 5] == 'A' ? 'B' : 'A';
    EXPECT_THAT(message(validate(flipped)), HasSubstr("signature"));
}

TEST_F(Token, Acceptance11_LegacyAndOtherClaimsAreIgnored) {
    EXPECT_EQ(
        codeOf({{"contract_address", "5"}, {"token_id", "{}"}, {"privilege_ids", R"("x")"}, {"anything", "[null]"}}),
        kValid);
}

TEST_F(Token, Acceptance12_TheAuthorizationHeader) {
    for (const char* none : {"", " ", " \t "}) {
        const auto token = bearerToken(none);
        ASSERT_TRUE(token.ok());
        EXPECT_FALSE(token->has_value());
    }
    for (const char* good : {"Bearer x", "bearer x", "BEARER  x", " bEaReR\t x ", "Bearer \r\n x"}) {
        const auto token = bearerToken(good);
        ASSERT_TRUE(token.ok()) << good;
        EXPECT_EQ(*token, "x") << good;
    }
    for (const char* bad : {"Basic abc", "Bearer a b", "Bearer", "x", "Bearer,x", "Bearerx y z"}) {
        EXPECT_EQ(bearerToken(bad).status().code(), kInvalid) << bad;
    }
    EXPECT_EQ(validate("x").status().code(), kInvalid);
}

TEST_F(Token, Acceptance12b_TypesOfClaims) {
    EXPECT_EQ(codeOf({{"asset", "5"}}), kInvalid);
    EXPECT_EQ(codeOf({{"sub", "5"}}), kInvalid);
    EXPECT_EQ(codeOf({{"jti", "5"}}), kInvalid);
    EXPECT_EQ(codeOf({{"jti", R"("a")"}}), kValid);
    for (const char* name : {"exp", "nbf", "iat"}) {
        EXPECT_EQ(codeOf({{name, fmt::format("\"{}\"", kTestSecond)}}), kInvalid) << name;
    }
    EXPECT_EQ(codeOf({{"permissions", "[1,4]"}}), kInvalid);
    EXPECT_EQ(codeOf({{"permissions", R"("privilege:GetRawData")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"permissions", R"(["privilege:GetRawData",null])"}}), kInvalid);
    EXPECT_EQ(codeOf({{"cloud_events", R"("x")"}}), kInvalid);
    EXPECT_EQ(codeOf({{"cloud_events", "[]"}}), kInvalid);
    EXPECT_EQ(codeOf({{"cloud_events", R"({"events":5})"}}), kInvalid);
    EXPECT_EQ(codeOf({{"cloud_events", R"({"events":[5]})"}}), kInvalid);
    EXPECT_EQ(codeOf({{"cloud_events", R"({"events":[{"ids":[5]}]})"}}), kInvalid);
    EXPECT_EQ(
        codeOf({{"cloud_events", R"({"events":[{"event_type":"a","source":"b","ids":["c"],"tags":[]}],"more":1})"}}),
        kValid);
    EXPECT_EQ(codeOf({{"cloud_events", "{}"}}), kValid);
    const auto none = validate(signedToken(payload({{"permissions", "null"}, {"asset", ""}, {"sub", ""}})));
    ASSERT_TRUE(none.ok());
    EXPECT_TRUE(none->permissions.empty());
    EXPECT_EQ(none->privileges, 0u);
    EXPECT_EQ(none->asset, "");
    EXPECT_TRUE(withHeader(fmt::format(R"({{"alg":"RS256","typ":"at+jwt","kid":"{}"}})", kidOf(testKey()))).ok());
}

TEST_F(Token, CriticalExtensionsAreNotKnown) {
    for (const char* names : {R"(["b64"])", R"(["exp"])", "[]", "{}"}) {
        const auto refused =
            withHeader(fmt::format(R"({{"alg":"RS256","kid":"{}","crit":{}}})", kidOf(testKey()), names));
        EXPECT_THAT(message(refused), HasSubstr("crit")) << names;
    }
}

TEST_F(Token, MembersGivenTwiceAreRefused) {
    EXPECT_THAT(message(validate(signedToken(R"({"sub":"a",)" + payload().substr(1)))), HasSubstr("sub twice"));
    EXPECT_THAT(message(validate(signedToken(R"({"s\u0075b":"a",)" + payload().substr(1)))), HasSubstr("sub twice"));
    EXPECT_TRUE(validate(signedToken(R"({"x":1,"x":2,)" + payload().substr(1))).ok());
    EXPECT_FALSE(parseTokenHeader(R"({"alg":"none","alg":"RS256","kid":"a"})").ok());
    EXPECT_FALSE(parseTokenHeader(R"({"alg":"RS256","kid":"b","kid":"a"})").ok());
    EXPECT_EQ(*parseTokenHeader(R"({"alg":"RS256","kid":"a","x":1,"x":2})"), "a");
}

TEST_F(Token, ShapesThatAreNoCompactJws) {
    const std::string token = signedToken(payload());
    for (const std::string& bad : std::vector<std::string>{
             "", ".", "..", "...", "a.b", "a.b.c", token + ".", token + ".a", "." + token, token + "=", token + " ",
             " " + token, token + "\n", token.substr(0, token.rfind('.') + 1), token.substr(0, token.rfind('.')),
             part("[]") + ".e30.e30", part("{") + ".e30.e30", "e30.e30.e30"}) {
        EXPECT_EQ(validate(bad).status().code(), kInvalid) << bad;
    }
    for (const char* text : {"[]", "5", "", "{\"iss\":", "null"}) {
        EXPECT_EQ(validate(signedToken(text)).status().code(), kInvalid) << text;
    }
}

TEST_F(Token, MessagesHoldNothingOfTheToken) {
    const std::string token = signedToken(payload({{"sub", R"("hunter2")"}, {"aud", R"("hunter2")"}}));
    EXPECT_THAT(message(validate(token)), Not(HasSubstr("hunter2")));
    EXPECT_THAT(message(withHeader(R"({"alg":"RS256","kid":"hunter2"})")), Not(HasSubstr("hunter2")));
}

TEST_F(Token, AnyDamageIsRefusedAndNothingElseHappens) {
    const std::uint32_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const std::string token = signedToken(payload());
    const std::size_t last = token.size() - 1;  // its low bits are padding, which decoders ignore
    for (int i = 0; i < 500; ++i) {
        std::string damaged = token;
        char& at = damaged[random() % last];
        const char other = static_cast<char>(random());
        if (at == other) continue;
        at = other;
        ASSERT_EQ(validate(damaged).status().code(), kInvalid) << damaged;
    }
}

TEST_F(Token, ManyThreadsVerifyWithOneKey) {
    const std::string good = signedToken(payload());
    const std::string forged =
        *testKey(1).signRaw(fmt::format(R"({{"alg":"RS256","kid":"{}"}})", kidOf(testKey())), payload());
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 100; ++i) {
                EXPECT_TRUE(validate(good).ok());
                EXPECT_FALSE(validate(forged).ok());
            }
        });
    }
    for (auto& thread : threads) thread.join();
}

TEST(DevelopmentKey, SignsWhatItsKeySetVerifies) {
    ManualClock clock(kTestNow);
    const TokenValidator validator(kTestIssuer, KeySet::fixed(testKey().jwksJson()), &clock);
    Claims claims;
    claims.subject = "a \"quoted\" ü subject";
    claims.asset = "did:erc721:137:0xbA57:42";
    claims.permissions = {"privilege:GetLocationHistory"};
    const auto token = testKey().sign(kTestIssuer, claims, kTestNow, 60);
    ASSERT_TRUE(token.ok());
    const auto read = validator.validate(*token);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(read->subject, claims.subject);
    EXPECT_EQ(read->asset, claims.asset);
    EXPECT_EQ(read->permissions, claims.permissions);
    EXPECT_EQ(read->privileges, vss::kAllTimeLocation);
    clock.advance(61 * kMicrosPerSecond);
    EXPECT_EQ(validator.validate(*token).status().code(), kInvalid);
    EXPECT_NE(kidOf(testKey()), kidOf(testKey(1)));
    EXPECT_THAT(testKey().jwksJson(), Not(HasSubstr("\"d\"")));
}

}  // namespace
}  // namespace dq::auth
