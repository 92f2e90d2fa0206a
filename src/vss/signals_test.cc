#include "vss/signals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace dq::vss {
namespace {

TEST(Signals, DictionaryIsSortedAndComplete) {
    auto all = signals();
    ASSERT_EQ(all.size(), 116u);
    EXPECT_TRUE(
        std::is_sorted(all.begin(), all.end(), [](const Signal& a, const Signal& b) { return a.name < b.name; }));
    std::set<std::string_view> names;
    for (const Signal& signal : all) {
        EXPECT_TRUE(names.insert(signal.name).second) << signal.name;
        EXPECT_NE(signal.required, 0u) << signal.name;
        EXPECT_FALSE(signal.vss_path.empty()) << signal.name;
    }
}

TEST(Signals, EveryNameIsFoundAndItsVariationsAreNot) {
    for (const Signal& signal : signals()) {
        EXPECT_EQ(findSignal(signal.name), &signal);
        std::string other(signal.name);
        EXPECT_EQ(findSignal(other + "x"), nullptr) << other;
        EXPECT_EQ(findSignal(other.substr(1)), nullptr) << other;
        other[0] = static_cast<char>(other[0] - 'a' + 'A');
        EXPECT_EQ(findSignal(other), nullptr) << other;
    }
    EXPECT_EQ(findSignal(""), nullptr);
    EXPECT_EQ(findSignal("Vehicle.Speed"), nullptr);
    EXPECT_EQ(findSignal(kLastSeen), nullptr);
    EXPECT_EQ(findSignal(kApproximateCoordinates), nullptr);
}

TEST(Signals, FieldsComeFromTheFile) {
    const Signal* speed = findSignal("speed");
    ASSERT_NE(speed, nullptr);
    EXPECT_EQ(speed->vss_path, "Vehicle.Speed");
    EXPECT_EQ(speed->unit, "km/h");
    EXPECT_EQ(speed->value_type, ValueType::kFloat);
    EXPECT_EQ(speed->required, kNonLocationData);
    const Signal* coordinates = findSignal(kCoordinates);
    ASSERT_NE(coordinates, nullptr);
    EXPECT_EQ(coordinates->value_type, ValueType::kLocation);
    EXPECT_EQ(coordinates->required, kAllTimeLocation);
    ASSERT_NE(findSignal("obdDTCList"), nullptr);
    EXPECT_EQ(findSignal("obdDTCList")->value_type, ValueType::kString);
}

TEST(Signals, OnlyLocationNamesNeedLocationHistory) {
    std::set<std::string_view> location;
    for (const Signal& signal : signals()) {
        if (signal.required == kAllTimeLocation) {
            location.insert(signal.name);
        } else {
            EXPECT_EQ(signal.required, kNonLocationData) << signal.name;
        }
    }
    EXPECT_EQ(location, (std::set<std::string_view>{"currentLocationCoordinates", "currentLocationAltitude",
                                                    "currentLocationHeading"}));
}

TEST(Events, NamesAreExact) {
    for (std::string_view name :
         {"behavior.extremeBraking", "behavior.harshAcceleration", "behavior.harshBraking", "behavior.harshCornering",
          "safety.collision", "security.engineBlock", "security.engineUnblock"}) {
        EXPECT_TRUE(isEventName(name)) << name;
    }
    EXPECT_FALSE(isEventName("behavior.harshbraking"));
    EXPECT_FALSE(isEventName("name"));
    EXPECT_FALSE(isEventName(""));
}

TEST(Privileges, NamesRoundTrip) {
    EXPECT_EQ(privilegeOfSchemaName("VEHICLE_ALL_TIME_LOCATION"), kAllTimeLocation);
    EXPECT_EQ(privilegeOfPermission("privilege:GetLocationHistory"), kAllTimeLocation);
    EXPECT_EQ(privilegeOfPermission("privilege:GetNonLocationHistory"), kNonLocationData);
    EXPECT_EQ(privilegeOfPermission("privilege:getlocationhistory"), std::nullopt);
    EXPECT_EQ(privilegeOfPermission("privilege:GetLiveData"), std::nullopt);
    EXPECT_EQ(privilegeOfSchemaName("all_time_location"), std::nullopt);
    for (Privilege privilege : {kNonLocationData, kCommands, kCurrentLocation, kAllTimeLocation, kVinCredential,
                                kRawData, kApproximateLocation}) {
        EXPECT_EQ(privilegeOfPermission(permissionName(privilege)), privilege);
    }
}

TEST(Privileges, MayListFailsClosed) {
    EXPECT_TRUE(mayList("speed", kNonLocationData));
    EXPECT_FALSE(mayList("speed", kAllTimeLocation));
    EXPECT_FALSE(mayList(kCoordinates, kNonLocationData | kCurrentLocation | kApproximateLocation));
    EXPECT_TRUE(mayList(kCoordinates, kAllTimeLocation));
    EXPECT_TRUE(mayList(kApproximateCoordinates, kApproximateLocation));
    EXPECT_TRUE(mayList(kApproximateCoordinates, kAllTimeLocation));
    EXPECT_FALSE(mayList(kApproximateCoordinates, kNonLocationData));
    EXPECT_FALSE(mayList("currentLocationIsRedacted", ~0u));
    EXPECT_FALSE(mayList("", ~0u));
}

}  // namespace
}  // namespace dq::vss
