#include <absl/strings/ascii.h>
#include <absl/strings/escaping.h>

#include <algorithm>

#include "auth/auth.h"
#include "auth/claims.h"
#include "auth/jwk.h"
#include "auth/key_set.h"
#include "core/status.h"

namespace dq::auth {
namespace {

constexpr std::string_view kAudience = "dimo.zone";
constexpr std::string_view kBlanks = " \t\n\v\f\r";

Status invalid(std::string_view reason) { return absl::UnauthenticatedError(abslView(reason)); }

// The way the usual URL libraries write back what they parsed, as far as an issuer can show it.
std::string normalisedUrl(std::string url) {
    const std::size_t scheme = url.find("://");
    if (scheme != std::string::npos) {
        std::transform(url.begin(), url.begin() + static_cast<std::ptrdiff_t>(scheme), url.begin(),
                       absl::ascii_tolower);
    }
    if (url.ends_with('#')) url.pop_back();
    return url;
}

// The three parts of a compact JWS, or nothing.
struct Parts {
    std::string_view header, payload, signature;
};
std::optional<Parts> split(std::string_view token) {
    const std::size_t first = token.find('.');
    if (first == std::string_view::npos) return std::nullopt;
    const std::size_t second = token.find('.', first + 1);
    if (second == std::string_view::npos) return std::nullopt;
    const Parts parts{token.substr(0, first), token.substr(first + 1, second - first - 1), token.substr(second + 1)};
    if (!isBase64Url(parts.header) || !isBase64Url(parts.payload) || !isBase64Url(parts.signature)) return std::nullopt;
    return parts;
}

// The payload, once a key of the set under `kid` has verified it.
StatusOr<std::string> verifiedPayload(std::string_view token, const Keys& keys, const std::string& kid) {
    cjose_err error;
    const JwsHandle jws(cjose_jws_import(token.data(), token.size(), &error));
    if (!jws) return invalid("the token is no compact JWS");
    const auto found = keys.find(kid);
    const bool verified =
        found != keys.end() && std::any_of(found->second.begin(), found->second.end(), [&](const JwkHandle& key) {
            return cjose_jws_verify(jws.get(), key.get(), &error);
        });
    if (!verified) return invalid("the signature of the token is not valid");
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    if (!cjose_jws_get_plaintext(jws.get(), &bytes, &size, &error)) return invalid("the token holds no payload");
    return std::string(reinterpret_cast<const char*>(bytes), size);
}

Status checkTimes(const TokenClaims& claims, Micros now) {
    const auto micros = [](long double seconds) { return seconds * static_cast<long double>(kMicrosPerSecond); };
    const auto present = static_cast<long double>(now);
    if (claims.expires && present > micros(*claims.expires)) return invalid("the token has expired");
    if (claims.not_before && present < micros(*claims.not_before)) return invalid("the token is not valid yet");
    if (claims.issued_at && present < micros(*claims.issued_at)) return invalid("the token was issued in the future");
    return absl::OkStatus();
}

}  // namespace

TokenValidator::TokenValidator(std::string issuer, std::shared_ptr<KeySet> keys, const Clock* clock)
    : issuer_(normalisedUrl(std::move(issuer))), keys_(std::move(keys)), clock_(clock) {}

StatusOr<Claims> TokenValidator::validate(std::string_view token) const {
    const auto parts = split(token);
    std::string header;
    if (!parts || !absl::WebSafeBase64Unescape(abslView(parts->header), &header))
        return invalid("the token is no compact JWS");
    DQ_ASSIGN_OR_RETURN(const std::string kid, parseTokenHeader(header));
    DQ_ASSIGN_OR_RETURN(const std::shared_ptr<const Keys> keys, keys_->impl().keysWith(kid));
    DQ_ASSIGN_OR_RETURN(const std::string payload, verifiedPayload(token, *keys, kid));
    DQ_ASSIGN_OR_RETURN(TokenClaims claims, parseTokenClaims(payload));
    if (claims.issuer != issuer_) return invalid("the token is from another issuer");
    if (std::find(claims.audience.begin(), claims.audience.end(), kAudience) == claims.audience.end()) {
        return invalid("the token is for another audience");
    }
    DQ_RETURN_IF_ERROR(checkTimes(claims, clock_->now()));
    return std::move(claims.claims);
}

StatusOr<std::optional<std::string>> bearerToken(std::string_view authorization) {
    std::vector<std::string_view> words;
    for (std::size_t at = authorization.find_first_not_of(kBlanks); at != std::string_view::npos;) {
        const std::size_t end = std::min(authorization.find_first_of(kBlanks, at), authorization.size());
        words.push_back(authorization.substr(at, end - at));
        at = authorization.find_first_not_of(kBlanks, end);
    }
    if (words.empty()) return std::nullopt;
    if (words.size() != 2 || absl::AsciiStrToLower(abslView(words[0])) != "bearer") {
        return invalid("the Authorization header is not of the form: bearer <token>");
    }
    return std::string(words[1]);
}

}  // namespace dq::auth
