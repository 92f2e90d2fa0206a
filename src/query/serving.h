// Which rows make the latest state of a subject: the stored rollup alone, or the rollup and the readings since a
// watermark.
//
// The writer records in the lake who maintains the rollup (rollups.md §13.1): `fold` (complete with every commit) or
// `daily <W>` (complete below W). The record counts when it was written with the last move of the snapshot cursor;
// otherwise another program has written since, and the setting LAKE_ROLLUP_DAILY_SERVING and the watermark row decide,
// as in the reference. All of it comes from the caller's snapshot.
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "query/types.h"

namespace dq::query {

// Texts of the rows of lake.ingest_progress; absent = no row. A NULL text reads as "".
struct ServingRows {
    std::optional<std::string> maintainer, through, cursor, watermark;
};
struct ServingChoice {
    std::optional<Micros> tail_from;   // readings from here on are added to the rollup
    bool contradicts_setting = false;  // the record and LAKE_ROLLUP_DAILY_SERVING say different things
};
// Internal when the watermark row must decide and is no RFC 3339 time.
absl::StatusOr<ServingChoice> chooseServing(const ServingRows& rows, bool daily_serving);

// Keeps the first row of each name; rows are ascending by name, the row to keep first.
void keepFirstOfName(std::vector<LatestSignal>& rows);
// Rollup ∪ tail, both ascending by name, disjoint in time: values of the newer row, the newer fix, sum of counts, outer
// extremes.
std::vector<LatestSignal> mergeTail(std::vector<LatestSignal> rollup, std::vector<LatestSignal> tail);

}  // namespace dq::query
