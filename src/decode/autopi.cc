// AutoPi and HashDog (decode.md §8.2): a list of named values, each mapped by the rows of a table that carry its name.
#include "cloudevent/json_text.h"
#include "decode/default_module.h"
#include "decode/scratch.h"
#include "decode/vendor_modules.h"
#include "decode/vendor_table.h"
#include "embedded/autopi_csv.h"
#include "embedded/hashdog_csv.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

constexpr std::int64_t kMicrosPerMilli = 1'000;
constexpr std::string_view kListPath[] = {"vehicle.signals"};

struct Element {
    LooseValue name, timestamp, value;
};

class NamedValuesModule final : public Module {
  public:
    explicit NamedValuesModule(std::string_view csv) : table_(csv, "name") {
        std::vector<std::string_view> names;
        for (const VendorRow& row : table_.rows()) {
            if (names.empty() || names.back() != row.key) {
                names.push_back(row.key);
                first_.push_back(&row);
            }
        }
        first_.push_back(table_.rows().data() + table_.rows().size());
        index_ = std::make_unique<vss::NameIndex>(names);
    }

    Outcome events(const Work& work, Batch& out) const override { return readDefaultEvents(work, out); }

    Outcome signals(const Work& work, std::vector<RawSignal>& out) const override {
        if (work.input.producer == work.input.subject) return Outcome::kNone;
        std::vector<LooseValue>& values = work.scratch.values;
        if (!isBlank(work.payload) && !list_.collect(work.payload, values)) {
            work.errors.add("the payload is not JSON");
            return Outcome::kPayload;
        }
        LooseValue list = isBlank(work.payload) ? LooseValue{} : values[0];
        if (list.null()) return Outcome::kNone;
        if (list.kind != JsonKind::kArray) {
            work.errors.add(list.found() ? "vehicle.signals is not an array" : "vehicle.signals is absent");
            return Outcome::kPartial;
        }
        JsonScanner scan(list.source);
        scan.openArray();
        for (std::size_t item = 0; scan.nextElement(); ++item) {
            Element element;
            readElement(scan, element);
            if (!convert(work, element, item, out)) return Outcome::kPanic;
        }
        return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
    }

  private:
    // The list was checked as a whole, so nothing is damaged here; elements that are no objects have no members.
    static void readElement(JsonScanner& scan, Element& element) {
        if (scan.kind() != JsonKind::kObject) {
            scan.skip();
            return;
        }
        scan.openObject();
        JsonString key;
        while (scan.nextMember(key)) {
            LooseValue unused;
            LooseValue* member = cloudevent::textEquals(key, "name")        ? &element.name
                                 : cloudevent::textEquals(key, "timestamp") ? &element.timestamp
                                 : cloudevent::textEquals(key, "value")     ? &element.value
                                                                            : &unused;
            readLoose(scan, member->found() ? unused : *member);
        }
    }

    // False when the reference would crash on the element and so lose the event.
    bool convert(const Work& work, const Element& element, std::size_t item, std::vector<RawSignal>& out) const {
        std::string_view missing = !element.name.found()        ? "the name is absent"
                                   : !element.timestamp.found() ? "the timestamp is absent"
                                   : !element.value.found()     ? "the value is absent"
                                                                : "";
        if (!missing.empty()) {
            work.errors.add(missing, item);
            return true;
        }
        int at = element.name.kind == JsonKind::kString ? index_->find(looseText(element.name, work.arena)) : -1;
        if (at < 0) return true;
        const std::size_t before = out.size();
        std::string_view error;
        const OpContext context{work.arena};
        for (const VendorRow* row = first_[static_cast<std::size_t>(at)];
             row != first_[static_cast<std::size_t>(at) + 1]; ++row) {
            if (!hasType(element.value, *row)) {
                error = "the value has another type";
                continue;
            }
            Verdict verdict = runRow(*row, element.value, context, out.emplace_back());
            if (verdict == Verdict::kValue) continue;
            error = "the value cannot be converted";
            if (verdict == Verdict::kPanic && !work.repair) {
                work.errors.add(error, item);
                return false;
            }
        }
        auto count = looseInteger(element.timestamp);
        auto time = count ? instantOf(*count, kMicrosPerMilli) : std::nullopt;
        if (error.empty() && !time) error = "the timestamp is out of range";
        if (!error.empty()) {
            out.resize(before);
            work.errors.add(error, item);
            return true;
        }
        for (std::size_t i = before; i < out.size(); ++i) out[i].time = *time;
        return true;
    }

    VendorTable table_;
    std::vector<const VendorRow*> first_;  // first row of each name, and the end
    std::unique_ptr<vss::NameIndex> index_;
    PathSet list_{kListPath};
};

}  // namespace

const Module& autoPiModule() {
    static const NamedValuesModule* const instance = new NamedValuesModule(embedded::autopi_csv);
    return *instance;
}

const Module& hashDogModule() {
    static const NamedValuesModule* const instance = new NamedValuesModule(embedded::hashdog_csv);
    return *instance;
}

}  // namespace dq::decode
