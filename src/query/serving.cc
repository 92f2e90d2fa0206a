#include "query/serving.h"

#include <algorithm>

#include "core/status.h"
#include "lake/progress.h"

namespace dq::query {
namespace {

constexpr std::string_view kDailyPrefix = "daily ";

std::optional<Micros> parseWatermark(std::string_view text) {
    const std::optional<Instant> instant = parseRfc3339(text);
    if (!instant) return std::nullopt;
    return instant->micros;
}

// What the maintainer row says, when it counts and can be read.
std::optional<ServingChoice> recordedChoice(const ServingRows& rows, bool daily_serving) {
    if (!rows.maintainer || !rows.through || !rows.cursor) return std::nullopt;
    const auto number = [](const std::string& text) {
        return text.empty() ? std::string_view("0") : std::string_view(text);
    };
    if (number(*rows.through) != number(*rows.cursor)) return std::nullopt;
    if (*rows.maintainer == lake::kFoldMaintainer) return ServingChoice{std::nullopt, daily_serving};
    const std::string_view text = *rows.maintainer;
    if (!text.starts_with(kDailyPrefix)) return std::nullopt;
    const std::optional<Micros> watermark = parseWatermark(text.substr(kDailyPrefix.size()));
    if (!watermark) return std::nullopt;
    return ServingChoice{watermark, !daily_serving};
}

void addTail(LatestSignal& row, LatestSignal&& tail) {
    row.count += tail.count;
    row.first_seen = std::min(row.first_seen, tail.first_seen);
    row.last_seen = std::max(row.last_seen, tail.last_seen);
    if (tail.location_time > row.location_time) {
        row.location = tail.location;
        row.location_time = tail.location_time;
    }
    if (tail.timestamp < row.timestamp) return;
    row.timestamp = tail.timestamp;
    row.value_number = tail.value_number;
    row.value_string = std::move(tail.value_string);
}

}  // namespace

absl::StatusOr<ServingChoice> chooseServing(const ServingRows& rows, bool daily_serving) {
    if (std::optional<ServingChoice> recorded = recordedChoice(rows, daily_serving)) return *recorded;
    if (!daily_serving || !rows.watermark) return ServingChoice{};
    const std::optional<Micros> watermark = parseWatermark(*rows.watermark);
    if (!watermark)
        return absl::InternalError(
            "row lake.signals_latest#daily_watermark of lake.ingest_progress is no RFC 3339 time");
    return ServingChoice{watermark, false};
}

void keepFirstOfName(std::vector<LatestSignal>& rows) {
    const auto same = [](const LatestSignal& a, const LatestSignal& b) { return a.name == b.name; };
    rows.erase(std::unique(rows.begin(), rows.end(), same), rows.end());
}

std::vector<LatestSignal> mergeTail(std::vector<LatestSignal> rollup, std::vector<LatestSignal> tail) {
    std::vector<LatestSignal> out;
    out.reserve(rollup.size() + tail.size());
    auto next = tail.begin();
    for (LatestSignal& row : rollup) {
        while (next != tail.end() && next->name < row.name) out.push_back(std::move(*next++));
        out.push_back(std::move(row));
        if (next != tail.end() && next->name == out.back().name) addTail(out.back(), std::move(*next++));
    }
    std::move(next, tail.end(), std::back_inserter(out));
    return out;
}

}  // namespace dq::query
