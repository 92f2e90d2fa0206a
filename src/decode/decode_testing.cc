#include "decode/decode_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>
#include <simdjson.h>
#include <zlib.h>

#include <bit>
#include <cstdlib>
#include <cstring>

#include "cloudevent/base64.h"
#include "cloudevent/cloudevent.h"
#include "cloudevent/json_text.h"

namespace dq::decode {
namespace {

std::string bits(double value) { return fmt::format("{}/{:016x}", value, std::bit_cast<std::uint64_t>(value)); }

std::string signalLine(std::string_view subject, std::int64_t bucket, std::string_view name, Micros time,
                       std::string_view source, std::string_view producer, std::string_view id, std::string_view text,
                       const double (&numbers)[5]) {
    std::string line = fmt::format("{}|{}|{}|{}|{}|{}|{}|'{}'", subject, bucket, name, formatSqlTimestamp(time), source,
                                   producer, id, text);
    for (double number : numbers) line += "|" + bits(number);
    return line;
}

std::string eventLine(std::string_view subject, std::int64_t bucket, std::string_view source, std::string_view producer,
                      std::string_view id, std::string_view version, std::string_view name, Micros time,
                      std::uint64_t duration, std::string_view metadata, const std::vector<std::string>& tags) {
    std::string line = fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}|'{}'", subject, bucket, source, producer, id, version,
                                   name, formatSqlTimestamp(time), duration, metadata);
    for (const std::string& tag : tags) line += "|#" + tag;
    return line;
}

std::string gunzip(const std::string& path) {
    gzFile file = gzopen(path.c_str(), "rb");
    EXPECT_NE(file, nullptr) << path;
    std::string text;
    char block[1 << 16];
    for (int got; file != nullptr && (got = gzread(file, block, sizeof block)) > 0;)
        text.append(block, static_cast<std::size_t>(got));
    gzclose(file);
    return text;
}

using Json = rapidjson::Value;

std::string textAt(const Json& row, const char* name) { return {row[name].GetString(), row[name].GetStringLength()}; }
double numberAt(const Json& row, const char* name) { return std::strtod(row[name].GetString(), nullptr); }
Micros timeAt(const Json& row) { return parseRfc3339(textAt(row, "timestamp")).value().micros; }

std::string expectedSignal(const Json& row) {
    const double numbers[] = {numberAt(row, "value_number"), numberAt(row, "loc_lat"), numberAt(row, "loc_lon"),
                              numberAt(row, "loc_hdop"), numberAt(row, "loc_heading")};
    return signalLine(textAt(row, "subject"), std::atoi(row["subject_bucket"].GetString()), textAt(row, "name"),
                      timeAt(row), textAt(row, "source"), textAt(row, "producer"), textAt(row, "cloud_event_id"),
                      textAt(row, "value_string"), numbers);
}

std::string expectedEvent(const Json& row) {
    EXPECT_EQ(textAt(row, "type"), "dimo.event");
    std::vector<std::string> tags;
    for (const Json& tag : row["tags"].GetArray()) tags.emplace_back(tag.GetString(), tag.GetStringLength());
    return eventLine(textAt(row, "subject"), std::atoi(row["subject_bucket"].GetString()), textAt(row, "source"),
                     textAt(row, "producer"), textAt(row, "cloud_event_id"), textAt(row, "data_version"),
                     textAt(row, "name"), timeAt(row), std::strtoull(row["duration_ns"].GetString(), nullptr, 10),
                     textAt(row, "metadata"), tags);
}

// Takes the member `in` out of the line, since a general parser may refuse it: its source text, or its value when it
// is a string.
std::string takeCloudEvent(std::string& line) {
    cloudevent::JsonScanner scan(line);
    cloudevent::JsonString key;
    scan.kind();
    scan.openObject();
    while (scan.nextMember(key)) {
        bool text = scan.kind() == cloudevent::JsonKind::kString;
        const char* start = scan.position();
        scan.skip();
        if (key.raw != "in") continue;
        std::string source(start, static_cast<std::size_t>(scan.position() - start));
        line.replace(static_cast<std::size_t>(start - line.data()), source.size(), "0");
        if (!text) return source;
        cloudevent::JsonScanner inner(source);
        cloudevent::JsonString value;
        inner.readString(value);
        return cloudevent::textOf(value);
    }
    ADD_FAILURE() << "vector without event";
    return {};
}

Vector parseVector(std::string line) {
    Vector vector;
    vector.cloud_event = takeCloudEvent(line);
    rapidjson::Document document;
    document.Parse<rapidjson::kParseNumbersAsStringsFlag>(line.data(), line.size());
    EXPECT_FALSE(document.HasParseError()) << line;
    vector.name = textAt(document, "name");
    vector.lenient = document.HasMember("lenient");
    if (document.HasMember("payload_b64")) {
        std::string text = textAt(document, "payload_b64");
        std::string bytes(cloudevent::base64Bound(text.size()), '\0');
        std::size_t size = 0;
        EXPECT_TRUE(cloudevent::decodeBase64(text, bytes.data(), size));
        bytes.resize(size);
        vector.payload = bytes;
    }
    for (const Json& row : document["signals"].GetArray()) vector.expected.signals.push_back(expectedSignal(row));
    for (const Json& row : document["events"].GetArray()) vector.expected.events.push_back(expectedEvent(row));
    vector.expected.failed = std::strtoull(document["failed"].GetString(), nullptr, 10);
    vector.expected.outcome = textAt(document, "error");
    return vector;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Rows& rows) {
    out << "outcome " << rows.outcome << ", failed " << rows.failed;
    for (const std::string& row : rows.signals) out << "\n  signal " << row;
    for (const std::string& row : rows.events) out << "\n  event " << row;
    return out;
}

