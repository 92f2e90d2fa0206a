// The change feed of lake.raw_events: which snapshots exist, and the rows that a span of them inserted, as one
// unsorted stream.
//
// Facts (materializer.md §4.1): start and end of a span must be retained; the table must exist at the end; the order
// of rows is not a contract; a rewrite of delete-heavy files delivers surviving rows again (the anti-join absorbs
// them).
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lake/lake.h"

namespace dq::lake {

struct Snapshot {
    std::int64_t id = 0;
    Micros committed = 0;
    bool inserted = false;      // raw rows, also inlined ones
    bool rewrote = false;       // files of raw_events with deleted rows: the feed shows the others as inserted again
    std::int64_t raw_rows = 0;  // about how many it inserted, from the catalog; 0 when inlined or since merged
};

// Newest snapshot id.
StatusOr<std::int64_t> headSnapshot(engine::Connection& connection, const Cancel& cancel);
// Retained snapshots with an id above `after`, ascending.
struct SnapshotList {
    std::vector<Snapshot> snapshots;
    // Where the feed may start: the greatest retained id ≤ after + 1. None: the snapshots right after `after` have
    // expired, and what they inserted must be read from the base table.
    std::optional<std::int64_t> feed_start;
    bool raw_events_exists = false;
    std::int64_t raw_events_since = 0;  // snapshot that created it
};
StatusOr<SnapshotList> snapshotsAfter(engine::Connection& connection, std::int64_t after, const Cancel& cancel);

// Columns of feed chunks, in order.
enum FeedColumn : int {
    kFeedSubject,
    kFeedTime,
    kFeedType,
    kFeedId,
    kFeedSource,
    kFeedProducer,
    kFeedDataVersion,
    kFeedExtras,
    kFeedData,
    kFeedDataBase64,
    kFeedDataIndexKey
};
// Rows inserted by snapshots (after, to], read once, streamed; the feed is asked from `start` (≤ after + 1,
// retained). Rows that it attributes to snapshots in `without` are left out. Occupies the connection until drained.
StatusOr<engine::Result> streamInsertions(engine::Connection& connection, std::int64_t start, std::int64_t after,
                                          std::int64_t to, std::span<const std::int64_t> without, const Cancel& cancel);
// The same rows out of the base table as of snapshot `to`: ids of inserted rows survive expiry, so nothing is lost
// but rows deleted since.
StatusOr<engine::Result> streamExpired(engine::Connection& connection, std::int64_t after, std::int64_t to,
                                       const Cancel& cancel);
// How many raw rows streamRange() would give, and their first and last event time.
struct RangeCount {
    std::int64_t rows = 0;
    Micros first = 0, last = -1;
};
StatusOr<RangeCount> countRange(engine::Connection& connection, Micros from, Micros to, std::string_view subject,
                                const Cancel& cancel);
// Raw rows with from ≤ "time" < to, of one subject when it is not empty, out of the base table.
StatusOr<engine::Result> streamRange(engine::Connection& connection, Micros from, Micros to, std::string_view subject,
                                     const Cancel& cancel);

}  // namespace dq::lake
