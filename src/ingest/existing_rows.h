// Which rows of a bundle the lake already holds, by the key (subject, time in ms, type, source, id) of writer.md B1.
#pragma once
#include <absl/status/statusor.h>

#include <span>
#include <vector>

#include "engine/value.h"
#include "ingest/bundle.h"
#include "lake/lake.h"

namespace dq::ingest {

// One probe: all keys of a type in an unbroken run of days.
struct ProbeRange {
    std::string type;
    Micros from = 0, until = 0;  // whole days, `until` excluded
};

// The runs of days of each type in the rows, sorted.
std::vector<ProbeRange> probeRanges(std::span<const Row> rows);
// Row numbers of the staged keys that lake.raw_events holds. Type and days are literals, so that only the files of
// those partitions are read.
engine::Sql probeSql(const ProbeRange& range);
// One flag a row. Reads one snapshot for all ranges.
absl::StatusOr<std::vector<bool>> existingRows(lake::Lake& lake, std::span<const Row> rows, const Cancel& cancel);

}  // namespace dq::ingest
