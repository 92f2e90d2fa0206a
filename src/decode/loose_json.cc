#include "decode/loose_json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "cloudevent/json_text.h"
#include "core/status.h"

namespace dq::decode {

using cloudevent::JsonKind;
using cloudevent::JsonNumber;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

namespace {

constexpr double kExactInteger = 9007199254740991.0;  // 2^53 - 1
constexpr std::size_t kLongestKey = 64;               // of a member name that a table knows

bool isInteger(std::string_view text) {
    if (!text.empty() && text[0] == '-') text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> parseInteger(std::string_view text) {
    std::int64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc()) return std::nullopt;
    return value;
}

// The decoded name of a member, or an empty text when it is longer than any that is asked for.
std::string_view keyText(const JsonString& key, char (&buffer)[3 * 6 * kLongestKey]) {
    if (!key.escaped) return key.raw;
    if (key.raw.size() > 6 * kLongestKey) return {};
    return std::string_view(buffer, cloudevent::decodeText(key, buffer));
}

}  // namespace

bool readLoose(JsonScanner& scan, LooseValue& out) {
    out.kind = scan.kind();
    const char* start = scan.position();
    bool good;
    if (out.kind == JsonKind::kString) {
        good = scan.readString(out.text);
    } else if (out.kind == JsonKind::kNumber) {
        JsonNumber number;
        good = scan.readNumber(number);
        out.number = number.value;
    } else {
        good = scan.skip();
    }
    if (good) out.source = std::string_view(start, static_cast<std::size_t>(scan.position() - start));
    return good;
}

std::string_view looseText(const LooseValue& value, Arena& arena) {
    if (!value.text.escaped) return value.text.raw;
    char* out = arena.allocate(cloudevent::textBound(value.text));
    return std::string_view(out, cloudevent::decodeText(value.text, out, cloudevent::BadBytes::kKeep));
}

std::optional<std::int64_t> looseInteger(const LooseValue& value) {
    switch (value.kind) {
        case JsonKind::kTrue: return 1;
        case JsonKind::kString:
            if (value.text.escaped) {
                char buffer[3 * 6 * kLongestKey];
                std::string_view text = keyText(value.text, buffer);
                return isInteger(text) ? parseInteger(text) : 0;
            }
            return isInteger(value.text.raw) ? parseInteger(value.text.raw) : 0;
        case JsonKind::kNumber:
            if (std::fabs(value.number) <= kExactInteger) return static_cast<std::int64_t>(value.number);
            if (isInteger(value.source)) return parseInteger(value.source);
            if (!(std::fabs(value.number) < 9223372036854775808.0)) return std::nullopt;
            return static_cast<std::int64_t>(value.number);
        default: return 0;
    }
}

std::optional<Instant> instantOf(std::int64_t count, std::int64_t micros_per_unit) {
    if (count < kZeroTime / micros_per_unit) return std::nullopt;
    if (count > std::numeric_limits<Micros>::max() / micros_per_unit)
        return Instant{std::numeric_limits<Micros>::max(), 0};
    return Instant{count * micros_per_unit, 0};
}

bool isBlank(std::string_view payload) { return payload.find_first_not_of(" \t\r\n") == std::string_view::npos; }

PathSet::PathSet(std::span<const std::string_view> paths) : paths_(paths.begin(), paths.end()) {
    for (std::size_t slot = 0; slot < paths_.size(); ++slot) {
        std::string_view path = paths_[slot];
        std::size_t dot = path.find('.');
        std::string_view head = path.substr(0, dot);
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == head; });
        if (group == groups_.end()) {
            group = groups_.emplace(groups_.end());
            group->name = head;
        }
        if (dot == std::string_view::npos) {
            group->leaf = static_cast<std::ptrdiff_t>(slot);
            continue;
        }
        std::string_view child = path.substr(dot + 1);
        DQ_CHECK(child.find('.') == std::string_view::npos && child.size() <= kLongestKey,
                 "a vendor table has a path of another form");
        group->children.push_back(child);
        group->slots.push_back(slot);
        if (!isInteger(child)) continue;
        auto at = static_cast<std::size_t>(parseInteger(child).value_or(0));
        DQ_CHECK(at < 65'536, "a vendor table has a path with a huge index");
        if (group->by_index.size() <= at) group->by_index.resize(at + 1, -1);
        group->by_index[at] = static_cast<std::ptrdiff_t>(slot);
    }
    for (Group& group : groups_) group.index = std::make_unique<vss::NameIndex>(group.children);
}

std::size_t PathSet::slotOf(std::string_view path) const {
    auto found = std::find(paths_.begin(), paths_.end(), path);
    DQ_CHECK(found != paths_.end(), "a path was not given to its PathSet");
    return static_cast<std::size_t>(found - paths_.begin());
}

bool PathSet::collect(std::string_view payload, std::vector<LooseValue>& values) const {
    values.assign(paths_.size(), LooseValue{});
    JsonScanner scan(payload);
    if (scan.kind() != JsonKind::kObject) return scan.skip() && scan.atEnd();
    scan.openObject();
    JsonString key;
    char buffer[3 * 6 * kLongestKey];
    while (scan.nextMember(key)) {
        std::string_view name = keyText(key, buffer);
        auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return g.name == name; });
        bool good = group == groups_.end() ? scan.skip() : readGroup(*group, scan, values);
        if (!good) return false;
    }
    return scan.atEnd();
}

// A value that is already there was the first match of its path, so later ones are only checked.
bool PathSet::readGroup(const Group& group, JsonScanner& scan, std::vector<LooseValue>& values) const {
    LooseValue unused;
    JsonKind kind = scan.kind();
    if (group.children.empty() || (kind != JsonKind::kObject && kind != JsonKind::kArray)) {
        bool wanted = group.leaf >= 0 && !values[static_cast<std::size_t>(group.leaf)].found();
        return readLoose(scan, wanted ? values[static_cast<std::size_t>(group.leaf)] : unused);
    }
    if (kind == JsonKind::kArray) {
        if (!scan.openArray()) return false;
        for (std::size_t at = 0; scan.nextElement(); ++at) {
            std::ptrdiff_t slot = at < group.by_index.size() ? group.by_index[at] : -1;
            bool wanted = slot >= 0 && !values[static_cast<std::size_t>(slot)].found();
            if (!readLoose(scan, wanted ? values[static_cast<std::size_t>(slot)] : unused)) return false;
        }
        return !scan.damaged();
    }
    if (!scan.openObject()) return false;
    JsonString key;
    char buffer[3 * 6 * kLongestKey];
    while (scan.nextMember(key)) {
        int child = group.index->find(keyText(key, buffer));
        LooseValue* value = child < 0 ? &unused : &values[group.slots[static_cast<std::size_t>(child)]];
        if (!readLoose(scan, value->found() ? unused : *value)) return false;
    }
    return !scan.damaged();
}

}  // namespace dq::decode
