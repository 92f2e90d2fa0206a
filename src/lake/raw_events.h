// Writing lake.raw_events: blind appends, one transaction and so one snapshot per bundle (writer.md A6, A7).
#pragma once
#include <absl/status/statusor.h>

#include <span>

#include "cloudevent/cloudevent.h"
#include "lake/lake.h"

namespace dq::lake {

// Appends the rows in one transaction; returns the snapshot id that holds them (0 for an empty bundle, which mints
// none). Retried 3 times on a conflict. An outcome that stays unknown is an error: the rows may or may not be there.
absl::StatusOr<std::int64_t> appendRawEvents(Lake& lake, std::span<const cloudevent::Row> rows, const Cancel& cancel);

}  // namespace dq::lake
