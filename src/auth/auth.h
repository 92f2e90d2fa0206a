// Bearer tokens: compact JWS (RS256 only) against a JWK set that is fetched and kept in the background (server.md §4).
//
// Errors: Unauthenticated = the token is invalid (HTTP 401); Unavailable = keys cannot be had (503 with Retry-After), never confused.
// No token text or key appears in a message or log line. Threads: any.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
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

// Fetches a URL; injected in tests. Unavailable when it cannot be had.
using HttpGet = std::function<absl::StatusOr<std::string>(const std::string& url, std::int64_t timeout_micros)>;
HttpGet curlGet();                          // libcurl, 1 MiB body cap, no redirects to other schemes

// A JWK set by URL, or discovered through <issuer>/.well-known/openid-configuration when the URL is empty. Cached one minute,
// refreshed by one background fetch while the old set keeps serving; an unknown kid refetches at most once in 10 s.
class KeySet {
  public:
    struct Options {
        std::string url, issuer;
        HttpGet get;
        const Clock* clock = &systemClock();
    };
    explicit KeySet(Options options);
    static std::shared_ptr<KeySet> fixed(std::string jwks_json);   // development and tests
    ~KeySet();
    struct Impl;
    Impl& impl() { return *impl_; }

  private:
    KeySet();
    std::unique_ptr<Impl> impl_;
};

class TokenValidator {
  public:
    TokenValidator(std::string issuer, std::shared_ptr<KeySet> keys, const Clock* clock = &systemClock());
    absl::StatusOr<Claims> validate(std::string_view token) const;

  private:
    std::string issuer_;
    std::shared_ptr<KeySet> keys_;
    const Clock* clock_;
};

// Value of an Authorization header: nullopt when absent, empty or blanks; the token of `bearer <token>`; else Unauthenticated.
absl::StatusOr<std::optional<std::string>> bearerToken(std::string_view authorization);

// A key pair made at start-up for `serve --dev` and tests: signs tokens, and gives the JWK set that verifies them.
class DevelopmentKey {
  public:
    static absl::StatusOr<DevelopmentKey> generate();
    std::string jwksJson() const;
    // Signs {"iss","aud":["dimo.zone"],"sub","asset","permissions","iat","exp"}.
    absl::StatusOr<std::string> sign(std::string_view issuer, const Claims& claims, Micros now, std::int64_t lifetime_seconds) const;
    // Signs any payload and header (tests).
    absl::StatusOr<std::string> signRaw(std::string_view header_json, std::string_view payload_json) const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dq::auth
