#include "decode/tesla_wire.h"

#include <gtest/gtest.h>

#include <bit>
#include <initializer_list>
#include <string>

namespace dq::decode {
namespace {

// Encoders for test messages; tags are (number << 3 | wire type), numbers below 16 only where one byte is written.
std::string bytes(std::initializer_list<int> values) {
    std::string out;
    for (int value : values) out += static_cast<char>(value);
    return out;
}
std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
}
std::string field(std::uint32_t number, std::uint32_t type, const std::string& rest) {
    return varint(number << 3 | type).append(rest);
}
std::string integer(std::uint32_t number, std::uint64_t value) { return field(number, 0, varint(value)); }
std::string nested(std::uint32_t number, const std::string& inside) {
    return field(number, 2, varint(inside.size()).append(inside));
}
std::string real(std::uint32_t number, double value) {
    std::string out;
    for (int i = 0; i < 8; ++i) out += static_cast<char>(std::bit_cast<std::uint64_t>(value) >> (8 * i));
    return field(number, 1, out);
}

struct Message {
    bool good = false;
    std::vector<TelemetryDatum> data;
    std::optional<TelemetryTime> created_at;
};
Message read(const std::string& text) {
    Message message;
    message.good = readTelemetry(text, message.data, message.created_at);
    return message;
}
// One datum of key 8 with the members given to its value.
Message readValue(const std::string& value) {
    Message message = read(nested(1, integer(1, 8).append(nested(2, value))));
    EXPECT_EQ(message.data.size(), 1u);
    message.data.resize(1);
    return message;
}

TEST(TeslaWire, TheLastMemberOfAOneofIsSet) {
    Message message = readValue(nested(1, "text").append(real(5, 2.5)));
    ASSERT_TRUE(message.good);
    EXPECT_EQ(message.data[0].value.field, 5u);
    EXPECT_EQ(message.data[0].value.real, 2.5);
    EXPECT_EQ(message.data[0].value.text, "");
}

TEST(TeslaWire, RepeatedMessagesMergeUntilAnotherMemberIsSet) {
    const std::string front = nested(21, integer(1, 1)), rear = nested(21, integer(2, 1));
    Message merged = readValue(front + rear);
    ASSERT_TRUE(merged.good);
    EXPECT_TRUE(merged.data[0].value.doors[0]);
    EXPECT_TRUE(merged.data[0].value.doors[1]);
    Message replaced = readValue(front + real(5, 1) + rear);
    ASSERT_TRUE(replaced.good);
    EXPECT_EQ(replaced.data[0].value.field, 21u);
    EXPECT_FALSE(replaced.data[0].value.doors[0]);
    EXPECT_TRUE(replaced.data[0].value.doors[1]);
    Message location = readValue(nested(7, real(1, 48.5)).append(nested(7, real(2, 16.5))));
    EXPECT_EQ(location.data[0].value.latitude, 48.5);
    EXPECT_EQ(location.data[0].value.longitude, 16.5);
    // The message `value` itself, repeated within a datum.
    Message twice = read(nested(1, integer(1, 8).append(nested(2, front)).append(nested(2, rear))));
    ASSERT_TRUE(twice.good);
    EXPECT_TRUE(twice.data[0].value.doors[0] && twice.data[0].value.doors[1]);
}

TEST(TeslaWire, UnknownFieldsAndOtherWireTypesAreSkipped) {
    Message message = readValue(integer(5, 7).append(integer(20, 1)).append(integer(1'000'000, 1)).append(real(2, 1)));
    ASSERT_TRUE(message.good);
    EXPECT_EQ(message.data[0].value.field, 0u);
    EXPECT_TRUE(read(bytes({0x0D, 1, 2, 3, 4})).good);                    // field 1 as fixed32
    EXPECT_TRUE(read(bytes({0x2B, 0x33, 0x34, 0x08, 0x05, 0x2C})).good);  // group 5 with group 6 and a varint in it
    EXPECT_FALSE(read(bytes({0x2B, 0x33, 0x2C, 0x34})).good);             // closed crosswise
    EXPECT_FALSE(read(bytes({0x2B, 0x08, 0x05})).good);                   // left open
    EXPECT_FALSE(read(bytes({0x2C})).good);                               // closed without being open
    EXPECT_FALSE(read(std::string(10'001, '\x2B') + std::string(10'001, '\x2C')).good);
    EXPECT_TRUE(read(std::string(10'000, '\x2B') + std::string(10'000, '\x2C')).good);
}

TEST(TeslaWire, DamageIsRefused) {
    EXPECT_TRUE(read("").good);
    EXPECT_FALSE(read(bytes({0x00})).good);                                 // field number 0
    EXPECT_FALSE(read(bytes({0x0E})).good);                                 // wire type 6
    EXPECT_FALSE(read(bytes({0x0A, 0x05, 0x00})).good);                     // length beyond the end
    EXPECT_FALSE(read(bytes({0x80})).good);                                 // open varint
    EXPECT_FALSE(read(field(4, 0, std::string(9, '\x80') + '\x02')).good);  // varint beyond 64 bits
    EXPECT_TRUE(read(field(4, 0, std::string(9, '\x80') + '\x01')).good);
    EXPECT_FALSE(read(varint(std::uint64_t{1} << 32).append(varint(1))).good);  // field number 2^29
    EXPECT_FALSE(read(nested(3, "\xff")).good);                                 // vin is not UTF-8
    EXPECT_FALSE(read(nested(1, nested(2, nested(1, "\xff")))).good);           // string_value is not
    EXPECT_FALSE(read(nested(1, nested(2, nested(31, "\x08")))).good);          // a message nobody reads, damaged
    EXPECT_FALSE(read(nested(1, nested(2, nested(7, "\x09")))).good);
    EXPECT_FALSE(read(nested(2, "\x08")).good);
}

TEST(TeslaWire, TimeAndSignedNumbers) {
    Message message = read(nested(2, integer(1, 1'741'064'767)).append(nested(2, integer(2, ~std::uint64_t{0}))));
    ASSERT_TRUE(message.good && message.created_at);
    EXPECT_EQ(message.created_at->seconds, 1'741'064'767);
    EXPECT_EQ(message.created_at->nanos, -1);
    EXPECT_FALSE(read(integer(2, 5)).created_at);
    Message value = readValue(integer(2, static_cast<std::uint64_t>(-70)));
    EXPECT_EQ(value.data[0].value.field, 2u);
    EXPECT_EQ(static_cast<std::int32_t>(value.data[0].value.integer), -70);
}

}  // namespace
}  // namespace dq::decode
