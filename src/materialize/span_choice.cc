#include "materialize/span_choice.h"

namespace dq::materialize {
namespace {

// Expired ids name no changes any more: what they inserted is found by reading the base table as of a retained
// snapshot at which the table exists.
std::optional<SpanSource> expiredSpan(const lake::SnapshotList& list, std::int64_t cursor) {
    for (const lake::Snapshot& snapshot : list.snapshots) {
        if (snapshot.id >= list.raw_events_since)
            return SpanSource{.from = cursor, .to = snapshot.id, .feed_from = 0, .expired = true, .without = {}};
    }
    return std::nullopt;
}

}  // namespace

std::optional<SpanSource> chooseSpan(const lake::SnapshotList& list, std::int64_t cursor, const SpanBounds& bounds) {
    if (list.snapshots.empty()) return std::nullopt;
    if (!list.feed_start) return expiredSpan(list, cursor);
    SpanSource span{.from = cursor, .to = -1, .feed_from = *list.feed_start, .expired = false, .without = {}};
    int snapshots = 0;
    std::int64_t rows = 0;
    std::int64_t expected = cursor + 1;
    bool complete = true;  // every id in (cursor, this one] is retained
    std::vector<std::int64_t> rewrites;
    for (const lake::Snapshot& snapshot : list.snapshots) {
        complete = complete && snapshot.id == expected++;
        // A rewrite delivers the surviving rows of its files again. They may be the only copy when an id before it
        // has expired.
        const bool skip = snapshot.rewrote && complete;
        if (!snapshot.inserted && (!snapshot.rewrote || skip)) {
            if (skip) rewrites.push_back(snapshot.id);
            continue;
        }
        if (bounds.max_snapshots > 0 && snapshots == bounds.max_snapshots) break;
        if (snapshots > 0 && rows + snapshot.raw_rows > bounds.max_raw_rows) break;
        ++snapshots;
        rows += snapshot.raw_rows;
        span.to = snapshot.id;
        span.without = rewrites;
    }
    if (span.to < 0) return std::nullopt;
    return span;
}

}  // namespace dq::materialize
