#include "core/clock.h"

#include <chrono>

namespace dq {
namespace {

class SystemClock final : public Clock {
  public:
    Micros now() const override {
        return std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::system_clock::now().time_since_epoch())
            .count();
    }
    std::int64_t steadyMicros() const override {
        return std::chrono::duration_cast<std::chrono::microseconds>(
                   std::chrono::steady_clock::now().time_since_epoch())
            .count();
    }
};

}  // namespace

const Clock& systemClock() {
    static const SystemClock* clock = new SystemClock();
    return *clock;
}

}  // namespace dq
