// Splits a byte stream into the texts of single events: NDJSON, a JSON array, or one object spread over lines.
//
//   EventReader reader(std::move(source), {});
//   while (true) {
//       DQ_ASSIGN_OR_RETURN(ReadResult result, reader.next());
//       if (result.kind == ReadKind::kEnd) break;
//       if (result.item.error.empty()) use(result.item.text);
//   }
//
// Only brackets, quotes and line ends are looked at; whether a text is a CloudEvent is validate.h's question. A damaged
// event costs itself: reading goes on at the next line, or the next element of the array. Memory is bounded: an event
// over `max_event_bytes` becomes an item with an error and the first `kept_bytes` of its text, the rest is skipped.
// Blank lines and a UTF-8 byte order mark are skipped. With kAuto the first bytes choose: `[` an array (after its end
// the choice is made again), `{` that closes on its line NDJSON, `{` that goes on over lines one object after the
// other, anything else lines. A `{` line that does not close is a bad NDJSON line, not a spread object, when the next
// line cannot continue it.
//
// Threads: one at a time. An error of next() is one of the source (I/O, damaged gzip) and ends the stream.
#pragma once
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "ingest/byte_source.h"

namespace dq::ingest {

enum class InputFormat { kAuto, kLines, kArray, kSingle };

struct ReaderOptions {
    InputFormat format = InputFormat::kAuto;
    std::size_t max_event_bytes = 32 * 1024 * 1024;
    std::size_t kept_bytes = 4096;
    std::size_t buffer_bytes = 256 * 1024;
};

struct InputItem {
    std::uint64_t line = 0;    // of its first byte, from 1
    std::uint64_t offset = 0;  // of its first byte in the decompressed stream, from 0
    std::uint64_t bytes = 0;   // whole length, also when `text` was cut
    std::string text;
    std::string error;  // why it cannot be an event; empty when it may be one
    bool cut = false;   // `text` holds only the beginning
};

enum class ReadKind { kItem, kEnd, kIdle };

struct ReadResult {
    ReadKind kind = ReadKind::kItem;
    InputItem item;
};

class EventReader {
  public:
    EventReader(std::unique_ptr<ByteSource> source, ReaderOptions options);
    // kIdle when the source had nothing for `wait_micros` (< 0: waits for ever); the next call goes on where this one
    // stopped.
    absl::StatusOr<ReadResult> next(std::int64_t wait_micros = -1);
    const ByteSource& source() const { return *source_; }

  private:
    // Each state consumes bytes from the buffer; true when item_ is complete.
    enum class Mode {
        kDetect,
        kLine,
        kFirstLine,
        kAfterFirstLine,
        kSpread,
        kArrayGap,
        kElement,
        kScalar,
        kAfterArray,
        kWhole,
        kDone
    };
    bool step();
    bool detect();
    bool line();
    bool firstLine();
    bool afterFirstLine();
    bool element(bool in_array);
    bool gap();
    bool scalar();
    bool afterArray();
    bool whole();
    bool atEnd();  // what the end of input makes of an unfinished item

    void begin(Mode mode);
    void take(std::size_t count);  // moves bytes of the buffer into item_
    void skip(std::size_t count);
    bool finish(Mode next_mode, std::string_view error = {});
    bool fault(Mode next_mode, std::string_view error);
    // Follows strings and brackets; kClosed when the outermost bracket closed, kForeign when `byte` closes nothing of
    // this event.
    enum class Scan { kInside, kClosed, kForeign };
    Scan scan(char byte);
    Mode modeAfterArray() const { return options_.format == InputFormat::kArray ? Mode::kAfterArray : Mode::kDetect; }

    std::unique_ptr<ByteSource> source_;
    ReaderOptions options_;
    std::string buffer_;
    std::size_t position_ = 0, filled_ = 0;
    std::uint64_t line_ = 1, offset_ = 0;
    Mode mode_;
    InputItem item_;
    std::string brackets_;  // open brackets of the event being read
    bool in_string_ = false, escaped_ = false;
    bool after_element_ = false, after_comma_ = false;
    std::size_t first_line_length_ = 0;
    char last_of_line_ = 0;
    bool input_ended_ = false;
};

}  // namespace dq::ingest
