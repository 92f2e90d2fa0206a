// Time as an injected dependency: tests advance a ManualClock instead of sleeping.
#pragma once
#include <atomic>
#include <cstdint>

#include "core/time.h"

namespace dq {

// Threads: all methods may be called from any thread.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual Micros now() const = 0;                 // wall clock, µs UTC
    virtual std::int64_t steadyMicros() const = 0;  // monotonic, for ages and time-outs
};

// The machine's clocks. One object, never destroyed.
const Clock& systemClock();

class ManualClock final : public Clock {
  public:
    explicit ManualClock(Micros now) : now_(now) {}
    Micros now() const override { return now_.load(); }
    std::int64_t steadyMicros() const override { return steady_.load(); }
    void set(Micros now) { now_ = now; }
    void advance(Micros by) {
        now_ += by;
        steady_ += by;
    }

  private:
    std::atomic<Micros> now_;
    std::atomic<std::int64_t> steady_{0};
};

}  // namespace dq
