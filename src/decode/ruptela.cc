// Ruptela, also through Kaufmann (decode.md §8.3): hex texts under numeric names, each read by the table of its OID.
#include <algorithm>
#include <optional>

#include "cloudevent/json_text.h"
#include "core/status.h"
#include "decode/json_array_text.h"
#include "decode/ruptela_events.h"
#include "decode/scratch.h"
#include "decode/vendor_modules.h"
#include "decode/vendor_table.h"
#include "embedded/ruptela_csv.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

constexpr double kNoPosition = -2147483648.0;
constexpr double kNoHdop = 255;
constexpr std::string_view kPointMembers[] = {"alt", "dir", "spd"};

// Rows of one signal, alternatives in order.
struct Attempts {
    std::vector<const VendorRow*> rows;
    std::vector<std::size_t> slots;  // of their paths, for status
    bool dtc = false;
};

// How one signal came out.
enum class Result : std::uint8_t { kEmitted, kSilent, kNotFound, kFailed };

struct Position {
    LooseValue latitude, longitude, hdop;
};

// Adds coordinates, or nothing; false when a member has a wrong type.
bool addPosition(const Position& position, const Instant& time, std::vector<RawSignal>& out) {
    auto missing = [](const LooseValue& value) { return !value.found() || value.null(); };
    auto number = [](const LooseValue& value) { return value.kind == JsonKind::kNumber; };
    if (missing(position.latitude) || missing(position.longitude)) return true;
    if (!number(position.latitude) || !number(position.longitude)) return false;
    if (position.latitude.number == kNoPosition || position.longitude.number == kNoPosition) return true;
    if (!missing(position.hdop) && !number(position.hdop)) return false;
    RawSignal& signal = out.emplace_back();
    signal.name = vss::kCoordinates;
    signal.time = time;
    signal.latitude = position.latitude.number / 1e7;
    signal.longitude = position.longitude.number / 1e7;
    if (!missing(position.hdop) && position.hdop.number != kNoHdop) signal.hdop = position.hdop.number / 10;
    return true;
}

bool isText(const LooseValue& value, std::string_view text) {
    return value.kind == JsonKind::kString && cloudevent::textEquals(value.text, text);
}

// All `code` texts of the elements as JSON array text.
Verdict readCodes(const LooseValue& value, Arena& arena, std::string_view& out) {
    if (!value.found() || value.null()) return Verdict::kNotFound;
    if (value.kind != JsonKind::kArray) return Verdict::kError;
    // A code of n bytes stands in at least n + 9 bytes of source, so half the source bounds their number generously.
    JsonArrayText codes(arena, value.source.size(), value.source.size() / 2);
    std::size_t count = 0;
    JsonScanner scan(value.source);
    scan.openArray();
    while (scan.nextElement()) {
        if (scan.kind() != JsonKind::kObject) return Verdict::kNotFound;
        scan.openObject();
        JsonString key;
        while (scan.nextMember(key)) {
            LooseValue member;
            readLoose(scan, member);
            if (member.kind != JsonKind::kString || !cloudevent::textEquals(key, "code")) continue;
            codes.add(looseText(member, arena));
            ++count;
        }
    }
    if (count == 0) return Verdict::kNotFound;
    out = codes.finish();
    return Verdict::kValue;
}

std::vector<std::string_view> pathsOf(const VendorTable& table) {
    std::vector<std::string_view> paths = {"signals.409", "signals.985", "pos.lat",  "pos.lon",
                                           "pos.hdop",    "location",    "dtc_codes"};
    for (const VendorRow& row : table.rows()) {
        if (row.key.find('.') == std::string_view::npos) continue;
        if (std::find(paths.begin(), paths.end(), row.key) == paths.end()) paths.push_back(row.key);
    }
    return paths;
}

