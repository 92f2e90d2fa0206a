// The strict reader (decode.md §6): one pass, member names without regard to case, every occurrence of a known member
// checked.
//
// Functions read the next value of the scanner and answer false when its type is wrong, its syntax is damaged, or its
// text breaks the member's rule: the whole payload is then refused. `null` leaves the earlier value.
#pragma once
#include <cstdint>
#include <string_view>

#include "cloudevent/json_scanner.h"
#include "cloudevent/json_text.h"
#include "core/time.h"
#include "decode/decoder.h"

namespace dq::decode {

// Does a member name equal `name`, by simple folding?
inline bool isMember(const cloudevent::JsonString& key, std::string_view name) {
    if (!key.plain()) return cloudevent::textEqualsFolded(key, name);
    if (key.raw.size() != name.size()) return false;
    return key.raw == name || cloudevent::textEqualsFolded(key, name);
}

// The value of a JSON string: a view of the source where possible, else a copy in the arena.
std::string_view strictText(const cloudevent::JsonString& text, Arena& arena);

bool readStrictText(cloudevent::JsonScanner& scan, Arena& arena, std::string_view& out);
bool readStrictUint64(cloudevent::JsonScanner& scan, std::uint64_t& out);

// Reads time members; remembers the last text, since the items of one payload mostly share their instant.
class StrictTime {
  public:
    bool read(cloudevent::JsonScanner& scan, Instant& out);

  private:
    std::string_view text_;
    Instant time_;
};

// Runs `element(index)` for each element of an array that decodes over `known` earlier elements: `count` becomes its
// length, `known` the number of elements ever decoded into. Null and an empty array forget the earlier elements.
template <class Element>
bool readStrictArray(cloudevent::JsonScanner& scan, std::size_t& count, std::size_t& known, Element&& element) {
    switch (scan.kind()) {
        case cloudevent::JsonKind::kNull: count = known = 0; return scan.readLiteral();
        case cloudevent::JsonKind::kArray: break;
        default: return false;
    }
    if (!scan.openArray()) return false;
    std::size_t index = 0;
    while (scan.nextElement()) {
        bool fresh = index >= known;
        if (fresh) ++known;
        if (!element(index, fresh)) return false;
        ++index;
    }
    count = index;
    if (index == 0) known = 0;
    return !scan.damaged();
}

// Reads a whole payload: null, or one object whose array `member` is read by readStrictArray; other members are checked
// and skipped. `count` becomes the array's length. False when the payload is unusable.
template <class Element>
bool readStrictPayload(cloudevent::JsonScanner& scan, std::string_view member, std::size_t& count, Element&& element) {
    if (scan.kind() == cloudevent::JsonKind::kNull) return scan.readLiteral() && scan.atEnd();
    if (scan.kind() != cloudevent::JsonKind::kObject || !scan.openObject()) return false;
    std::size_t known = 0;
    cloudevent::JsonString key;
    while (scan.nextMember(key)) {
        if (!(isMember(key, member) ? readStrictArray(scan, count, known, element) : scan.skip())) return false;
    }
    return scan.atEnd();
}

}  // namespace dq::decode
