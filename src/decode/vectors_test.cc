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

}  // namespace
}  // namespace dq::decode
