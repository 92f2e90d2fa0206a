#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "decode/float_text.h"
#include "decode/lowercase.h"

namespace dq::decode {
namespace {

TEST(FloatText, Accepts) {
    const std::pair<const char*, double> cases[] = {
        {"0", 0},
        {"5.", 5},
        {".5", 0.5},
        {"+1.5", 1.5},
        {"-7", -7},
        {"1e2", 100},
        {"1E+2", 100},
        {"007", 7},
        {"0x1p4", 16},
        {"0X.8P1", 1},
        {"-0x1.8p-1", -0.75},
        {"0xAp+0", 10},
        {"1_000", 1000},
        {"1_0.0_1e1_0", 10.01e10},
        {"0x_1p4", 16},
        {"0x1_0p0", 16},
        {"1e-400", 0},
        {"5e-324", 5e-324},
        {"9007199254740993", 9007199254740992.0},
        {"0x1p-1080", 0},
    };
    for (auto [text, value] : cases) {
        auto parsed = parseFloatText(text);
        ASSERT_TRUE(parsed) << text;
        EXPECT_EQ(*parsed, value) << text;
    }
    EXPECT_TRUE(std::signbit(*parseFloatText("-0")));
    EXPECT_TRUE(std::signbit(*parseFloatText("-1e-400")));
    for (const char* text : {"inf", "Inf", "+INFINITY", "infinity"})
        EXPECT_EQ(parseFloatText(text), std::numeric_limits<double>::infinity());
    EXPECT_EQ(parseFloatText("-inf"), -std::numeric_limits<double>::infinity());
    for (const char* text : {"nan", "NaN", "NAN"}) EXPECT_TRUE(std::isnan(*parseFloatText(text)));
    std::string spread = "1";
    for (int i = 0; i < 300; ++i) spread += "_0";
    EXPECT_EQ(parseFloatText(spread), 1e300);
}

TEST(FloatText, Refuses) {
    for (const char* text : {"",       " 5",    "5 ",     "+",    "-",    ".",    "e5",     "1e",       "1e+",  "--1",
                             "+-1",    "1e400", "-1e400", "0x1",  "0x",   "0xp1", "0x1p",   "0x1p1024", "1p4",  "1__0",
                             "_1",     "1_",    "1_.5",   "1._5", "1e_5", "1e5_", "0x1_p4", "infin",    "+nan", "-nan",
                             "nan(1)", "1.2.3", "0b1",    "1,5",  "١",    "1e5x", "0_x1p4"}) {
        EXPECT_EQ(parseFloatText(text), std::nullopt) << text;
    }
}

TEST(Lowercase, SimpleUnicodeMapping) {
    for (const char* text : {"", "abc-9", "é", "ß", "中", "ǆ", "ﬀ", "\uFFFD", "ı", "ﮐ", "ⓐ", "ꭰ"})
        EXPECT_TRUE(isLowercased(text)) << text;
    for (const char* text : {"A", "aZ", "É", "İ", "ẞ", "Σ", "ǅ", "Ω", "K", "Ⓐ", "Ꭰ", "𐐀", "Ა", "Ɐ", "Ѐ", "Ⴀ"})
        EXPECT_FALSE(isLowercased(text)) << text;
    EXPECT_FALSE(isLowercased("\xff"));
}

}  // namespace
}  // namespace dq::decode
