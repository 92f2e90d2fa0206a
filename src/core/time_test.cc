#include "core/time.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "core/clock.h"
#include "core/hash.h"
#include "core/status.h"

namespace dq {
namespace {

constexpr Micros kNoon2026 = 1'795'953'600LL * kMicrosPerSecond;  // 2026-11-29T12:00:00Z

std::int64_t nanosOf(Instant t) { return t.micros * 1000 + t.nanos; }

TEST(Time, ReadsEveryFormOfTheGrammar) {
    struct Case {
        const char* text;
        std::int64_t nanos_from_noon;
    };
    constexpr std::int64_t kSecond = 1'000'000'000;
    const Case cases[] = {
        {"2026-11-29T12:00:00Z", 0},
        {"2026-11-29T9:00:00Z", -3 * 3600 * kSecond},
        {"2026-11-29T09:00:00Z", -3 * 3600 * kSecond},
        {"2026-11-29T12:00:00.5Z", kSecond / 2},
        {"2026-11-29T12:00:00,5Z", kSecond / 2},
        {"2026-11-29T12:00:00.123456789Z", 123'456'789},
        {"2026-11-29T12:00:00.1234567899999Z", 123'456'789},
        {"2026-11-29T12:00:00.000000001Z", 1},
        {"2026-11-29T12:00:00+00:00", 0},
        {"2026-11-29T12:00:00-00:00", 0},
        {"2026-11-29T14:30:00+02:30", 0},
        {"2026-11-29T07:00:00.25-05:00", kSecond / 4},
        {"2026-11-29T12:00:00+24:60", -25 * 3600 * kSecond},
        {"2026-11-29T12:00:59Z", 59 * kSecond},
    };
    for (const Case& c : cases) {
        const auto parsed = parseRfc3339(c.text);
        ASSERT_TRUE(parsed) << c.text;
        EXPECT_EQ(nanosOf(*parsed), kNoon2026 * 1000 + c.nanos_from_noon) << c.text;
    }
}

TEST(Time, RefusesEverythingElse) {
    const std::string_view cases[] = {
        "",
        "2026",
        "2026-11-29",
        "2026-11-29T12:00:00",
        "2026-11-29t12:00:00Z",
        "2026-11-29T12:00:00z",
        "2026-11-29 12:00:00Z",
        "026-11-29T12:00:00Z",
        "12026-11-29T12:00:00Z",
        "2026-1-29T12:00:00Z",
        "2026-11-9T12:00:00Z",
        "2026-00-29T12:00:00Z",
        "2026-13-29T12:00:00Z",
        "2026-11-00T12:00:00Z",
        "2026-11-31T12:00:00Z",
        "2026-02-29T12:00:00Z",
        "1900-02-29T12:00:00Z",
        "2026-11-29T24:00:00Z",
        "2026-11-29T12:60:00Z",
        "2026-11-29T12:00:60Z",
        "2026-11-29T123:00:00Z",
        "2026-11-29T:00:00Z",
        "2026-11-29T12:0:00Z",
        "2026-11-29T12:00:0Z",
        "2026-11-29T12:00Z",
        "2026-11-29T12:00:00.Z",
        "2026-11-29T12:00:00,Z",
        "2026-11-29T12:00:00.5",
        "2026-11-29T12:00:00.5.5Z",
        "2026-11-29T12:00:00+25:00",
        "2026-11-29T12:00:00+00:61",
        "2026-11-29T12:00:00+0000",
        "2026-11-29T12:00:00+00",
        "2026-11-29T12:00:00+0:00",
        "2026-11-29T12:00:00ZZ",
        "2026-11-29T12:00:00Z ",
        " 2026-11-29T12:00:00Z",
        "-2026-11-29T12:00:00Z",
        "+026-11-29T12:00:00Z",
        "2026-11-29T12:00:-1Z",
        "2026-11-29T12:00:00 Z",
        "2026/11/29T12:00:00Z",
        std::string_view("2026-11-29T12:00:00\0Z", 21),
    };
    for (std::string_view text : cases) EXPECT_FALSE(parseRfc3339(text)) << text;
}

TEST(Time, KnowsLeapYearsAndTheEndsOfTheRange) {
    EXPECT_TRUE(parseRfc3339("2024-02-29T00:00:00Z"));
    EXPECT_TRUE(parseRfc3339("2000-02-29T00:00:00Z"));
    EXPECT_TRUE(parseRfc3339("0000-02-29T00:00:00Z"));
    EXPECT_EQ(parseRfc3339("0001-01-01T00:00:00Z")->micros, kZeroTime);
    EXPECT_EQ(parseRfc3339("1970-01-01T00:00:00Z")->micros, 0);
    EXPECT_EQ(parseRfc3339("9999-12-31T23:59:59.999999999Z"), (Instant{253'402'300'799'999'999LL, 999}));
    EXPECT_EQ(parseRfc3339("0000-01-01T00:00:00Z")->micros, kZeroTime - 366 * kMicrosPerDay);
}

TEST(Time, FloorsBelowZero) {
    EXPECT_EQ(floorDiv(-1, 1000), -1);
    EXPECT_EQ(floorDiv(-1000, 1000), -1);
    EXPECT_EQ(floorDiv(-1001, 1000), -2);
    EXPECT_EQ(floorDiv(1999, 1000), 1);
    EXPECT_EQ(floorDiv(0, 1000), 0);
    EXPECT_EQ(floorToDay(-1), -kMicrosPerDay);
    EXPECT_EQ(floorToDay(-kMicrosPerDay), -kMicrosPerDay);
    EXPECT_EQ(floorToDay(kMicrosPerDay + 5), kMicrosPerDay);
    EXPECT_EQ(parseRfc3339("1969-12-31T23:59:59.9999999Z"), (Instant{-1, 900}));
}

TEST(Time, Formats) {
    EXPECT_EQ(formatRfc3339(kNoon2026), "2026-11-29T12:00:00Z");
    EXPECT_EQ(formatRfc3339(kNoon2026 + 500'000), "2026-11-29T12:00:00.5Z");
    EXPECT_EQ(formatRfc3339(kNoon2026 + 1), "2026-11-29T12:00:00.000001Z");
    EXPECT_EQ(formatRfc3339(Instant{kNoon2026, 10}), "2026-11-29T12:00:00.00000001Z");
    EXPECT_EQ(formatRfc3339(kZeroTime), "0001-01-01T00:00:00Z");
    EXPECT_EQ(formatRfc3339(Micros{-1}), "1969-12-31T23:59:59.999999Z");
    EXPECT_EQ(formatRfc3339(kZeroTime - 1), "0000-12-31T23:59:59.999999Z");
    EXPECT_EQ(formatSqlTimestamp(kNoon2026 + 500'000), "2026-11-29 12:00:00.500000+00");
    EXPECT_EQ(formatSqlTimestamp(kZeroTime), "0001-01-01 00:00:00.000000+00");
    EXPECT_EQ(formatSqlTimestamp(-1), "1969-12-31 23:59:59.999999+00");
}

TEST(Time, TextReadsBackOverTheWholeRange) {
    const std::uint32_t seed = std::random_device{}();
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<Micros> any(parseRfc3339("0000-01-01T00:00:00Z")->micros,
                                              parseRfc3339("9999-12-31T23:59:59Z")->micros);
    for (int i = 0; i < 20'000; ++i) {
        const Instant t{any(random), static_cast<std::int32_t>(random() % 1000)};
        ASSERT_EQ(parseRfc3339(formatRfc3339(t)), t) << formatRfc3339(t);
        const CivilDate date = civilDate(t.micros);
        ASSERT_EQ(civilDate(floorToDay(t.micros)).day, date.day);
        ASSERT_TRUE(date.month >= 1 && date.month <= 12 && date.day >= 1 && date.day <= 31);
    }
}

TEST(Time, CivilDates) {
    const auto is = [](const char* text, int year, int month, int day) {
        const CivilDate d = civilDate(parseRfc3339(text)->micros);
        return d.year == year && d.month == month && d.day == day;
    };
    EXPECT_TRUE(is("1970-01-01T00:00:00Z", 1970, 1, 1));
    EXPECT_TRUE(is("1969-12-31T23:59:59.999999Z", 1969, 12, 31));
    EXPECT_TRUE(is("2024-02-29T23:59:59Z", 2024, 2, 29));
    EXPECT_TRUE(is("2026-11-29T23:00:00-02:00", 2026, 11, 30));
    EXPECT_TRUE(is("0000-01-01T00:00:00Z", 0, 1, 1));
}

TEST(GoDuration, Reads) {
    struct Case {
        const char* text;
        std::int64_t nanos;
    };
    const Case cases[] = {
        {"0", 0},
        {"+0", 0},
        {"-0", 0},
        {"0s", 0},
        {"5s", 5'000'000'000},
        {"30s", 30'000'000'000},
        {"1478s", 1'478'000'000'000},
        {"-5s", -5'000'000'000},
        {"+5s", 5'000'000'000},
        {"5.0s", 5'000'000'000},
        {"5.6s", 5'600'000'000},
        {"5.s", 5'000'000'000},
        {".5s", 500'000'000},
        {"1.h", 3'600'000'000'000},
        {"+1h", 3'600'000'000'000},
        {"1h0.5s", 3'600'500'000'000},
        {"10ns", 10},
        {"11us", 11'000},
        {"12\xC2\xB5s", 12'000},
        {"12\xCE\xBCs", 12'000},
        {"13ms", 13'000'000},
        {"3h30m", 12'600'000'000'000},
        {"10.5s4m", 250'500'000'000},
        {"-2m3.4s", -123'400'000'000},
        {"1h2m3s4ms5us6ns", 3'723'004'005'006},
        {"1.5s", 1'500'000'000},
        {"300ms", 300'000'000},
        {"500ns", 500},
        {"52763797000ns", 52'763'797'000},
        {"0.3333333333333333333h", 1'200'000'000'000},
        {"9007199254740993ns", 9'007'199'254'740'993},
        {"9223372036854775807ns", std::numeric_limits<std::int64_t>::max()},
        {"9223372036854775.807us", std::numeric_limits<std::int64_t>::max()},
        {"9223372036s854ms775us807ns", std::numeric_limits<std::int64_t>::max()},
        {"-9223372036854775808ns", std::numeric_limits<std::int64_t>::min()},
        {"0.100000000000000000000h", 360'000'000'000},
        {"0.830103483285477580700h", 2'988'372'539'827},
    };
    for (const Case& c : cases) {
        const auto parsed = parseGoDuration(c.text);
        ASSERT_TRUE(parsed.ok()) << c.text << ": " << parsed.status();
        EXPECT_EQ(*parsed, c.nanos) << c.text;
    }
}

TEST(GoDuration, RefusesWithTheTextsThatCallersKnow) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"", R"(time: invalid duration "")"},
        {"3", R"(time: missing unit in duration "3")"},
        {"1", R"(time: missing unit in duration "1")"},
        {"1d", R"(time: unknown unit "d" in duration "1d")"},
        {"1w", R"(time: unknown unit "w" in duration "1w")"},
        {"1 h", R"(time: unknown unit " h" in duration "1 h")"},
        {"-", R"(time: invalid duration "-")"},
        {"s", R"(time: invalid duration "s")"},
        {".", R"(time: invalid duration ".")"},
        {"-.", R"(time: invalid duration "-.")"},
        {".s", R"(time: invalid duration ".s")"},
        {"+.s", R"(time: invalid duration "+.s")"},
        {"banana", R"(time: invalid duration "banana")"},
        {"--1s", R"(time: invalid duration "--1s")"},
        {"1h ", R"(time: unknown unit "h " in duration "1h ")"},
        {"1H", R"(time: unknown unit "H" in duration "1H")"},
        {"\x85\x85", R"(time: invalid duration "\x85\x85")"},
        {"1\xC2\xB5", R"(time: unknown unit "\xc2\xb5" in duration "1\xc2\xb5")"},
        {"a\"b\\", R"(time: invalid duration "a\"b\\")"},
        {"9223372036854775808ns", R"(time: invalid duration "9223372036854775808ns")"},
        {"9223372036854775809ns", R"(time: invalid duration "9223372036854775809ns")"},
        {"-9223372036854775809ns", R"(time: invalid duration "-9223372036854775809ns")"},
        {"9223372036854776us", R"(time: invalid duration "9223372036854776us")"},
        {"3000000h", R"(time: invalid duration "3000000h")"},
        {"9223372036854775808ns9223372036854775808ns",
         R"(time: invalid duration "9223372036854775808ns9223372036854775808ns")"},
        {"99999999999999999999h", R"(time: invalid duration "99999999999999999999h")"},
    };
    for (const auto& [text, message] : cases) {
        const auto parsed = parseGoDuration(text);
        ASSERT_FALSE(parsed.ok()) << text;
        EXPECT_EQ(parsed.status().code(), absl::StatusCode::kInvalidArgument);
        EXPECT_EQ(stdView(parsed.status().message()), message);
    }
}

TEST(Hash, BucketsOfTheLakeContract) {
    EXPECT_EQ(subjectBucket(""), 197);
    EXPECT_EQ(subjectBucket("a"), 44);
    EXPECT_EQ(subjectBucket("\xC3\xA9"), 193);
    EXPECT_EQ(subjectBucket("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1"), 219);
    EXPECT_EQ(subjectBucket("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:2"), 110);
    EXPECT_EQ(subjectBucket("did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:42"), 82);
}

TEST(Clock, ManualClockMovesOnlyWhenTold) {
    ManualClock clock(kNoon2026);
    clock.advance(5);
    EXPECT_EQ(clock.now(), kNoon2026 + 5);
    EXPECT_EQ(clock.steadyMicros(), 5);
    clock.set(7);
    EXPECT_EQ(clock.now(), 7);
    EXPECT_EQ(clock.steadyMicros(), 5);
    EXPECT_GT(systemClock().now(), 1'700'000'000LL * kMicrosPerSecond);
}

}  // namespace
}  // namespace dq
