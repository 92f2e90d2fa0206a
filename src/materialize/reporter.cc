#include "materialize/reporter.h"

#include <pthread.h>

#include "core/log.h"
#include "core/status.h"
#include "lake/progress.h"

namespace dq::materialize {
namespace {

constexpr std::int64_t kReportEvery = 5'000'000, kKeepAlive = 300'000'000, kLook = 500'000;

}  // namespace

ProgressReporter::ProgressReporter(lake::Lake& lake, MaterializerMetrics& metrics, const Clock& clock)
    : lake_(lake), metrics_(metrics), clock_(clock) {}

ProgressReporter::~ProgressReporter() { stop(); }

void ProgressReporter::start(const Cancel& cancel) {
    stop_ = cancel.child();
    thread_ = std::jthread([this] {
        pthread_setname_np(pthread_self(), "dq-report");
        while (!stop_.waitFor(kLook)) step(stop_);
    });
}

void ProgressReporter::stop() {
    stop_.cancel();
    if (thread_.joinable()) thread_.join();
}

void ProgressReporter::note(std::int64_t cursor, bool caught_up, const Cancel& cancel) {
    {
        std::lock_guard lock(mutex_);
        position_ = cursor;
        caught_up_ = caught_up;
    }
    if (!thread_.joinable()) step(cancel);
}

void ProgressReporter::withhold() {
    std::lock_guard lock(mutex_);
    position_ = -1;
}

bool ProgressReporter::due(std::int64_t now) const {
    if (position_ < 0) return false;
    const std::int64_t since = now - attempted_;
    if (since >= kKeepAlive) return true;
    return position_ != reported_ && (caught_up_ || since >= kReportEvery);
}

void ProgressReporter::step(const Cancel& cancel) {
    std::int64_t position = 0;
    {
        std::lock_guard lock(mutex_);
        const std::int64_t now = clock_.steadyMicros();
        if (!due(now)) return;
        attempted_ = now;
        position = position_;
    }
    auto connection = lake_.acquire(cancel);
    const Status status =
        connection.ok() ? lake::reportConsumerProgress(**connection, position, cancel) : connection.status();
    if (status.ok()) {
        std::lock_guard lock(mutex_);
        reported_ = position;
    } else if (!cancel.cancelled()) {
        metrics_.progress_errors.Increment();
        logWarn("consumer progress report failed; will retry next pass", {{"error", status.message()}});
    }
}

}  // namespace dq::materialize
