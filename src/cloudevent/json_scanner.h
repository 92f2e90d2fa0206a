// A validating single-pass reader of JSON text (RFC 8259), for input that must be judged whole while only parts of it
// are read.
//
// Why not a tree or an index: every byte must be checked (also of members nobody reads), invalid UTF-8 and lone
// surrogates must pass to be replaced later, duplicate members must all be seen, nesting to 10000 is legal, and exact
// source text is asked for.
//
//   JsonScanner scan(text);
//   JsonString key;
//   if (scan.kind() == JsonKind::kObject && scan.openObject()) {
//       while (scan.nextMember(key)) scan.skip();
//   }
//   bool valid = scan.atEnd();
//
// Damage is sticky: from then on every call answers false, kNone or the end. Views point into the text. Nothing is
// allocated and nothing outside the text is read. One thread per scanner.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace dq::cloudevent {

enum class JsonKind : std::uint8_t { kNone, kObject, kArray, kString, kNumber, kTrue, kFalse, kNull };

// Text between the quotes, as written.
struct JsonString {
    std::string_view raw;
    bool escaped = false;  // has a backslash
    bool high = false;     // has a byte above 0x7F: may be invalid UTF-8
    bool plain() const { return !escaped && !high; }
};

struct JsonNumber {
    std::string_view text;
    double value = 0;  // nearest double; underflow is 0, overflow is ±infinity
    bool overflow = false;
};

class JsonScanner {
  public:
    static constexpr std::size_t kMaxDepth = 10'000;

    explicit JsonScanner(std::string_view text) : p_(text.data()), end_(text.data() + text.size()) {}

    // Kind of the value that comes next; nothing is consumed but white space.
    JsonKind kind();
    bool readString(JsonString& out);
    bool readNumber(JsonNumber& out);
    // Consumes true, false or null.
    bool readLiteral();
    bool openObject() { return open('{'); }
    bool openArray() { return open('['); }
    // Moves to the value of the next member; false at the closing brace, which is consumed, and on damage.
    bool nextMember(JsonString& key);
    bool nextElement();
    // Consumes a value of any kind.
    bool skip();

    bool damaged() const { return damaged_; }
    // True when nothing but white space is left and nothing was damaged.
    bool atEnd();
    // Where the next value starts, if kind() was just called; where the last one ended, if it was just consumed.
    const char* position() const { return p_; }
    // skip() notes numbers beyond the range of a double only while this is on.
    void watchOverflow(bool on) { watch_ = on; }
    bool sawOverflow() const { return overflow_; }

  private:
    bool damage() {
        damaged_ = true;
        p_ = end_;
        return false;
    }
    void skipSpace() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
    }
    bool open(char bracket);
    bool readKey(JsonString& key);
    bool readEscape();
    bool skipScalar(JsonKind kind);
    bool skipNested();
    const char* plainRun(const char* p) const;

    const char* p_;
    const char* end_;
    std::size_t depth_ = 0;
    bool first_ = false;  // just behind an opening bracket
    bool damaged_ = false, watch_ = false, overflow_ = false;
};

// True when `text` is one JSON value with white space around it.
bool isJson(std::string_view text);

// --- hot parts ---

inline JsonKind JsonScanner::kind() {
    skipSpace();
    if (p_ == end_) return JsonKind::kNone;
    switch (*p_) {
        case '"': return JsonKind::kString;
        case '{': return JsonKind::kObject;
        case '[': return JsonKind::kArray;
        case 't': return JsonKind::kTrue;
        case 'f': return JsonKind::kFalse;
        case 'n': return JsonKind::kNull;
        case '-': return JsonKind::kNumber;
        default: return *p_ >= '0' && *p_ <= '9' ? JsonKind::kNumber : JsonKind::kNone;
    }
}

// First byte at or after `p` that is a quote, a backslash, a control character or above 0x7F.
inline const char* JsonScanner::plainRun(const char* p) const {
#if defined(__SSE2__)
    for (; end_ - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        __m128i other = _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20));  // signed: also everything above 0x7F
        int hits = _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, slash), other));
        if (hits != 0) return p + __builtin_ctz(static_cast<unsigned>(hits));
    }
#endif
    while (p < end_ && *p != '"' && *p != '\\' && static_cast<signed char>(*p) >= 0x20) ++p;
    return p;
}

inline bool JsonScanner::readString(JsonString& out) {
    if (p_ == end_ || *p_ != '"') return damage();
    const char* start = ++p_;
    out.escaped = out.high = false;
    for (;;) {
        p_ = plainRun(p_);
        if (p_ == end_) return damage();
        if (*p_ == '"') {
            out.raw = std::string_view(start, static_cast<std::size_t>(p_ - start));
            ++p_;
            return true;
        }
        if (*p_ == '\\') {
            out.escaped = true;
            if (!readEscape()) return false;
        } else if (static_cast<unsigned char>(*p_) >= 0x80) {
            out.high = true;
            while (p_ < end_ && static_cast<unsigned char>(*p_) >= 0x80) ++p_;
        } else {
            return damage();
        }
    }
}

inline bool JsonScanner::open(char bracket) {
    if (p_ == end_ || *p_ != bracket || ++depth_ > kMaxDepth) return damage();
    ++p_;
    first_ = true;
    return true;
}

inline bool JsonScanner::readKey(JsonString& key) {
    skipSpace();
    if (!readString(key)) return false;
    skipSpace();
    if (p_ == end_ || *p_ != ':') return damage();
    ++p_;
    return true;
}

inline bool JsonScanner::nextMember(JsonString& key) {
    skipSpace();
    if (p_ == end_) return damage();
    if (*p_ == '}') {
        ++p_;
        --depth_;
        first_ = false;
        return false;
    }
    if (first_) {
        first_ = false;
    } else if (*p_ == ',') {
        ++p_;
    } else {
        return damage();
    }
    return readKey(key);
}

inline bool JsonScanner::nextElement() {
    skipSpace();
    if (p_ == end_) return damage();
    if (*p_ == ']') {
        ++p_;
        --depth_;
        first_ = false;
        return false;
    }
    if (first_) {
        first_ = false;
    } else if (*p_ == ',') {
        ++p_;
    } else {
        return damage();
    }
    return kind() != JsonKind::kNone || damage();
}

}  // namespace dq::cloudevent
