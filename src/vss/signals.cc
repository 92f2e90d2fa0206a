#include "vss/signals.h"

#include <algorithm>
#include <memory>

#include "core/status.h"
#include "embedded/events_csv.h"
#include "embedded/signals_csv.h"
#include "vss/csv.h"
#include "vss/name_index.h"

namespace dq::vss {
namespace {

struct PrivilegeName {
    Privilege privilege;
    std::string_view schema_name, permission;
};
constexpr PrivilegeName kPrivileges[] = {
    {kNonLocationData, "VEHICLE_NON_LOCATION_DATA", "privilege:GetNonLocationHistory"},
    {kCommands, "VEHICLE_COMMANDS", "privilege:ExecuteCommands"},
    {kCurrentLocation, "VEHICLE_CURRENT_LOCATION", "privilege:GetCurrentLocation"},
    {kAllTimeLocation, "VEHICLE_ALL_TIME_LOCATION", "privilege:GetLocationHistory"},
    {kVinCredential, "VEHICLE_VIN_CREDENTIAL", "privilege:GetVINCredential"},
    {kRawData, "VEHICLE_RAW_DATA", "privilege:GetRawData"},
    {kApproximateLocation, "VEHICLE_APPROXIMATE_LOCATION", "privilege:GetApproximateLocation"},
};

Privileges parsePrivileges(std::string_view text) {
    Privileges all = 0;
    while (!text.empty()) {
        std::size_t end = std::min(text.find(' '), text.size());
        auto privilege = privilegeOfSchemaName(text.substr(0, end));
        DQ_CHECK(privilege.has_value(), "data/signals.csv names an unknown privilege");
        all |= *privilege;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    DQ_CHECK(all != 0, "data/signals.csv has a signal that needs no privilege");
    return all;
}

ValueType parseValueType(std::string_view text) {
    if (text == "float") return ValueType::kFloat;
    if (text == "string") return ValueType::kString;
    DQ_CHECK(text == "location", "data/signals.csv has an unknown value_type");
    return ValueType::kLocation;
}

class Dictionary {
  public:
    Dictionary() : signal_table_(embedded::signals_csv), event_table_(embedded::events_csv) {
        auto column = [&](std::string_view name) { return signal_table_.column(name); };
        for (const auto& row : signal_table_.rows()) {
            signals_.push_back(Signal{row[column("name")], row[column("vss_path")], row[column("unit")],
                                      row[column("vss_datatype")], row[column("min")], row[column("max")],
                                      parseValueType(row[column("value_type")]),
                                      parsePrivileges(row[column("privileges")])});
        }
        std::sort(signals_.begin(), signals_.end(), [](const Signal& a, const Signal& b) { return a.name < b.name; });
        std::vector<std::string_view> names;
        for (const Signal& signal : signals_) names.push_back(signal.name);
        signal_index_ = std::make_unique<NameIndex>(names);
        names.clear();
        for (const auto& row : event_table_.rows()) names.push_back(row[event_table_.column("name")]);
        event_index_ = std::make_unique<NameIndex>(names);
    }

    std::span<const Signal> signals() const { return signals_; }
    const Signal* find(std::string_view name) const {
        int at = signal_index_->find(name);
        return at < 0 ? nullptr : &signals_[static_cast<std::size_t>(at)];
    }
    bool isEvent(std::string_view name) const { return event_index_->find(name) >= 0; }

  private:
    CsvTable signal_table_, event_table_;
    std::vector<Signal> signals_;
    std::unique_ptr<NameIndex> signal_index_, event_index_;
};

const Dictionary& dictionary() {
    static const Dictionary* const instance = new Dictionary;
    return *instance;
}

}  // namespace

std::span<const Signal> signals() { return dictionary().signals(); }
const Signal* findSignal(std::string_view name) { return dictionary().find(name); }
bool isEventName(std::string_view name) { return dictionary().isEvent(name); }

std::optional<Privilege> privilegeOfSchemaName(std::string_view name) {
    for (const PrivilegeName& entry : kPrivileges) {
        if (entry.schema_name == name) return entry.privilege;
    }
    return std::nullopt;
}

std::optional<Privilege> privilegeOfPermission(std::string_view permission) {
    for (const PrivilegeName& entry : kPrivileges) {
        if (entry.permission == permission) return entry.privilege;
    }
    return std::nullopt;
}

std::string_view permissionName(Privilege privilege) {
    for (const PrivilegeName& entry : kPrivileges) {
        if (entry.privilege == privilege) return entry.permission;
    }
    return {};
}

bool mayList(std::string_view name, Privileges held) {
    if (name == kApproximateCoordinates) return (held & (kApproximateLocation | kAllTimeLocation)) != 0;
    const Signal* signal = findSignal(name);
    return signal != nullptr && (held & signal->required) == signal->required;
}

}  // namespace dq::vss
