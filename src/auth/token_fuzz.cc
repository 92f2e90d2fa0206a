// Bytes as a token, as a header, as a payload and as a key set: nothing may crash, and nothing unsigned may pass.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "auth/auth.h"
#include "auth/claims.h"
#include "auth/jwk.h"
#include "core/status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const auto key = dq::auth::DevelopmentKey::generate();
    static const dq::auth::TokenValidator validator("https://auth.example", dq::auth::KeySet::fixed(key->jwksJson()));
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (validator.validate(text).ok()) std::abort();
    dq::ignore(dq::auth::parseTokenHeader(text).status(), "only crashes count");
    dq::ignore(dq::auth::parseTokenClaims(text).status(), "only crashes count");
    dq::ignore(dq::auth::parseKeySet(text).status(), "only crashes count");
    dq::ignore(dq::auth::bearerToken(text).status(), "only crashes count");
    return 0;
}
