#include <gtest/gtest.h>

#include <set>

#include "decode/decode_testing.h"

namespace dq::decode {
namespace {

bool hasPrefix(const std::string& name, std::initializer_list<std::string_view> prefixes) {
    for (std::string_view prefix : prefixes) {
        if (name.starts_with(prefix)) return true;
    }
    return false;
}

std::size_t runAll(std::initializer_list<std::string_view> prefixes) {
    std::size_t count = 0;
    for (const Vector& vector : readVectors()) {
        if (!hasPrefix(vector.name, prefixes)) continue;
        Rows rows = runVector(vector, Compat::kExact);
        if (vector.lenient) continue;
        ++count;
        EXPECT_EQ(rows, vector.expected) << vector.name << "\n" << vector.cloud_event;
    }
    return count;
}

TEST(Vectors, AllAreThere) {
    std::set<std::string> names;
    for (const Vector& vector : readVectors()) names.insert(vector.name);
    EXPECT_EQ(names.size(), 351u);
}

TEST(Vectors, DefaultStatus) { EXPECT_EQ(runAll({"def_"}), 78u); }
TEST(Vectors, DefaultEvents) { EXPECT_EQ(runAll({"dev_"}), 32u); }
TEST(Vectors, GateAndTypes) { EXPECT_EQ(runAll({"gate_", "type_"}), 20u); }
TEST(Vectors, CloudEvents) { EXPECT_EQ(runAll({"ce_"}), 11u); }
TEST(Vectors, Routes) { EXPECT_EQ(runAll({"route_"}), 4u); }
TEST(Vectors, AutoPi) { EXPECT_EQ(runAll({"ap_", "autopi_"}), 32u); }
TEST(Vectors, HashDog) { EXPECT_EQ(runAll({"hd_", "hashdog_"}), 8u); }
TEST(Vectors, LocationAssembly) { EXPECT_EQ(runAll({"loc_"}), 26u); }
TEST(Vectors, RuptelaStatus) { EXPECT_EQ(runAll({"ru_"}), 66u); }
TEST(Vectors, RuptelaLocation) { EXPECT_EQ(runAll({"rul_"}), 14u); }
TEST(Vectors, RuptelaTroubleCodes) { EXPECT_EQ(runAll({"rud_"}), 6u); }
TEST(Vectors, RuptelaEvents) { EXPECT_EQ(runAll({"rue_"}), 14u); }
TEST(Vectors, TeslaApi) { EXPECT_EQ(runAll({"te_"}), 13u); }
TEST(Vectors, TeslaTelemetry) { EXPECT_EQ(runAll({"tt_"}), 24u); }

// The vectors whose payload is no JSON: the contract lets such a payload be refused whole.
TEST(Vectors, LenientOnesAreRefusedWhole) {
    std::size_t count = 0;
    for (const Vector& vector : readVectors()) {
        if (!vector.lenient) continue;
        ++count;
        Rows rows = runVector(vector, Compat::kExact);
        EXPECT_EQ(rows.outcome, "payload") << vector.name;
        EXPECT_EQ(rows.failed, 1u) << vector.name;
        EXPECT_TRUE(rows.signals.empty()) << vector.name;
    }
    EXPECT_EQ(count, 3u);
}

}  // namespace
}  // namespace dq::decode
