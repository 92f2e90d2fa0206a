#include "decode/tesla_telemetry.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "cloudevent/base64.h"
#include "core/status.h"
#include "decode/float_text.h"
#include "decode/scratch.h"
#include "decode/strict_json.h"
#include "decode/tesla_wire.h"
#include "decode/vendor_table.h"
#include "embedded/tesla_telemetry_csv.h"

namespace dq::decode {
namespace {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

constexpr std::uint32_t kTextField = 1, kFloatField = 4, kDoubleField = 5, kInvalidField = 10;  // of message Value
constexpr std::string_view kDoors[] = {"DriverFront",   "DriverRear", "PassengerFront",
                                       "PassengerRear", "TrunkFront", "TrunkRear"};

// Rows of one telemetry field, with the members of the oneof that it accepts.
struct FieldRows {
    std::int32_t key = 0;
    std::vector<std::uint32_t> accepted;
    std::string_view parser;
    std::vector<const VendorRow*> rows;
};

// Reads `payloads`; arrays of an earlier occurrence are decoded over, as everywhere in the strict reader.
class MessagesReader {
  public:
    MessagesReader(const Work& work, std::vector<std::string>& messages)
        : arena_(work.arena), messages_(messages), scan_(work.payload) {}

    bool read() {
        return readStrictPayload(scan_, "payloads", count_,
                                 [&](std::size_t i, bool fresh) { return message(i, fresh); });
    }
    std::size_t count() const { return count_; }

  private:
    bool message(std::size_t index, bool fresh) {
        if (index == messages_.size()) messages_.emplace_back();
        std::string& bytes = messages_[index];
        if (fresh) bytes.clear();
        if (scan_.kind() == JsonKind::kArray) return byteArray(bytes);
        if (scan_.kind() == JsonKind::kNull) {
            bytes.clear();
            return scan_.readLiteral();
        }
        JsonString text;
        if (scan_.kind() != JsonKind::kString || !scan_.readString(text)) return false;
        std::string_view base64 = strictText(text, arena_);
        bytes.resize(cloudevent::base64Bound(base64.size()));
        std::size_t size = 0;
        if (!cloudevent::decodeBase64(base64, bytes.data(), size)) return false;
        bytes.resize(size);
        return true;
    }

    bool byteArray(std::string& bytes) {
        std::size_t count = bytes.size(), known = bytes.size();
        bool good = readStrictArray(scan_, count, known, [&](std::size_t i, bool fresh) {
            if (fresh) bytes.push_back('\0');
            std::uint64_t value = static_cast<unsigned char>(bytes[i]);
            if (!readStrictUint64(scan_, value) || value > 255) return false;
            bytes[i] = static_cast<char>(value);
            return true;
        });
        bytes.resize(count);
        return good;
    }

