// The lake's tables: names, DDL, layout, and the schema bootstrap that mints no snapshot on a complete catalog
// (lake.md §3, §7).
#pragma once
#include <absl/status/status.h>

#include <functional>

#include <string_view>

#include "lake/lake.h"

namespace dq::lake {

// What a bootstrap found that its caller must act on.
struct BootstrapFindings {
    // Rows written by a program without loc_ts, or a rollup nobody vouches for yet: full signals rebuild due.
    bool signals_rollup_incomplete = false;
    bool events_rollup_incomplete = false;  // events rows exist but events_latest was never completed: rebuild due
    bool raw_events_exists = false;
};

// Creates what is missing of the materializer's tables, sets layout and table options where missing, seeds
// cursor and lease rows, collapses doubled ones. Idempotent; each statement is retried on a commit conflict.
absl::StatusOr<BootstrapFindings> ensureDecodedTables(Lake& lake, const Cancel& cancel);
// Creates lake.raw_events (layout and options of writer.md A7) when absent; restores a missing layout half.
absl::Status ensureRawEvents(Lake& lake, const Cancel& cancel);
absl::StatusOr<bool> tableExists(engine::Connection& connection, std::string_view name, const Cancel& cancel);
// Repeats `run` up to 5 times on a commit conflict, waiting 100, 200 … 500 ms.
absl::Status retryOnConflict(const Cancel& cancel, const std::function<absl::Status()>& run);

}  // namespace dq::lake
