#include <gtest/gtest.h>

#include <random>

#include "decode/decode_testing.h"
#include "decode/fuzz_checks.h"

namespace dq::decode {
namespace {

constexpr std::string_view kSources[] = {
    "0x5e31bBc786D7bEd95216383787deA1ab0f1c1897", "0xF26421509Efe92861a587482100c6d728aBf1CD0",
    "0x8D8cDB2B26423c8fDbb27321aF20b4659Ce919fD", "0x4c674ddE8189aEF6e3b58F5a36d7438b2b1f6Bc2",
    "0xc4035Fecb1cc906130423EF05f9C20977F643722", ""};
constexpr std::string_view kVersions[] = {"", "r/v0/s", "r/v0/loc", "r/v0/dtc", "r/v0/cmd", "fleet_telemetry/v1.0.0"};

void checkEverywhere(std::string_view bytes) {
    for (std::string_view source : kSources) {
        for (std::string_view version : kVersions) {
            checkPayload(bytes, "dimo.status", source, version);
            checkPayload(bytes, "dimo.events", source, version);
        }
    }
}

TEST(Property, Acceptance29_AnyBytesDecodeQuietly) {
    const unsigned seed = 29;
    std::mt19937 random(seed);
    for (int round = 0; round < 300; ++round) {
        SCOPED_TRACE(testing::Message() << "seed " << seed << " round " << round);
        std::string bytes(random() % 64, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        checkEverywhere(bytes);
    }
}

// Damaged forms of real payloads reach deeper than noise: cut, byte changed, piece doubled, piece removed.
TEST(Property, Acceptance29_DamagedPayloadsDecodeQuietly) {
    const unsigned seed = 30;
    std::mt19937 random(seed);
    for (const Vector& vector : readVectors()) {
        std::string whole =
            vector.payload ? *vector.payload
                           : vector.cloud_event.substr(
                                 std::min(vector.cloud_event.find("\"data\":"), vector.cloud_event.size() - 7) + 7);
        SCOPED_TRACE(testing::Message() << "seed " << seed << " " << vector.name);
        for (int round = 0; round < 6; ++round) {
            std::string bytes = whole;
            std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
            switch (round) {
                case 0: bytes.resize(at); break;
                case 1: bytes.insert(at, 1, "\"{}[],:\\0en-\xff"[random() % 13]); break;
                case 2:
                    if (!bytes.empty()) bytes[at] = static_cast<char>(random());
                    break;
                case 3: bytes.insert(at, bytes.substr(random() % (at + 1), random() % 40)); break;
                case 4: bytes.erase(at, random() % 8); break;
                default:
                    if (!bytes.empty()) bytes.pop_back();
                    break;  // the closing brace of the cloud event
            }
            checkEverywhere(bytes);
        }
    }
}

}  // namespace
}  // namespace dq::decode
