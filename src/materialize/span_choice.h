// Which snapshots the next span decodes (materializer.md §13.3, §13.5). Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "lake/feed.h"

namespace dq::materialize {

struct SpanBounds {
    int max_snapshots = 0;                // with raw rows; 0: as many as the rows allow
    std::int64_t max_raw_rows = 500'000;  // about; one snapshot is always taken
};

// Where the rows of (from, to] come from.
struct SpanSource {
    std::int64_t from = 0, to = 0;
    std::int64_t feed_from = 0;  // first snapshot id asked from the feed; its rows ≤ `from` are not there
    bool expired = false;        // the feed's start has expired: read the base table instead
    // Rewrites whose rows are known to have been delivered before.
    std::vector<std::int64_t> without;
};

// The next span after `cursor`; none when nothing up to the head inserted a raw row.
std::optional<SpanSource> chooseSpan(const lake::SnapshotList& list, std::int64_t cursor, const SpanBounds& bounds);

}  // namespace dq::materialize
