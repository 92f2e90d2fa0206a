#include "core/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace dq {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Metrics, RendersWhatWasDeclared) {
    Metrics metrics;
    metrics.counter("dq_things_total", "Things seen.").Increment(3);
    metrics.gauge("dq_level", "A level.").Set(-1.5);
    metrics.counters("dq_labelled_total", "By kind.").Add({{"kind", "a\"b"}}).Increment();
    metrics.histogram("dq_seconds", "Times.", {0.1, 1}).Observe(0.5);
    const std::string text = metrics.render();
    EXPECT_THAT(text,
                HasSubstr("# HELP dq_things_total Things seen.\n# TYPE dq_things_total counter\ndq_things_total 3\n"));
    EXPECT_THAT(text, HasSubstr("dq_level -1.5\n"));
    EXPECT_THAT(text, HasSubstr("dq_labelled_total{kind=\"a\\\"b\"} 1\n"));
    EXPECT_THAT(
        text,
        HasSubstr(
            "dq_seconds_bucket{le=\"0.1\"} 0\ndq_seconds_bucket{le=\"1\"} 1\ndq_seconds_bucket{le=\"+Inf\"} 1\n"));
    EXPECT_THAT(text, HasSubstr("dq_seconds_count 1\ndq_seconds_sum 0.5\n"));
}

TEST(Metrics, ASecondDeclarationIsTheSameSeries) {
    Metrics metrics;
    EXPECT_EQ(&metrics.counter("dq_things_total", "Things."), &metrics.counter("dq_things_total", "Things."));
    EXPECT_EQ(&metrics.gauges("dq_level", "A level."), &metrics.gauges("dq_level", "A level."));
}

TEST(Metrics, AnUndeclaredSeriesIsAbsentAndAnUnlabelledOnePresentFromTheStart) {
    Metrics metrics;
    EXPECT_EQ(metrics.render(), "");
    metrics.counter("dq_things_total", "Things.");
    EXPECT_THAT(metrics.render(), HasSubstr("\ndq_things_total 0\n"));
    EXPECT_THAT(metrics.render(), Not(HasSubstr("dq_other")));
}

TEST(Metrics, CollectsAtEveryScrape) {
    Metrics metrics;
    int scrapes = 0;
    auto& gauge = metrics.gauge("dq_level", "A level.");
    metrics.onScrape([&] { gauge.Set(++scrapes); });
    EXPECT_THAT(metrics.render(), HasSubstr("dq_level 1\n"));
    EXPECT_THAT(metrics.render(), HasSubstr("dq_level 2\n"));
}

TEST(Metrics, ExponentialBuckets) {
    EXPECT_EQ(exponentialBuckets(1, 2, 4), (std::vector<double>{1, 2, 4, 8}));
    EXPECT_TRUE(exponentialBuckets(1, 2, 0).empty());
}

}  // namespace
}  // namespace dq
