// signalsLatest, signalsSnapshot, availableSignals: the latest state of a subject (queries.md §6–§8).
#include <absl/container/flat_hash_map.h>

#include "api/arguments.h"
#include "api/errors.h"
#include "api/objects.h"
#include "api/resolvers.h"
#include "core/text.h"
#include "vss/signals.h"

namespace dq::api {
namespace {

using graphql::Field;
using graphql::Resolved;
using query::LatestSignal;
using Rows = std::vector<LatestSignal>;

const LatestSignal* findRow(const Rows& rows, std::string_view name) {
    const auto found = std::lower_bound(rows.begin(), rows.end(), name,
                                        [](const LatestSignal& row, std::string_view n) { return row.name < n; });
    return found != rows.end() && found->name == name ? &*found : nullptr;
}

bool hasFix(const LatestSignal& row) { return row.location.latitude != 0 || row.location.longitude != 0; }

Resolved lastSeenOf(const Rows& rows) {
    Micros last = 0;
    for (const LatestSignal& row : rows) last = std::max(last, row.last_seen);
    if (last == 0) return graphql::NullValue{};
    return graphql::TimeValue{last};
}

std::shared_ptr<const graphql::Object> stamped(Micros time, std::function<Resolved()> value) {
    return makeObject([time, value = std::move(value)](const Field& field) -> Resolved {
        if (field.definition->name == "timestamp") return graphql::TimeValue{time};
        return value();
    });
}

Resolved signalValue(const Field& field, const LatestSignal& row) {
    const std::string& type = field.definition->named_type;
    if (type == "SignalFloat")
        return stamped(row.timestamp, [number = row.value_number]() -> Resolved { return number; });
    if (type == "SignalString") return stamped(row.timestamp, [text = row.value_string]() -> Resolved { return text; });
    // A location that never had a fix answers (0,0) at the epoch.
    return stamped(row.location_time, [location = row.location]() -> Resolved { return locationObject(location); });
}

Resolved approximateValue(const Rows& rows) {
    const LatestSignal* row = findRow(rows, vss::kCoordinates);
    if (row == nullptr) return graphql::NullValue{};
    auto coarse = approximateLocationObject(row->location);
    if (coarse == nullptr) return graphql::NullValue{};
    return stamped(row->location_time, [coarse]() -> Resolved { return coarse; });
}

// One entry of a snapshot: exactly one of location, text, number (queries.md §7).
Resolved snapshotEntry(const LatestSignal& row, std::string_view name,
                       std::shared_ptr<const graphql::Object> location) {
    return makeObject([name = std::string(name), location, fix = hasFix(row),
                       time = hasFix(row) ? row.location_time : row.timestamp, text = row.value_string,
                       number = row.value_number](const Field& field) -> Resolved {
        const std::string& member = field.definition->name;
        if (member == "name") return name;
        if (member == "timestamp") return graphql::TimeValue{time};
        if (member == "valueLocation" && location != nullptr) return location;
        if (member == "valueString" && location == nullptr && !text.empty()) return text;
        if (member == "valueNumber" && location == nullptr && text.empty()) return number;
        return graphql::NullValue{};
    });
}

}  // namespace

Resolved Operation::signalsLatest(const Field& field) {
    if (textArgument(field, "subject").empty()) return badRequest("subject is required");
    if (const auto source = sourceFilter(field); source && !source->valid) {
        return badRequest(strCat("source '", source->text, "' is not a valid ethr DID"));
    }
    const bool wanted = std::any_of(field.selections.begin(), field.selections.end(), [](const Field& selected) {
        return selected.definition->name == vss::kLastSeen || selected.definition->directive("isSignal") != nullptr;
    });
    Latest rows = std::make_shared<const Rows>();
    if (wanted) {
        auto read = latest(field, "signalsLatest");
        if (!read.ok()) return readFailure(read.status(), "signalsLatest");
        rows = *read;
    }
    return makeObject([rows](const Field& selected) -> Resolved {
        const std::string& name = selected.definition->name;
        if (name == vss::kLastSeen) return lastSeenOf(*rows);
        if (name == vss::kApproximateCoordinates) return approximateValue(*rows);
        const LatestSignal* row = findRow(*rows, name);
        if (row == nullptr) return graphql::NullValue{};
        return signalValue(selected, *row);
    });
}

Resolved Operation::signalsSnapshot(const Field& field) {
    auto read = latest(field, "allLatest");
    if (!read.ok()) return readFailure(read.status(), "signalsSnapshot");
    const Latest rows = *read;
    std::vector<std::shared_ptr<const graphql::Object>> entries;
    const auto add = [&](Resolved entry) {
        entries.push_back(std::get<std::shared_ptr<const graphql::Object>>(std::move(entry)));
    };
    for (const LatestSignal& row : *rows) {
        if (vss::findSignal(row.name) == nullptr || !vss::mayList(row.name, privileges())) continue;
        add(snapshotEntry(row, row.name, hasFix(row) ? locationObject(row.location) : nullptr));
    }
    const LatestSignal* coordinates = findRow(*rows, vss::kCoordinates);
    if (coordinates != nullptr && vss::mayList(vss::kApproximateCoordinates, privileges())) {
        if (auto coarse = approximateLocationObject(coordinates->location))
            add(snapshotEntry(*coordinates, vss::kApproximateCoordinates, coarse));
    }
    return makeObject([rows, entries](const Field& selected) -> Resolved {
        if (selected.definition->name == vss::kLastSeen) return lastSeenOf(*rows);
        return makeList(entries.size(), [entries](std::size_t at) { return entries[at]; });
    });
}

Resolved Operation::availableSignals(const Field& field) {
    auto read = latest(field, "availableSignals");
    if (!read.ok()) return readFailure(read.status(), "availableSignals");
    graphql::StringListValue names;
    bool any = false;
    for (const LatestSignal& row : **read) {
        if (vss::findSignal(row.name) == nullptr) continue;
        any = true;
        if (vss::mayList(row.name, privileges())) names.items.push_back(row.name);
    }
    // Nothing stored is null; everything removed by privileges is an empty list.
    if (!any) return graphql::NullValue{};
    return names;
}

}  // namespace dq::api
