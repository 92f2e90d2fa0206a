#include "decode/ruptela_events.h"

#include <charconv>
#include <cstring>

#include "decode/default_module.h"
#include "decode/ops.h"
#include "decode/strict_json.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

constexpr std::string_view kKeys[] = {"135", "136", "143", "405"};
enum Key : std::size_t { kBraking, kAcceleration, kCornering, kBlock, kKeyCount };
constexpr std::string_view kCommandVersion = "r/v0/cmd";

class CounterEvents {
  public:
    CounterEvents(const Work& work, Batch& out) : work_(work), out_(out), scan_(work.payload) {}

    Outcome run() {
        if (!read()) {
            work_.errors.add("the payload is not an events document");
            return Outcome::kPayload;
        }
        braking();
        counter(kAcceleration, "behavior.harshAcceleration");
        counter(kCornering, "behavior.harshCornering");
        engineBlock();
        return work_.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
    }

  private:
    bool read() {
        if (scan_.kind() == JsonKind::kNull) return scan_.readLiteral() && scan_.atEnd();
        if (scan_.kind() != JsonKind::kObject || !scan_.openObject()) return false;
        JsonString key;
        while (scan_.nextMember(key)) {
            if (!(isMember(key, "signals") ? readSignals() : scan_.skip())) return false;
        }
        return scan_.atEnd();
    }

    bool readSignals() {
        if (scan_.kind() == JsonKind::kNull) return scan_.readLiteral();
        if (scan_.kind() != JsonKind::kObject || !scan_.openObject()) return false;
        JsonString key;
        while (scan_.nextMember(key)) {
            std::size_t which = 0;
            while (which < kKeyCount && !isMember(key, kKeys[which])) ++which;
            bool good = which < kKeyCount ? readStrictText(scan_, work_.arena, texts_[which]) : scan_.skip();
            if (!good) return false;
        }
        return !scan_.damaged();
    }

    // nullopt when there is no counter, or when its text is malformed, which is noted.
    std::optional<std::uint64_t> valueOf(Key key, std::uint64_t most) {
        auto value = parseHex(texts_[key]);
        if (!value || *value > most) {
            work_.errors.add("a counter is malformed", key);
            return std::nullopt;
        }
        return value;
    }

    bool isUnset(Key key) const { return texts_[key].empty() || texts_[key] == "0"; }

    void braking() {
        if (isUnset(kBraking)) return;
        auto value = valueOf(kBraking, 255);
        if (!value) return;
        if ((*value & 15) != 0) add("behavior.harshBraking", *value & 15);
        if (*value >> 4 != 0) add("behavior.extremeBraking", *value >> 4);
    }

    void counter(Key key, std::string_view name) {
        if (isUnset(key)) return;
        auto value = valueOf(key, ~0ull);
        if (value && *value != 0) add(name, *value);
    }

    void engineBlock() {
        if (texts_[kBlock].empty() || work_.input.data_version != kCommandVersion) return;
        auto value = valueOf(kBlock, ~0ull);
        if (value) event(*value != 0 ? "security.engineBlock" : "security.engineUnblock");
    }

    EventRow& event(std::string_view name) {
        EventRow& row = appendEvent(work_, out_);
        row.name = name;
        row.timestamp = work_.input.time;
        return row;
    }

    void add(std::string_view name, std::uint64_t value) {
        constexpr std::string_view kBefore = "{\"counterValue\":";
        char* start = work_.arena.allocate(kBefore.size() + 21);
        std::memcpy(start, kBefore.data(), kBefore.size());
        char* end = std::to_chars(start + kBefore.size(), start + kBefore.size() + 20, value).ptr;
        *end++ = '}';
        event(name).metadata = std::string_view(start, static_cast<std::size_t>(end - start));
    }

    const Work& work_;
    Batch& out_;
    JsonScanner scan_;
    std::string_view texts_[kKeyCount];
};

}  // namespace

Outcome readRuptelaEvents(const Work& work, Batch& out) { return CounterEvents(work, out).run(); }

}  // namespace dq::decode