class RuptelaModule final : public Module {
  public:
    RuptelaModule() : table_(embedded::ruptela_csv, "path"), paths_(pathsOf(table_)) {
        for (const VendorRow& row : table_.rows()) {
            std::string_view section = table_.field(row, "section");
            if (section == "status") {
                addStatusRow(row);
            } else if (section == "location") {
                auto member = std::find(std::begin(kPointMembers), std::end(kPointMembers), row.key);
                DQ_CHECK(member != std::end(kPointMembers), "ruptela.csv has an unknown member of a location point");
                point_[static_cast<std::size_t>(member - std::begin(kPointMembers))].rows.push_back(&row);
            }
        }
        ignition_ = paths_.slotOf("signals.409");
        unplugged_ = paths_.slotOf("signals.985");
        position_ = {paths_.slotOf("pos.lat"), paths_.slotOf("pos.lon"), paths_.slotOf("pos.hdop")};
        location_ = paths_.slotOf("location");
        codes_ = paths_.slotOf("dtc_codes");
    }

    Outcome events(const Work& work, Batch& out) const override { return readRuptelaEvents(work, out); }

    Outcome signals(const Work& work, std::vector<RawSignal>& out) const override {
        std::string_view version = work.input.data_version;
        if (version == "r/v0/dev" || version == "r/v0/batt") return Outcome::kNone;
        if (version != "r/v0/s" && version != "r/v0/loc" && version != "r/v0/dtc") {
            work.errors.add("the data version is unknown");
            return Outcome::kPayload;
        }
        std::vector<LooseValue>& values = work.scratch.values;
        if (isBlank(work.payload)) {
            values.assign(paths_.size(), LooseValue{});
        } else if (!paths_.collect(work.payload, values)) {
            work.errors.add("the payload is not JSON");
            return Outcome::kPayload;
        }
        const OpContext context{work.arena, isText(values[ignition_], "0"), isText(values[unplugged_], "1")};
        if (version == "r/v0/s") {
            status(work, context, out);
        } else if (version == "r/v0/loc") {
            location(work, context, out);
        } else {
            codes(work, out);
        }
        return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
    }

  private:
    void addStatusRow(const VendorRow& row) {
        if (status_.empty() || status_.back().rows.front()->signal != row.signal) status_.emplace_back();
        status_.back().rows.push_back(&row);
        status_.back().slots.push_back(paths_.slotOf(row.key));
        status_.back().dtc = row.pipeline.front().op == Step::Op::kDtcCodes;
    }

    // Tries the alternatives; the first value ends it. A remembered "not found" hides errors.
    template <class ValueAt>
    static Result attempt(const Attempts& attempts, const OpContext& context, const Instant& time, ValueAt&& value_at,
                          std::vector<RawSignal>& out) {
        bool not_found = false, failed = false;
        for (std::size_t i = 0; i < attempts.rows.size(); ++i) {
            const LooseValue& value = value_at(i);
            if (!value.found() || value.null()) continue;
            Verdict verdict = Verdict::kError;
            if (hasType(value, *attempts.rows[i])) {
                RawSignal signal;
                verdict = attempts.dtc ? readCodes(value, context.arena, signal.text)
                                       : runRow(*attempts.rows[i], value, context, signal);
                if (verdict == Verdict::kValue) {
                    signal.name = attempts.rows[i]->signal;
                    signal.time = time;
                    out.push_back(signal);
                    return Result::kEmitted;
                }
            }
            (verdict == Verdict::kNotFound ? not_found : failed) = true;
        }
        return not_found ? Result::kNotFound : failed ? Result::kFailed : Result::kSilent;
    }

    void status(const Work& work, const OpContext& context, std::vector<RawSignal>& out) const {
        const std::vector<LooseValue>& values = work.scratch.values;
        const Instant time{work.input.time, 0};
        for (std::size_t i = 0; i < status_.size(); ++i) {
            const Attempts& attempts = status_[i];
            auto value_at = [&](std::size_t row) -> const LooseValue& { return values[attempts.slots[row]]; };
            if (attempt(attempts, context, time, value_at, out) == Result::kFailed)
                work.errors.add("a value cannot be converted", i);
        }
        Position position{values[position_[0]], values[position_[1]], values[position_[2]]};
        if (!addPosition(position, time, out)) work.errors.add("a coordinate is not a number");
    }

