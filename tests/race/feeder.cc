#include "feeder.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "core/hash.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/raw_events.h"
#include "lake/tables.h"
#include "lake/temp_lake_testing.h"
#include "reader.h"

namespace dq::race {
namespace {

constexpr int kVehicles = 5;
constexpr Micros kLate = 40 * kMicrosPerDay;
constexpr int kMostEvents = 20;  // per bundle
constexpr std::int64_t kLongestPause = 300'000;

std::string exact(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.17g", value);
    return text;
}

std::string identityOf(const cloudevent::Row& row, std::string_view name) {
    return strCat(row.subject, "|", row.source, "|", row.id, "|", name, "|", row.time);
}

// A signal: what the payload says of it, and its value columns as restSql() prints them.
struct Reading {
    std::string name, json, columns;
};

Reading numberReading(const std::string& name, double value) {
    return {name, exact(value), strCat(exact(value), "||0|0|0|0")};
}

Reading textReading(const std::string& text) {
    return {"powertrainFuelSystemSupportedFuelTypes", strCat("\"", text, "\""), strCat("0|", text, "|0|0|0|0")};
}

Reading positionReading(double latitude, double longitude) {
    return {"currentLocationCoordinates",
            strCat(R"({"latitude":)", exact(latitude), R"(,"longitude":)", exact(longitude), R"(,"hdop":1.5})"),
            strCat("0||", exact(latitude), "|", exact(longitude), "|1.5|0")};
}

}  // namespace

void Feeder::prepare() {
    const Status ready = lake::ensureRawEvents(lake_, Cancel::root());
    ASSERT_TRUE(ready.ok()) << ready;
}

void Feeder::run(const Cancel& stop) {
    while (!stop.cancelled()) {
        bundle();
        if (below(20) == 0) nullHeaders();
        stop.waitFor(static_cast<std::int64_t>(below(kLongestPause)));
    }
    bundle();
}

void Feeder::bundle() {
    std::vector<cloudevent::Row> rows;
    for (std::uint64_t left = 1 + below(kMostEvents); left > 0; --left) {
        const std::uint64_t choice = below(10);
        if (choice < 2 && !history_.empty()) {
            again(rows);
        } else if (choice == 2) {
            unusable(rows);
        } else {
            upload(rows);
        }
    }
    append(rows);
}

cloudevent::Row Feeder::header(const std::string& type) {
    Micros time = kNow - kMicrosPerDay + static_cast<Micros>(below(80'000)) * kMicrosPerSecond;
    if (below(5) == 0) time -= kLate;
    cloudevent::Row row = lake::payloadRow(static_cast<int>(below(kVehicles)), type, strCat("e", next_id_++), time, "");
    if (below(8) == 0) row.source = "0x7777777777777777777777777777777777777777";
    return row;
}

// One upload; a third of them are stored as several types under one id and time.
void Feeder::upload(std::vector<cloudevent::Row>& out) {
    cloudevent::Row row = header(std::string(cloudevent::kStatusType));
    const std::uint64_t kind = below(6);
    if (kind == 0) {
        behaviour(row, out);
        return;
    }
    reading(row, out);
    if (kind == 1) {
        cloudevent::Row fingerprint = row;
        fingerprint.type = cloudevent::kFingerprintType;
        fingerprint.data = R"({"vin":"1HGCM82633A004352"})";
        out.push_back(fingerprint);
        behaviour(row, out);
    } else if (kind == 2 && below(4) == 0) {
        row.producer = strCat("other/", below(3));  // the id used again with another content
        reading(row, out);
    }
}

void Feeder::reading(cloudevent::Row row, std::vector<cloudevent::Row>& out) {
    std::vector<Reading> readings{numberReading("speed", static_cast<double>(below(1'600)) / 8)};
    if (below(2) == 0)
        readings.push_back(numberReading("exteriorAirTemperature", static_cast<double>(below(500)) / 10));
    if (below(4) == 0) readings.push_back(textReading(below(2) == 0 ? "GASOLINE" : "ELECTRIC"));
    if (below(3) == 0) {
        readings.push_back(below(5) == 0 ? positionReading(0, 0)
                                         : positionReading(40 + static_cast<double>(below(100)) / 100, -74));
    }
    std::string items;
    for (const Reading& each : readings) {
        strAppend(&items, items.empty() ? "" : ",", R"({"name":")", each.name, R"(","timestamp":")",
                  formatRfc3339(row.time), R"(","value":)", each.json, "}");
        sent_.announce(kSignals, {identityOf(row, each.name),
                                  strCat(subjectBucket(row.subject), "|", row.producer, "|", each.columns)});
    }
    row.data = strCat(R"({"signals":[)", items, "]}");
    out.push_back(row);
}

void Feeder::behaviour(cloudevent::Row row, std::vector<cloudevent::Row>& out) {
    row.type = cloudevent::kEventsType;
    const std::string name = below(2) == 0 ? "behavior.harshBraking" : "behavior.extremeBraking";
    const std::uint64_t duration = below(5) * 1'000;
    row.data = strCat(R"({"events":[{"name":")", name, R"(","timestamp":")", formatRfc3339(row.time),
                      R"(","durationNs":)", duration, R"(,"metadata":"{\"n\":1}","tags":["a","b"]}]})");
    sent_.announce(kEvents,
                   {identityOf(row, name), strCat(subjectBucket(row.subject), "|", row.producer, "|dimo.event|",
                                                  row.data_version, "|", duration, R"(|{"n":1}|a,b)")});
    out.push_back(row);
}

void Feeder::again(std::vector<cloudevent::Row>& out) {
    // Half of them lately sent, as a retry is; the others from anywhere.
    const std::uint64_t back =
        below(2) == 0 ? below(std::min<std::uint64_t>(history_.size(), 30)) : below(history_.size());
    out.push_back(history_[history_.size() - 1 - back]);
    ++redelivered_;
}

void Feeder::unusable(std::vector<cloudevent::Row>& out) {
    cloudevent::Row row = header(std::string(below(2) == 0 ? cloudevent::kStatusType : cloudevent::kAttestationType));
    row.data = row.type == cloudevent::kStatusType ? "{\"signals\":[{" : "{}";
    if (below(2) == 0) {
        row.data = R"({"signals":[{"name":"speed","timestamp":"2026-10-01T00:00:00Z","value":1}]})";
        row.subject.replace(row.subject.find(":137:"), 5, ":999:");
    }
    out.push_back(row);
}

void Feeder::append(const std::vector<cloudevent::Row>& rows) {
    repeat("append", [&] {
        const auto snapshot = lake::appendRawEvents(lake_, rows, Cancel::root());
        if (snapshot.ok()) last_snapshot_ = *snapshot;
        return snapshot.status();
    });
    ++bundles_;
    rows_ += static_cast<std::int64_t>(rows.size());
    history_.insert(history_.end(), rows.begin(), rows.end());
}

// Rows without subject, time, id or source give nothing; a missing producer and data version read as empty.
void Feeder::nullHeaders() {
    cloudevent::Row row = header(std::string(cloudevent::kStatusType));
    row.producer.clear();
    std::vector<cloudevent::Row> kept;
    reading(row, kept);
    const auto text = [](const std::string& value) { return engine::quoteLiteral(value); };
    std::string values;
    constexpr int kForms = 5;
    for (int missing = 0; missing < kForms; ++missing) {
        const auto unless = [&](int column, const std::string& value) { return missing == column ? "NULL" : value; };
        strAppend(&values, missing == 0 ? "" : ", ", "(", unless(0, text(row.subject)), ", ",
                  unless(1, engine::timestampLiteral(row.time)), ", 'dimo.status', ", unless(2, text(row.id)), ", ",
                  unless(3, text(row.source)), ", NULL, NULL, NULL, NULL, ", text(*kept.front().data),
                  ", NULL, NULL, NULL)");
    }
    repeat("insert", [&]() -> Status {
        DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire());
        return connection->execute(strCat("INSERT INTO lake.raw_events VALUES ", values)).status();
    });
    rows_ += kForms;
}

void Feeder::repeat(const char* what, const std::function<Status()>& attempt) {
    constexpr int kAttempts = 200;
    Status last;
    for (int i = 0; i < kAttempts; ++i) {
        last = attempt();
        if (last.ok()) return;
        ++repeated_appends_;
        reviveEngine(lake_, last);
        Cancel::root().waitFor(100'000);
    }
    ADD_FAILURE() << what << " of raw events failed " << kAttempts << " times: " << last;
}

}  // namespace dq::race
