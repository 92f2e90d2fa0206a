#include "ingest/validate.h"

#include <gtest/gtest.h>

#include <set>

#include "core/log.h"
#include "core/text.h"
#include "ingest/event_json.h"
#include "ingest/ingest_testing.h"
#include "ingest/payload.h"

namespace dq::ingest {
namespace {

using cloudevent::Row;
using testing::kDevice;
using testing::kSource;
using testing::kVehicle;
using testing::statusEvent;

constexpr Micros kNow = 1'780'000'000 * kMicrosPerSecond;

class Validate : public ::testing::Test {
  protected:
    ValidationOptions options(Profile profile = Profile::kConnection) {
        ValidationOptions out;
        out.profile = profile;
        out.clock = &clock_;
        return out;
    }
    Verdict check(std::string_view text, Profile profile = Profile::kConnection) {
        return Validator(options(profile)).check(text);
    }
    Row only(std::string_view text, Profile profile = Profile::kConnection) {
        Verdict verdict = check(text, profile);
        EXPECT_TRUE(verdict.fault.ok()) << verdict.fault;
        EXPECT_EQ(verdict.rows.size(), 1u);
        return verdict.rows.empty() ? Row{} : verdict.rows[0];
    }
    std::string fault(std::string_view text, Profile profile = Profile::kConnection) {
        Verdict verdict = check(text, profile);
        EXPECT_TRUE(verdict.rows.empty());
        EXPECT_TRUE(absl::IsInvalidArgument(verdict.fault)) << verdict.fault;
        return std::string(verdict.fault.message());
    }
    ManualClock clock_{kNow};
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

std::string withData(std::string_view type, std::string_view data) {
    return strCat("{\"type\":\"", type, "\",\"source\":\"", kSource, "\",\"subject\":\"", kVehicle,
                  "\",\"producer\":\"", kDevice, "\",\"id\":\"i\",\"data\":", data, "}");
}

TEST_F(Validate, Acceptance01_PayloadsOverTheLimitStayInlineAndAreCounted) {
    const auto sized = [](std::size_t bytes) {
        return withData("dimo.status", "\"" + std::string(bytes - 2, 'x') + "\"");
    };
    EXPECT_EQ(check(sized(1048576)).oversized, 0u);
    const Verdict over = check(sized(1048577));
    EXPECT_EQ(over.oversized, 1u);
    ASSERT_EQ(over.rows.size(), 1u);
    EXPECT_EQ(over.rows[0].data->size(), 1048577u);
    EXPECT_EQ(over.rows[0].data_index_key, std::nullopt);
    EXPECT_NE(fault(replaced(withData("dimo.status", "\"*\""), "\"data\":\"*\"", "\"data_base64\":\"***\"")), "");
}

TEST_F(Validate, Acceptance03_TimeIsCutToMillisecondsInUtc) {
    EXPECT_EQ(only(statusEvent("e")).time, 1'780'912'800'123'000);
    EXPECT_EQ(only(replaced(statusEvent("e"), "10:00:00.123456789Z", "12:00:00.5+02:00")).time, 1'780'912'800'500'000);
}

TEST_F(Validate, Acceptance04_PayloadForms) {
    const Row inline_json = only(withData("dimo.status", "{\"a\": 1 }"));
    EXPECT_EQ(inline_json.data, "{\"a\": 1 }");
    EXPECT_EQ(inline_json.data_base64, std::nullopt);
    EXPECT_EQ(inline_json.extras, "{}");
    const Row base64 =
        only(replaced(withData("dimo.status", "1"), "\"data\":1", "\"data_base64\":\"SGVsbG8gV29ybGQ=\""));
    EXPECT_EQ(base64.data, std::nullopt);
    EXPECT_EQ(base64.data_base64, "SGVsbG8gV29ybGQ=");
    EXPECT_EQ(base64.extras, "{}");
    const Row empty = only(replaced(withData("dimo.status", "1"), ",\"data\":1", ""));
    EXPECT_EQ(empty.data, std::nullopt);
    EXPECT_EQ(empty.data_base64, std::nullopt);
    EXPECT_EQ(empty.extras, "{}");
    for (const Row& row : {inline_json, base64, empty}) EXPECT_EQ(row.data_index_key, std::nullopt);
}

TEST_F(Validate, Acceptance05_ExtrasHoldWhatHasNoColumn) {
    const Row row = only(statusEvent("e", R"("tags":["a"],"signature":"0x1","foo":1,)"));
    EXPECT_NE(row.extras.find("\"tags\":[\"a\"]"), std::string::npos) << row.extras;
    EXPECT_NE(row.extras.find("\"signature\":\"0x1\""), std::string::npos) << row.extras;
    EXPECT_NE(row.extras.find("\"foo\":1"), std::string::npos) << row.extras;
    EXPECT_EQ(row.extras.find("specversion"), std::string::npos) << row.extras;
    EXPECT_EQ(std::count(row.extras.begin(), row.extras.end(), ':'), 3) << row.extras;
}

TEST_F(Validate, Acceptance06_DidsAreRewrittenAndOthersRefused) {
    std::string lower(kVehicle);
    std::transform(lower.begin() + 15, lower.end(), lower.begin() + 15, ::tolower);
    ASSERT_NE(lower, kVehicle);
    EXPECT_EQ(only(replaced(statusEvent("e"), kVehicle, lower)).subject, kVehicle);
    const Row legacy =
        only(replaced(statusEvent("e"), kDevice, "did:nft:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA_7"));
    EXPECT_EQ(legacy.producer, kDevice);
    EXPECT_EQ(fault(replaced(statusEvent("e"), kVehicle, "../../x")).substr(0, 8), "subject:");
    EXPECT_EQ(fault(replaced(statusEvent("e"), kDevice, "did:ethr:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA"))
                  .substr(0, 9),
              "producer:");
}

TEST_F(Validate, Acceptance07_HeaderLimitIdentifiersTypesAndFutureTimes) {
    const std::string small = statusEvent("e", R"("signature":"s",)");
    const std::size_t base = headerJson(*[&] {
                                 auto event = cloudevent::parse(small);
                                 event->data_content_type = "application/json";
                                 return event;
                             }())
                                 .size();
    const auto sized = [&](std::size_t bytes) {
        return replaced(small, "\"s\"", "\"" + std::string(bytes - base + 1, 's') + "\"");
    };
    EXPECT_TRUE(check(sized(8192)).fault.ok());
    EXPECT_EQ(fault(sized(8193)), "header: over 8192 bytes without data");
    // Characters that JSON escapes count with their escapes.
    EXPECT_EQ(fault(replaced(small, "\"s\"", "\"" + std::string(3000, '\x01') + "\"")).substr(0, 1).empty(), false);
    EXPECT_EQ(fault(replaced(statusEvent("e"), "\"id\":\"e\"", "\"id\":\"a!b\"")).substr(0, 3), "id:");
    EXPECT_EQ(fault(replaced(statusEvent("e"), "dimo.status", "dimo.unknown")).substr(0, 5), "type:");

    LogCapture capture;
    Validator validator(options());
    const std::string ahead =
        replaced(statusEvent("e"), "2026-06-08T10:00:00.123456789Z", formatRfc3339(kNow + 301 * kMicrosPerSecond));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(validator.check(ahead).rows.size(), 1u);
    EXPECT_EQ(validator.futureEvents(), 3u);
    EXPECT_EQ(validator.futureWarnings(), 1u);
    EXPECT_EQ(capture.text().find("did:"), std::string::npos);
    clock_.advance(3600 * kMicrosPerSecond);
    validator.check(replaced(ahead, formatRfc3339(kNow + 301 * kMicrosPerSecond),
                             formatRfc3339(clock_.now() + 301 * kMicrosPerSecond)));
    EXPECT_EQ(validator.futureWarnings(), 2u);
    validator.check(replaced(statusEvent("e"), "2026-06-08T10:00:00.123456789Z",
                             formatRfc3339(clock_.now() + 300 * kMicrosPerSecond)));
    EXPECT_EQ(validator.futureEvents(), 4u);
}

TEST_F(Validate, Acceptance08_BodyWithoutTypeIsSplitAndAVinCostsOnlyTheFingerprint) {
    const auto untyped = [](std::string_view data) {
        return replaced(replaced(withData("T", data), "\"type\":\"T\",", ""), ",\"id\":\"i\"", "");
    };
    Verdict both = check(untyped(R"({"vin":"1HGCM82633A004352","signals":[{"name":"speed"}]})"));
    ASSERT_TRUE(both.fault.ok()) << both.fault;
    ASSERT_EQ(both.rows.size(), 2u);
    EXPECT_EQ(both.rows[0].type, "dimo.fingerprint");
    EXPECT_EQ(both.rows[1].type, "dimo.status");
    EXPECT_EQ(both.rows[0].id, both.rows[1].id);
    EXPECT_EQ(both.rows[0].id.size(), 27u);
    EXPECT_EQ(both.rows[0].data, both.rows[1].data);

    Verdict bad_vin = check(untyped(R"({"vin":"nonsense","signals":[1]})"));
    EXPECT_TRUE(bad_vin.fault.ok());
    EXPECT_EQ(bad_vin.dropped_fingerprints, 1u);
    ASSERT_EQ(bad_vin.rows.size(), 1u);
    EXPECT_EQ(bad_vin.rows[0].type, "dimo.status");

    Verdict unreadable = check(untyped(R"({"vin":17,"signals":[1]})"));
    EXPECT_TRUE(absl::IsInvalidArgument(unreadable.fault));
    ASSERT_EQ(unreadable.rows.size(), 1u);
    EXPECT_EQ(unreadable.rows[0].type, "dimo.status");

    EXPECT_EQ(check(untyped(R"({"events":[1],"signals":[]})")).rows.at(0).type, "dimo.events");
    EXPECT_EQ(fault(untyped(R"({"signals":[]})")).substr(0, 5), "type:");
    EXPECT_EQ(fault(untyped("7")).substr(0, 5), "type:");
    // A given type is kept, whatever the data holds.
    EXPECT_EQ(only(withData("dimo.events", R"({"vin":"1HGCM82633A004352","signals":[1]})")).type, "dimo.events");
    ValidationOptions lenient = options();
    lenient.fingerprint_validation = false;
    EXPECT_EQ(Validator(lenient).check(untyped(R"({"vin":"nonsense"})")).rows.size(), 1u);
}

TEST_F(Validate, Acceptance15_TombstonesGetTheirVoidsIdFromTheDataOnly) {
    const auto tombstone = [](std::string_view data) { return withData("dimo.tombstone", data); };
    EXPECT_EQ(only(tombstone(R"({"voidsId":"att-1","reason":"wrong"})"), Profile::kRaw).voids_id, "att-1");
    EXPECT_EQ(
        only(tombstone(strCat(R"({"voidsId":"a","reason":")", std::string(512, 'r'), "\"}")), Profile::kRaw).voids_id,
        "a");
    for (const std::string& bad :
         {std::string("[]"), std::string("{}"), std::string(R"({"voidsId":""})"), std::string(R"({"voidsId":"a!"})"),
          std::string(R"({"voidsId":1})"), strCat(R"({"voidsId":"a","reason":")", std::string(513, 'r'), "\"}")}) {
        EXPECT_EQ(fault(tombstone(bad), Profile::kRaw).substr(0, 4), "data") << bad;
    }
    EXPECT_EQ(fault(replaced(tombstone("1"), ",\"data\":1", ""), Profile::kRaw), "data: a tombstone needs data");
    const std::string in_base64 = replaced(tombstone("1"), "\"data\":1", "\"data_base64\":\"eyJ2b2lkc0lkIjoiYiJ9\"");
    EXPECT_EQ(only(in_base64, Profile::kRaw).voids_id, "b");
    const Row forged = only(statusEvent("e", R"("voidsId":"x","voids_id":"x","data_index_key":"cloudevent/blobs/x",)"));
    EXPECT_EQ(forged.voids_id, std::nullopt);
    EXPECT_EQ(forged.data_index_key, std::nullopt);
}

TEST_F(Validate, DefaultsAreFilledIn) {
    ValidationOptions fixed = options();
    fixed.new_id = [](Micros) { return "made"; };
    const Row row =
        Validator(fixed)
            .check(strCat(R"({"type":"dimo.status","source":")", kSource, R"(","producer":")", kDevice, "\"}"))
            .rows.at(0);
    EXPECT_EQ(row.subject, kDevice);
    EXPECT_EQ(row.id, "made");
    EXPECT_EQ(row.time, kNow);
    EXPECT_EQ(row.data_content_type, "application/json");
    EXPECT_EQ(fault(statusEvent("e", R"("datacontenttype":"text/xml",)")), "datacontenttype: must be application/json");
    EXPECT_EQ(only(statusEvent("e", R"("datacontenttype":"text/xml",)"), Profile::kRaw).data_content_type, "text/xml");
}

TEST_F(Validate, SourceRules) {
    const std::string lower = replaced(statusEvent("e"), kSource, "0xba5738a18d83d41847dffbdc6101d37c69c9b0cf");
    EXPECT_EQ(only(lower).source, "0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF");
    const std::string named = replaced(statusEvent("e"), kSource, "my-logger");
    EXPECT_EQ(fault(named), "source: must be a hex address of 40 digits");
    EXPECT_EQ(fault(named, Profile::kRaw), "source: must be a hex address of 40 digits");
    ValidationOptions trusting = options(Profile::kRaw);
    trusting.source_rule = SourceRule::kTrust;
    EXPECT_EQ(Validator(trusting).check(named).rows.at(0).source, "my-logger");
    trusting.profile = Profile::kConnection;
    EXPECT_FALSE(Validator(trusting).check(named).fault.ok());
    ValidationOptions fixed = options();
    fixed.source_rule = SourceRule::kFixed;
    fixed.source = "0xba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    EXPECT_TRUE(checkOptions(fixed).ok());
    EXPECT_EQ(Validator(fixed).check(named).rows.at(0).source, "0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF");
    fixed.source = "me";
    EXPECT_TRUE(absl::IsInvalidArgument(checkOptions(fixed)));
}

TEST_F(Validate, RawProfileTakesAnyTypeAndSubject) {
    const std::string event = strCat(R"({"type":"my.type","subject":"garage/1","source":")", kSource, "\"}");
    EXPECT_EQ(only(event, Profile::kRaw).subject, "garage/1");
    EXPECT_EQ(fault(replaced(event, "my.type", ""), Profile::kRaw), "type: must not be empty");
    EXPECT_EQ(fault(replaced(event, "garage/1", ""), Profile::kRaw), "subject: must not be empty");
    EXPECT_EQ(fault(replaced(event, "garage/1", "a*"), Profile::kRaw).substr(0, 8), "subject:");
}

TEST_F(Validate, TextsThatAreNoEvents) {
    for (const char* text : {"", "7", "[]", "{", "{\"time\":1}", "{} {}", "{\"data\":{},\"data_base64\":\"\"\"}"}) {
        EXPECT_FALSE(check(text).fault.ok()) << text;
    }
    EXPECT_EQ(fault(replaced(statusEvent("e"), "speed", "sp\xff")), "the text is not valid UTF-8");
}

TEST_F(Validate, FaultsRepeatNothingOfTheEvent) {
    const std::string secret = "SeCrEt";
    const std::string wrong[] = {statusEvent(secret + "!"),
                                 replaced(statusEvent("e"), kVehicle, secret),
                                 replaced(statusEvent("e"), "dimo.status", secret),
                                 replaced(statusEvent("e"), kSource, secret),
                                 replaced(statusEvent("e"), "2026-06-08T10:00:00.123456789Z", secret),
                                 statusEvent("e") + secret};
    for (const std::string& text : wrong) EXPECT_EQ(fault(text).find(secret), std::string::npos) << text;
}

TEST_F(Validate, AttestationProfileSaysWhatIsMissing) {
    EXPECT_EQ(parseProfile("attestation").value(), Profile::kAttestation);
    EXPECT_TRUE(absl::IsUnimplemented(checkOptions(options(Profile::kAttestation))));
    EXPECT_FALSE(parseProfile("Raw").ok());
}

TEST(Vin, Shapes) {
    for (const char* vin :
         {"1HGCM82633A004352", "AB12345", "ABCDEFG-1234567", "AB-12345", "JN1-0012345", "ABCDE1234567", "1234567"}) {
        EXPECT_TRUE(isPlausibleVin(vin)) << vin;
    }
    for (const char* vin : {"", "1HGCM82633A00435", "1HGCM82633A0O4352", "1HGCM82633I004352", "1hgcm82633a004352",
                            "A-12345", "ABCDEFGH-12345", "AB-1234", "AB-12345678", "AB--12345", "11111111111111111",
                            "1111111", "ABCDEFGH1234567X", "AB 12345"}) {
        EXPECT_FALSE(isPlausibleVin(vin)) << vin;
    }
}

TEST(EventId, SortsByTimeAndIsUnique) {
    std::set<std::string> ids;
    std::string earlier;
    for (int second = 0; second < 100; ++second) {
        const std::string id = newEventId(kNow + second * kMicrosPerSecond);
        EXPECT_EQ(id.size(), 27u);
        EXPECT_TRUE(isIdentifier(id)) << id;
        EXPECT_LT(earlier, id);
        earlier = id;
        EXPECT_TRUE(ids.insert(id).second);
    }
    EXPECT_NE(newEventId(kNow), newEventId(kNow));
}

TEST(RowJson, ParsesBackIntoTheSameRow) {
    ManualClock clock(kNow);
    ValidationOptions options;
    options.profile = Profile::kRaw;
    options.clock = &clock;
    Validator validator(options);
    const std::string events[] = {
        statusEvent("e"),
        statusEvent("e",
                    R"("tags":["a","\"b"],"signature":"0x1","dataschema":"s","raweventid":"r","foo": {"x" : [1]},)"),
        replaced(withData("x.y", "1"), "\"data\":1", "\"data_base64\":\"SGVsbG8=\",\"dataversion\":\"v/1\""),
        withData("x.y", "{\n \"a\": \"line\\nend\",\r\n \"b\": 1e3 }")};
    for (const std::string& text : events) {
        const auto first = validator.check(text).rows.at(0);
        const std::string json = rowJson(first);
        EXPECT_EQ(json.find('\n'), std::string::npos);
        const auto second = validator.check(json).rows.at(0);
        EXPECT_EQ(second.extras, first.extras);
        EXPECT_EQ(second.data_base64, first.data_base64);
        EXPECT_EQ(second.data.value_or("").size(), first.data.value_or("").size());
        EXPECT_EQ(std::tie(second.subject, second.time, second.type, second.id, second.source, second.producer,
                           second.data_content_type, second.data_version),
                  std::tie(first.subject, first.time, first.type, first.id, first.source, first.producer,
                           first.data_content_type, first.data_version));
    }
}

}  // namespace
}  // namespace dq::ingest
