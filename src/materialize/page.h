// One chunk of the change feed, decoded.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "engine/result.h"
#include "lake/window.h"

namespace dq::materialize {

// A raw row's share of its page: windows may be cut between raw rows.
struct RawRow {
    lake::Stage::Ends after;  // ends in the block's row lists
    std::uint32_t bytes = 0;  // memory that its rows take in a window
};

struct Page {
    lake::BlockPtr block;
    std::vector<RawRow> rows;         // in feed order
    std::vector<Micros> event_times;  // of rows that have one
    std::uint64_t failed = 0;         // raw events with an error, or dropped for a NULL header column
    std::uint64_t malformed_extras = 0;
    double decode_seconds = 0;

    std::size_t bytes() const { return block->bytes() + rows.capacity() * sizeof(RawRow); }
};

// Decodes chunks; one per thread. Never fails: what a row does wrong is counted.
class PageDecoder {
  public:
    explicit PageDecoder(const decode::Decoder& decoder) : decoder_(decoder), scratch_(decode::makeScratch()) {}
    std::unique_ptr<Page> decode(const engine::Chunk& chunk);

  private:
    struct Columns;
    void decodeRow(const Columns& columns, idx_t row, Page& page, lake::RowBlock& block);

    const decode::Decoder& decoder_;
    decode::ScratchPtr scratch_;
    decode::Batch batch_;  // rows of the raw event at hand
    std::string payload_;  // its payload, followed by the parser's padding
    std::vector<std::string_view> tags_;
};

}  // namespace dq::materialize
