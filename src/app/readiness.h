// GET /ready: cached probe, grace after a success, exit after a long failure (server.md §6).
//
// Threads: any; concurrent probes share one check.
#pragma once
#include <absl/status/status.h>

#include <functional>
#include <mutex>
#include <optional>

#include "core/clock.h"

namespace dq::app {

class Readiness {
  public:
    struct Options {
        std::int64_t cache_micros = 3'000'000;
        std::int64_t grace_micros = 60'000'000;
        std::int64_t give_up_micros = 300'000'000;
    };
    // `probe` is the raw check; `give_up` is called once when it has failed for the whole time.
    Readiness(Options options, std::function<absl::Status()> probe, std::function<void()> give_up,
              const Clock& clock = systemClock());
    bool ready();
    // From now on not ready: the process is going down.
    void stop();

  private:
    bool judge(std::int64_t now) const;
    const Options options_;
    const std::function<absl::Status()> probe_;
    const std::function<void()> give_up_;
    const Clock& clock_;
    std::mutex mutex_;  // also held by the check, so that others wait for its result
    std::optional<std::int64_t> last_run_, last_success_, failing_since_;
    bool last_result_ = false, stopped_ = false, gave_up_ = false;
};

}  // namespace dq::app
