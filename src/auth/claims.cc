#include "auth/claims.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <span>

namespace dq::auth {
namespace {

using Element = simdjson::dom::element;
using Type = simdjson::dom::element_type;

absl::Status invalid(std::string_view reason) {
    return absl::UnauthenticatedError(absl::string_view(reason.data(), reason.size()));
}

bool takeText(Element value, std::string& out) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS) return false;
    out.assign(text);
    return true;
}

bool takeTexts(Element value, std::vector<std::string>& out) {
    simdjson::dom::array values;
    if (value.get_array().get(values) != simdjson::SUCCESS) return false;
    for (const Element each : values) {
        if (!takeText(each, out.emplace_back())) return false;
    }
    return true;
}

bool takeSeconds(Element value, std::optional<long double>& out) {
    switch (value.type()) {
        case Type::INT64: out = static_cast<long double>(value.get_int64().value_unsafe()); return true;
        case Type::UINT64: out = static_cast<long double>(value.get_uint64().value_unsafe()); return true;
        case Type::DOUBLE: out = static_cast<long double>(value.get_double().value_unsafe()); return true;
        default: return false;
    }
}

// A member that is read: what it does with a value that is not null. False: the value has another type than it must.
template <typename Out>
struct Member {
    std::string_view name;
    bool (*take)(Element value, Out& out);
};

// Reads the members of the object in `json`. The error names a member, never a value.
template <typename Out>
absl::Status takeMembers(std::string_view json, std::span<const Member<Out>> members, Out& out) {
    thread_local simdjson::dom::parser parser;
    simdjson::dom::object object;
    if (parser.parse(json.data(), json.size()).get_object().get(object) != simdjson::SUCCESS) {
        return invalid("a part of the token is no JSON object");
    }
    std::uint32_t seen = 0;
    for (const auto& [name, value] : object) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (members[i].name != name) continue;
            if ((seen & (1u << i)) != 0) return invalid(fmt::format("the token gives {} twice", members[i].name));
            seen |= 1u << i;
            if (!value.is_null() && !members[i].take(value, out)) {
                return invalid(fmt::format("{} of the token is not valid", members[i].name));
            }
        }
    }
    return absl::OkStatus();
}

struct Header {
    std::string algorithm, kid;
};

constexpr Member<Header> kHeaderMembers[] = {
    {"alg", [](Element v, Header& out) { return takeText(v, out.algorithm); }},
    {"kid", [](Element v, Header& out) { return takeText(v, out.kid); }},
    {"crit", [](Element, Header&) { return false; }},  // we know no extension
};

struct CloudEventGrant {
    std::string text;
    std::vector<std::string> texts;
};

constexpr auto kGrantText = [](Element v, CloudEventGrant& out) { return takeText(v, out.text); };
constexpr auto kGrantTexts = [](Element v, CloudEventGrant& out) { return takeTexts(v, out.texts); };

// {"events":[{"event_type","source","ids":[],"tags":[]}]}: its types are checked, nothing enforces it.
bool isCloudEventGrants(Element value) {
    constexpr Member<CloudEventGrant> kMembers[] = {
        {"event_type", kGrantText}, {"source", kGrantText}, {"ids", kGrantTexts}, {"tags", kGrantTexts}};
    simdjson::dom::object object;
    if (value.get_object().get(object) != simdjson::SUCCESS) return false;
    const auto events = object["events"];
    if (events.error() == simdjson::NO_SUCH_FIELD || events.is_null()) return true;
    simdjson::dom::array grants;
    if (events.get_array().get(grants) != simdjson::SUCCESS) return false;
    for (const Element grant : grants) {
        simdjson::dom::object members;
        if (grant.get_object().get(members) != simdjson::SUCCESS) return false;
        for (const auto& [name, each] : members) {
            for (const auto& member : kMembers) {
                CloudEventGrant unused;
                if (member.name == name && !each.is_null() && !member.take(each, unused)) return false;
            }
        }
    }
    return true;
}

bool takeAudience(Element value, TokenClaims& out) {
    if (value.is_string()) return takeText(value, out.audience.emplace_back());
    return takeTexts(value, out.audience);
}

bool takeTokenId(Element value, TokenClaims&) { return value.is_string(); }

constexpr Member<TokenClaims> kClaimMembers[] = {
    {"iss", [](Element v, TokenClaims& out) { return takeText(v, out.issuer); }},
    {"aud", takeAudience},
    {"exp", [](Element v, TokenClaims& out) { return takeSeconds(v, out.expires); }},
    {"nbf", [](Element v, TokenClaims& out) { return takeSeconds(v, out.not_before); }},
    {"iat", [](Element v, TokenClaims& out) { return takeSeconds(v, out.issued_at); }},
    {"sub", [](Element v, TokenClaims& out) { return takeText(v, out.claims.subject); }},
    {"jti", takeTokenId},
    {"asset", [](Element v, TokenClaims& out) { return takeText(v, out.claims.asset); }},
    {"permissions", [](Element v, TokenClaims& out) { return takeTexts(v, out.claims.permissions); }},
    {"cloud_events", [](Element v, TokenClaims&) { return isCloudEventGrants(v); }},
};

}  // namespace

absl::StatusOr<std::string> parseTokenHeader(std::string_view json) {
    Header header;
    absl::Status taken = takeMembers<Header>(json, kHeaderMembers, header);
    if (!taken.ok()) return taken;
    if (header.algorithm != "RS256") return invalid("the token is not signed with RS256");
    if (header.kid.empty()) return invalid("the token names no key");
    return std::move(header.kid);
}

absl::StatusOr<TokenClaims> parseTokenClaims(std::string_view json) {
    TokenClaims out;
    absl::Status taken = takeMembers<TokenClaims>(json, kClaimMembers, out);
    if (!taken.ok()) return taken;
    for (const std::string& permission : out.claims.permissions) {
        if (const auto known = vss::privilegeOfPermission(permission)) out.claims.privileges |= *known;
    }
    return out;
}

}  // namespace dq::auth