    void location(const Work& work, const OpContext& context, std::vector<RawSignal>& out) const {
        const LooseValue list = work.scratch.values[location_];
        if (list.null()) return;
        if (list.kind != JsonKind::kArray) {
            work.errors.add(list.found() ? "location is not an array" : "location is absent");
            return;
        }
        JsonScanner scan(list.source);
        scan.openArray();
        for (std::size_t item = 0; scan.nextElement(); ++item) {
            LooseValue element;
            readLoose(scan, element);
            if (element.kind != JsonKind::kObject) {
                work.errors.add("the point is not an object", item);
            } else {
                point(work, context, element.source, item, out);
            }
        }
    }

    static std::optional<Instant> timeOf(const LooseValue& value, Arena& arena) {
        if (value.kind == JsonKind::kString) return parseRfc3339(looseText(value, arena));
        if (value.kind != JsonKind::kNumber) return std::nullopt;
        auto seconds = looseInteger(value);
        return seconds ? instantOf(*seconds, kMicrosPerSecond) : std::nullopt;
    }

    void point(const Work& work, const OpContext& context, std::string_view source, std::size_t item,
               std::vector<RawSignal>& out) const {
        LooseValue stamp;
        Position position;
        forEachMember(source, [&](const JsonString& key, const LooseValue& value) {
            for (auto [name, slot] : {std::pair<std::string_view, LooseValue*>{"ts", &stamp},
                                      {"lat", &position.latitude},
                                      {"lon", &position.longitude},
                                      {"hdop", &position.hdop}}) {
                if (!slot->found() && cloudevent::textEquals(key, name)) *slot = value;
            }
        });
        auto time = timeOf(stamp, work.arena);
        if (!time) {
            work.errors.add("the time of the point is absent or malformed", item);
            return;
        }
        forEachMember(source, [&](const JsonString& key, const LooseValue& value) {
            for (std::size_t which = 0; which < point_.size(); ++which) {
                if (!cloudevent::textEquals(key, kPointMembers[which])) continue;
                auto value_at = [&](std::size_t) -> const LooseValue& { return value; };
                if (attempt(point_[which], context, *time, value_at, out) != Result::kEmitted)
                    work.errors.add("a value cannot be converted", item);
            }
        });
        if (!addPosition(position, *time, out)) work.errors.add("a coordinate is not a number", item);
    }

    // `source` is a valid object.
    template <class Member>
    static void forEachMember(std::string_view source, Member&& member) {
        JsonScanner scan(source);
        scan.kind();
        scan.openObject();
        JsonString key;
        while (scan.nextMember(key)) {
            LooseValue value;
            readLoose(scan, value);
            member(key, value);
        }
    }

    // One row always, so that a cleared list is seen.
    void codes(const Work& work, std::vector<RawSignal>& out) const {
        RawSignal signal;
        signal.name = "obdDTCList";
        signal.time = Instant{work.input.time, 0};
        if (readCodes(work.scratch.values[codes_], work.arena, signal.text) != Verdict::kValue) {
            signal.text = {};
            work.errors.add("no trouble code");
        }
        out.push_back(signal);
    }

    VendorTable table_;
    PathSet paths_;
    std::vector<Attempts> status_;
    std::array<Attempts, 3> point_;
    std::array<std::size_t, 3> position_{};
    std::size_t ignition_ = 0, unplugged_ = 0, location_ = 0, codes_ = 0;
};

}  // namespace

const Module& ruptelaModule() {
    static const RuptelaModule* const instance = new RuptelaModule;
    return *instance;
}

}  // namespace dq::decode
