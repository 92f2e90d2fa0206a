#include "api/guard.h"

#include <algorithm>

#include "core/text.h"
#include "vss/signals.h"

namespace dq::api {
namespace {

using graphql::AppliedDirective;
using graphql::FieldError;

bool holds(const auth::Claims& claims, std::string_view permission) {
    return std::find(claims.permissions.begin(), claims.permissions.end(), permission) != claims.permissions.end();
}

std::string permissionOf(const std::string& schema_name) {
    const auto privilege = vss::privilegeOfSchemaName(schema_name);
    return privilege ? std::string(vss::permissionName(*privilege)) : schema_name;
}

std::optional<FieldError> judge(const AppliedDirective& directive, const graphql::Field& field,
                                const std::optional<auth::Claims>& claims) {
    const bool token = directive.name == "requiresVehicleToken", all = directive.name == "requiresAllOfPrivileges",
               one = directive.name == "requiresOneOfPrivilege";
    if (!token && !all && !one) return std::nullopt;
    if (!claims) return FieldError{"unauthorized: jwt missing", "UNAUTHORIZED", ""};
    if (token) {
        const graphql::Value* subject = field.argument("subject");
        const bool same = subject != nullptr && subject->string() != nullptr && *subject->string() == claims->asset;
        if (same) return std::nullopt;
        return FieldError{"unauthorized: DID in query does not match token claim", "FORBIDDEN", ""};
    }
    std::string listed;
    for (const std::string& name : directive.list) {
        const std::string permission = permissionOf(name);
        const bool held = holds(*claims, permission);
        if (one && held) return std::nullopt;
        if (all && !held)
            return FieldError{strCat("unauthorized: missing required privilege ", permission), "FORBIDDEN", ""};
        strAppend(&listed, listed.empty() ? "" : " ", permission);
    }
    if (all) return std::nullopt;
    return FieldError{strCat("unauthorized: requires at least one of the following privileges [", listed, "]"),
                      "FORBIDDEN", ""};
}

}  // namespace

std::optional<FieldError> guardField(const graphql::Field& field, const std::optional<auth::Claims>& claims) {
    const auto& directives = field.definition->directives;
    for (auto directive = directives.rbegin(); directive != directives.rend(); ++directive) {
        if (auto refusal = judge(*directive, field, claims)) return refusal;
    }
    return std::nullopt;
}

}  // namespace dq::api
