#include "app/readiness.h"

#include "core/log.h"

namespace dq::app {

Readiness::Readiness(Options options, std::function<absl::Status()> probe, std::function<void()> give_up,
                     const Clock& clock)
    : options_(options), probe_(std::move(probe)), give_up_(std::move(give_up)), clock_(clock) {}

bool Readiness::judge(std::int64_t now) const {
    return last_result_ || (last_success_ && now - *last_success_ < options_.grace_micros);
}

bool Readiness::ready() {
    std::lock_guard lock(mutex_);
    if (stopped_) return false;
    std::int64_t now = clock_.steadyMicros();
    if (last_run_ && now - *last_run_ < options_.cache_micros) return judge(now);
    const absl::Status result = probe_();
    now = clock_.steadyMicros();
    last_run_ = now;
    last_result_ = result.ok();
    if (result.ok()) {
        last_success_ = now;
        failing_since_.reset();
        return true;
    }
    if (!failing_since_) failing_since_ = now;
    if (now - *failing_since_ >= options_.give_up_micros && !gave_up_) {
        gave_up_ = true;
        logFatal("not ready for too long", {{"error", result.message()}});
        give_up_();
    }
    return judge(now);
}

void Readiness::stop() {
    std::lock_guard lock(mutex_);
    stopped_ = true;
}

}  // namespace dq::app
