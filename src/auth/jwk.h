// Public RSA keys of a JWK set, and verification with them. Inside of this folder only.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>
#include <cjose/jwk.h>
#include <cjose/jws.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace dq::auth {

struct JwkRelease {
    void operator()(cjose_jwk_t* key) const { cjose_jwk_release(key); }
};
using JwkHandle = std::unique_ptr<cjose_jwk_t, JwkRelease>;
struct JwsRelease {
    void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};
using JwsHandle = std::unique_ptr<cjose_jws_t, JwsRelease>;

// Usable keys by kid. More than one under a kid are tried in turn. Immutable; verifying is safe from many threads.
using Keys = absl::flat_hash_map<std::string, std::vector<JwkHandle>>;

// Members that cannot verify RS256 (other types, uses or algorithms, no kid, less than 2048 bits, damaged) are skipped.
// InvalidArgument when the text is no key set, or one without a usable key.
absl::StatusOr<Keys> parseKeySet(std::string_view json);

// Letters of base64url only, at least one. Decoders are more lenient.
bool isBase64Url(std::string_view text);

}  // namespace dq::auth
