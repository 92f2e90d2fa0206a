// Bearer tokens: compact JWS (RS256 only) against a JWK set that is fetched and kept in the background (server.md §4).
//
//   auto keys = std::make_shared<KeySet>(KeySet::Options{.url = "", .issuer = issuer, .get = curlGet()});
//   TokenValidator validator(issuer, keys);
//   auto token = bearerToken(header);                         // error: 401; nullopt: go on without claims
//   auto claims = validator.validate(**token);
//
// Errors: Unauthenticated = the token is invalid (HTTP 401); Unavailable = keys cannot be had (503 with Retry-After),
// never confused. No token text or key appears in a message or log line. Threads: any.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "vss/signals.h"

namespace dq::auth {

struct Claims {
    std::string subject;                   // `sub`, key of the per-subject limiter
    std::string asset;                     // DID the token is scoped to; "" when absent
    std::vector<std::string> permissions;  // as in the token
    vss::Privileges privileges = 0;        // those known
};

// Fetches a URL and gives the body whatever the HTTP status; injected in tests. Unavailable when it cannot be had.
using HttpGet = std::function<absl::StatusOr<std::string>(const std::string& url, std::int64_t timeout_micros)>;
HttpGet curlGet();  // libcurl, 1 MiB body cap, no redirects to other schemes

// A JWK set by URL, or discovered through <issuer>/.well-known/openid-configuration when the URL is empty.
//
// One thread of the set's own fetches, without a lock that a request needs. The first request that needs keys starts it
// and waits with all others for that one fetch. A set is fresh for one minute; then a request starts a fetch and goes
// on with the old set, which stays in use for as long as fetches fail. An unknown kid starts a fetch at most once in 10
// s; requests with unknown kids wait for a fetch that is running, at most unknown_kid_wait. After a failed fetch the
// next one is at least 1 s away (10 s when there is a set to go on with).
class KeySet {
  public:
    struct Options {
        std::string url, issuer;
        HttpGet get;
        const Clock* clock = &systemClock();
        std::int64_t unknown_kid_wait = 2 * kMicrosPerSecond;
    };
    explicit KeySet(Options options);
    // Never fetches (development and tests). A text that is no key set makes all keys Unavailable.
    static std::shared_ptr<KeySet> fixed(std::string jwks_json);
    ~KeySet();
    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    KeySet();
    std::unique_ptr<Impl> impl_;
};

class TokenValidator {
  public:
    // `issuer` is what the `iss` claim must equal, once written as a URL: scheme in lower case, no empty fragment.
    TokenValidator(std::string issuer, std::shared_ptr<KeySet> keys, const Clock* clock = &systemClock());
    absl::StatusOr<Claims> validate(std::string_view token) const;

  private:
    std::string issuer_;
    std::shared_ptr<KeySet> keys_;
    const Clock* clock_;
};

// Value of an Authorization header: nullopt when absent, empty or blanks; the token of `bearer <token>`; else
// Unauthenticated.
absl::StatusOr<std::optional<std::string>> bearerToken(std::string_view authorization);

// A key pair made at start-up for `serve --dev` and tests: signs tokens, and gives the JWK set that verifies them.
class DevelopmentKey {
  public:
    static absl::StatusOr<DevelopmentKey> generate();
    std::string jwksJson() const;
    // Signs {"iss","aud":["dimo.zone"],"sub","asset","permissions","iat","exp"}.
    absl::StatusOr<std::string> sign(std::string_view issuer, const Claims& claims, Micros now,
                                     std::int64_t lifetime_seconds) const;
    // Signs any payload under any header whose members are texts, lists or objects (tests).
    absl::StatusOr<std::string> signRaw(std::string_view header_json, std::string_view payload_json) const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dq::auth
