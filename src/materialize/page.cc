#include "materialize/page.h"

#include <simdjson.h>

#include <chrono>
#include <cstring>

#include "core/log.h"
#include "lake/feed.h"

namespace dq::materialize {
namespace {

using lake::FeedColumn;

struct Columns {
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

// Extras never influence rows; malformed ones are counted (decode.md §1.2).
bool extrasMalformed(std::string_view extras) {
    if (extras.empty() || extras == "{}") return false;
    thread_local simdjson::dom::parser parser;
    simdjson::dom::element document;
    if (parser.parse(extras.data(), extras.size()).get(document) != simdjson::SUCCESS) return true;
    return !document.is_object() && !document.is_null();
}

// One buffer for all payloads of a page: the parser may read past a payload's end, the engine's strings have no room
// for that.
std::vector<std::size_t> copyPayloads(const Columns& columns, Page& page) {
    const idx_t rows = page.chunk.size();
    std::size_t total = 0;
    for (idx_t row = 0; row < rows; ++row) total += columns.payload(row).size() + simdjson::SIMDJSON_PADDING;
    page.payloads.resize(total);
    std::vector<std::size_t> offsets(rows);
    std::size_t at = 0;
    for (idx_t row = 0; row < rows; ++row) {
        const std::string_view payload = columns.payload(row);
        offsets[row] = at;
        if (!payload.empty()) std::memcpy(page.payloads.data() + at, payload.data(), payload.size());
        at += payload.size() + simdjson::SIMDJSON_PADDING;
        page.bytes += payload.size();
    }
    return offsets;
}

}  // namespace

void decodePage(const decode::Decoder& decoder, decode::Scratch& scratch, Page& page) {
    const auto start = std::chrono::steady_clock::now();
    const Columns columns(page.chunk);
    const std::vector<std::size_t> offsets = copyPayloads(columns, page);
    page.rows.reserve(page.chunk.size());
    for (idx_t row = 0; row < page.chunk.size(); ++row) {
        const std::string_view payload = columns.payload(row);
        if (columns.headerComplete(row)) {
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
            input.payload = {page.payloads.data() + offsets[row], payload.size()};
            input.payload_is_base64_text = columns.isBase64(row);
            decoder.decode(input, scratch, page.batch);
        } else {
            ++page.dropped;
        }
        page.rows.push_back({static_cast<std::uint32_t>(page.batch.signals.size()),
                             static_cast<std::uint32_t>(page.batch.events.size()),
                             static_cast<std::uint32_t>(payload.size())});
    }
    page.decode_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace dq::materialize
