#include "materialize/page.h"

#include <simdjson.h>

#include <chrono>
#include <span>

#include "core/status.h"
#include "lake/feed.h"

namespace dq::materialize {
namespace {

// A payload buffer larger than this is given back after use.
constexpr std::size_t kKeptBytes = 4u << 20;

// Extras never influence rows; malformed ones are counted (decode.md §1.2).
bool extrasMalformed(std::string_view extras) {
    if (extras.empty() || extras == "{}") return false;
    thread_local simdjson::dom::parser parser;
    simdjson::dom::element document;
    if (parser.parse(extras.data(), extras.size()).get(document) != simdjson::SUCCESS) return true;
    return !document.is_object() && !document.is_null();
}

}  // namespace

struct PageDecoder::Columns {
    explicit Columns(const engine::Chunk& chunk)
        : subject(chunk.strings(lake::kFeedSubject)),
          type(chunk.strings(lake::kFeedType)),
          id(chunk.strings(lake::kFeedId)),
          source(chunk.strings(lake::kFeedSource)),
          producer(chunk.strings(lake::kFeedProducer)),
          data_version(chunk.strings(lake::kFeedDataVersion)),
          extras(chunk.strings(lake::kFeedExtras)),
          data(chunk.strings(lake::kFeedData)),
          data_base64(chunk.strings(lake::kFeedDataBase64)),
          index_key(chunk.strings(lake::kFeedDataIndexKey)),
          time(chunk.micros(lake::kFeedTime)) {}
    using Text = engine::Column<std::string_view>;
    Text subject, type, id, source, producer, data_version, extras, data, data_base64, index_key;
    engine::Column<std::int64_t> time;

    bool headerComplete(idx_t row) const {
        return subject.valid(row) && time.valid(row) && id.valid(row) && source.valid(row);
    }
    bool isBase64(idx_t row) const { return data_base64.valid(row) && !data_base64[row].empty(); }
    std::string_view payload(idx_t row) const { return isBase64(row) ? data_base64[row] : data[row]; }
};

void PageDecoder::decodeRow(const Columns& columns, idx_t row, const std::string* fetched, Page& page,
                            lake::RowBlock& block) {
    if (columns.time[row] != kZeroTime) page.event_times.push_back(columns.time[row]);
    if (columns.extras.valid(row) && extrasMalformed(columns.extras[row])) ++page.malformed_extras;
    decode::Input input;
    input.subject = columns.subject[row];
    input.source = columns.source[row];
    input.producer = columns.producer[row];
    input.id = columns.id[row];
    input.type = columns.type[row];
    input.data_version = columns.data_version[row];
    input.time = columns.time[row];
    input.payload_is_base64_text = fetched == nullptr && columns.isBase64(row);
    const std::string_view payload = fetched != nullptr ? *fetched : columns.payload(row);
    payload_.assign(payload);
    payload_.append(simdjson::SIMDJSON_PADDING, '\0');
    input.payload = std::string_view(payload_).substr(0, payload.size());
    batch_.clear();
    decoder_.decode(input, *scratch_, batch_);
    for (const decode::SignalRow& signal : batch_.signals) block.addSignal(signal);
    for (const decode::EventRow& event : batch_.events) {
        const auto tags = batch_.tags.begin() + event.first_tag;
        tags_.assign(tags, tags + event.tag_count);
        block.addEvent(event, tags_);
    }
    page.failed += batch_.failed;
    if (payload_.capacity() > kKeptBytes) payload_ = {};
}

// The next slice of payload objects, from requests_[first] on.
absl::Status PageDecoder::fetchFrom(std::size_t first, const Cancel& cancel, Page& page) {
    const auto start = std::chrono::steady_clock::now();
    fetched_.clear();
    next_fetched_ = 0;
    DQ_ASSIGN_OR_RETURN(fetched_, payloads_.fetch(std::span(requests_).subspan(first), fetches_, cancel));
    page.fetched = true;
    page.fetch_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Page>> PageDecoder::decode(const engine::Chunk& chunk, const Cancel& cancel) {
    const auto start = std::chrono::steady_clock::now();
    const Columns columns(chunk);
    auto page = std::make_unique<Page>();
    auto block = std::make_shared<lake::RowBlock>();
    page->rows.reserve(chunk.size());
    requests_.clear();
    fetched_.clear();
    next_fetched_ = 0;
    for (idx_t row = 0; row < chunk.size(); ++row) {
        if (!columns.headerComplete(row) || !columns.payload(row).empty() || columns.index_key[row].empty()) continue;
        // Rows that routing ignores need no payload.
        if (!decoder_.wants(columns.type[row], columns.subject[row])) continue;
        if (payloads_.isPayload(columns.id[row], columns.index_key[row]))
            requests_.push_back({row, columns.id[row], columns.index_key[row]});
    }
    std::size_t used = 0, request = 0;
    for (idx_t row = 0; row < chunk.size(); ++row) {
        if (!columns.headerComplete(row)) {
            ++page->failed;
        } else if (request < requests_.size() && requests_[request].row == row) {
            if (next_fetched_ == fetched_.size()) DQ_RETURN_IF_ERROR(fetchFrom(request, cancel, *page));
            Payloads::Payload& payload = fetched_[next_fetched_++];
            ++request;
            if (payload.bytes) decodeRow(columns, row, &*payload.bytes, *page, *block);
            payload.bytes.reset();
        } else {
            decodeRow(columns, row, nullptr, *page, *block);
        }
        const lake::Stage::Ends after{static_cast<std::uint32_t>(block->signals().size()),
                                      static_cast<std::uint32_t>(block->events().size())};
        page->rows.push_back({after, static_cast<std::uint32_t>(block->used() - used)});
        used = block->used();
    }
    block->seal();
    page->block = std::move(block);
    page->decode_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() - page->fetch_seconds;
    return page;
}

}  // namespace dq::materialize
