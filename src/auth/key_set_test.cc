#include "auth/key_set.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "auth/auth_testing.h"
#include "core/log.h"
#include "core/status.h"

namespace dq::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr auto kOk = absl::StatusCode::kOk;
constexpr auto kInvalid = absl::StatusCode::kUnauthenticated;
constexpr auto kAway = absl::StatusCode::kUnavailable;
constexpr std::int64_t kBound = 60 * kMicrosPerSecond;  // only a broken implementation waits that long

// The member of a key set that `key` has.
std::string member(const DevelopmentKey& key) {
    const std::string set = key.jwksJson();
    return set.substr(9, set.size() - 11);
}
std::string setOf(const std::vector<std::string>& members) {
    return fmt::format(R"({{"keys":[{}]}})", fmt::join(members, ","));
}

class KeySetTest : public testing::Test {
  protected:
    void start(std::string url = kTestKeyUrl, std::int64_t unknown_kid_wait = kBound) {
        KeySet::Options options;
        options.url = std::move(url);
        options.issuer = kTestIssuer;
        options.get = service_.get();
        options.clock = &clock_;
        options.unknown_kid_wait = unknown_kid_wait;
        validator_.emplace(kTestIssuer, std::make_shared<KeySet>(options), &clock_);
    }
    absl::StatusCode use(int key) { return validator_->validate(token(key)).status().code(); }
    static const std::string& token(int key) {
        static std::map<int, std::string>* tokens = new std::map<int, std::string>();
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        std::string& text = (*tokens)[key];
        if (text.empty()) text = signedToken(payload({{"exp", ""}}), testKey(key));
        return text;
    }
    void later(std::int64_t seconds) { clock_.advance(seconds * kMicrosPerSecond); }

    LogCapture log_;
    FakeKeyService service_;
    ManualClock clock_{kTestNow};
    std::optional<TokenValidator> validator_;
};

TEST_F(KeySetTest, ConcurrentFirstRequestsShareOneFetch) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    service_.hold();
    std::vector<std::future<absl::StatusCode>> results;
    for (int i = 0; i < 8; ++i) results.push_back(std::async(std::launch::async, [&] { return use(0); }));
    service_.waitUntilRequested(1);
    EXPECT_EQ(validator_->validate("not a token").status().code(), kInvalid);  // needs no key, so does not wait
    service_.release();
    for (auto& result : results) EXPECT_EQ(result.get(), kOk);
    EXPECT_EQ(use(0), kOk);
    EXPECT_EQ(service_.requests(), 1);
}

TEST_F(KeySetTest, Acceptance13_KnownKeysKeepWorkingWhileTheServiceIsDown) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    service_.answer(kTestKeyUrl, absl::UnavailableError("down"));
    for (int i = 0; i < 5; ++i) {
        later(61);
        EXPECT_EQ(use(0), kOk);
        EXPECT_EQ(use(1), kInvalid);  // waits for the fetch that fails
        EXPECT_EQ(use(0), kOk);
    }
    EXPECT_EQ(service_.requests(), 6);
    service_.answer(kTestKeyUrl, testKey(1).jwksJson());
    later(61);
    EXPECT_EQ(use(1), kOk);
    EXPECT_EQ(use(0), kInvalid);  // removed by the service
}

TEST_F(KeySetTest, Acceptance13_DownSinceBootIsUnavailable) {
    start();
    EXPECT_EQ(use(0), kAway);
    EXPECT_EQ(use(0), kAway);
    EXPECT_EQ(service_.requests(), 1);  // no flood of a service that is down
    later(1);
    EXPECT_EQ(use(0), kAway);
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    later(1);
    EXPECT_EQ(use(0), kOk);
    EXPECT_EQ(service_.requests(), 3);
    EXPECT_THAT(log_.text(), HasSubstr("fetching the keys that verify tokens failed"));
}

TEST_F(KeySetTest, ARefreshRunsBesideRequestsAndOnlyOnce) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    later(59);
    EXPECT_EQ(use(0), kOk);
    EXPECT_EQ(service_.requests(), 1);
    later(1);
    service_.hold();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(use(0), kOk);  // the old set serves while the fetch hangs
    service_.waitUntilRequested(2);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(use(0), kOk);
    EXPECT_EQ(service_.requests(), 2);
    service_.release();
}

TEST_F(KeySetTest, ARotatedKeyWorksAtItsFirstUse) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    service_.answer(kTestKeyUrl, setOf({member(testKey(0)), member(testKey(1))}));
    EXPECT_EQ(use(1), kOk);
    EXPECT_EQ(use(0), kOk);
    EXPECT_EQ(service_.requests(), 2);
}

TEST_F(KeySetTest, Complaint44_RandomKidsFetchOnceInTenSeconds) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    const auto random = [&](int i) {
        const auto forged = testKey(1).signRaw(fmt::format(R"({{"alg":"RS256","kid":"random{}"}})", i), payload());
        return validator_->validate(*forged).status().code();
    };
    for (int i = 0; i < 50; ++i) EXPECT_EQ(random(i), kInvalid);
    EXPECT_EQ(service_.requests(), 2);
    EXPECT_EQ(use(0), kOk);
    later(10);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(random(i), kInvalid);
    EXPECT_EQ(service_.requests(), 3);
    service_.answer(kTestKeyUrl, std::string("<html>"));
    later(10);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(random(i), kInvalid);
    EXPECT_EQ(service_.requests(), 4);
    EXPECT_EQ(use(0), kOk);  // an answer that is no set empties nothing
}

