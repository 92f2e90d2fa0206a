// Status payloads of the default module (decode.md §7.1).
#include "decode/default_module.h"
#include "decode/float_text.h"
#include "decode/scratch.h"
#include "decode/strict_json.h"
#include "vss/signals.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonNumber;
using cloudevent::JsonScanner;
using cloudevent::JsonString;
using Value = StatusSlot::Value;
using Part = StatusSlot::Part;

constexpr std::string_view kParts[] = {"latitude", "longitude", "hdop"};

class StatusReader {
  public:
    explicit StatusReader(const Work& work) : work_(work), slots_(work.scratch.status), scan_(work.payload) {
        slots_.clear();
    }

    // False when the payload is unusable.
    bool read() {
        return readStrictPayload(scan_, "signals", count_,
                                 [&](std::size_t i, bool fresh) { return element(i, fresh); });
    }

    std::size_t count() const { return count_; }

  private:
    bool element(std::size_t index, bool fresh) {
        if (index == slots_.size()) slots_.emplace_back();
        StatusSlot& slot = slots_[index];
        JsonKind kind = scan_.kind();
        if (fresh || kind == JsonKind::kNull) slot = StatusSlot{};
        if (kind == JsonKind::kNull) return scan_.readLiteral();
        if (kind != JsonKind::kObject || !scan_.openObject()) return false;
        slot.null = false;
        JsonString key;
        while (scan_.nextMember(key)) {
            bool good;
            if (isMember(key, "name")) {
                good = readStrictText(scan_, work_.arena, slot.name);
            } else if (isMember(key, "timestamp")) {
                good = time_.read(scan_, slot.time);
            } else if (isMember(key, "value")) {
                good = value(slot);
            } else {
                good = scan_.skip();
            }
            if (!good) return false;
        }
        return !scan_.damaged();
    }

    // A value replaces an earlier one whole. Numbers beyond a double refuse the payload wherever they stand in it.
    bool value(StatusSlot& slot) {
        JsonNumber number;
        switch (scan_.kind()) {
            case JsonKind::kNumber:
                if (!scan_.readNumber(number) || number.overflow) return false;
                slot.value = Value::kNumber;
                slot.number = number.value;
                return true;
            case JsonKind::kString: slot.value = Value::kString; return scan_.readString(slot.text);
            case JsonKind::kObject: slot.value = Value::kObject; return object(slot);
            case JsonKind::kNull: slot.value = Value::kNone; return scan_.readLiteral();
            default: slot.value = Value::kOther; return skipChecked();
        }
    }

    bool object(StatusSlot& slot) {
        if (!scan_.openObject()) return false;
        for (Part& part : slot.parts) part = Part::kAbsent;
        JsonString key;
        while (scan_.nextMember(key)) {
            std::size_t which = 0;
            while (which < 3 && !cloudevent::textEquals(key, kParts[which])) ++which;
            if (which < 3 && scan_.kind() == JsonKind::kNumber) {
                JsonNumber number;
                if (!scan_.readNumber(number) || number.overflow) return false;
                slot.parts[which] = Part::kNumber;
                slot.coordinates[which] = number.value;
            } else {
                if (which < 3) slot.parts[which] = Part::kBad;
                if (!skipChecked()) return false;
            }
        }
        return !scan_.damaged();
    }

    bool skipChecked() {
        scan_.watchOverflow(true);
        bool good = scan_.skip() && !scan_.sawOverflow();
        scan_.watchOverflow(false);
        return good;
    }

    const Work& work_;
    std::vector<StatusSlot>& slots_;
    JsonScanner scan_;
    StrictTime time_;
    std::size_t count_ = 0;
};

// Reason why the slot gives no signal; empty when it does.
std::string_view emit(const Work& work, const StatusSlot& slot, RawSignal& out) {
    if (slot.null) return "the element is null";
    if (work.repair && slot.time == Instant{kZeroTime, 0}) return "the timestamp is absent";
    const vss::Signal* signal = vss::findSignal(slot.name);
    if (signal == nullptr) return "the name is not in the dictionary";
    if (slot.value == Value::kNone) return "the value is absent";
    out = RawSignal{};
    out.name = signal->name;
    out.time = slot.time;
    switch (signal->value_type) {
        case vss::ValueType::kFloat: {
            if (slot.value == Value::kNumber) {
                out.number = slot.number;
                return {};
            }
            if (slot.value != Value::kString) return "the value is not a number";
            auto number = parseFloatText(strictText(slot.text, work.arena));
            if (!number) return "the value is not a number";
            out.number = *number;
            return {};
        }
        case vss::ValueType::kString:
            if (slot.value != Value::kString) return "the value is not a string";
            out.text = strictText(slot.text, work.arena);
            return {};
        case vss::ValueType::kLocation: break;
    }
    if (slot.value != Value::kObject) return "the value is not a location";
    double* const fields[] = {&out.latitude, &out.longitude, &out.hdop};
    for (std::size_t i = 0; i < 3; ++i) {
        if (slot.parts[i] == Part::kBad) return "a coordinate is not a number";
        if (slot.parts[i] == Part::kNumber) *fields[i] = slot.coordinates[i];
    }
    return {};
}

}  // namespace

Outcome readDefaultStatus(const Work& work, std::vector<RawSignal>& out) {
    StatusReader reader(work);
    if (!reader.read()) {
        work.errors.add("the payload is not a status document");
        return Outcome::kPayload;
    }
    const std::vector<StatusSlot>& slots = work.scratch.status;
    if (!work.repair) {
        for (std::size_t i = 0; i < reader.count(); ++i) {
            if (!slots[i].null) continue;
            work.errors.add("the element is null", i);
            return Outcome::kPanic;
        }
    }
    for (std::size_t i = 0; i < reader.count(); ++i) {
        std::string_view reason = emit(work, slots[i], out.emplace_back());
        if (reason.empty()) continue;
        out.pop_back();
        work.errors.add(reason, i);
    }
    return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
}

}  // namespace dq::decode
