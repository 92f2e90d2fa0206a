// Faults in engine calls, for tests: fail the n-th call of a piece of work, or lose the answer to it, and see that
// nothing is lost. Without an injector a call costs one load.
//
//   class FailThird : public FaultInjector { … };
//   FailThird injector;
//   const FaultScope scope(injector);      // process-wide while it lives
//
// Threads: hooks are called from any thread that uses the engine.
#pragma once
#include <absl/status/status.h>

#include <atomic>
#include <string_view>

#include "engine/error.h"

namespace dq::engine {

enum class Call { kStatement, kFetch, kBegin, kCommit };

class FaultInjector {
  public:
    virtual ~FaultInjector() = default;
    // Not OK: the call is not made and fails so. A COMMIT that is not made rolls back.
    virtual absl::Status before(Call call, std::string_view text) = 0;
    // Not OK: the call was made and did succeed, its caller hears this instead.
    virtual absl::Status after(Call call, std::string_view text) = 0;
};

class FaultScope {
  public:
    explicit FaultScope(FaultInjector& injector);
    ~FaultScope();
    FaultScope(const FaultScope&) = delete;
    FaultScope& operator=(const FaultScope&) = delete;
};

// An error like the engine's own of that class.
absl::Status faultOf(ErrorClass error_class);

namespace internal {

extern std::atomic<FaultInjector*> injector;

inline absl::Status faultBefore(Call call, std::string_view text) {
    FaultInjector* const active = injector.load(std::memory_order_acquire);
    return active == nullptr ? absl::OkStatus() : active->before(call, text);
}
inline absl::Status faultAfter(Call call, std::string_view text) {
    FaultInjector* const active = injector.load(std::memory_order_acquire);
    return active == nullptr ? absl::OkStatus() : active->after(call, text);
}

}  // namespace internal
}  // namespace dq::engine
