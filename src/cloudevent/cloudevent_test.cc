#include "cloudevent/cloudevent.h"

#include <gtest/gtest.h>

#include "cloudevent/base64.h"

namespace dq::cloudevent {
namespace {

constexpr std::string_view kFull =
    R"({"specversion":"0.3","id":"e1","source":"0xA","subject":"did:x","producer":"did:y","type":"dimo.status",
 "time":"2025-03-04T05:06:07.891999999+01:00","datacontenttype":"application/json","dataschema":"sch",
 "dataversion":"v1","signature":"0xsig","raweventid":"r0","tags":["a",5,null,"b"],"Type":"other",
 "foo":{"a": [1, 2.50]},"bar":"é","data": {"signals": [ ] } })";

TEST(CloudEvent, ReadsEveryMember) {
    auto event = parse(kFull);
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_EQ(event->id, "e1");
    EXPECT_EQ(event->source, "0xA");
    EXPECT_EQ(event->subject, "did:x");
    EXPECT_EQ(event->producer, "did:y");
    EXPECT_EQ(event->type, "dimo.status");
    EXPECT_EQ(event->data_content_type, "application/json");
    EXPECT_EQ(event->data_schema, "sch");
    EXPECT_EQ(event->data_version, "v1");
    EXPECT_EQ(event->signature, "0xsig");
    EXPECT_EQ(event->raw_event_id, "r0");
    EXPECT_EQ(event->tags, (std::vector<std::string>{"a", "", "", "b"}));
    EXPECT_EQ(event->time, (Instant{1741061167891999, 999}));
    EXPECT_EQ(event->data, R"({"signals": [ ] })");
    EXPECT_EQ(event->extras_json, R"({"Type":"other","foo":{"a": [1, 2.50]},"bar":"é"})");
    EXPECT_EQ(event->data_base64, "");
}

TEST(CloudEvent, RowCutsTimeToMillisecondsAndMergesExtras) {
    Row row = toRow(*parse(kFull));
    EXPECT_EQ(row.time, 1741061167891000);
    EXPECT_EQ(
        row.extras,
        R"({"Type":"other","foo":{"a": [1, 2.50]},"bar":"é","dataschema":"sch","signature":"0xsig","raweventid":"r0",)"
        R"("tags":["a","","","b"]})");
    EXPECT_EQ(row.data, R"({"signals": [ ] })");
    EXPECT_EQ(row.data_base64, std::nullopt);
    EXPECT_EQ(row.data_index_key, std::nullopt);
    EXPECT_EQ(row.voids_id, std::nullopt);
    EXPECT_EQ(row.subject, "did:x");
    EXPECT_EQ(row.data_version, "v1");
}

TEST(CloudEvent, RowOfAnEventMadeElsewhere) {
    Event event;
    event.extras_json = R"({"signature":"old","k":1})";
    event.signature = "new\"";
    event.time = Instant{-1, 0};
    event.data_base64 = "e30=";
    event.data = "{}";
    Row row = toRow(event);
    EXPECT_EQ(row.extras, R"({"k":1,"signature":"new\""})");
    EXPECT_EQ(row.time, -1000);
    EXPECT_EQ(row.data, std::nullopt);
    EXPECT_EQ(row.data_base64, "e30=");
    EXPECT_EQ(toRow(Event{}).extras, "{}");
    EXPECT_EQ(toRow(Event{}).data, std::nullopt);
    EXPECT_EQ(toRow(Event{}).time, kZeroTime);
}

TEST(CloudEvent, FirstOfDuplicatesCounts) {
    auto event = parse(R"({"id":7,"id":"late","x":1,"x":2,"data":1,"data":2,"ty\u0070e":"a","type":"b"})");
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(event->id, "");
    EXPECT_EQ(event->extras_json, R"({"x":1})");
    EXPECT_EQ(event->data, "1");
    EXPECT_EQ(event->type, "a");
}

TEST(CloudEvent, TimeIsStrict) {
    EXPECT_EQ(parse("{}")->time, (Instant{kZeroTime, 0}));
    for (std::string_view bad :
         {"null", "5", "\"\"", "\"2025-03-04\"", "\"2025-03-04t05:06:07z\"", "\"2025-03-04T05:06:60Z\"", "{}"}) {
        std::string text = R"({"time":)" + std::string(bad) + "}";
        EXPECT_EQ(parse(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
    }
}

TEST(CloudEvent, Base64Rules) {
    EXPECT_EQ(parse(R"({"data_base64":"e30="})")->data_base64, "e30=");
    EXPECT_TRUE(parse(R"({"data_base64":"","data":1})").ok());
    EXPECT_FALSE(parse(R"({"data_base64":"e30=","data":null})").ok());
    EXPECT_FALSE(parse(R"({"data_base64":null})").ok());
    for (const char* bad : {"e30", "e30==", "e3-_", "=", "e===", "ab=c", "ab= =", "e30=e30="}) {
        EXPECT_FALSE(parse(std::string(R"({"data_base64":")") + bad + "\"}").ok()) << bad;
    }
}

TEST(CloudEvent, OnlyOneWholeJsonObject) {
    for (std::string_view bad :
         {"", "[]", "null", "\"x\"", "{", "{}x", "{}{}", R"({"a":01})", R"({"data":{"a":}})", R"({"a":"\x"})"}) {
        EXPECT_EQ(parse(bad).status().code(), absl::StatusCode::kInvalidArgument) << bad;
    }
    EXPECT_TRUE(parse(" {} \n").ok());
}

TEST(CloudEvent, InvalidTextIsRepairedInTheRow) {
    auto event = parse("{\"id\":\"a\\ud800\xff\",\"x\xff\":\"\xfe\",\"data\":{\"v\":\"\xff\"}}");
    ASSERT_TRUE(event.ok());
    EXPECT_EQ(event->id, "a\uFFFD\uFFFD");
    EXPECT_EQ(event->data, "{\"v\":\"\xff\"}");
    EXPECT_EQ(event->extras_json, "{\"x\uFFFD\":\"\uFFFD\"}");
    EXPECT_EQ(toRow(*event).data, "{\"v\":\"\uFFFD\"}");
}

TEST(Base64, DecodesAndIgnoresLineEnds) {
    auto decode = [](std::string_view text) {
        std::string out(base64Bound(text.size()), '\0');
        std::size_t size = 0;
        EXPECT_EQ(decodeBase64(text, out.data(), size), isBase64(text)) << text;
        EXPECT_TRUE(isBase64(text)) << text;
        out.resize(size);
        return out;
    };
    EXPECT_EQ(decode(""), "");
    EXPECT_EQ(decode("Zg=="), "f");
    EXPECT_EQ(decode("Zm8="), "fo");
    EXPECT_EQ(decode("Zm9v"), "foo");
    EXPECT_EQ(decode("Zm9vYg=="), "foob");
    EXPECT_EQ(decode("Zm\r\n9v\nYmFy\n"), "foobar");
    EXPECT_EQ(decode("+/+/"), "\xfb\xff\xbf");
    EXPECT_EQ(decode("\n"), "");
}

}  // namespace
}  // namespace dq::cloudevent
