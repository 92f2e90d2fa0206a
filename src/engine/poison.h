// When to recycle a pool's connections and when to restart the engine (lake.md §8.2), from the outcomes of statements.
//
//   switch (watch.observe(outcome, lease.fresh())) {
//       case PoisonWatch::Action::kRecycle: lease.broken(); pool.recycle(); break;
//       …
//
// A session that says "transaction is aborted" is answered with a recycle; when a connection minted after that recycle
// says so again, or the instance is dead, only a restart helps. Threads: any.
#pragma once
#include <absl/status/status.h>

#include <mutex>

namespace dq::engine {

class PoisonWatch {
  public:
    enum class Action { kNone, kRecycle, kRestart };
    // Outcome of any statement, fetch or commit; `fresh` as of the Lease it ran on.
    Action observe(const absl::Status& outcome, bool fresh);
    // After a restart.
    void reset();

  private:
    std::mutex mutex_;
    bool armed_ = false;
};

}  // namespace dq::engine
