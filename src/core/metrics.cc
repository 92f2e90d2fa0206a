#include "core/metrics.h"

#include <prometheus/text_serializer.h>

namespace dq {

Metrics::Metrics() : registry_(std::make_shared<prometheus::Registry>(prometheus::Registry::InsertBehavior::Merge)) {}

prometheus::Family<prometheus::Counter>& Metrics::counters(const std::string& name, const std::string& help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(*registry_);
}
prometheus::Family<prometheus::Gauge>& Metrics::gauges(const std::string& name, const std::string& help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(*registry_);
}
prometheus::Family<prometheus::Histogram>& Metrics::histograms(const std::string& name, const std::string& help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry_);
}
prometheus::Counter& Metrics::counter(const std::string& name, const std::string& help) {
    return counters(name, help).Add({});
}
prometheus::Gauge& Metrics::gauge(const std::string& name, const std::string& help) {
    return gauges(name, help).Add({});
}
prometheus::Histogram& Metrics::histogram(const std::string& name, const std::string& help,
                                          const std::vector<double>& bounds) {
    return histograms(name, help).Add({}, prometheus::Histogram::BucketBoundaries(bounds));
}
void Metrics::onScrape(std::function<void()> collect) {
    std::lock_guard lock(mutex_);
    on_scrape_.push_back(std::move(collect));
}
std::string Metrics::render() const {
    {
        std::lock_guard lock(mutex_);
        for (const auto& collect : on_scrape_) collect();
    }
    return prometheus::TextSerializer().Serialize(registry_->Collect());
}

std::vector<double> exponentialBuckets(double first, double factor, int count) {
    std::vector<double> out;
    for (double bound = first; count > 0; --count, bound *= factor) out.push_back(bound);
    return out;
}

}  // namespace dq
