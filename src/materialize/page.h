// One chunk of the change feed and the rows it decodes to.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/decoder.h"
#include "engine/result.h"

namespace dq::materialize {

// A raw row's share of its page: ends in the batch's row lists, so that windows may be cut between raw rows.
struct RawRowEnd {
    std::uint32_t signals = 0, events = 0;
    std::uint32_t bytes = 0;  // payload bytes as read
};

// Rows hold views into the chunk and the payload copies: a Page must outlive the use of its batch.
struct Page {
    explicit Page(engine::Chunk c) : chunk(std::move(c)) {}
    engine::Chunk chunk;
    std::string payloads;  // each payload followed by the parser's padding
    decode::Batch batch;
    std::vector<RawRowEnd> rows;      // one per raw row, in feed order
    std::vector<Micros> event_times;  // of rows that have one
    std::uint64_t dropped = 0;        // NULL subject, time, id or source
    std::uint64_t malformed_extras = 0;
    std::size_t bytes = 0;  // payload bytes of the page
    double decode_seconds = 0;
};

// Decodes the page's chunk. Never fails: what a row does wrong is counted.
void decodePage(const decode::Decoder& decoder, decode::Scratch& scratch, Page& page);

}  // namespace dq::materialize
