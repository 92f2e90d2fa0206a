#include "query/rows.h"

#include <algorithm>
#include <array>
#include <optional>

#include "core/status.h"
#include "lake/progress.h"

namespace dq::query {
namespace {

// Counts are BIGINT; a negative one can only be foreign and reads as 0.
std::uint64_t countOf(std::int64_t stored) { return stored < 0 ? 0 : static_cast<std::uint64_t>(stored); }

}  // namespace

struct SignalRows::Spans {
    Spans(const engine::Chunk& chunk, const Request& request) {
        const RequestColumns& at = *request.columns;
        if (at.rows >= 0) kept = chunk.column<std::int64_t>(static_cast<idx_t>(at.rows));
        if (request.presence_only) return;
        if (request.kind == RequestKind::kString) {
            text = chunk.strings(static_cast<idx_t>(at.value[0]));
            return;
        }
        for (std::size_t i = 0; i < at.value.size(); ++i) {
            if (at.value[i] >= 0) numbers[i] = chunk.column<double>(static_cast<idx_t>(at.value[i]));
        }
    }
    bool keeps(idx_t row) const { return !kept || (*kept)[row] > 0; }
    double number(std::size_t i, idx_t row) const { return numbers[i] ? (*numbers[i])[row] : 0.0; }

    std::optional<engine::Column<std::int64_t>> kept;
    std::array<std::optional<engine::Column<double>>, 4> numbers;
    std::optional<engine::Column<std::string_view>> text;
};

SignalRows::SignalRows(const SignalsQuestion& question, const SignalsStatement& statement)
    : from_(question.from), interval_(question.interval) {
    addRequests(question, statement);
}

void SignalRows::addRequests(const SignalsQuestion& question, const SignalsStatement& statement) {
    std::vector<std::pair<std::string, Request>> named;
    const auto add = [&](const auto& requests, const std::vector<RequestColumns>& columns, RequestKind kind) {
        for (std::uint32_t i = 0; i < requests.size(); ++i) {
            named.push_back({requests[i].name, {kind, i, &columns[i], requests[i].presence_only}});
        }
    };
    add(question.floats, statement.floats, RequestKind::kFloat);
    add(question.strings, statement.strings, RequestKind::kString);
    add(question.locations, statement.locations, RequestKind::kLocation);
    std::stable_sort(named.begin(), named.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [name, request] : named) {
        const auto [at, first] = names_.try_emplace(name, requests_.size(), requests_.size());
        requests_.push_back(request);
        at->second.second = requests_.size();
    }
}

void SignalRows::add(const engine::Chunk& chunk) {
    std::vector<Spans> spans;
    spans.reserve(requests_.size());
    for (const Request& request : requests_) spans.emplace_back(chunk, request);
    const auto bucket = chunk.column<std::int64_t>(0);
    const auto name = chunk.strings(1);
    for (idx_t row = 0; row < chunk.size(); ++row) {
        const Micros start = from_ + bucket[row] * interval_;
        if (buckets_.empty() || buckets_.back().start != start) {
            finishBucket();
            buckets_.push_back({start, {}});
        }
        const auto range = names_.find(abslView(name[row]));
        if (range == names_.end()) continue;
        for (std::size_t i = range->second.first; i < range->second.second; ++i) {
            if (!spans[i].keeps(row)) continue;
            SignalValue value{requests_[i].kind, requests_[i].index, 0, {}, {}};
            if (value.kind == RequestKind::kFloat) value.number = spans[i].number(0, row);
            if (spans[i].text) value.text = (*spans[i].text)[row];
            if (value.kind == RequestKind::kLocation) {
                value.location = {spans[i].number(0, row), spans[i].number(1, row), spans[i].number(2, row),
                                  spans[i].number(3, row)};
            }
            buckets_.back().values.push_back(std::move(value));
        }
    }
}

// A bucket's rows came by name; its values go out by kind and index. One whose rows no request kept is no bucket.
void SignalRows::finishBucket() {
    if (buckets_.empty()) return;
    std::vector<SignalValue>& values = buckets_.back().values;
    if (values.empty()) {
        buckets_.pop_back();
        return;
    }
    std::sort(values.begin(), values.end(), [](const SignalValue& a, const SignalValue& b) {
        return std::pair(a.kind, a.index) < std::pair(b.kind, b.index);
    });
}

std::vector<SignalBucket> SignalRows::take() {
    finishBucket();
    return std::move(buckets_);
}

void appendLatest(const engine::Chunk& chunk, ServingRows& progress, std::vector<LatestSignal>& rows) {
    const auto section = chunk.column<std::int32_t>(0);
    const auto name = chunk.strings(1), value_string = chunk.strings(2);
    const auto timestamp = chunk.micros(3), loc_ts = chunk.micros(9), count = chunk.column<std::int64_t>(10);
    const auto first_seen = chunk.micros(11), last_seen = chunk.micros(12);
    const auto value_number = chunk.column<double>(4), lat = chunk.column<double>(5), lon = chunk.column<double>(6);
    const auto hdop = chunk.column<double>(7), heading = chunk.column<double>(8);
    for (idx_t row = 0; row < chunk.size(); ++row) {
        if (section[row] == 1) {
            rows.push_back({std::string(name[row]),
                            timestamp[row],
                            value_number[row],
                            std::string(value_string[row]),
                            {lat[row], lon[row], hdop[row], heading[row]},
                            loc_ts[row],
                            countOf(count[row]),
                            first_seen[row],
                            last_seen[row]});
            continue;
        }
        const std::string_view key = name[row];
        const std::string content(value_string[row]);
        if (key == lake::kMaintainerKey) progress.maintainer = content;
        if (key == lake::kThroughKey) progress.through = content;
        if (key == lake::kCursorKey) progress.cursor = content;
        if (key == lake::kWatermarkKey) progress.watermark = content;
    }
}

void appendEvents(const engine::Chunk& chunk, std::vector<Event>& rows) {
    const auto timestamp = chunk.micros(0);
    const auto name = chunk.strings(1), source = chunk.strings(2), metadata = chunk.strings(4);
    const auto duration = chunk.column<std::uint64_t>(3);
    for (idx_t row = 0; row < chunk.size(); ++row) {
        rows.push_back({timestamp[row], std::string(name[row]), std::string(source[row]), duration[row],
                        std::string(metadata[row])});
    }
}

void appendSummaries(const engine::Chunk& chunk, std::vector<EventSummary>& rows) {
    const auto name = chunk.strings(0);
    const auto count = chunk.column<std::int64_t>(1), first_seen = chunk.micros(2), last_seen = chunk.micros(3);
    for (idx_t row = 0; row < chunk.size(); ++row) {
        if (!rows.empty() && rows.back().name == name[row]) continue;
        rows.push_back({std::string(name[row]), countOf(count[row]), first_seen[row], last_seen[row]});
    }
}

}  // namespace dq::query
