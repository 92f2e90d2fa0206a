#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cloudevent/json_text.h"
#include "decode/decode_testing.h"
#include "decode/json_array_text.h"
#include "decode/ops.h"

namespace dq::decode {
namespace {

using testing::ElementsAre;

constexpr const char* kAutoPi = "0x5e31bBc786D7bEd95216383787deA1ab0f1c1897";
constexpr const char* kRuptela = "0xF26421509Efe92861a587482100c6d728aBf1CD0";
constexpr const char* kHashDog = "0x4c674ddE8189aEF6e3b58F5a36d7438b2b1f6Bc2";
constexpr const char* kTesla = "0xc4035Fecb1cc906130423EF05f9C20977F643722";
constexpr std::int64_t kBase = 1'741'064'767'000;  // 2025-03-04T05:06:07Z in ms

RawEvent vendorEvent(const char* source, std::string payload, std::string version = "") {
    RawEvent event;
    event.source = source;
    event.payload = std::move(payload);
    event.data_version = std::move(version);
    return event;
}

std::string item(std::string_view name, std::string_view timestamp, std::string_view value) {
    return "{\"name\":\"" + std::string(name) + "\",\"timestamp\":" + std::string(timestamp) +
           ",\"value\":" + std::string(value) + "}";
}
std::string at(std::string_view name, std::int64_t millis, std::string_view value) {
    return item(name, std::to_string(kBase + millis), value);
}
RawEvent named(const char* source, std::initializer_list<std::string> items) {
    std::string list;
    for (const std::string& one : items) list += (list.empty() ? "" : ",") + one;
    return vendorEvent(source, "{\"vehicle\":{\"signals\":[" + list + "]}}");
}
RawEvent ruptela(std::string payload, std::string version = "r/v0/s") {
    return vendorEvent(kRuptela, std::move(payload), std::move(version));
}

TEST(Decode, Acceptance07_RuptelaKeepsTheOtherPoints) {
    EXPECT_THAT(
        brief(ruptela(R"({"location":[{"ts":"noon","spd":1},{"ts":1741064767,"spd":2},{"ts":1741064768,"spd":3}]})",
                      "r/v0/loc")),
        ElementsAre("speed=2 2025-03-04T05:06:07Z", "speed=3 2025-03-04T05:06:08Z", "failed 1"));
}

TEST(Decode, Acceptance08_OverflowLosesOnlyItsRowOnAutoPi) {
    RawEvent event = named(kAutoPi, {at("speed", 0, "1e400"), at("rpm", 0, "5")});
    EXPECT_THAT(brief(event), ElementsAre("powertrainCombustionEngineSpeed=5 2025-03-04T05:06:07Z", "failed 1"));
    EXPECT_EQ(decodeRows(event).outcome, "nonfinite");
}

TEST(Decode, Acceptance09_NullIslandOfAutoPi) {
    EXPECT_THAT(brief(named(kAutoPi, {at("latitude", 0, "0"), at("longitude", 0, "0")})), ElementsAre("failed 0"));
    EXPECT_THAT(brief(named(kAutoPi, {at("latitude", 0, "0"), at("longitude", 0, "0"), at("hdop", 0, "2")})),
                ElementsAre("currentLocationCoordinates@0,0,2 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance10_WindowOfHalfASecond) {
    EXPECT_THAT(brief(named(kAutoPi, {at("latitude", 0, "1"), at("longitude", 499, "2")})),
                ElementsAre("currentLocationCoordinates@1,2,0 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(named(kAutoPi, {at("latitude", 0, "1"), at("longitude", 500, "2")})), ElementsAre("failed 0"));
}

TEST(Decode, Acceptance11_WindowRunsFromItsFirstMember) {
    EXPECT_THAT(brief(named(kAutoPi, {at("hdop", 0, "3"), at("latitude", 300, "1"), at("longitude", 600, "2")})),
                ElementsAre("currentLocationCoordinates@0,0,3 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance12_AnySignalClosesTheWindow) {
    EXPECT_THAT(brief(named(kAutoPi, {at("latitude", 0, "1"), at("longitude", 0, "2"), at("speed", 700, "9"),
                                      at("hdop", 800, "3")})),
                ElementsAre("speed=9 2025-03-04T05:06:07.7Z", "currentLocationCoordinates@1,2,0 2025-03-04T05:06:07Z",
                            "currentLocationCoordinates@0,0,3 2025-03-04T05:06:07.8Z", "failed 0"));
}

TEST(Decode, Acceptance14_RuptelaScales) {
    EXPECT_THAT(brief(ruptela(R"({"signals":{"94":"1F40"}})")),
                ElementsAre("powertrainCombustionEngineSpeed=2000 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"95":"FF","210":"1000"}})")),
                ElementsAre("speed=16 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"960":"02BC"}})")),
                ElementsAre("chassisAxleRow1WheelLeftTirePressure=241.3166 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance15_RuptelaAlternatives) {
    EXPECT_THAT(brief(ruptela(R"({"signals":{"96":"zz"}})")), ElementsAre("failed 1"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"96":"zz","115":"FE"}})")), ElementsAre("failed 0"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"96":"zz","115":"50"}})")),
                ElementsAre("powertrainCombustionEngineECT=40 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance16_RuptelaSpeedWithIgnitionOff) {
    EXPECT_THAT(brief(ruptela(R"({"signals":{"409":"0","95":"0"}})")),
                ElementsAre("isIgnitionOn=0 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"409":"1","95":"0"}})")),
                ElementsAre("isIgnitionOn=1 2025-03-04T05:06:07Z", "speed=0 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(ruptela(R"({"signals":{"95":"0"}})")), ElementsAre("speed=0 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance17_RuptelaPositionToTheBit) {
    RawEvent event = ruptela(R"({"signals":{},"pos":{"lat":522721466,"lon":-9014316,"hdop":6,"alt":1048,"dir":7370}})");
    EXPECT_THAT(brief(event), ElementsAre("currentLocationAltitude=104.8 2025-03-04T05:06:07Z",
                                          "currentLocationCoordinates@52.2721466,-0.9014316,0.6 2025-03-04T05:06:07Z",
                                          "currentLocationHeading=73.7 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance18_RuptelaWithoutTroubleCodes) {
    RawEvent event = ruptela(R"({"dtc_codes":[]})", "r/v0/dtc");
    Rows rows = decodeRows(event);
    ASSERT_EQ(rows.signals.size(), 1u);
    EXPECT_THAT(rows.signals[0], testing::HasSubstr("|obdDTCList|"));
    EXPECT_THAT(rows.signals[0], testing::HasSubstr("|''|"));
    EXPECT_EQ(rows.failed, 1u);
}

TEST(Decode, Acceptance19_HashDogFieldsThatCrashTheReference) {
    for (const std::string& bad : {at("oil", 0, "0.5"), at("oilLife", 0, "0.5"), at("charging", 0, "true")}) {
        RawEvent event = named(kHashDog, {at("speed", 0, "12"), bad});
        EXPECT_EQ(decodeRows(event, Compat::kExact).outcome, "panic");
        EXPECT_THAT(brief(event, Compat::kExact), ElementsAre("failed 1"));
        EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "partial");
        EXPECT_THAT(brief(event, Compat::kRepair), ElementsAre("speed=12 2025-03-04T05:06:07Z", "failed 1"));
    }
}

TEST(Decode, Acceptance20_TeslaEndpointWithoutTimestamp) {
    EXPECT_THAT(
        brief(vendorEvent(
            kTesla, R"({"drive_state":{"speed":30},"climate_state":{"timestamp":1741064767000,"outside_temp":1}})")),
        ElementsAre("exteriorAirTemperature=1 2025-03-04T05:06:07Z", "failed 1"));
}

constexpr const char* kTelemetry = "fleet_telemetry/v1.0.0";
constexpr const char* kGoodMessage = "Cg0ICBIJKQAAAAAAABRAEgsIv5SavgYQlZrvOhoRNVlKMFRFU1RWSU4wMDAwMDE=";

TEST(Decode, Acceptance21_UndecodableTelemetryMessage) {
    EXPECT_THAT(brief(vendorEvent(kTesla, std::string(R"({"payloads":["////",")") + kGoodMessage + "\"]}", kTelemetry)),
                ElementsAre("powertrainTractionBatteryStateOfChargeCurrent=5 2025-03-04T05:06:07.123456Z", "failed 1"));
}

TEST(Decode, Acceptance32_RuptelaSkipsAnIncompleteFirstMember) {
    EXPECT_THAT(brief(ruptela(R"({"signals":40,"signals":{"29":"3158"}})")),
                ElementsAre("lowVoltageBatteryCurrentVoltage=12.632 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Decode, Acceptance33_TelemetryAsArraysOfBytes) {
    EXPECT_THAT(brief(vendorEvent(kTesla, R"({"payloads":[[]]})", kTelemetry)), ElementsAre("failed 0"));
    EXPECT_THAT(brief(vendorEvent(kTesla, R"({"payloads":[[null]]})", kTelemetry)), ElementsAre("failed 1"));
    EXPECT_EQ(decodeRows(vendorEvent(kTesla, R"({"payloads":[[null]]})", kTelemetry)).outcome, "partial");
    EXPECT_EQ(decodeRows(vendorEvent(kTesla, R"({"payloads":[[256]]})", kTelemetry)).outcome, "payload");
    EXPECT_EQ(decodeRows(vendorEvent(kTesla, R"({"payloads":[[1.0]]})", kTelemetry)).outcome, "payload");
    // key 8 (Soc) with double_value 5, no created_at
    EXPECT_THAT(brief(vendorEvent(kTesla, R"({"payloads":[[10,13,8,8,18,9,41,0,0,0,0,0,0,20,64]]})", kTelemetry)),
                ElementsAre("powertrainTractionBatteryStateOfChargeCurrent=5 1970-01-01T00:00:00Z", "failed 0"));
}

TEST(Decode, Acceptance35_LooseTimestampsOutOfRange) {
    for (Compat compat : {Compat::kExact, Compat::kRepair}) {
        for (const char* future : {"9e18", "1741064767123456", "9223372036854775807"}) {
            EXPECT_THAT(brief(named(kAutoPi, {item("speed", future, "1"), at("rpm", 0, "5")}), compat),
                        ElementsAre("powertrainCombustionEngineSpeed=5 2025-03-04T05:06:07Z", "failed 0"))
                << future;
        }
        for (const char* bad :
             {"1e400", "-9e18", "9223372036854775808", "-62135596800001", "\"99999999999999999999\""}) {
            EXPECT_THAT(brief(named(kAutoPi, {item("speed", bad, "1"), at("rpm", 0, "5")}), compat),
                        ElementsAre("powertrainCombustionEngineSpeed=5 2025-03-04T05:06:07Z", "failed 1"))
                << bad;
        }
        EXPECT_THAT(brief(named(kAutoPi, {item("speed", "-62135596800000", "1")}), compat),
                    ElementsAre("speed=1 0001-01-01T00:00:00Z", "failed 0"));
    }
}

TEST(Repair, TelemetryValueAbsent) {
    // key 4 without value, then key 8 with 5
    RawEvent event =
        vendorEvent(kTesla, R"({"payloads":[[10,2,8,4,10,13,8,8,18,9,41,0,0,0,0,0,0,20,64]]})", kTelemetry);
    EXPECT_EQ(decodeRows(event, Compat::kExact).outcome, "panic");
    EXPECT_THAT(brief(event, Compat::kExact), ElementsAre("failed 1"));
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "partial");
    EXPECT_THAT(brief(event, Compat::kRepair),
                ElementsAre("powertrainTractionBatteryStateOfChargeCurrent=5 1970-01-01T00:00:00Z", "failed 1"));
}

TEST(Repair, InlineBase64OfVendors) {
    RawEvent event = ruptela("eyJzaWduYWxzIjp7Ijk0IjoiMUY0MCJ9fQ==");
    event.base64_text = true;
    EXPECT_EQ(decodeRows(event, Compat::kExact).outcome, "none");
    EXPECT_THAT(brief(event, Compat::kExact), ElementsAre("failed 0"));
    EXPECT_THAT(brief(event, Compat::kRepair),
                ElementsAre("powertrainCombustionEngineSpeed=2000 2025-03-04T05:06:07Z", "failed 0"));
    event.payload = "e3";
    EXPECT_EQ(decodeRows(event, Compat::kRepair).outcome, "payload");
}

TEST(LooseReader, EscapedNamesDuplicatesAndArrays) {
    EXPECT_THAT(
        brief(vendorEvent(kAutoPi,
                          R"({"vehicle":5,"vehicle":[{"signals":1}],"vehicle":{"x":1},"vehic\u006ce":{"sign\u0061ls":)"
                          R"([{"n\u0061me":"sp\u0065ed",)"
                          R"("timestamp":"174\u003106476\u0037000","value":3}]},"vehicle":{"signals":null}})")),
        ElementsAre("speed=3 2025-03-04T05:06:07Z", "failed 0"));
    std::string list = R"({"signals":[)";
    for (int i = 0; i < 94; ++i) list += "null,";
    EXPECT_THAT(brief(ruptela(list + "\"1F40\"]}")),
                ElementsAre("powertrainCombustionEngineSpeed=2000 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_EQ(decodeRows(ruptela("[1]")).outcome, "none");
    EXPECT_EQ(decodeRows(ruptela("")).outcome, "none");
    EXPECT_EQ(decodeRows(ruptela("{\"signals\":")).outcome, "payload");
}

TEST(LooseReader, InvalidTextIsReplacedInRows) {
    EXPECT_THAT(brief(named(kHashDog, {at("fuelType", 0, "\"x\xffy\"")})),
                ElementsAre("powertrainFuelSystemSupportedFuelTypes='x\uFFFDy' 2025-03-04T05:06:07Z",
                            "powertrainType='x\uFFFDy' 2025-03-04T05:06:07Z", "failed 0"));
    EXPECT_THAT(brief(named(kAutoPi, {at("obdDTCList", 0, "\"a\xff,\\ud800\"")})),
                ElementsAre("obdDTCList='[\"a\\ufffd\",\"\uFFFD\"]' 2025-03-04T05:06:07Z", "failed 0"));
}

TEST(Ruptela, PointMembersCountEachTime) {
    EXPECT_THAT(brief(ruptela(R"({"location":[{"ts":1741064767,"spd":1,"spd":null,"spd":2}]})", "r/v0/loc")),
                ElementsAre("speed=2 2025-03-04T05:06:07Z", "failed 1"));
}

TEST(JsonArrayText, EscapesAsRecorded) {
    Arena arena;
    std::string text("\x01\b\f\n\r\t\"\\<>&/\x7f\u2028\u2029\u00e9\xff");
    JsonArrayText array(arena, text.size(), 1);
    array.add(text);
    EXPECT_EQ(array.finish(),
              "[\"\\u0001\\b\\f\\n\\r\\t\\\"\\\\\\u003c\\u003e\\u0026/\x7f\\u2028\\u2029\u00e9\\ufffd\"]");
    EXPECT_EQ(JsonArrayText(arena, 0, 0).finish(), "[]");
}

OpValue run(std::string_view pipeline, OpValue value, Verdict expected, vss::ValueType type = vss::ValueType::kFloat) {
    static Arena arena;
    EXPECT_EQ(runPipeline(parsePipeline(pipeline, type), OpContext{arena}, value), expected) << pipeline;
    return value;
}

TEST(Ops, StepsOfTheGrammar) {
    auto number = [](double v) { return OpValue{v, {}, false}; };
    auto text = [](std::string_view t) { return OpValue{0, t, true}; };
    EXPECT_EQ(run("mul(-1000)|poszero", number(0), Verdict::kValue).number, 0);
    EXPECT_FALSE(std::signbit(run("mul(-1000)|poszero", number(0), Verdict::kValue).number));
    run("nz", number(-0.0), Verdict::kNotFound);
    run("nf(32768)|div(10)", number(32768), Verdict::kNotFound);
    EXPECT_EQ(run("range(0;36000)|div(100)", number(36000), Verdict::kValue).number, 360);
    run("range(0;36000)", number(36000.5), Verdict::kNotFound);
    EXPECT_EQ(run("bit(6)", number(64.9), Verdict::kValue).number, 1);
    run("bit(0)", number(255), Verdict::kNotFound);
    run("bit(0)", number(-1), Verdict::kNotFound);
    run("map(0:0;1:1)", number(2), Verdict::kNotFound);
    EXPECT_EQ(run("map(0:1;*:0)", number(2), Verdict::kValue).number, 0);
    run("emap(1:0;*:ERR)", number(9), Verdict::kError);
    EXPECT_EQ(run("smap(Starting:1;*:0)", text("Starting"), Verdict::kValue).number, 1);
    EXPECT_EQ(run("smap(Gasoline:GASOLINE;*:OTHER)", text("gas"), Verdict::kValue, vss::ValueType::kString).text,
              "OTHER");
    EXPECT_EQ(run("enum(torque_mode)", number(3), Verdict::kValue, vss::ValueType::kString).text, "PTO GOVERNOR");
    run("enum(torque_mode)", number(16), Verdict::kNotFound, vss::ValueType::kString);
    EXPECT_EQ(run("steps(25:LOW;*:HIGH)", number(25), Verdict::kValue, vss::ValueType::kString).text, "HIGH");
    EXPECT_EQ(run("gt_div_round(999999;1000)", number(1000500), Verdict::kValue).number, 1001);
    EXPECT_EQ(run("gt_div_round(999999;1000)", number(999999), Verdict::kValue).number, 999999);
    EXPECT_EQ(run("oid(1232)|gear", text("01300FA0"), Verdict::kValue).number, 3);
    EXPECT_EQ(run("oid(1232)|gear_ratio", text("01300FA0"), Verdict::kValue).number, 4);
    run("oid(1232)|gear", text("01310FA0"), Verdict::kNotFound);
    run("panic", number(1), Verdict::kPanic);
}

TEST(Ops, OidText) {
    auto read = [](std::uint32_t oid, std::string_view text, Verdict expected) {
        double out = 0;
        EXPECT_EQ(readOid(oidOf(oid), text, out), expected) << oid << " " << text;
        return out;
    };
    EXPECT_EQ(read(520, "-3c", Verdict::kValue), -60);
    EXPECT_EQ(read(520, "+3C", Verdict::kValue), 60);
    EXPECT_EQ(read(520, "-80000000", Verdict::kValue), -2147483648.0);
    read(520, "-80000001", Verdict::kNotFound);
    read(520, "-8000000000000000", Verdict::kNotFound);
    read(520, "8000000000000000", Verdict::kError);
    read(520, "-", Verdict::kError);
    read(520, "--1", Verdict::kError);
    for (const char* bad : {"", "+1", "-1", "0x1", " 1", "1 ", "g", "10000000000000000"})
        read(94, bad, Verdict::kError);
    EXPECT_EQ(read(94, "0000000000000000000000001", Verdict::kValue), 0.25);
    read(94, "FFFF", Verdict::kNotFound);
    read(94, "FFFFFFFFFFFFFFFF", Verdict::kNotFound);
}

}  // namespace
}  // namespace dq::decode
