// Where the windows of a span go: into the lake under the writer lease, or beside it (backfill).
#pragma once
#include <absl/status/statusor.h>

#include "core/cancel.h"
#include "engine/database.h"
#include "lake/window.h"

namespace dq::materialize {

enum class Commit { kCommitted, kLostRace };

class WindowSink {
  public:
    virtual ~WindowSink() = default;
    // Writes one sorted window; `last`: the end of its span, also when there is nothing to write. Repeats until it
    // commits, another writer is seen to own the lake (kLostRace), or it fails.
    virtual absl::StatusOr<Commit> commit(engine::Connection& connection, const lake::Stage& stage, bool last,
                                          const Cancel& cancel) = 0;
    // Failed attempts in a row: those that the last window needed, or of one not committed yet. From three on the
    // windows that follow are cut smaller, since short transactions lose fewer races.
    virtual int failures() const { return 0; }
};

}  // namespace dq::materialize
