// Helpers of decoder tests: rows as owned values, payloads with readable padding, the recorded vectors.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "decode/decoder.h"

namespace dq::decode {

constexpr std::string_view kContract = "0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678";
constexpr std::string_view kSubject = "did:erc721:137:0xA1b2C3d4E5f60718293a4B5c6D7e8F9012345678:7";
constexpr Micros kTestNow = 1'792'000'000LL * kMicrosPerSecond;  // October 2026

// Rows as text, one a line, doubles by their bits: equal texts are equal rows.
struct Rows {
    std::vector<std::string> signals, events;
    std::uint64_t failed = 0;
    std::string outcome;
    bool operator==(const Rows&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Rows& rows);

std::string describe(const SignalRow& row);
std::string describe(const EventRow& row, const Batch& batch);

// One raw event to decode; `payload` may hold any bytes.
struct RawEvent {
    std::string type = "dimo.status", source = "0x1234567890AbcdEF1234567890aBcdef12345678", subject{kSubject},
                id = "e1", producer = "did:erc721:137:0x0011223344556677889900aABBccDdEeFf001122:5", data_version,
                payload;
    Micros time = 1'741'064'767'000'000;
    bool base64_text = false;
};

Decoder makeDecoder(Compat compat, const Clock& clock);
// The payload lies in a heap block of exactly the promised size, so that a sanitizer sees reads behind the padding.
Outcome decodeInto(const Decoder& decoder, const RawEvent& event, Scratch& scratch, Batch& batch,
                   std::string* why = nullptr);
Rows decodeRows(const RawEvent& event, Compat compat = Compat::kExact, Micros now = kTestNow);

// "name=number" or "name@lat,lon,hdop" or "name='text'" with the time for each signal row, for short expectations.
std::vector<std::string> brief(const RawEvent& event, Compat compat = Compat::kExact, Micros now = kTestNow);

struct Vector {
    std::string name;
    bool lenient = false;
    std::string cloud_event;             // source text of the event
    std::optional<std::string> payload;  // replaces the payload
    Rows expected;
};
std::vector<Vector> readVectors();
// Parses, maps and decodes as an ingest and a materializer would; outcome "cloudevent" when the event is refused.
Rows runVector(const Vector& vector, Compat compat);

}  // namespace dq::decode
