#include "auth/jwk.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>

namespace dq::auth {
namespace {

using Element = simdjson::dom::element;
using Object = simdjson::dom::object;

constexpr std::size_t kLeastBits = 2'048;

std::optional<std::string_view> textMember(const Object& object, std::string_view name) {
    std::string_view text;
    if (object[name].get_string().get(text) != simdjson::SUCCESS) return std::nullopt;
    return text;
}

// Absent, or exactly this text.
bool absentOr(const Object& object, std::string_view name, std::string_view wanted) {
    if (object[name].error() == simdjson::NO_SUCH_FIELD) return true;
    return textMember(object, name) == wanted;
}

bool mayVerify(const Object& object) {
    const auto operations = object["key_ops"];
    if (operations.error() == simdjson::NO_SUCH_FIELD) return true;
    simdjson::dom::array names;
    if (operations.get_array().get(names) != simdjson::SUCCESS) return false;
    for (const Element name : names) {
        std::string_view text;
        if (name.get_string().get(text) == simdjson::SUCCESS && text == "verify") return true;
    }
    return false;
}

// Only the public numbers reach the library, so whatever else a member holds does not matter.
JwkHandle rsaKey(const Object& object) {
    const auto n = textMember(object, "n"), e = textMember(object, "e");
    if (!n || !e || !isBase64Url(*n) || !isBase64Url(*e)) return nullptr;
    const std::string json = fmt::format(R"({{"kty":"RSA","n":"{}","e":"{}"}})", *n, *e);
    cjose_err error;
    JwkHandle key(cjose_jwk_import(json.data(), json.size(), &error));
    if (key && cjose_jwk_get_keysize(key.get(), &error) < kLeastBits) key.reset();
    return key;
}

}  // namespace

bool isBase64Url(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    });
}

absl::StatusOr<Keys> parseKeySet(std::string_view json) {
    simdjson::dom::parser parser;
    Element root;
    simdjson::dom::array members;
    if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS ||
        root["keys"].get_array().get(members) != simdjson::SUCCESS) {
        return absl::InvalidArgumentError("the answer is no JWK set");
    }
    Keys keys;
    for (const Element member : members) {
        Object object;
        if (member.get_object().get(object) != simdjson::SUCCESS) continue;
        const auto kid = textMember(object, "kid");
        if (!kid || kid->empty() || textMember(object, "kty") != "RSA") continue;
        if (!absentOr(object, "use", "sig") || !absentOr(object, "alg", "RS256") || !mayVerify(object)) continue;
        if (JwkHandle key = rsaKey(object)) keys[std::string(*kid)].push_back(std::move(key));
    }
    if (keys.empty()) return absl::InvalidArgumentError("the JWK set holds no usable key");
    return keys;
}

}  // namespace dq::auth
