#include "ingest/reader.h"

#include <array>
#include <cstring>

#include "core/status.h"
#include "core/text.h"

namespace dq::ingest {
namespace {

constexpr std::size_t kSmallestBuffer = 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Deeper nesting is no event; the parser refuses it, so brackets beyond need no bookkeeping.
constexpr std::size_t kMaxDepth = 4096;

// Bytes that scan() and element() act on; all others pass by while no escape is open.
constexpr std::array<bool, 256> kStructural = [] {
    std::array<bool, 256> structural{};
    for (char byte : std::string_view("\"\\{}[]\n")) structural[static_cast<unsigned char>(byte)] = true;
    return structural;
}();

bool isSpace(char byte) { return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r'; }
bool isBlank(std::string_view text) { return std::all_of(text.begin(), text.end(), isSpace); }

}  // namespace

EventReader::EventReader(std::unique_ptr<ByteSource> source, ReaderOptions options)
    : source_(std::move(source)),
      options_(options),
      buffer_(std::max(options.buffer_bytes, kSmallestBuffer), '\0'),
      mode_(Mode::kDetect) {
    if (options_.format == InputFormat::kSingle) begin(Mode::kWhole);
}

StatusOr<ReadResult> EventReader::next(std::int64_t wait_micros) {
    while (true) {
        // The byte order mark is told from three bytes, which may come one by one.
        const std::size_t kept = offset_ == 0 && filled_ < kByteOrderMark.size() && !input_ended_ ? filled_ : 0;
        while (kept == 0 && position_ < filled_) {
            if (step()) return ReadResult{ReadKind::kItem, std::exchange(item_, {})};
        }
        if (input_ended_) {
            if (mode_ == Mode::kDone) return ReadResult{ReadKind::kEnd, {}};
            if (atEnd()) return ReadResult{ReadKind::kItem, std::exchange(item_, {})};
            continue;
        }
        DQ_ASSIGN_OR_RETURN(const Chunk chunk, source_->read(std::span(buffer_).subspan(kept), wait_micros));
        if (chunk.kind == ChunkKind::kIdle) return ReadResult{ReadKind::kIdle, {}};
        position_ = 0;
        filled_ = kept + chunk.bytes;
        input_ended_ = chunk.kind == ChunkKind::kEnd;
    }
}

bool EventReader::step() {
    switch (mode_) {
        case Mode::kDetect: return detect();
        case Mode::kLine: return line();
        case Mode::kFirstLine: return firstLine();
        case Mode::kAfterFirstLine: return afterFirstLine();
        case Mode::kSpread: return element(false);
        case Mode::kArrayGap: return gap();
        case Mode::kElement: return element(true);
        case Mode::kScalar: return scalar();
        case Mode::kAfterArray: return afterArray();
        case Mode::kWhole: return whole();
        case Mode::kDone: break;
    }
    position_ = filled_;
    return false;
}

void EventReader::begin(Mode mode) {
    item_ = InputItem{};
    item_.line = line_;
    item_.offset = offset_;
    brackets_.clear();
    in_string_ = escaped_ = false;
    mode_ = mode;
}

void EventReader::skip(std::size_t count) {
    const char* from = buffer_.data() + position_;
    line_ += static_cast<std::uint64_t>(std::count(from, from + count, '\n'));
    position_ += count;
    offset_ += count;
}

void EventReader::take(std::size_t count) {
    if (!item_.cut)
        item_.text.append(buffer_, position_, std::min(count, options_.max_event_bytes + 2 - item_.text.size()));
    item_.bytes += count;
    // Two bytes of grace for a line's own CR LF, which do not count.
    if (!item_.cut && item_.bytes > options_.max_event_bytes + 2) {
        item_.text = item_.text.substr(0, options_.kept_bytes);
        item_.cut = true;
    }
    skip(count);
}

bool EventReader::finish(Mode next_mode, std::string_view error) {
    mode_ = next_mode;
    item_.error = std::string(error);
    if (!item_.cut) {
        while (!item_.text.empty() && isSpace(item_.text.back())) item_.text.pop_back();
        item_.bytes = item_.text.size();
    }
    if (item_.bytes > options_.max_event_bytes) {
        item_.error = strCat("the event has ", item_.bytes, " bytes, over the limit of ", options_.max_event_bytes);
        item_.text.resize(std::min(item_.text.size(), options_.kept_bytes));
        item_.cut = true;
    }
    return true;
}

// An item for something missing: no text, at the present place.
bool EventReader::fault(Mode next_mode, std::string_view error) {
    begin(next_mode);
    return finish(next_mode, error);
}

bool EventReader::detect() {
    if (offset_ == 0 && filled_ - position_ >= kByteOrderMark.size() &&
        std::string_view(buffer_).substr(position_).starts_with(kByteOrderMark)) {
        position_ += kByteOrderMark.size();
        offset_ += kByteOrderMark.size();
        return false;
    }
    const char byte = buffer_[position_];
    if (isSpace(byte)) {
        skip(1);
        return false;
    }
    if (options_.format == InputFormat::kArray && byte != '[') {
        begin(Mode::kAfterArray);
        return false;
    }
    if (byte == '[' && options_.format != InputFormat::kLines) {
        skip(1);
        after_element_ = after_comma_ = false;
        mode_ = Mode::kArrayGap;
        return false;
    }
    begin(byte == '{' && options_.format == InputFormat::kAuto ? Mode::kFirstLine : Mode::kLine);
    return false;
}

bool EventReader::line() {
    const char* from = buffer_.data() + position_;
    const void* end = std::memchr(from, '\n', filled_ - position_);
    if (item_.bytes == 0) begin(Mode::kLine);
    if (end == nullptr) {
        take(filled_ - position_);
        return false;
    }
    take(static_cast<std::size_t>(static_cast<const char*>(end) - from));
    skip(1);
    if (!item_.cut && isBlank(item_.text)) {
        item_.bytes = 0;
        return false;
    }
    return finish(Mode::kLine);
}

EventReader::Scan EventReader::scan(char byte) {
    if (in_string_) {
        if (escaped_) {
            escaped_ = false;
        } else if (byte == '\\') {
            escaped_ = true;
        } else if (byte == '"') {
            in_string_ = false;
        }
        return Scan::kInside;
    }
    if (byte == '"') {
        in_string_ = true;
    } else if ((byte == '{' || byte == '[') && brackets_.size() < kMaxDepth) {
        brackets_.push_back(byte);
    } else if (byte == '}' || byte == ']') {
        const std::size_t opener = brackets_.rfind(byte == '}' ? '{' : '[');
        if (opener == std::string::npos) return Scan::kForeign;
        brackets_.resize(opener);
        if (opener == 0) return Scan::kClosed;
    }
    return Scan::kInside;
}

bool EventReader::firstLine() {
    std::size_t at = position_;
    for (; at < filled_ && buffer_[at] != '\n'; ++at) {
        if (scan(buffer_[at]) == Scan::kClosed) {  // closes on its line: NDJSON
            take(at + 1 - position_);
            mode_ = Mode::kLine;
            return false;
        }
        if (!isSpace(buffer_[at])) last_of_line_ = buffer_[at];
    }
    take(at - position_);
    if (at == filled_) return false;
    if (in_string_ || item_.cut) {
        skip(1);
        return finish(Mode::kLine);
    }
    first_line_length_ = item_.text.size();
    mode_ = Mode::kAfterFirstLine;
    return false;
}

bool EventReader::afterFirstLine() {
    std::size_t at = position_;
    while (at < filled_ && isSpace(buffer_[at])) ++at;
    const bool found = at < filled_;
    take(at - position_);
    if (!found) return false;
    const bool value_may_follow =
        last_of_line_ == ':' || last_of_line_ == '[' || (last_of_line_ == ',' && brackets_.back() == '[');
    if (buffer_[position_] != '{' || value_may_follow) {
        mode_ = Mode::kSpread;
        return false;
    }
    item_.text.resize(std::min(item_.text.size(), first_line_length_));
    return finish(Mode::kLine);
}

bool EventReader::element(bool in_array) {
    const Mode after = in_array ? Mode::kArrayGap : Mode::kDetect;
    for (std::size_t at = position_; at < filled_; ++at) {
        const char byte = buffer_[at];
        if (!escaped_ && !kStructural[static_cast<unsigned char>(byte)]) continue;
        if (in_string_ && byte == '\n') {
            take(at - position_);
            after_element_ = true;
            return finish(after, "a string is not closed on its line");
        }
        const Scan seen = scan(byte);
        if (seen == Scan::kClosed) {
            take(at + 1 - position_);
            after_element_ = true;
            return finish(after);
        }
        if (seen == Scan::kForeign && in_array && byte == ']') {
            take(at - position_);
            after_element_ = true;
            return finish(after, "the object is not closed");
        }
    }
    take(filled_ - position_);
    return false;
}

bool EventReader::gap() {
    const char byte = buffer_[position_];
    if (isSpace(byte)) {
        skip(1);
        return false;
    }
    if (byte == ',') {
        const bool empty_element = !after_element_;
        after_element_ = false;
        after_comma_ = true;
        skip(1);
        return empty_element && fault(Mode::kArrayGap, "an element of the array is empty");
    }
    if (byte == ']') {
        skip(1);
        if (!after_element_ && after_comma_) return fault(modeAfterArray(), "an element of the array is empty");
        mode_ = modeAfterArray();
        return false;
    }
    begin(byte == '{' || byte == '[' ? Mode::kElement : Mode::kScalar);
    return false;
}

// Anything in an array that is no object: a number, a text, or rubbish between the elements.
bool EventReader::scalar() {
    std::size_t at = position_;
    for (; at < filled_; ++at) {
        const char byte = buffer_[at];
        if (byte == '\n' || (!in_string_ && (byte == ',' || byte == ']' || byte == '{'))) break;
        if (byte == '"' && !escaped_) in_string_ = !in_string_;
        escaped_ = in_string_ && !escaped_ && byte == '\\';
    }
    take(at - position_);
    if (at == filled_) return false;
    const bool between = after_element_;
    after_element_ = true;
    return finish(Mode::kArrayGap, between ? "text that is no event stands between the elements of the array"
                                           : "an element of the array is not an object");
}

// In strict array form nothing may stand before the `[` or behind the `]`: one item for all of it.
bool EventReader::afterArray() {
    if (item_.bytes == 0) {
        if (isSpace(buffer_[position_])) {
            skip(1);
            return false;
        }
        begin(Mode::kAfterArray);
    }
    take(filled_ - position_);
    return false;
}

bool EventReader::whole() {
    take(filled_ - position_);
    return false;
}

bool EventReader::atEnd() {
    const Mode mode = std::exchange(mode_, Mode::kDone);
    switch (mode) {
        case Mode::kLine:
        case Mode::kFirstLine:
        case Mode::kAfterFirstLine: return item_.bytes > 0 && !isBlank(item_.text) && finish(Mode::kDone);
        case Mode::kWhole: return finish(Mode::kDone, isBlank(item_.text) ? "there is no event" : "");
        case Mode::kSpread:
        case Mode::kElement:
        case Mode::kScalar: return finish(Mode::kDone, "the input ends inside an event");
        case Mode::kArrayGap: return fault(Mode::kDone, "the input ends before the ] of the array");
        case Mode::kAfterArray:
            return item_.bytes > 0 && finish(Mode::kDone, "text that is no event stands outside the array");
        case Mode::kDetect: return options_.format == InputFormat::kArray && fault(Mode::kDone, "there is no array");
        case Mode::kDone: break;
    }
    return false;
}

}  // namespace dq::ingest
