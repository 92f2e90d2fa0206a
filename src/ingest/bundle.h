// One bundle of rows on its way into the lake: when it is full, what it weighs, and how a failed one is taken apart.
//
// A bundle is one transaction and one snapshot. When it fails it is halved, level by level, until the rows at fault
// stand alone. A single row is poison only with proof: its text cannot be a lake value at all, or a sibling range
// committed in the same pass while the lake refused this row for its content or for the tenth time. Otherwise the fault
// may be the lake's and the row stays pending: an outage never costs a healthy row. Eight attempts without one commit
// end the pass, since the writer is down.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "cloudevent/cloudevent.h"
#include "core/cancel.h"
#include "ingest/ingest_metrics.h"

namespace dq::ingest {

using cloudevent::Row;

// Appends rows in one transaction; the id of the snapshot that holds them.
using Append = std::function<absl::StatusOr<std::int64_t>(std::span<const Row>, const Cancel&)>;

// Settings SINK_* of writer.md A6.
struct SinkSettings {
    std::size_t max_rows = 100'000;
    std::uint64_t max_bytes = 128 * 1024 * 1024;
    std::uint64_t min_flush_bytes = 16 * 1024 * 1024;
    std::int64_t max_age_micros = 60 * kMicrosPerSecond;
    std::int64_t max_age_hard_micros = 300 * kMicrosPerSecond;
    std::int64_t drain_micros = 30 * kMicrosPerSecond;
};

// True when a bundle of this size, whose first row came `age_micros` ago, is due. Bytes are those of the wire.
bool bundleDue(const SinkSettings& settings, std::size_t rows, std::uint64_t bytes, std::int64_t age_micros);
// Bytes that all bundles of one sink may hold in memory: max(4 · bytes per flush ÷ sinks, 3 · bytes per flush).
std::uint64_t residentCeiling(std::uint64_t bytes_per_flush, int sinks = 1);
// Memory of one row: its texts and 512 bytes.
std::uint64_t residentBytes(const Row& row);

struct RowFault {
    std::size_t row = 0;
    bool poison = false;  // else pending: it may be sent again
    absl::Status reason;
};

struct BundleResult {
    std::vector<RowFault> faults;  // every row that is not stored, in order
    std::int64_t snapshot = 0;     // newest snapshot that holds rows of the bundle; 0 when none does
    int commits = 0, attempts = 0;
};

// `deliveries[i]` counts earlier passes that left row i pending; empty means none did.
BundleResult commitBundle(std::span<const Row> rows, std::span<const std::uint16_t> deliveries, const Append& append,
                          const Cancel& cancel, IngestMetrics* metrics = nullptr);

}  // namespace dq::ingest