std::string describe(const SignalRow& row) {
    const double numbers[] = {row.value_number, row.loc_lat, row.loc_lon, row.loc_hdop, row.loc_heading};
    return signalLine(row.subject, row.subject_bucket, row.name, row.timestamp, row.source, row.producer,
                      row.cloud_event_id, row.value_string, numbers);
}

std::string describe(const EventRow& row, const Batch& batch) {
    std::vector<std::string> tags;
    for (std::uint32_t i = 0; i < row.tag_count; ++i) tags.emplace_back(batch.tags[row.first_tag + i]);
    return eventLine(row.subject, row.subject_bucket, row.source, row.producer, row.cloud_event_id, row.data_version,
                     row.name, row.timestamp, row.duration_ns, row.metadata, tags);
}

Decoder makeDecoder(Compat compat, const Clock& clock) {
    Options options;
    options.compat = compat;
    options.chain_id = 137;
    options.vehicle_address_hex = "a1b2c3d4e5f60718293a4b5c6d7e8f9012345678";
    options.clock = &clock;
    return Decoder(options);
}

// Blocks of payloads decoded so far; rows point into them.
static std::vector<std::unique_ptr<char[]>>& payloadBlocks() {
    static std::vector<std::unique_ptr<char[]>> blocks;
    return blocks;
}

Outcome decodeInto(const Decoder& decoder, const RawEvent& event, Scratch& scratch, Batch& batch, std::string* why) {
    auto& block = payloadBlocks().emplace_back(new char[event.payload.size() + simdjson::SIMDJSON_PADDING]());
    std::memcpy(block.get(), event.payload.data(), event.payload.size());
    Input input{
        event.subject,    event.source,       event.producer, event.id,
        event.type,       event.data_version, event.time,     std::string_view(block.get(), event.payload.size()),
        event.base64_text};
    return decoder.decode(input, scratch, batch, why);
}

Rows decodeRows(const RawEvent& event, Compat compat, Micros now) {
    ManualClock clock(now);
    Decoder decoder = makeDecoder(compat, clock);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    Rows rows;
    rows.outcome = outcomeName(decodeInto(decoder, event, *scratch, batch));
    rows.failed = batch.failed;
    for (const SignalRow& row : batch.signals) rows.signals.push_back(describe(row));
    for (const EventRow& row : batch.events) rows.events.push_back(describe(row, batch));
    payloadBlocks().clear();
    return rows;
}

std::vector<std::string> brief(const RawEvent& event, Compat compat, Micros now) {
    ManualClock clock(now);
    Decoder decoder = makeDecoder(compat, clock);
    ScratchPtr scratch = makeScratch();
    Batch batch;
    decodeInto(decoder, event, *scratch, batch);
    std::vector<std::string> out;
    for (const SignalRow& row : batch.signals) {
        std::string line(row.name);
        if (row.name == "currentLocationCoordinates") {
            line += fmt::format("@{},{},{}", row.loc_lat, row.loc_lon, row.loc_hdop);
        } else if (!row.value_string.empty()) {
            line += fmt::format("='{}'", row.value_string);
        } else {
            line += fmt::format("={}", row.value_number);
        }
        out.push_back(line + " " + formatRfc3339(row.timestamp));
    }
    for (const EventRow& row : batch.events) out.push_back(fmt::format("{} {}", row.name, row.metadata));
    out.push_back("failed " + std::to_string(batch.failed));
    payloadBlocks().clear();
    return out;
}

std::vector<Vector> readVectors() {
    std::string text = gunzip(std::string(DQ_SOURCE_DIR) + "/data/vectors/decode.jsonl.gz");
    std::vector<Vector> vectors;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = std::min(text.find('\n', at), text.size());
        if (end > at) vectors.push_back(parseVector(text.substr(at, end - at)));
        at = end + 1;
    }
    return vectors;
}

Rows runVector(const Vector& vector, Compat compat) {
    auto event = cloudevent::parse(vector.cloud_event);
    if (!event.ok()) return Rows{{}, {}, 0, "cloudevent"};
    cloudevent::Row row = cloudevent::toRow(*event);
    RawEvent raw;
    raw.type = row.type;
    raw.source = row.source;
    raw.subject = row.subject;
    raw.id = row.id;
    raw.producer = row.producer;
    raw.data_version = row.data_version;
    raw.time = row.time;
    raw.base64_text = row.data_base64.has_value();
    raw.payload = row.data_base64 ? *row.data_base64 : row.data.value_or("");
    if (vector.payload) {
        raw.payload = *vector.payload;
        raw.base64_text = false;
    }
    return decodeRows(raw, compat);
}

}  // namespace dq::decode
