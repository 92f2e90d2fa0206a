#include "api/guard.h"

#include <gtest/gtest.h>

#include "api/api_testing.h"
#include "core/text.h"

namespace dq::api {
namespace {

using graphql::AppliedDirective;
using graphql::Field;

// "code: message" of a refusal, "" when the field is let through.
std::string refusal(const Field& field, const std::optional<auth::Claims>& claims) {
    const auto error = guardField(field, claims);
    return error ? strCat(error->code, ": ", error->message) : "";
}

const std::string kSelf = vehicle(1);
constexpr char kMissing[] = "UNAUTHORIZED: unauthorized: jwt missing";
constexpr char kOther[] = "FORBIDDEN: unauthorized: DID in query does not match token claim";

Field root(std::string_view field, std::string_view subject) {
    return rootField(
        strCat("{", field, "(subject: \"", subject, "\")", field == "signalsLatest" ? "{lastSeen}" : "", "}"));
}
Field member(std::string_view selection) {
    return rootField(strCat("{signalsLatest(subject: \"a\"){", selection, "{timestamp}}}")).selections.at(0);
}
Field events() {
    return rootField(
        strCat("{events(subject: \"", kSelf, R"(", from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z"){name}})"));
}

TEST(Guard, Acceptance02_WithoutClaimsEveryDirectiveSaysJwtMissing) {
    EXPECT_EQ(refusal(root("availableSignals", kSelf), std::nullopt), kMissing);
    EXPECT_EQ(refusal(member("speed"), std::nullopt), kMissing);
    EXPECT_EQ(refusal(member("currentLocationApproximateCoordinates"), std::nullopt), kMissing);
}

TEST(Guard, Acceptance03_TheSubjectIsComparedByteForByte) {
    EXPECT_EQ(refusal(root("signalsLatest", kSelf), claimsOf(kSelf, 0)), "");
    EXPECT_EQ(refusal(root("signalsLatest", vehicle(2)), claimsOf(kSelf)), kOther);
    std::string lower = kSelf;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    EXPECT_EQ(refusal(root("signalsLatest", lower), claimsOf(kSelf)), kOther);
    EXPECT_EQ(refusal(root("signalsLatest", kSelf), claimsOf(lower)), kOther);
    EXPECT_EQ(refusal(root("signalsLatest", ""), claimsOf(kSelf)), kOther);
    EXPECT_EQ(refusal(root("signalsLatest", ""), claimsOf("")), "");
}

TEST(Guard, AllOfPrivilegesNamesTheFirstMissingOne) {
    EXPECT_EQ(refusal(member("speed"), claimsOf("a", vss::kNonLocationData)), "");
    EXPECT_EQ(refusal(member("speed"), claimsOf("a", vss::kAllTimeLocation)),
              "FORBIDDEN: unauthorized: missing required privilege privilege:GetNonLocationHistory");
    EXPECT_EQ(refusal(member("currentLocationCoordinates"), claimsOf("a", vss::kApproximateLocation)),
              "FORBIDDEN: unauthorized: missing required privilege privilege:GetLocationHistory");
    EXPECT_EQ(refusal(member("currentLocationCoordinates"), claimsOf("a", vss::kAllTimeLocation)), "");
}

TEST(Guard, OneOfPrivilegeListsThemAll) {
    const Field field = member("currentLocationApproximateCoordinates");
    EXPECT_EQ(refusal(field, claimsOf("a", vss::kApproximateLocation)), "");
    EXPECT_EQ(refusal(field, claimsOf("a", vss::kAllTimeLocation)), "");
    EXPECT_EQ(refusal(field, claimsOf("a", kEveryPrivilege & ~(vss::kApproximateLocation | vss::kAllTimeLocation))),
              "FORBIDDEN: unauthorized: requires at least one of the following privileges "
              "[privilege:GetApproximateLocation privilege:GetLocationHistory]");
}

TEST(Guard, PermissionsMatchExactly) {
    auth::Claims claims = claimsOf("a", 0);
    claims.permissions = {"privilege:getnonlocationhistory", " privilege:GetNonLocationHistory",
                          "GetNonLocationHistory", "1"};
    EXPECT_NE(refusal(member("speed"), claims), "");
    claims.permissions.emplace_back("privilege:GetNonLocationHistory");
    EXPECT_EQ(refusal(member("speed"), claims), "");
}

// The last listed directive runs first: privileges before the subject.
TEST(Guard, TheLastDirectiveIsJudgedFirst) {
    EXPECT_EQ(refusal(events(), claimsOf(vehicle(2), vss::kNonLocationData)),
              "FORBIDDEN: unauthorized: missing required privilege privilege:GetLocationHistory");
    EXPECT_EQ(refusal(events(), claimsOf(vehicle(2))), kOther);
    EXPECT_EQ(refusal(events(), claimsOf(kSelf)), "");
    // The order of the list decides which of two missing ones is named.
    EXPECT_EQ(refusal(events(), claimsOf(kSelf, 0)),
              "FORBIDDEN: unauthorized: missing required privilege privilege:GetNonLocationHistory");
}

TEST(Guard, MarkersCheckNothingAndUnknownPrivilegesAreHeldByNobody) {
    graphql::FieldDefinition definition;
    definition.directives = {AppliedDirective{"isSignal", {}}, AppliedDirective{"hasAggregation", {}}};
    Field field;
    field.definition = &definition;
    EXPECT_EQ(refusal(field, std::nullopt), "");
    definition.directives.push_back(AppliedDirective{"requiresAllOfPrivileges", {"VEHICLE_FUTURE"}});
    EXPECT_EQ(refusal(field, claimsOf("a")), "FORBIDDEN: unauthorized: missing required privilege VEHICLE_FUTURE");
    definition.directives = {AppliedDirective{"requiresVehicleToken", {}}};
    EXPECT_EQ(refusal(field, claimsOf("")), kOther);  // a field without a subject is nobody's
}

}  // namespace
}  // namespace dq::api
