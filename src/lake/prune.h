// Deleting old decoded rows and the summary rows they leave behind. Deletes exclude inserts into the same table, so
// each transaction is short and runs under the process's commit lock. Threads: any.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>

#include "lake/lake.h"

namespace dq::lake {

// Rows of signals and events older than `cutoff`, day by day, then rows of signals_latest and events_latest whose
// newest reading is older and whose base rows are gone. Returns the base rows removed. The first error ends it.
absl::StatusOr<std::int64_t> pruneDecoded(Lake& lake, Micros cutoff, const Cancel& cancel);

}  // namespace dq::lake
