#include "engine/poison.h"

#include "engine/error.h"

namespace dq::engine {

PoisonWatch::Action PoisonWatch::observe(const absl::Status& outcome, bool fresh) {
    std::lock_guard lock(mutex_);
    switch (errorClass(outcome)) {
        case ErrorClass::kNone:
            if (fresh) armed_ = false;
            return Action::kNone;
        case ErrorClass::kEngineDead: return Action::kRestart;
        case ErrorClass::kSessionAborted:
            if (armed_ && fresh) return Action::kRestart;
            armed_ = true;
            return Action::kRecycle;
        default: return Action::kNone;
    }
}

void PoisonWatch::reset() {
    std::lock_guard lock(mutex_);
    armed_ = false;
}

}  // namespace dq::engine