TEST_F(KeySetTest, AnUnknownKidOfTheFirstRequestFetchesOnce) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(1), kInvalid);
    EXPECT_EQ(service_.requests(), 1);
}

TEST_F(KeySetTest, AnUnknownKidWaitsOnlyItsBound) {
    start(kTestKeyUrl, 1'000);
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    service_.hold();
    EXPECT_EQ(use(1), kInvalid);
    EXPECT_EQ(use(0), kOk);
    service_.release();
}

TEST_F(KeySetTest, DiscoversTheUrlThroughTheIssuer) {
    start("");
    service_.answer("https://auth.example/.well-known/openid-configuration",
                    std::string(R"({"issuer":"x","jwks_uri":"https://keys.example/set"})"));
    service_.answer("https://keys.example/set", testKey().jwksJson());
    EXPECT_EQ(use(0), kOk);
    EXPECT_THAT(service_.urls(),
                ElementsAre("https://auth.example/.well-known/openid-configuration", "https://keys.example/set"));
}

TEST_F(KeySetTest, AConfigurationWithoutASafeUrlIsRefused) {
    start("");
    for (const char* body :
         {"{}", "[]", "", R"({"jwks_uri":5})", R"({"jwks_uri":""})", R"({"jwks_uri":"http://keys.example"})"}) {
        service_.answer("https://auth.example/.well-known/openid-configuration", std::string(body));
        EXPECT_EQ(use(0), kAway) << body;
        later(2);
    }
    EXPECT_EQ(service_.requests(), 6);
}

TEST_F(KeySetTest, WhatIsNoSetOrHasNoUsableKeyIsAFailure) {
    start();
    for (const std::string& body :
         std::vector<std::string>{"", "[]", "{}", R"({"keys":5})", R"({"keys":[]})", R"({"keys":[5,{}]})"}) {
        service_.answer(kTestKeyUrl, body);
        EXPECT_EQ(use(0), kAway) << body;
        later(2);
    }
}

TEST_F(KeySetTest, UnusableMembersAreSkipped) {
    const std::string good = member(testKey());
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string out = member(testKey(1));
        const std::size_t at = out.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return out.replace(at, from.size(), to);
    };
    const std::string kid = fmt::format("\"kid\":\"{}\"", kidOf(testKey(1)));
    const std::vector<std::string> unusable = {"5",
                                               "{}",
                                               R"({"kty":"EC","crv":"P-256","kid":"e","x":"AA","y":"AA"})",
                                               changed("\"use\":\"sig\"", "\"use\":\"enc\""),
                                               changed("\"alg\":\"RS256\"", "\"alg\":\"RS512\""),
                                               changed("\"kty\":\"RSA\"", "\"kty\":\"oct\""),
                                               changed(kid, "\"x\":1"),
                                               changed(kid, "\"kid\":5"),
                                               changed("\"n\":\"", "\"n\":\"+"),
                                               changed("\"n\":", "\"m\":"),
                                               changed("\"use\":\"sig\"", "\"key_ops\":[\"encrypt\"]"),
                                               fmt::format(R"({{"kty":"RSA",{},"n":"AQAB","e":"AQAB"}})", kid)};
    for (const std::string& bad : unusable) {
        const auto keys = parseKeySet(setOf({bad, good}));
        ASSERT_TRUE(keys.ok()) << bad;
        EXPECT_EQ(keys->size(), 1u) << bad;
        EXPECT_TRUE(keys->contains(kidOf(testKey())));
    }
    for (const std::string& fine : {changed("\"use\":\"sig\",", ""), changed("\"alg\":\"RS256\",", ""),
                                    changed("\"use\":\"sig\"", "\"key_ops\":[\"verify\"],\"x5c\":[1]")}) {
        EXPECT_EQ(parseKeySet(setOf({fine, good}))->size(), 2u) << fine;
    }
}

TEST_F(KeySetTest, KeysOfOneKidAreTriedInTurn) {
    std::string second = member(testKey(1));
    const std::string own = kidOf(testKey(1));
    second.replace(second.find(own), own.size(), kidOf(testKey(0)));
    const TokenValidator validator(kTestIssuer, KeySet::fixed(setOf({second, member(testKey(0))})), &clock_);
    EXPECT_TRUE(validator.validate(token(0)).ok());
}

TEST_F(KeySetTest, AFixedTextThatIsNoSetMakesKeysUnavailable) {
    const TokenValidator validator(kTestIssuer, KeySet::fixed("{}"), &clock_);
    EXPECT_EQ(validator.validate(token(0)).status().code(), kAway);
}

TEST_F(KeySetTest, RequestsBesideRefreshesNeverFail) {
    start();
    service_.answer(kTestKeyUrl, testKey().jwksJson());
    ASSERT_EQ(use(0), kOk);
    std::atomic<bool> done{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
        threads.emplace_back([&] {
            while (!done) EXPECT_EQ(use(0), kOk);
        });
    }
    for (int i = 0; i < 30; ++i) {
        if (i % 3 == 0) service_.answer(kTestKeyUrl, absl::UnavailableError("down"));
        if (i % 3 == 1) service_.answer(kTestKeyUrl, testKey().jwksJson());
        while (service_.requests() < 2 + i) {  // a fetch that ends after the clock moved is fresh again
            later(61);
            std::this_thread::yield();
        }
    }
    done = true;
    for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace dq::auth
