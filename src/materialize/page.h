// One chunk of the change feed, decoded.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "decode/decoder.h"
#include "engine/result.h"
#include "lake/window.h"
#include "materialize/payloads.h"

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
    double decode_seconds = 0, fetch_seconds = 0;
    bool fetched = false;

    std::size_t bytes() const { return block->bytes() + rows.capacity() * sizeof(RawRow); }
};

// Decodes chunks; one per thread. What a row does wrong is counted; only payload objects that cannot be had now fail
// the page.
class PageDecoder {
  public:
    // At most `fetches` payload objects are read at once.
    PageDecoder(const decode::Decoder& decoder, Payloads& payloads, int fetches)
        : decoder_(decoder), payloads_(payloads), fetches_(fetches), scratch_(decode::makeScratch()) {}
    absl::StatusOr<std::unique_ptr<Page>> decode(const engine::Chunk& chunk, const Cancel& cancel);

  private:
    struct Columns;
    absl::Status fetchFrom(std::size_t first, const Cancel& cancel, Page& page);
    void decodeRow(const Columns& columns, idx_t row, const std::string* fetched, Page& page, lake::RowBlock& block);

    const decode::Decoder& decoder_;
    Payloads& payloads_;
    const int fetches_;
    decode::ScratchPtr scratch_;
    decode::Batch batch_;  // rows of the raw event at hand
    std::string payload_;  // its payload, followed by the parser's padding
    std::vector<std::string_view> tags_;
    std::vector<Payloads::Request> requests_;  // of the chunk, in order
    std::vector<Payloads::Payload> fetched_;   // of the slice at hand, in order
    std::size_t next_fetched_ = 0;
};

}  // namespace dq::materialize
