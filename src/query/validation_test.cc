#include "query/validation.h"

#include <gtest/gtest.h>

#include <limits>

namespace dq::query {
namespace {

constexpr std::int64_t kMaxMicros = std::numeric_limits<std::int64_t>::max() / 1000;

TEST(Validation, IntervalIsAGoDurationInWholeMicros) {
    const std::pair<const char*, std::int64_t> cases[] = {{"1m", 60'000'000},
                                                          {"500ms", 500'000},
                                                          {".5s", 500'000},
                                                          {"1.h", 3'600'000'000},
                                                          {"+1h", 3'600'000'000},
                                                          {"1h0.5s", 3'600'500'000},
                                                          {"0", 0},
                                                          {"500ns", 0},
                                                          {"1999ns", 1},
                                                          {"-1999ns", -1},
                                                          {"-1s", -1'000'000},
                                                          {"1µs", 1},
                                                          {"9223372036854775807ns", kMaxMicros}};
    for (const auto& [text, micros] : cases) {
        const auto parsed = parseInterval(text);
        ASSERT_TRUE(parsed.ok()) << text << ": " << parsed.status();
        EXPECT_EQ(*parsed, micros) << text;
    }
}

TEST(Validation, Acceptance09_BadIntervalTexts) {
    const std::pair<const char*, const char*> cases[] = {
        {"1d", "failed parsing interval: time: unknown unit \"d\" in duration \"1d\""},
        {"1", "failed parsing interval: time: missing unit in duration \"1\""},
        {"x", "failed parsing interval: time: invalid duration \"x\""},
        {"", "failed parsing interval: time: invalid duration \"\""},
        {"9223372036854775808ns", "failed parsing interval: time: invalid duration \"9223372036854775808ns\""}};
    for (const auto& [text, message] : cases) {
        const auto parsed = parseInterval(text);
        ASSERT_FALSE(parsed.ok()) << text;
        EXPECT_EQ(parsed.status().message(), message);
    }
    EXPECT_FALSE(parseInterval("1 h").ok());
    EXPECT_FALSE(parseInterval("1w").ok());
}

TEST(Validation, BucketCapDividesWholeMicros) {
    EXPECT_TRUE(bucketCapExceeded(0, kMicrosPerDay, 1));  // acceptance 9: 1 µs over 1 day
    EXPECT_FALSE(bucketCapExceeded(0, kMicrosPerDay, 864'000));
    EXPECT_TRUE(bucketCapExceeded(0, kMicrosPerDay, 863'999));
    // floor(100099 / 100000) = 1, so 100 099 buckets of 1 µs pass.
    EXPECT_FALSE(bucketCapExceeded(0, 100'099, 1));
    EXPECT_TRUE(bucketCapExceeded(0, 200'000, 1));
    EXPECT_FALSE(bucketCapExceeded(5, 5, 1));
}

TEST(Validation, BucketCapSaturatesAtTheLongestGoDuration) {
    const Micros year_9999 = 253'402'300'799LL * kMicrosPerSecond;
    EXPECT_TRUE(bucketCapExceeded(kZeroTime, year_9999, kMaxMicros / 100'000 - 1));
    EXPECT_FALSE(bucketCapExceeded(kZeroTime, year_9999, kMaxMicros / 100'000));
    EXPECT_TRUE(bucketCapExceeded(std::numeric_limits<Micros>::min(), std::numeric_limits<Micros>::max(), 1));
}

TEST(Validation, EventNamePatterns) {
    for (const char* good : {"behavior.harshBraking", "a.b", "A1.b2"}) EXPECT_TRUE(isNamespacedEventName(good)) << good;
    for (const char* bad : {"harsh", "", ".", "a.", ".b", "a.b.c", "1a.b", "a.1b", "beh_a.b", "a.b ", "é.b"}) {
        EXPECT_FALSE(isNamespacedEventName(bad)) << bad;
    }
    for (const char* good : {"behavior.", "behavior.harsh", "a.b2"}) EXPECT_TRUE(isNamespacedEventPrefix(good)) << good;
    for (const char* bad : {"beh_", "", "behavior", ".a", "a.b.c", "a..", "a.2"})
        EXPECT_FALSE(isNamespacedEventPrefix(bad)) << bad;
}

}  // namespace
}  // namespace dq::query
