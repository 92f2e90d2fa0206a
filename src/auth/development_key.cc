#include <absl/strings/escaping.h>
#include <fmt/format.h>
#include <openssl/sha.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>
#include <simdjson.h>

#include <array>
#include <cstdlib>

#include "auth/auth.h"
#include "auth/jwk.h"
#include "core/status.h"

namespace dq::auth {
namespace {

constexpr std::size_t kBits = 2'048;
constexpr std::array<std::uint8_t, 3> kExponent = {1, 0, 1};

struct HeaderRelease {
    void operator()(cjose_header_t* header) const { cjose_header_release(header); }
};
using HeaderHandle = std::unique_ptr<cjose_header_t, HeaderRelease>;

Status failed(std::string_view what) { return absl::InternalError(fmt::format("{} failed", what)); }

std::string thumbprint(std::string_view n, std::string_view e) {  // RFC 7638
    const std::string text = fmt::format(R"({{"e":"{}","kty":"RSA","n":"{}"}})", e, n);
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
    std::string out;
    absl::WebSafeBase64Escape(std::string(reinterpret_cast<const char*>(digest), sizeof digest), &out);
    return out;
}

void writeText(rapidjson::Writer<rapidjson::StringBuffer>& json, std::string_view text) {
    json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

}  // namespace

struct DevelopmentKey::Impl {
    JwkHandle key;
    std::string n, e, kid;
};

StatusOr<DevelopmentKey> DevelopmentKey::generate() {
    cjose_err error;
    auto impl = std::make_shared<Impl>();
    impl->key.reset(cjose_jwk_create_RSA_random(kBits, kExponent.data(), kExponent.size(), &error));
    if (!impl->key) return failed("making a key");
    const std::unique_ptr<char, void (*)(void*)> json(cjose_jwk_to_json(impl->key.get(), false, &error), std::free);
    if (!json) return failed("writing a key");
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view n, e;
    const std::string_view text(json.get());
    if (parser.parse(text.data(), text.size()).get(root) != simdjson::SUCCESS ||
        root["n"].get_string().get(n) != simdjson::SUCCESS || root["e"].get_string().get(e) != simdjson::SUCCESS) {
        return failed("reading a key");
    }
    impl->n.assign(n);
    impl->e.assign(e);
    impl->kid = thumbprint(n, e);
    DevelopmentKey out;
    out.impl_ = std::move(impl);
    return out;
}

std::string DevelopmentKey::jwksJson() const {
    return fmt::format(R"({{"keys":[{{"kty":"RSA","use":"sig","alg":"RS256","kid":"{}","n":"{}","e":"{}"}}]}})",
                       impl_->kid, impl_->n, impl_->e);
}

StatusOr<std::string> DevelopmentKey::sign(std::string_view issuer, const Claims& claims, Micros now,
                                           std::int64_t lifetime_seconds) const {
    const std::int64_t issued_at = floorDiv(now, kMicrosPerSecond);
    rapidjson::StringBuffer buffer;
    rapidjson::Writer<rapidjson::StringBuffer> json(buffer);
    json.StartObject();
    json.Key("iss");
    writeText(json, issuer);
    json.Key("aud");
    json.StartArray();
    json.String("dimo.zone");
    json.EndArray();
    json.Key("sub");
    writeText(json, claims.subject);
    json.Key("asset");
    writeText(json, claims.asset);
    json.Key("permissions");
    json.StartArray();
    for (const std::string& permission : claims.permissions) writeText(json, permission);
    json.EndArray();
    json.Key("iat");
    json.Int64(issued_at);
    json.Key("exp");
    json.Int64(issued_at + lifetime_seconds);
    json.EndObject();
    return signRaw(fmt::format(R"({{"alg":"RS256","typ":"JWT","kid":"{}"}})", impl_->kid),
                   {buffer.GetString(), buffer.GetSize()});
}

StatusOr<std::string> DevelopmentKey::signRaw(std::string_view header_json, std::string_view payload_json) const {
    cjose_err error;
    const HeaderHandle header(cjose_header_new(&error));
    simdjson::dom::parser parser;
    simdjson::dom::object members;
    if (!header ||
        parser.parse(header_json.data(), header_json.size()).get_object().get(members) != simdjson::SUCCESS) {
        return absl::InvalidArgumentError("the header is no JSON object");
    }
    for (const auto& [name, value] : members) {
        std::string_view text;
        const std::string key(name);
        const bool set = value.get_string().get(text) == simdjson::SUCCESS
                             ? cjose_header_set(header.get(), key.c_str(), std::string(text).c_str(), &error)
                             : cjose_header_set_raw(header.get(), key.c_str(), simdjson::minify(value).c_str(), &error);
        if (!set) return absl::InvalidArgumentError("a member of the header cannot be set");
    }
    const auto* payload = reinterpret_cast<const std::uint8_t*>(payload_json.data());
    const JwsHandle jws(cjose_jws_sign(impl_->key.get(), header.get(), payload, payload_json.size(), &error));
    const char* compact = nullptr;  // belongs to the JWS
    if (!jws || !cjose_jws_export(jws.get(), &compact, &error)) return failed("signing");
    return std::string(compact);
}

}  // namespace dq::auth
