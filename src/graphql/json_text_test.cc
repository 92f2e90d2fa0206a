#include "graphql/json_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "graphql/executor.h"

namespace dq::graphql {
namespace {

std::string quoted(std::string_view text) {
    std::string out;
    appendJsonString(out, text);
    return out;
}

std::string stored(std::string_view json) {
    std::string out = "x";
    return appendStoredJson(out, json) ? out.substr(1) : out == "x" ? "refused" : "left rubbish";
}

TEST(JsonText, FloatsReadLikeGo) {
    const std::pair<double, const char*> cases[] = {
        {100000, "100000"},
        {1000000, "1e+06"},
        {-74, "-74"},
        {0, "0"},
        {-0.0, "-0"},
        {0.0001, "0.0001"},
        {0.00001, "1e-05"},
        {0.000123, "0.000123"},
        {999999.5, "999999.5"},
        {1234567.5, "1.2345675e+06"},
        {1e21, "1e+21"},
        {1e100, "1e+100"},
        {50.5, "50.5"},
        {40.704167908350385, "40.704167908350385"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {0.1 + 0.2, "0.30000000000000004"},
        {123456, "123456"},
    };
    for (const auto& [value, text] : cases) EXPECT_EQ(formatFloat(value), text);
}

TEST(JsonText, FloatsReadBackToTheSameBits) {
    const std::uint64_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    for (int i = 0; i < 20000; ++i) {
        const std::uint64_t bits = random();
        double value;
        std::memcpy(&value, &bits, sizeof value);
        if (!std::isfinite(value)) continue;
        const double back = std::strtod(formatFloat(value).c_str(), nullptr);
        EXPECT_EQ(std::memcmp(&back, &value, sizeof value), 0) << formatFloat(value);
    }
}

TEST(JsonText, IntegersKeepAllDigits) {
    std::string out;
    appendInteger(out, std::numeric_limits<std::int64_t>::min());
    out += ' ';
    appendUnsigned(out, std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(out, "-9223372036854775808 18446744073709551615");
}

TEST(JsonText, StringsEscapeWhatTheContractNames) {
    EXPECT_EQ(quoted("<a>&"), R"("\u003ca\u003e\u0026")");
    EXPECT_EQ(quoted("a\"b\\c/"), R"("a\"b\\c/")");
    EXPECT_EQ(quoted(std::string_view("\0\n\t\x1f\x7f", 5)), "\"\\u0000\\u000a\\u0009\\u001f\x7f\"");
    EXPECT_EQ(quoted("\xE2\x80\xA8\xE2\x80\xA9\xE2\x80\xAA"), "\"\\u2028\\u2029\xE2\x80\xAA\"");
    EXPECT_EQ(quoted("Ä€😀"), "\"Ä€😀\"");
    EXPECT_EQ(quoted(""), "\"\"");
}

TEST(JsonText, StringsAreAlwaysUtf8) {
    const char* const bad[] = {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x80", "\x80"};
    for (const char* text : bad) {
        const std::string out = quoted(text);
        EXPECT_NE(out.find("\xEF\xBF\xBD"), std::string::npos);
        EXPECT_EQ(out.find(text), std::string::npos);
    }
    EXPECT_EQ(quoted("a\xFF"
                     "b"),
              "\"a\xEF\xBF\xBD"
              "b\"");
}

TEST(JsonText, StoredJsonIsCompactedAndOtherwiseKept) {
    EXPECT_EQ(stored(" { \"a b\" : [ 1 , 2.50 , -1E+3 ] ,\n\t\"c\" : \"x \\\" y\" } "),
              R"({"a b":[1,2.50,-1E+3],"c":"x \" y"})");
    EXPECT_EQ(stored("\"<&>\\u003c\\n\""), R"("\u003c\u0026\u003e\u003c\n")");
    EXPECT_EQ(stored("\"\xE2\x80\xA8\""), R"("\u2028")");
    EXPECT_EQ(stored("1e999"), "1e999");
    EXPECT_EQ(stored("\"\\ud800\""), "\"\\ud800\"");
    EXPECT_EQ(stored("123456789012345678901234567890"), "123456789012345678901234567890");
    EXPECT_EQ(stored("null"), "null");
}

TEST(JsonText, WhatIsNoJsonIsRefused) {
    for (const char* text :
         {"", " ", "not json", "{", "{\"a\":1}x", "[1,]", "\"\xFF\"", "01", "nul", "\"\n\"", "'a'", "NaN"}) {
        EXPECT_EQ(stored(text), "refused") << text;
    }
    EXPECT_EQ(stored(std::string_view("1\0 2", 4)), "refused");
}

TEST(JsonText, DeepStoredJsonCostsNoStack) {
    const std::size_t depth = 1'000'000;
    const std::string deep = std::string(depth, '[') + std::string(depth, ']');
    EXPECT_EQ(stored(deep), deep);
    EXPECT_EQ(stored(std::string(depth, '[')), "refused");
}

}  // namespace
}  // namespace dq::graphql
