// The signal and event dictionary (data/signals.csv, data/events.csv) and privileges. Immutable, built on first use.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace dq::vss {

enum class ValueType : std::uint8_t { kFloat, kString, kLocation };

// Bits of a privilege set. Permission strings of tokens: graphql.md §4.1.
enum Privilege : std::uint32_t {
    kNonLocationData = 1u << 0,
    kCommands = 1u << 1,
    kCurrentLocation = 1u << 2,
    kAllTimeLocation = 1u << 3,
    kVinCredential = 1u << 4,
    kRawData = 1u << 5,
    kApproximateLocation = 1u << 6,
};
using Privileges = std::uint32_t;

struct Signal {
    std::string_view name, vss_path, unit, datatype, minimum, maximum;
    ValueType value_type;
    Privileges required;  // a reader needs all of them
};

inline constexpr std::string_view kCoordinates = "currentLocationCoordinates";
inline constexpr std::string_view kApproximateCoordinates = "currentLocationApproximateCoordinates";  // never stored
inline constexpr std::string_view kLastSeen = "lastSeen";                                             // virtual

std::span<const Signal> signals();                // ascending by name
const Signal* findSignal(std::string_view name);  // exact case; nullptr when unknown
bool isEventName(std::string_view name);          // one of data/events.csv

// "VEHICLE_ALL_TIME_LOCATION" → bit; "privilege:GetLocationHistory" → bit; bit → permission string.
std::optional<Privilege> privilegeOfSchemaName(std::string_view name);
std::optional<Privilege> privilegeOfPermission(std::string_view permission);
std::string_view permissionName(Privilege privilege);

// May a holder of `held` see the name in a list (queries.md §12)? Unknown names: no. The approximate name needs
// approximate or all-time location.
bool mayList(std::string_view name, Privileges held);

}  // namespace dq::vss
