#include "materialize/page.h"

#include <simdjson.h>

#include <chrono>

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
          time(chunk.micros(lake::kFeedTime)) {}
    using Text = engine::Column<std::string_view>;
    Text subject, type, id, source, producer, data_version, extras, data, data_base64;
    engine::Column<std::int64_t> time;

    bool headerComplete(idx_t row) const {
        return subject.valid(row) && time.valid(row) && id.valid(row) && source.valid(row);
    }
    bool isBase64(idx_t row) const { return data_base64.valid(row) && !data_base64[row].empty(); }
    std::string_view payload(idx_t row) const { return isBase64(row) ? data_base64[row] : data[row]; }
};

void PageDecoder::decodeRow(const Columns& columns, idx_t row, Page& page, lake::RowBlock& block) {
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
    input.payload_is_base64_text = columns.isBase64(row);
    const std::string_view payload = columns.payload(row);
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

std::unique_ptr<Page> PageDecoder::decode(const engine::Chunk& chunk) {
    const auto start = std::chrono::steady_clock::now();
    const Columns columns(chunk);
    auto page = std::make_unique<Page>();
    auto block = std::make_shared<lake::RowBlock>();
    page->rows.reserve(chunk.size());
    std::size_t used = 0;
    for (idx_t row = 0; row < chunk.size(); ++row) {
        if (columns.headerComplete(row)) {
            decodeRow(columns, row, *page, *block);
        } else {
            ++page->failed;
        }
        const lake::Stage::Ends after{static_cast<std::uint32_t>(block->signals().size()),
                                      static_cast<std::uint32_t>(block->events().size())};
        page->rows.push_back({after, static_cast<std::uint32_t>(block->used() - used)});
        used = block->used();
    }
    block->seal();
    page->block = std::move(block);
    page->decode_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return page;
}

}  // namespace dq::materialize
