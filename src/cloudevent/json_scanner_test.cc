#include "cloudevent/json_scanner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>

#include "cloudevent/json_text.h"
#include "cloudevent/utf8.h"

namespace dq::cloudevent {
namespace {

TEST(JsonScanner, AcceptsWhatTheGrammarAllows) {
    for (std::string_view text :
         {"null", " true ", "false", "0", "-0", "-0.5e-7", "1E+5", "\"\"", R"("\u00e9\"\\\/\b\f\n\r\t")", "[]", "{}",
          "[ ]", "{ }", "[1,[2,{\"a\":[]}],{}]", R"({"a":1,"a":{"b":[null]}})", "\t\n\r [1 , 2]\r\n", "\"\xff\xc3\"",
          R"("\ud800")", "1e400"}) {
        EXPECT_TRUE(isJson(text)) << text;
    }
}

TEST(JsonScanner, RefusesWhatItDoesNot) {
    for (std::string_view text : {"",
                                  " ",
                                  "nul",
                                  "True",
                                  "NaN",
                                  "Infinity",
                                  "01",
                                  "+1",
                                  ".5",
                                  "5.",
                                  "1e",
                                  "1e+",
                                  "-",
                                  "0x10",
                                  "1 2",
                                  "\"",
                                  "\"\\x\"",
                                  "\"\\u12g4\"",
                                  "\"\\u123",
                                  "\"a\nb\"",
                                  "'a'",
                                  "[",
                                  "]",
                                  "[1",
                                  "[1,",
                                  "[1,]",
                                  "[,1]",
                                  "[1 2]",
                                  "[1}",
                                  "{",
                                  "}",
                                  "{\"a\"}",
                                  "{\"a\":}",
                                  "{\"a\":1,}",
                                  "{,}",
                                  "{a:1}",
                                  "{\"a\":1]",
                                  "{\"a\" 1}",
                                  "[]]",
                                  "{}x",
                                  "\xef\xbb\xbf{}",
                                  "\"\x01\"",
                                  "tru",
                                  "nullx",
                                  "// c\n1"}) {
        EXPECT_FALSE(isJson(text)) << text;
    }
    EXPECT_FALSE(isJson(std::string_view("\0", 1)));
    EXPECT_FALSE(isJson(std::string_view("\"\0\"", 3)));
}

TEST(JsonScanner, NestingEndsAtTenThousand) {
    auto nested = [](std::size_t depth, char open, char close, const std::string& inside) {
        std::string text;
        for (std::size_t i = 0; i < depth; ++i) text += open == '{' ? "{\"a\":" : "[";
        text += inside;
        return text + std::string(depth, close);
    };
    EXPECT_TRUE(isJson(nested(10'000, '[', ']', "")));
    EXPECT_FALSE(isJson(nested(10'001, '[', ']', "")));
    EXPECT_TRUE(isJson(nested(10'000, '{', '}', "1")));
    EXPECT_FALSE(isJson(nested(10'001, '{', '}', "1")));
    EXPECT_FALSE(isJson(std::string(1'000'000, '[')));
}

TEST(JsonScanner, TruncationAnywhereIsDamage) {
    const std::string text = R"({"a":[1,-2.5e3,"x\u0041y",true,false,null],"b":{"c":"é"}})";
    ASSERT_TRUE(isJson(text));
    for (std::size_t size = 0; size < text.size(); ++size) {
        std::string exact(text, 0, size);  // a string of its own, so that a sanitizer sees reads behind it
        EXPECT_FALSE(isJson(exact)) << size;
    }
}

double numberOf(const std::string& text) {
    JsonScanner scan(text);
    JsonNumber number;
    EXPECT_TRUE(scan.readNumber(number) && scan.atEnd()) << text;
    EXPECT_EQ(number.text, text);
    EXPECT_EQ(number.overflow, std::isinf(number.value));
    return number.value;
}

TEST(JsonScanner, NumbersAreNearestDoubles) {
    for (const char* text :
         {"0", "1", "42.5", "9007199254740993", "9007199254740992", "5e-324", "1.7976931348623157e308", "0.1", "0.3",
          "123456789012345678901234567890", "1e22", "1e23", "1e-22", "1e-23", "4.35", "2.2250738585072011e-308",
          "0.000000000000000000000000000000000001", "18446744073709551616", "99999999999999999999e-20"}) {
        EXPECT_EQ(numberOf(text), std::strtod(text, nullptr)) << text;
    }
    EXPECT_TRUE(std::signbit(numberOf("-0")));
    EXPECT_TRUE(std::signbit(numberOf("-0.0e5")));
    EXPECT_EQ(numberOf("1e-400"), 0.0);
    EXPECT_TRUE(std::signbit(numberOf("-1e-400")));
    EXPECT_EQ(numberOf("1e400"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(numberOf("-1e400"), -std::numeric_limits<double>::infinity());
    EXPECT_EQ(numberOf("1e99999999999999999999"), std::numeric_limits<double>::infinity());
    EXPECT_EQ(numberOf("0e99999999999999999999"), 0.0);
    EXPECT_EQ(numberOf("1" + std::string(400, '0')), std::numeric_limits<double>::infinity());
}

TEST(JsonScanner, RandomNumbersAgreeWithTheLibrary) {
    std::mt19937_64 random(20261130);
    for (int i = 0; i < 20'000; ++i) {
        std::string text = random() % 2 ? "-" : "";
        text += std::to_string(random() >> (random() % 64));
        if (random() % 2) text += "." + std::to_string(random() >> (random() % 64));
        if (random() % 2) text += (random() % 2 ? "e-" : "e") + std::to_string(random() % 40);
        double value = numberOf(text), expected = std::strtod(text.c_str(), nullptr);
        ASSERT_EQ(std::memcmp(&value, &expected, sizeof value), 0) << text;
    }
}

TEST(JsonScanner, SkipNotesOverflowOnlyWhenWatched) {
    JsonScanner quiet("[1e400]");
    EXPECT_TRUE(quiet.skip());
    EXPECT_FALSE(quiet.sawOverflow());
    JsonScanner watching("{\"a\":[0,{\"b\":-1e400}]}");
    watching.watchOverflow(true);
    EXPECT_TRUE(watching.skip() && watching.atEnd());
    EXPECT_TRUE(watching.sawOverflow());
}

JsonString stringOf(std::string_view text) {
    JsonScanner scan(text);
    JsonString out;
    EXPECT_TRUE(scan.readString(out) && scan.atEnd()) << text;
    return out;
}

TEST(JsonText, ResolvesEscapesAndReplacesDamage) {
    EXPECT_EQ(textOf(stringOf(R"("a\"\\\/\b\f\n\r\t\u0041\u00e9\u4e2d\ud83d\ude97")")), "a\"\\/\b\f\n\r\tAé中🚗");
    EXPECT_EQ(textOf(stringOf(R"("x\ud83dy")")), "x\uFFFDy");
    EXPECT_EQ(textOf(stringOf(R"("\ude97\ud83d")")), "\uFFFD\uFFFD");
    EXPECT_EQ(textOf(stringOf(R"("\ud83d\ud83d\ude97")")), "\uFFFD🚗");
    EXPECT_EQ(textOf(stringOf("\"A\xff\xc3(B\"")), "A\uFFFD\uFFFD(B");
    EXPECT_EQ(textOf(stringOf("\"\xe4\xb8\"")), "\uFFFD\uFFFD");
    EXPECT_EQ(textOf(stringOf("\"\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80\"")),
              std::string("\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"));
    EXPECT_TRUE(isVerbatim(stringOf("\"é中🚗\"")));
    EXPECT_FALSE(isVerbatim(stringOf("\"\xff\"")));
}

TEST(JsonText, FoldedNames) {
    EXPECT_TRUE(textEqualsFolded(stringOf("\"signals\""), "signals"));
    EXPECT_TRUE(textEqualsFolded(stringOf("\"SIGNALS\""), "signals"));
    EXPECT_TRUE(textEqualsFolded(stringOf("\"ſignalſ\""), "signals"));
    EXPECT_TRUE(textEqualsFolded(stringOf(R"("\u017fi\u0047nals")"), "signals"));
    EXPECT_TRUE(textEqualsFolded(stringOf("\"\u212Aey\""), "key"));
    EXPECT_TRUE(textEqualsFolded(stringOf("\"DURATIONNS\""), "durationNs"));
    EXPECT_FALSE(textEqualsFolded(stringOf("\"signal\""), "signals"));
    EXPECT_FALSE(textEqualsFolded(stringOf("\"signalsx\""), "signals"));
    EXPECT_FALSE(textEqualsFolded(stringOf("\"sïgnals\""), "signals"));
    EXPECT_FALSE(textEqualsFolded(stringOf("\"signals\xff\""), "signals"));
    EXPECT_FALSE(textEqualsFolded(stringOf("\"\""), "signals"));
    EXPECT_TRUE(textEquals(stringOf(R"("\u0061b")"), "ab"));
    EXPECT_FALSE(textEquals(stringOf("\"Ab\""), "ab"));
}

TEST(Utf8, ValidityAgreesWithDecodingRuneByRune) {
    std::mt19937 random(7);
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (int n = static_cast<int>(random() % 24); n > 0; --n) {
            static const char* const kPieces[] = {
                "a", "é", "中", "🚗", "\x80", "\xC3", "\xE4\xB8", "\xF0\x9F\x9A", "\xED\xA0\x80", "\xC0\xAF"};
            text += kPieces[random() % 10];
        }
        bool good = repairedSize(text) == text.size();
        EXPECT_EQ(isValidUtf8(text), good && repaired(text) == text);
        EXPECT_TRUE(isValidUtf8(repaired(text)));
    }
}

}  // namespace
}  // namespace dq::cloudevent
