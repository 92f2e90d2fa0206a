// Events payloads of the default module (decode.md §7.2).
#include "decode/default_module.h"
#include "decode/lowercase.h"
#include "decode/scratch.h"
#include "decode/strict_json.h"
#include "vss/signals.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

class EventsReader {
  public:
    explicit EventsReader(const Work& work) : work_(work), slots_(work.scratch.events), scan_(work.payload) {}

    bool read() {
        return readStrictPayload(scan_, "events", count_, [&](std::size_t i, bool fresh) { return element(i, fresh); });
    }

    std::size_t count() const { return count_; }

  private:
    bool element(std::size_t index, bool fresh) {
        if (index == slots_.size()) slots_.emplace_back();
        EventSlot& slot = slots_[index];
        if (fresh) slot.clear();
        JsonKind kind = scan_.kind();
        if (kind == JsonKind::kNull) return scan_.readLiteral();
        if (kind != JsonKind::kObject || !scan_.openObject()) return false;
        JsonString key;
        while (scan_.nextMember(key)) {
            if (!member(slot, key)) return false;
        }
        return !scan_.damaged();
    }

    bool member(EventSlot& slot, const JsonString& key) {
        if (isMember(key, "name")) return readStrictText(scan_, work_.arena, slot.name);
        if (isMember(key, "timestamp")) return time_.read(scan_, slot.time);
        if (isMember(key, "durationNs")) return readStrictUint64(scan_, slot.duration_ns);
        if (isMember(key, "metadata")) return readStrictText(scan_, work_.arena, slot.metadata);
        if (isMember(key, "tags")) return tags(slot);
        return scan_.skip();
    }

    bool tags(EventSlot& slot) {
        std::size_t known = slot.tags.size();
        bool good = readStrictArray(scan_, slot.tag_count, known, [&](std::size_t i, bool fresh) {
            if (fresh) slot.tags.emplace_back();
            return readStrictText(scan_, work_.arena, slot.tags[i]);
        });
        if (known == 0) slot.tags.clear();
        return good;
    }

    const Work& work_;
    std::vector<EventSlot>& slots_;
    JsonScanner scan_;
    StrictTime time_;
    std::size_t count_ = 0;
};

// Reason why the slot is refused; empty when it is good.
std::string_view check(const EventSlot& slot) {
    if (slot.name.empty()) return "the name is empty";
    if (slot.time == Instant{kZeroTime, 0}) return "the timestamp is absent";
    if (!vss::isEventName(slot.name)) return "the name is not in the dictionary";
    if (!slot.metadata.empty() && !cloudevent::isJson(slot.metadata)) return "the metadata is not JSON";
    for (std::size_t i = 0; i < slot.tag_count; ++i) {
        if (!isLowercased(slot.tags[i])) return "a tag is not in lower case";
    }
    return {};
}

}  // namespace

Outcome readDefaultEvents(const Work& work, Batch& out) {
    EventsReader reader(work);
    if (!reader.read()) {
        work.errors.add("the payload is not an events document");
        return Outcome::kPayload;
    }
    for (std::size_t i = 0; i < reader.count(); ++i) {
        const EventSlot& slot = work.scratch.events[i];
        std::string_view reason = check(slot);
        if (!reason.empty()) {
            work.errors.add(reason, i);
            continue;
        }
        EventRow& row = appendEvent(work, out);
        row.name = slot.name;
        row.timestamp = slot.time.micros;
        row.duration_ns = slot.duration_ns;
        row.metadata = slot.metadata;
        row.tag_count = static_cast<std::uint32_t>(slot.tag_count);
        out.tags.insert(out.tags.end(), slot.tags.begin(),
                        slot.tags.begin() + static_cast<std::ptrdiff_t>(slot.tag_count));
    }
    return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
}

namespace {

class DefaultModule final : public Module {
  public:
    Outcome signals(const Work& work, std::vector<RawSignal>& out) const override {
        return readDefaultStatus(work, out);
    }
    Outcome events(const Work& work, Batch& out) const override { return readDefaultEvents(work, out); }
};

}  // namespace

const Module& defaultModule() {
    static const DefaultModule instance;
    return instance;
}

}  // namespace dq::decode
