// Cancels a command's work on SIGINT or SIGTERM. A second signal ends the process at once.
#pragma once
#include <signal.h>

#include <atomic>
#include <thread>

#include "core/cancel.h"

namespace dq::app {

// Make it before any other thread starts: signals are blocked from then on.
class CancelOnSignal {
  public:
    explicit CancelOnSignal(Cancel cancel);
    ~CancelOnSignal();
    CancelOnSignal(const CancelOnSignal&) = delete;
    CancelOnSignal& operator=(const CancelOnSignal&) = delete;

  private:
    sigset_t signals_{};
    std::atomic<bool> done_{false};
    std::thread thread_;
};

}  // namespace dq::app
