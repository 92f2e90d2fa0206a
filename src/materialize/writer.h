// Committing windows exactly once: the writer lease, retries after conflicts, and the verdict after a lost
// acknowledgement (materializer.md §13.2).
//
// The lease row's text is `<id>/<k>`: id of this process start, k counts committed windows. Every window moves it
// from the text that this process believes is stored, so that two writers exclude each other, and a COMMIT whose
// acknowledgement was lost is settled by looking at it. Threads: one at a time.
#pragma once
#include <absl/status/status.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "core/clock.h"
#include "lake/lake.h"
#include "lake/window.h"
#include "materialize/metrics.h"
#include "materialize/window_sink.h"

namespace dq::materialize {

class Writer {
  public:
    struct Options {
        std::int64_t takeover_micros = 30'000'000;    // a lease that did not change for so long is free
        std::int64_t give_up_micros = 3'600'000'000;  // conflicts in a row for so long are a failure
        std::int64_t backoff_micros = 50'000;         // first bound of the random wait
    };

    Writer(lake::Lake& lake, MaterializerMetrics& metrics, Options options, const Clock& clock);

    // Whether this process is the owner, or nobody is seen to be: a file catalog admits one process; on a server
    // catalog the lease must be free, or must not have changed for the take-over time. `stored` is the lease as read
    // last.
    bool mayOwn(const std::string& stored);
    // Takes the lease over where mayOwn(); true = owner.
    absl::StatusOr<bool> own(engine::Connection& connection, const std::string& stored, const Cancel& cancel);
    // Writes one window, repeated until it commits, another writer is seen to own the lease (kLostRace), or it fails.
    absl::StatusOr<Commit> commit(engine::Connection& connection, const lake::Stage& stage, lake::WindowPlan plan,
                                  const Cancel& cancel);
    // Frees the lease, if this process holds it. Best effort.
    void release();
    bool owner() const { return owner_; }
    // The text this process believes is stored; its own only while it is the owner.
    const std::string& lease() const { return lease_; }
    // See WindowSink::failures().
    int failures() const { return failures_; }

  private:
    enum class Verdict { kLanded, kNotLanded, kFenced };
    absl::StatusOr<Verdict> look(const lake::WindowPlan& plan, const Cancel& cancel);
    std::string next() const;
    bool backoff(int attempt, const Cancel& cancel);

    lake::Lake& lake_;
    MaterializerMetrics& metrics_;
    Options options_;
    const Clock& clock_;
    std::string id_;
    std::uint64_t count_ = 0;
    std::string lease_;  // the text this process believes is stored
    std::atomic<bool> owner_ = false;
    int failures_ = 0;
    bool settled_ = true;  // the last window was committed
    std::string foreign_;  // another writer's text, and since when it stands
    std::int64_t foreign_since_ = 0;
};

}  // namespace dq::materialize
