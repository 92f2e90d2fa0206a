#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>

#include "core/hash.h"
#include "decode/decode_testing.h"

namespace dq::decode {
namespace {

using testing::ElementsAre;

std::string signal(std::string_view name, std::string_view time, std::string_view value) {
    return "{\"name\":\"" + std::string(name) + "\",\"timestamp\":\"" + std::string(time) +
           "\",\"value\":" + std::string(value) + "}";
}
RawEvent status(const std::string& elements) {
    RawEvent event;
    event.payload = "{\"signals\":[" + elements + "]}";
    return event;
}
RawEvent payload(std::string text, std::string type = "dimo.status") {
    RawEvent event;
    event.type = std::move(type);
    event.payload = std::move(text);
    return event;
}
constexpr const char* kTime = "2025-03-04T05:06:07Z";

TEST(Decode, Acceptance01_FutureToleranceIsExactlyFiveMinutes) {
    std::string at = formatRfc3339(kTestNow + 300 * kMicrosPerSecond);
    std::string after = at.substr(0, at.size() - 1) + ".000000001Z";
    EXPECT_THAT(brief(status(signal("speed", at, "1") + "," + signal("obdMAP", after, "2"))),
                ElementsAre("speed=1 " + at, "failed 0"));
}

TEST(Decode, Acceptance02_RowsOfOneIdentityAreAllDecoded) {
    ManualClock clock(kTestNow);
    Decoder decoder = makeDecoder(Compat::kRepair, clock);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    for (const char* value : {"1", "2", "3"})
        decodeInto(decoder, status(signal("speed", kTime, value)), *scratch, batch);
    EXPECT_EQ(batch.signals.size(), 3u);
    EXPECT_EQ(batch.failed, 0u);
}

TEST(Decode, Acceptance04_LastOfEqualInstantsWins) {
    EXPECT_THAT(brief(status(signal("speed", kTime, "1") + "," + signal("speed", kTime, "2") + "," +
                             signal("speed", kTime, "3"))),
                ElementsAre("speed=3 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(status(signal("speed", "2025-03-04T05:06:07.0000001Z", "1") + "," +
                             signal("speed", "2025-03-04T05:06:07.0000002Z", "2"))),
                ElementsAre("speed=1 2025-03-04T05:06:07Z", "speed=2 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, LastOfEqualInstantsWinsInLongPayloads) {
    for (int first = 0; first < 40; ++first) {
        std::string elements;
        for (int i = 0; i < 40; ++i) {
            std::string name = i == first || i == 39 ? "speed" : "obdMAP";
            elements += (i > 0 ? "," : "") +
                        signal(name, name == "speed" ? kTime : "2025-03-04T05:06:08." + std::to_string(100 + i) + "Z",
                               std::to_string(i));
        }
        EXPECT_EQ(brief(status(elements))[0], "speed=39 2025-03-04T05:06:07Z") << first;
    }
}

TEST(Decode, Acceptance05_NullElement) {
    RawEvent event = status(signal("speed", kTime, "1") + ",null");
    EXPECT_EQ(decodeRows(event, Compat::kExact).outcome, "panic");
    EXPECT_THAT(brief(event, Compat::kExact), ElementsAre("failed 1"));
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "partial");
    EXPECT_THAT(brief(event, Compat::kRepair), ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 1"));
    ManualClock clock(kTestNow);
    for (Compat compat : {Compat::kExact, Compat::kRepair}) {
        Decoder decoder = makeDecoder(compat, clock);
        ScratchPtr scratch = makeScratch();
        Batch batch;
        decodeInto(decoder, event, *scratch, batch);
        std::size_t before = batch.signals.size();
        EXPECT_EQ(decodeInto(decoder, status(signal("obdMAP", kTime, "4")), *scratch, batch), Outcome::kNone);
        EXPECT_EQ(batch.signals.size(), before + 1);
    }
}

TEST(Decode, Acceptance06_FailedCountsEventsNotItems) {
    EXPECT_THAT(brief(status(signal("nope", kTime, "1") + "," + signal("speed", kTime, "2"))),
                ElementsAre("speed=2 2025-03-04T05:06:07Z", "failed 1"));
    std::string bad = signal("nope", kTime, "1");
    EXPECT_THAT(brief(status(bad + "," + bad + "," + bad + "," + bad + "," + bad)), ElementsAre("failed 1"));
}

TEST(Decode, Acceptance07_OneMalformedTimestampLosesThePayload) {
    std::string elements = signal("speed", "2025-03-04 05:06:07Z", "1");
    for (int i = 0; i < 9; ++i) elements += "," + signal("obdMAP", "2025-03-04T05:06:0" + std::to_string(i) + "Z", "1");
    EXPECT_THAT(brief(status(elements)), ElementsAre("failed 1"));
    EXPECT_EQ(decodeRows(status(elements)).outcome, "payload");
}

TEST(Decode, Acceptance08_NotANumberAndOverflow) {
    EXPECT_EQ(decodeRows(status(signal("speed", kTime, "\"NaN\""))).outcome, "nonfinite");
    EXPECT_THAT(brief(status(signal("speed", kTime, "\"NaN\""))), ElementsAre("failed 1"));
    EXPECT_THAT(brief(status(signal("speed", kTime, "1") + "," + signal("obdMAP", kTime, "1e400"))),
                ElementsAre("failed 1"));
    EXPECT_THAT(brief(status(signal("speed", kTime, "1") + "," + signal("obdMAP", kTime, "{\"a\":[-1e400]}"))),
                ElementsAre("failed 1"));
    EXPECT_THAT(brief(status(signal("speed", kTime, "1").insert(1, "\"unit\":1e400,"))),
                ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance09_DefaultLocationsAreStoredAsTheyAre) {
    EXPECT_THAT(brief(status(signal("currentLocationCoordinates", kTime, R"({"latitude":0,"longitude":0})"))),
                ElementsAre("currentLocationCoordinates@0,0,0 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(status(signal("currentLocationCoordinates", kTime,
                                    R"({"latitude":95,"longitude":-200.5,"latitude":96,"x":[{}]})"))),
                ElementsAre("currentLocationCoordinates@96,-200.5,0 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance13_SourceIsComparedExactly) {
    RawEvent event = status(signal("speed", kTime, "1"));
    event.source = "0xf26421509efe92861a587482100c6d728abf1cd0";
    EXPECT_THAT(brief(event), ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance22_InlineBase64) {
    RawEvent event;
    event.payload =
        "eyJzaWduYWxzIjpbeyJuYW1lIjoic3BlZWQiLCJ0aW1lc3RhbXAiOiIyMDI1LTAzLTA0VDA1OjA2OjA3WiIsInZhbHVlIjoxfV19";
    event.base64_text = true;
    EXPECT_THAT(brief(event, Compat::kExact), ElementsAre("failed 1"));
    EXPECT_EQ(decodeRows(event, Compat::kExact).outcome, "payload");
    EXPECT_THAT(brief(event, Compat::kRepair), ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 0"));
    event.payload = R"({"signals":[{"name":"speed","timestamp":"2025-03-04T05:06:07Z","value":1}]})";
    event.base64_text = false;
    for (Compat compat : {Compat::kExact, Compat::kRepair}) {
        EXPECT_THAT(brief(event, compat), ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 0"));
    }
    event.payload = "e30";
    event.base64_text = true;
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "payload");
    event.type = "dimo.events";
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "payload");
    event.payload = "eyJldmVudHMiOltdfQ==";
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "none");
}

TEST(Decode, Acceptance23_GateIsForStatusOnly) {
    RawEvent event =
        payload(R"({"events":[{"name":"safety.collision","timestamp":"2025-03-04T05:06:07Z"}]})", "dimo.events");
    event.subject = "vehicle 7";
    EXPECT_THAT(brief(event), ElementsAre("safety.collision ", "failed 0"));
    event = status(signal("speed", kTime, "1"));
    event.subject = "vehicle 7";
    EXPECT_EQ(decodeRows(event).outcome, "skipped");
    EXPECT_THAT(brief(event), ElementsAre("failed 0"));
}

TEST(Decode, Acceptance24_EventTagsAndMetadata) {
    auto event = [](const std::string& members) {
        return payload(
            "{\"events\":[{\"name\":\"safety.collision\",\"timestamp\":\"2025-03-04T05:06:07Z\"," + members + "}]}",
            "dimo.events");
    };
    EXPECT_EQ(decodeRows(event(R"("tags":["É"])")).outcome, "partial");
    EXPECT_EQ(decodeRows(event(R"("tags":["é","ß","中",""])")).outcome, "none");
    EXPECT_THAT(brief(event(R"("metadata":"5")")), ElementsAre("safety.collision 5", "failed 0"));
    EXPECT_EQ(decodeRows(event(R"("metadata":{"a":1})")).outcome, "payload");
    EXPECT_THAT(brief(event(R"("metadata":{"a":1})")), ElementsAre("failed 1"));
}

TEST(Decode, Acceptance25_EventsKeepOrderAndDuplicates) {
    std::string one = R"({"name":"safety.collision","timestamp":"2999-01-01T00:00:00Z","metadata":"1"})";
    std::string two = R"({"name":"behavior.harshBraking","timestamp":"2025-03-04T05:06:07Z"})";
    EXPECT_THAT(brief(payload("{\"events\":[" + one + "," + two + "," + one + "]}", "dimo.events")),
                ElementsAre("safety.collision 1", "behavior.harshBraking ", "safety.collision 1", "failed 0"));
}

TEST(Decode, Acceptance26_ZeroContractTurnsTheGateOff) {
    ManualClock clock(kTestNow);
    for (const std::string& address : {std::string(), std::string(40, '0')}) {
        Options options;
        options.vehicle_address_hex = address;
        options.clock = &clock;
        EXPECT_TRUE(Decoder(options).wants("dimo.status", "anything"));
        EXPECT_FALSE(Decoder(options).wants("dimo.fingerprint", "anything"));
    }
    EXPECT_FALSE(makeDecoder(Compat::kExact, clock).wants("dimo.status", "anything"));
    EXPECT_TRUE(makeDecoder(Compat::kExact, clock).wants("dimo.events", "anything"));
}

TEST(Decode, Acceptance30_OrderOfElementsDoesNotMatter) {
    std::vector<std::string> elements;
    for (const char* name : {"speed", "obdMAP", "obdRunTime", "isIgnitionOn", "exteriorAirTemperature"}) {
        for (int second = 0; second < 7; ++second) {
            elements.push_back(
                signal(name, "2025-03-04T05:06:0" + std::to_string(second) + "Z", std::to_string(second)));
        }
    }
    elements.push_back(signal("currentLocationCoordinates", kTime, R"({"latitude":1,"longitude":2})"));
    auto join = [&] {
        std::string text;
        for (const std::string& element : elements) text += (text.empty() ? "" : ",") + element;
        return text;
    };
    Rows expected = decodeRows(status(join()));
    ASSERT_EQ(expected.signals.size(), elements.size());
    const unsigned seed = 20261130;
    std::mt19937 random(seed);
    for (int round = 0; round < 200; ++round) {
        std::shuffle(elements.begin(), elements.end(), random);
        ASSERT_EQ(decodeRows(status(join())), expected) << "seed " << seed << " round " << round;
    }
}

TEST(Decode, Acceptance31_WorkersDecodeTheSame) {
    ManualClock clock(kTestNow);
    Decoder decoder = makeDecoder(Compat::kRepair, clock);
    std::vector<std::string> payloads;
    for (int i = 0; i < 10'000; ++i) {
        std::string text = "{\"signals\":[" + signal(i % 7 == 0 ? "nope" : "speed", kTime, std::to_string(i)) + "," +
                           signal("powertrainType", kTime, "\"t\\u0041" + std::to_string(i) + "\"") + "]}";
        payloads.push_back(text + std::string(64, ' '));
    }
    auto run = [&](std::size_t workers) {
        std::vector<std::vector<std::string>> parts(workers);
        std::vector<std::thread> threads;
        for (std::size_t w = 0; w < workers; ++w) {
            threads.emplace_back([&, w] {
                ScratchPtr scratch = makeScratch();
                Batch batch;
                for (std::size_t i = payloads.size() * w / workers; i < payloads.size() * (w + 1) / workers; ++i) {
                    std::string_view text(payloads[i].data(), payloads[i].size() - 64);
                    decoder.decode(Input{kSubject, "s", "p", "e", "dimo.status", "", 0, text, false}, *scratch, batch);
                }
                for (const SignalRow& row : batch.signals) parts[w].push_back(describe(row));
                parts[w].push_back("failed " + std::to_string(batch.failed));
            });
        }
        for (std::thread& thread : threads) thread.join();
        std::vector<std::string> all;
        std::uint64_t failed = 0;
        for (auto& part : parts) {
            failed += std::stoull(part.back().substr(7));
            all.insert(all.end(), part.begin(), part.end() - 1);
        }
        all.push_back("failed " + std::to_string(failed));
        return all;
    };
    auto one = run(1);
    EXPECT_EQ(one.back(), "failed 1429");
    EXPECT_EQ(run(16), one);
}

TEST(Decode, Acceptance32_EveryDuplicateIsChecked) {
    EXPECT_EQ(
        decodeRows(
            payload(R"({"signals":[{"name":"speed","timestamp":"-1","timestamp":"2025-03-04T05:06:07Z","value":1}]})"))
            .outcome,
        "payload");
}

TEST(Decode, Acceptance34_SignalWithoutTimestamp) {
    for (const char* lonely : {R"({"name":"speed","value":1})", R"({"name":"speed","timestamp":null,"value":1})",
                               R"({"name":"speed","timestamp":"0001-01-01T00:00:00Z","value":1})"}) {
        RawEvent event = status(signal("obdMAP", kTime, "1") + "," + lonely + "," + signal("obdRunTime", kTime, "2"));
        EXPECT_THAT(brief(event, Compat::kExact),
                    ElementsAre("speed=1 0001-01-01T00:00:00Z", "obdMAP=1 2025-03-04T05:06:07Z",
                                "obdRunTime=2 2025-03-04T05:06:07Z", "failed 0"));
        EXPECT_THAT(brief(event, Compat::kRepair),
                    ElementsAre("obdMAP=1 2025-03-04T05:06:07Z", "obdRunTime=2 2025-03-04T05:06:07Z", "failed 1"));
        EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "partial");
    }
}

TEST(Decode, RepairDiffersFromExactInNothingElse) {
    for (const Vector& vector : readVectors()) {
        bool differs = vector.expected.outcome == "panic" || vector.name.find("data_base64_") != std::string::npos ||
                       vector.name == "def_timestamp_missing_is_year_one" ||
                       vector.name == "def_timestamp_null_is_year_one";
        if (vector.lenient || differs) continue;
        EXPECT_EQ(runVector(vector, Compat::kRepair), runVector(vector, Compat::kExact)) << vector.name;
    }
}

TEST(StrictReader, RepeatedArraysDecodeOverEarlierElements) {
    std::string speed = signal("speed", kTime, "1"), map = signal("obdMAP", kTime, "2");
    EXPECT_THAT(brief(payload("{\"signals\":[" + speed + "," + map + "],\"signals\":[{\"value\":7}]}")),
                ElementsAre("speed=7 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(payload("{\"signals\":[" + speed + "," + map +
                              "],\"Signals\":[{\"value\":7}],\"ſignals\":[{},{\"value\":8}]}")),
                ElementsAre("obdMAP=8 2025-03-04T05:06:07Z", "speed=7 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(payload("{\"signals\":[" + speed + "],\"signals\":null}")), ElementsAre("failed 0"));
    EXPECT_THAT(brief(payload("{\"signals\":[" + speed + "],\"signals\":[],\"signals\":[{\"value\":7}]}")),
                ElementsAre("failed 1"));
    EXPECT_THAT(brief(payload("{\"signals\":[null],\"signals\":[" + speed + "]}")),
                ElementsAre("speed=1 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_EQ(decodeRows(payload("{\"signals\":[" + speed + "],\"signals\":[5]}")).outcome, "payload");
    EXPECT_EQ(decodeRows(payload("{\"signals\":[null],\"signals\":[5]}")).outcome, "payload");
}

TEST(StrictReader, NullLeavesEarlierTextAndTimeButClearsTheValue) {
    EXPECT_THAT(brief(payload(R"({"signals":[{"name":"speed","name":null,"timestamp":"2025-03-04T05:06:07Z",)"
                              R"("timestamp":null,"value":3}]})")),
                ElementsAre("speed=3 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(
        brief(payload(R"({"signals":[{"name":"speed","timestamp":"2025-03-04T05:06:07Z","value":3,"value":null}]})")),
        ElementsAre("failed 1"));
}

TEST(StrictReader, TagsMergeIndexByIndex) {
    RawEvent event = payload(R"({"events":[{"name":"safety.collision","timestamp":"2025-03-04T05:06:07Z",)"
                             R"("tags":["a","b"],"tags":[null,"c","d"],)"
                             R"("tags":[null],"tags":["x",null]}]})",
                             "dimo.events");
    Rows rows = decodeRows(event);
    ASSERT_EQ(rows.events.size(), 1u);
    EXPECT_THAT(rows.events[0], testing::EndsWith("|#x|#c"));
}

TEST(StrictReader, TimeTextIsTakenRaw) {
    EXPECT_EQ(decodeRows(status(signal("speed", "2025-03-04T05:06:07\\u005a", "1"))).outcome, "payload");
    EXPECT_EQ(decodeRows(status(signal("speed", "2025-03-04T05:06:07Z", "1").replace(2, 4, "na\\u006de"))).outcome,
              "none");
}

TEST(StrictReader, NestingEndsAtTenThousand) {
    auto nested = [](std::size_t depth) {
        return payload(R"({"x":)" + std::string(depth, '[') + std::string(depth, ']') + "," +
                       status(signal("speed", kTime, "1")).payload.substr(1));
    };
    EXPECT_EQ(decodeRows(nested(9'999)).outcome, "none");
    EXPECT_EQ(decodeRows(nested(10'000)).outcome, "payload");
}

TEST(Decode, HeaderTextIsRepairedAndHashedAsStored) {
    RawEvent event =
        payload(R"({"events":[{"name":"safety.collision","timestamp":"2025-03-04T05:06:07Z"}]})", "dimo.events");
    event.subject = "a\xff";
    event.producer = "p\xc3";
    event.id = "\xed\xa0\x80";
    event.data_version = "v\xfe";
    Rows rows = decodeRows(event);
    ASSERT_EQ(rows.events.size(), 1u);
    std::string bucket = std::to_string(subjectBucket("a\uFFFD"));
    EXPECT_THAT(rows.events[0],
                testing::StartsWith("a\uFFFD|" + bucket + "|" + event.source + "|p\uFFFD|\uFFFD\uFFFD\uFFFD|v\uFFFD|"));
}

TEST(Decode, ReasonsNameItemsNotContents) {
    ManualClock clock(kTestNow);
    Decoder decoder = makeDecoder(Compat::kRepair, clock);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    std::string why = "old";
    decodeInto(decoder, status(signal("secretName", kTime, "1") + ",null"), *scratch, batch, &why);
    EXPECT_EQ(why, "item 0: the name is not in the dictionary; item 1: the element is null");
    std::string many = "null";
    for (int i = 0; i < 1000; ++i) many += ",null";
    decodeInto(decoder, status(many), *scratch, batch, &why);
    EXPECT_LE(why.size(), 1100u);
    EXPECT_THAT(why, testing::EndsWith("; …"));
    decodeInto(decoder, status(signal("speed", kTime, "1")), *scratch, batch, &why);
    EXPECT_EQ(why, "");
}

}  // namespace
}  // namespace dq::decode
