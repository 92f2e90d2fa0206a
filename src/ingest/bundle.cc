#include "ingest/bundle.h"

#include <simdjson.h>

#include <deque>
#include <exception>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"

namespace dq::ingest {
namespace {

constexpr int kMaxAttemptsWithoutCommit = 8;
constexpr int kPoisonDeliveries = 10;

struct Range {
    std::size_t begin, end;
};

bool isUtf8(std::string_view text) { return simdjson::validate_utf8(text.data(), text.size()); }
bool isUtf8OrNull(const std::optional<std::string>& text) { return !text || isUtf8(*text); }

// A fault that lies in the row alone, whatever state the lake is in.
Status rowDefect(const Row& row) {
    const bool valid = isUtf8(row.subject) && isUtf8(row.type) && isUtf8(row.id) && isUtf8(row.source) &&
                       isUtf8(row.producer) && isUtf8(row.data_content_type) && isUtf8(row.data_version) &&
                       isUtf8(row.extras) && isUtf8OrNull(row.data) && isUtf8OrNull(row.data_index_key) &&
                       isUtf8OrNull(row.voids_id);
    return valid ? absl::OkStatus() : absl::InvalidArgumentError("a text of the row is not valid UTF-8");
}

// After these a smaller range would fare no better, or would store rows twice.
bool endsThePass(const Status& status) {
    return absl::IsCancelled(status) || absl::IsDeadlineExceeded(status) || absl::IsDataLoss(status) ||
           absl::IsUnknown(status);
}

StatusOr<std::int64_t> appendGuarded(const Append& append, std::span<const Row> rows, const Cancel& cancel) {
    try {
        DQ_RETURN_IF_ERROR(cancel.check());
        return append(rows, cancel);
    } catch (const std::exception& error) {
        return absl::InternalError(strCat("append threw: ", error.what()));
    }
}

// Rows that failed alone: poison where that is proven.
void judge(std::vector<RowFault>& alone, std::span<const Row> rows, std::span<const std::uint16_t> deliveries,
           BundleResult& result, IngestMetrics* metrics) {
    for (RowFault& fault : alone) {
        const int delivered = 1 + (deliveries.empty() ? 0 : deliveries[fault.row]);
        if (Status defect = rowDefect(rows[fault.row]); !defect.ok()) {
            fault.poison = true;
            fault.reason = std::move(defect);
        } else {
            fault.poison =
                result.commits > 0 && (absl::IsInvalidArgument(fault.reason) || delivered >= kPoisonDeliveries);
        }
        if (fault.poison && metrics != nullptr) metrics->poison_rows.Increment();
        result.faults.push_back(std::move(fault));
    }
}

}  // namespace

bool bundleDue(const SinkSettings& settings, std::size_t rows, std::uint64_t bytes, std::int64_t age_micros) {
    if (rows == 0) return false;
    return rows >= settings.max_rows || bytes >= settings.max_bytes || age_micros >= settings.max_age_hard_micros ||
           (age_micros >= settings.max_age_micros && bytes >= settings.min_flush_bytes);
}

std::uint64_t residentCeiling(std::uint64_t bytes_per_flush, int sinks) {
    return std::max(4 * bytes_per_flush / static_cast<std::uint64_t>(std::max(sinks, 1)), 3 * bytes_per_flush);
}

std::uint64_t residentBytes(const Row& row) {
    std::uint64_t bytes = 512 + row.subject.size() + row.type.size() + row.id.size() + row.source.size() +
                          row.producer.size() + row.data_content_type.size() + row.data_version.size() +
                          row.extras.size();
    for (const auto* text : {&row.data, &row.data_base64, &row.data_index_key, &row.voids_id}) {
        if (*text) bytes += (*text)->size();
    }
    return bytes;
}

BundleResult commitBundle(std::span<const Row> rows, std::span<const std::uint16_t> deliveries, const Append& append,
                          const Cancel& cancel, IngestMetrics* metrics) {
    BundleResult result;
    if (rows.empty()) return result;
    std::vector<RowFault> alone;
    Status ended, first_failure;
    std::deque<Range> ranges = {{0, rows.size()}};
    while (!ranges.empty()) {
        const Range range = ranges.front();
        ranges.pop_front();
        if (!ended.ok()) {
            for (std::size_t row = range.begin; row < range.end; ++row) result.faults.push_back({row, false, ended});
            continue;
        }
        ++result.attempts;
        StatusOr<std::int64_t> snapshot =
            appendGuarded(append, rows.subspan(range.begin, range.end - range.begin), cancel);
        if (snapshot.ok()) {
            ++result.commits;
            result.snapshot = std::max(result.snapshot, *snapshot);
            if (metrics != nullptr) metrics->commits.Increment();
            continue;
        }
        if (metrics != nullptr) metrics->commit_failures.Increment();
        if (first_failure.ok()) first_failure = snapshot.status();
        const bool writer_down = result.commits == 0 && result.attempts >= kMaxAttemptsWithoutCommit;
        if (range.end - range.begin == 1) {
            alone.push_back({range.begin, false, snapshot.status()});
        } else if (writer_down || endsThePass(snapshot.status())) {
            ranges.push_front(range);
        } else {
            const std::size_t middle = range.begin + (range.end - range.begin) / 2;
            ranges.push_back({range.begin, middle});
            ranges.push_back({middle, range.end});
        }
        if (writer_down || endsThePass(snapshot.status())) ended = snapshot.status();
    }
    judge(alone, rows, deliveries, result, metrics);
    std::sort(result.faults.begin(), result.faults.end(),
              [](const RowFault& a, const RowFault& b) { return a.row < b.row; });
    if (!first_failure.ok()) {
        logWarn("a bundle of raw events failed", {{"rows", rows.size()},
                                                  {"attempts", result.attempts},
                                                  {"commits", result.commits},
                                                  {"not_stored", result.faults.size()},
                                                  {"error", absl::StatusCodeToString(first_failure.code())}});
    }
    return result;
}

}  // namespace dq::ingest
