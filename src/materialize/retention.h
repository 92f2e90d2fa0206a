// Pruning of decoded rows older than LAKE_DECODED_RETENTION (materializer.md §9).
//
// At most hourly, the first time an hour after the start; signals, then events, then rollup rows whose newest reading
// is older and whose base rows are gone. Deletes exclude inserts into the same table, so each runs for one day of rows
// under the process's commit lock: windows wait for a chunk, never for the whole prune.
// Threads: run() is for one thread of its own; prune() for tests and run().
#pragma once
#include <absl/status/statusor.h>

#include <functional>

#include "core/clock.h"
#include "lake/lake.h"
#include "materialize/metrics.h"

namespace dq::materialize {

class Retention {
  public:
    // `keep` in µs, > 0. `may` tells whether this process may write: a standby prunes nothing.
    Retention(lake::Lake& lake, Micros keep, MaterializerMetrics& metrics, const Clock& clock,
              std::function<bool()> may)
        : lake_(lake), keep_(keep), metrics_(metrics), clock_(clock), may_(std::move(may)) {}
    // Rows removed from signals and events. The first error ends it; it is counted and logged.
    absl::StatusOr<std::int64_t> prune(const Cancel& cancel);
    // Prunes every hour until cancelled.
    void run(const Cancel& cancel);

  private:
    lake::Lake& lake_;
    Micros keep_;
    MaterializerMetrics& metrics_;
    const Clock& clock_;
    std::function<bool()> may_;
};

}  // namespace dq::materialize