    Arena& arena_;
    std::vector<std::string>& messages_;
    JsonScanner scan_;
    std::size_t count_ = 0;
};

std::optional<std::int32_t> parseInt32(std::string_view text) {
    if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
    std::int32_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

double windowState(std::string_view text) {
    return text == "Closed" ? 1 : text == "PartiallyOpen" ? 2 : text == "Opened" ? 3 : 0;
}

// Number and doors of a string value; false when the parser refuses it.
bool parseText(std::string_view parser, TelemetryValue& value, double& number) {
    if (parser == "double") {
        auto parsed = parseFloatText(value.text);
        number = parsed.value_or(0);
        return parsed.has_value();
    }
    if (parser == "int32") {
        auto parsed = parseInt32(value.text);
        number = parsed.value_or(0);
        return parsed.has_value();
    }
    if (parser == "windowstate") {
        number = windowState(value.text);
        return true;
    }
    value.doors = {};
    for (std::string_view left = value.text;;) {
        std::size_t end = left.find('|');
        for (std::size_t i = 0; i < value.doors.size(); ++i)
            value.doors[i] = value.doors[i] || left.substr(0, end) == kDoors[i];
        if (end == std::string_view::npos) return true;
        left.remove_prefix(end + 1);
    }
}

double numberOf(const TelemetryValue& value) {
    if (value.field == kFloatField || value.field == kDoubleField) return value.real;
    return static_cast<double>(static_cast<std::int32_t>(value.integer));
}

std::size_t doorOf(std::string_view name) {
    auto door = std::find(std::begin(kDoors), std::end(kDoors), name);
    DQ_CHECK(door != std::end(kDoors), "tesla_telemetry.csv names an unknown door");
    return static_cast<std::size_t>(door - std::begin(kDoors));
}

class TelemetryTable {
  public:
    TelemetryTable() : table_(embedded::tesla_telemetry_csv, "field") {
        for (const VendorRow& row : table_.rows()) {
            std::string_view number = table_.field(row, "field_number");
            std::int32_t key = parseInt32(number).value_or(-1);
            FieldRows* rows = find(key);
            if (rows == nullptr) {
                rows = &fields_.emplace_back();
                rows->key = key;
                rows->parser = table_.field(row, "string_parser");
                addAccepted(*rows, table_.field(row, "accepted_value_fields"));
            }
            rows->rows.push_back(&row);
        }
    }

    FieldRows* find(std::int32_t key) {
        auto found =
            std::find_if(fields_.begin(), fields_.end(), [&](const FieldRows& rows) { return rows.key == key; });
        return found == fields_.end() ? nullptr : &*found;
    }
    const FieldRows* find(std::int32_t key) const { return const_cast<TelemetryTable*>(this)->find(key); }

  private:
    static void addAccepted(FieldRows& rows, std::string_view text) {
        while (!text.empty()) {
            std::size_t end = std::min(text.find(';'), text.size());
            std::string_view member = text.substr(0, end);
            rows.accepted.push_back(
                static_cast<std::uint32_t>(parseInt32(member.substr(member.find('#') + 1)).value_or(0)));
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        DQ_CHECK(!rows.accepted.empty() && rows.accepted[0] != 0,
                 "tesla_telemetry.csv has a field that accepts nothing");
    }

    VendorTable table_;
    std::vector<FieldRows> fields_;
};

const TelemetryTable& telemetryTable() {
    static const TelemetryTable* const table = new TelemetryTable;
    return *table;
}

// nullopt before year 1; far times become the latest instant there is.
std::optional<Instant> instantOfTime(const TelemetryTime& time) {
    std::int64_t carry = floorDiv(time.nanos, 1'000'000'000);
    std::int64_t nanos = time.nanos - carry * 1'000'000'000;
    if (time.seconds > std::numeric_limits<Micros>::max() / kMicrosPerSecond - 4)
        return Instant{std::numeric_limits<Micros>::max(), 0};
    if (time.seconds < kZeroTime / kMicrosPerSecond - 4) return std::nullopt;
    Instant instant{(time.seconds + carry) * kMicrosPerSecond + nanos / 1000, static_cast<std::int32_t>(nanos % 1000)};
    if (instant.micros < kZeroTime) return std::nullopt;
    return instant;
}

class MessageDecoder {
  public:
    MessageDecoder(const Work& work, std::vector<RawSignal>& out) : work_(work), out_(out) {}

    // False when the reference would crash and lose the event.
    bool decode(std::string_view bytes, std::size_t item) {
        std::optional<TelemetryTime> created_at;
        if (!readTelemetry(bytes, work_.scratch.data, created_at)) {
            work_.errors.add("the message is not telemetry", item);
            return true;
        }
        auto time = created_at ? instantOfTime(*created_at) : Instant{0, 0};
        if (!time) {
            work_.errors.add("the message is of a time before year 1", item);
            return true;
        }
        for (TelemetryDatum& datum : work_.scratch.data) {
            const FieldRows* rows = telemetryTable().find(datum.key);
            if (rows == nullptr) continue;
            std::string_view error = datum.has_value ? convert(*rows, datum.value, *time) : "a value is absent";
            if (!error.empty()) work_.errors.add(error, item);
            if (!datum.has_value && !work_.repair) return false;
        }
        return true;
    }

  private:
    std::string_view convert(const FieldRows& rows, TelemetryValue& value, const Instant& time) {
        if (value.field == 0) return "a value is empty";
        if (value.field == kInvalidField) return {};
        if (std::find(rows.accepted.begin(), rows.accepted.end(), value.field) == rows.accepted.end())
            return "a value has another type";
        double number = 0;
        if (value.field == kTextField) {
            if (!parseText(rows.parser, value, number)) return "a text cannot be converted";
        } else {
            number = numberOf(value);
        }
        std::string_view error;
        for (const VendorRow* row : rows.rows) {
            RawSignal signal;
            signal.name = row->signal;
            signal.time = time;
            const Step& first = row->pipeline.front();
            if (first.op == Step::Op::kLocation) {
                signal.latitude = value.latitude;
                signal.longitude = value.longitude;
            } else if (first.op == Step::Op::kDoor) {
                signal.number = value.doors[doorOf(first.text)] ? 1 : 0;
            } else {
                OpValue current{number, {}, false};
                Verdict verdict = runPipeline(row->pipeline, OpContext{work_.arena}, current);
                if (verdict == Verdict::kError) error = "a value cannot be converted";
                if (verdict != Verdict::kValue) continue;
                signal.number = current.number;
            }
            out_.push_back(signal);
        }
        return error;
    }

    const Work& work_;
    std::vector<RawSignal>& out_;
};

}  // namespace

Outcome readTeslaTelemetry(const Work& work, std::vector<RawSignal>& out) {
    std::vector<std::string>& messages = work.scratch.payloads;
    MessagesReader reader(work, messages);
    if (!reader.read()) {
        work.errors.add("the payload is not a telemetry document");
        return Outcome::kPayload;
    }
    MessageDecoder decoder(work, out);
    for (std::size_t i = 0; i < reader.count(); ++i) {
        if (!decoder.decode(messages[i], i)) return Outcome::kPanic;
    }
    return work.errors.count() == 0 ? Outcome::kNone : Outcome::kPartial;
}

}  // namespace dq::decode
