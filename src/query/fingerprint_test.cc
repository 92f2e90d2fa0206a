#include "query/fingerprint.h"

#include <gtest/gtest.h>

namespace dq::query {
namespace {

TEST(Fingerprint, LakeAcceptance21_KeepsTheShapeAndNoValue) {
    const std::string shape = statementShape(
        "SELECT  name\nFROM lake.signals\n WHERE subject = 'did:erc721:137:0xbA57:1' AND subject_bucket = 137\tAND ts "
        ">= 1780272000000000");
    EXPECT_EQ(shape, "SELECT name FROM lake.signals WHERE subject = ? AND subject_bucket = ? AND ts >= ?");
}

TEST(Fingerprint, LakeAcceptance21_CutsAt400Bytes) {
    const std::string shape = statementShape(std::string(1000, 'a'));
    EXPECT_EQ(shape, std::string(400, 'a') + "…");
    EXPECT_EQ(statementShape(std::string(400, 'a')), std::string(400, 'a'));
    // A character that the cut would split goes whole.
    EXPECT_EQ(statementShape(std::string(399, 'a') + "é" + std::string(9, 'b')), std::string(399, 'a') + "…");
}

TEST(Fingerprint, Literals) {
    EXPECT_EQ(statementShape("a = 'it''s' AND b"), "a = ? AND b");
    EXPECT_EQ(statementShape("a = 'open 5 \n"), "a = ?");
    EXPECT_EQ(statementShape("''"), "?");
    EXPECT_EQ(statementShape("x IN (1.5e+01, 2, -3e-07)"), "x IN (?, ?, -?)");
    EXPECT_EQ(statementShape("loc_lat2 > 0 AND r2d2 = 5a AND $1"), "loc_lat2 > ? AND r2d2 = 5a AND $?");
    EXPECT_EQ(statementShape(""), "");
}

}  // namespace
}  // namespace dq::query
