// Prometheus series. A folder that measures declares a struct of its series, built from a Metrics, and keeps
// references:
//
//   struct QueryMetrics { Family<Histogram>& read_seconds; explicit QueryMetrics(Metrics& m) : ... {} };
//
// Names, labels, buckets and help follow data/metrics.csv. A series exists only in a process that built its struct:
// alerts rely on absence. Threads: any. The Metrics must outlive every user.
#pragma once
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dq {

class Metrics {
  public:
    Metrics();
    // Declares a family, or returns the one declared under this name.
    prometheus::Family<prometheus::Counter>& counters(const std::string& name, const std::string& help);
    prometheus::Family<prometheus::Gauge>& gauges(const std::string& name, const std::string& help);
    prometheus::Family<prometheus::Histogram>& histograms(const std::string& name, const std::string& help);
    // Unlabelled series, present from the start with value 0.
    prometheus::Counter& counter(const std::string& name, const std::string& help);
    prometheus::Gauge& gauge(const std::string& name, const std::string& help);
    prometheus::Histogram& histogram(const std::string& name, const std::string& help,
                                     const std::vector<double>& bounds);
    // Runs `collect` at the start of every scrape (for gauges read from elsewhere).
    void onScrape(std::function<void()> collect);
    // Prometheus text format 0.0.4 of all series.
    std::string render() const;

  private:
    std::shared_ptr<prometheus::Registry> registry_;
    mutable std::mutex mutex_;
    std::vector<std::function<void()>> on_scrape_;
};

// a, a·f, a·f², … (n bounds): exp(a,f,n) of data/metrics.csv.
std::vector<double> exponentialBuckets(double first, double factor, int count);

}  // namespace dq
