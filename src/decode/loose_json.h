// The loose reader (decode.md §6): members by path, exact names, first match wins, types checked by whoever asks for
// the value.
//
// A payload must still be valid JSON as a whole: damaged ones are refused (the contract leaves that open).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cloudevent/json_scanner.h"
#include "core/time.h"
#include "decode/decoder.h"
#include "vss/name_index.h"

namespace dq::decode {

// A value as it stands in the payload; kNone = not found.
struct LooseValue {
    cloudevent::JsonKind kind = cloudevent::JsonKind::kNone;
    cloudevent::JsonString text;  // kString
    double number = 0;            // kNumber; overflow is infinite
    std::string_view source;      // exact text
    bool found() const { return kind != cloudevent::JsonKind::kNone; }
    bool null() const { return kind == cloudevent::JsonKind::kNull; }
};

// Consumes the next value; false on damage.
bool readLoose(cloudevent::JsonScanner& scan, LooseValue& out);

// Text of a string: escapes resolved, lone surrogates U+FFFD, invalid bytes kept.
std::string_view looseText(const LooseValue& value, Arena& arena);

// Integer of any value: numbers are cut toward zero, digit texts read, true is 1, all else 0. nullopt beyond 64 bits.
std::optional<std::int64_t> looseInteger(const LooseValue& value);

// Instant of a count of units since 1970. nullopt before year 1; times beyond the range of Micros become the latest
// instant there is.
std::optional<Instant> instantOf(std::int64_t count, std::int64_t micros_per_unit);

// Is the payload empty, or white space only?
bool isBlank(std::string_view payload);

// A fixed set of paths of one or two parts, all looked up in one pass over a document. Immutable.
class PathSet {
  public:
    explicit PathSet(std::span<const std::string_view> paths);
    // Position of a path given to the constructor; the process ends when there is none.
    std::size_t slotOf(std::string_view path) const;
    std::size_t size() const { return paths_.size(); }
    // Fills one value a path. False when the payload is not valid JSON.
    bool collect(std::string_view payload, std::vector<LooseValue>& values) const;

  private:
    struct Group {
        std::string_view name;
        std::ptrdiff_t leaf = -1;  // slot of the path that ends here
        std::vector<std::string_view> children;
        std::vector<std::size_t> slots;        // of the children
        std::vector<std::ptrdiff_t> by_index;  // slot of the child whose name is this number, or -1
        std::unique_ptr<vss::NameIndex> index;
    };

    bool readGroup(const Group& group, cloudevent::JsonScanner& scan, std::vector<LooseValue>& values) const;

    std::vector<std::string_view> paths_;
    std::vector<Group> groups_;
};

}  // namespace dq::decode
