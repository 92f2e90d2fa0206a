// Tesla (decode.md §8.4, §8.5): answers of its fleet interface, and telemetry messages; the data version tells them
// apart.
#include <algorithm>

#include "decode/default_module.h"
#include "decode/scratch.h"
#include "decode/tesla_telemetry.h"
#include "decode/vendor_modules.h"
#include "decode/vendor_table.h"
#include "embedded/tesla_api_csv.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;

constexpr std::int64_t kMicrosPerMilli = 1'000;

std::vector<std::string_view> pathsOf(const VendorTable& table) {
    std::vector<std::string_view> paths;
    auto add = [&](std::string_view path) {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(path);
    };
    for (const VendorRow& row : table.rows()) {
        add(row.key);
        add(table.field(row, "timestamp_path"));
        if (row.type == vss::ValueType::kLocation) add(row.pipeline.front().text);
    }
    return paths;
}

class TeslaModule final : public Module {
  public:
    TeslaModule() : table_(embedded::tesla_api_csv, "path"), paths_(pathsOf(table_)) {
        for (const VendorRow& row : table_.rows()) {
            Slots slots{paths_.slotOf(row.key), paths_.slotOf(table_.field(row, "timestamp_path")), 0};
            if (row.type == vss::ValueType::kLocation) slots.longitude = paths_.slotOf(row.pipeline.front().text);
            slots_.push_back(slots);
        }
    }

    Outcome events(const Work& work, Batch& out) const override { return readDefaultEvents(work, out); }

    Outcome signals(const Work& work, std::vector<RawSignal>& out) const override {
        if (work.input.data_version == kTelemetryVersion) return readTeslaTelemetry(work, out);
        if (isBlank(work.payload)) return Outcome::kNone;
        std::vector<LooseValue>& values = work.scratch.values;
        if (!paths_.collect(work.payload, values)) {
            work.errors.add("the payload is not JSON");
            return Outcome::kPayload;
        }
        const OpContext context{work.arena};
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            const LooseValue& value = values[slots_[i].value];
            if (!value.found() || value.null()) continue;
            std::string_view error = convert(table_.rows()[i], slots_[i], values, context, out);
            if (!error.empty()) work.errors.add(error, i);
        }
        return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
    }

  private:
    struct Slots {
        std::size_t value, timestamp, longitude;
    };

    // Reason why the row gives no signal; empty when it does.
    static std::string_view convert(const VendorRow& row, const Slots& slots, const std::vector<LooseValue>& values,
                                    const OpContext& context, std::vector<RawSignal>& out) {
        const LooseValue& value = values[slots.value];
        if (!hasType(value, row)) return "the value has another type";
        RawSignal signal;
        if (row.type == vss::ValueType::kLocation) {
            if (values[slots.longitude].kind != JsonKind::kNumber) return "the longitude is not a number";
            signal.name = row.signal;
            signal.latitude = value.number;
            signal.longitude = values[slots.longitude].number;
        } else if (runRow(row, value, context, signal) != Verdict::kValue) {
            return "the value cannot be converted";
        }
        if (values[slots.timestamp].kind != JsonKind::kNumber) return "the timestamp is not a number";
        auto count = looseInteger(values[slots.timestamp]);
        auto time = count ? instantOf(*count, kMicrosPerMilli) : std::nullopt;
        if (!time) return "the timestamp is out of range";
        signal.time = *time;
        out.push_back(signal);
        return {};
    }

    VendorTable table_;
    PathSet paths_;
    std::vector<Slots> slots_;
};

}  // namespace

const Module& teslaModule() {
    static const TeslaModule* const instance = new TeslaModule;
    return *instance;
}

}  // namespace dq::decode
