#include "decode/tesla_wire.h"

#include <bit>
#include <cstring>
#include <string>

#include "cloudevent/utf8.h"
#include "core/status.h"
#include "embedded/tesla_telemetry_wire_csv.h"
#include "vss/csv.h"

namespace dq::decode {
namespace {

constexpr std::uint64_t kMaxField = (1u << 29) - 1;
constexpr int kMaxGroupDepth = 10'000;
enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndGroup = 4, kFixed32 = 5 };

struct Field {
    std::uint32_t number = 0, type = 0;
    std::uint64_t integer = 0;  // varint and fixed values
    std::string_view bytes;
};

class WireReader {
  public:
    explicit WireReader(std::string_view bytes) : left_(bytes) {}

    // False at the end and on damage; damaged() tells which.
    bool next(Field& field) {
        if (left_.empty() || damaged_) return false;
        damaged_ = !readTag(field) || !readValue(field);
        return !damaged_;
    }
    bool damaged() const { return damaged_; }

  private:
    bool readVarint(std::uint64_t& out) {
        out = 0;
        for (std::size_t i = 0; i < left_.size() && i < 10; ++i) {
            std::uint64_t byte = static_cast<unsigned char>(left_[i]);
            if (i == 9 && byte > 1) return false;
            out |= (byte & 0x7F) << (7 * i);
            if (byte < 0x80) {
                left_.remove_prefix(i + 1);
                return true;
            }
        }
        return false;
    }
    bool readTag(Field& field) {
        std::uint64_t tag = 0;
        if (!readVarint(tag) || tag >> 3 == 0 || tag >> 3 > kMaxField) return false;
        field.number = static_cast<std::uint32_t>(tag >> 3);
        field.type = static_cast<std::uint32_t>(tag & 7);
        return true;
    }
    bool readFixed(std::size_t size, std::uint64_t& out) {
        if (left_.size() < size) return false;
        out = 0;
        for (std::size_t i = 0; i < size; ++i)
            out |= static_cast<std::uint64_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
        left_.remove_prefix(size);
        return true;
    }
    bool readBytes(std::string_view& out) {
        std::uint64_t size = 0;
        if (!readVarint(size) || size > left_.size()) return false;
        out = left_.substr(0, static_cast<std::size_t>(size));
        left_.remove_prefix(static_cast<std::size_t>(size));
        return true;
    }
    bool readValue(Field& field) {
        switch (field.type) {
            case kVarint: return readVarint(field.integer);
            case kFixed64: return readFixed(8, field.integer);
            case kBytes: return readBytes(field.bytes);
            case kGroup: return skipGroup(field.number);
            case kFixed32: return readFixed(4, field.integer);
            default: return false;
        }
    }
    // Groups are in no message here; they are skipped with all they hold, each closed by its own number.
    bool skipGroup(std::uint32_t number) {
        if (depth_ == kMaxGroupDepth) return false;
        ++depth_;
        open_.push_back(number);
        const std::size_t outside = open_.size() - 1;
        while (open_.size() > outside) {
            Field inner;
            if (!readTag(inner)) return false;
            if (inner.type == kEndGroup) {
                if (open_.back() != inner.number) return false;
                open_.pop_back();
                --depth_;
            } else if (inner.type == kGroup) {
                if (depth_ == kMaxGroupDepth) return false;
                ++depth_;
                open_.push_back(inner.number);
            } else if (!readValue(inner)) {
                return false;
            }
        }
        return true;
    }

    std::string_view left_;
    bool damaged_ = false;
    int depth_ = 0;
    std::vector<std::uint32_t> open_;
};

enum class Kind : std::uint8_t { kUnknown, kText, kInteger, kFloat, kDouble, kLocation, kDoors, kOther };

// Type of each member of the oneof by field number.
class ValueSchema {
  public:
    ValueSchema() {
        vss::CsvTable table(embedded::tesla_telemetry_wire_csv);
        for (const auto& row : table.rows()) {
            if (row[table.column("message")] != "Value") continue;
            std::size_t number = std::stoul(std::string(row[table.column("number")]));
            DQ_CHECK(number < kinds_.size(), "tesla_telemetry_wire.csv has a field number beyond the table");
            kinds_[number] = kindOf(row[table.column("type")]);
        }
    }
    Kind kindOf(std::uint32_t number) const { return number < kinds_.size() ? kinds_[number] : Kind::kUnknown; }

  private:
    static Kind kindOf(std::string_view type) {
        if (type == "string") return Kind::kText;
        if (type == "float") return Kind::kFloat;
        if (type == "double") return Kind::kDouble;
        if (type == "message:LocationValue") return Kind::kLocation;
        if (type == "message:Doors") return Kind::kDoors;
        return type.starts_with("message:") ? Kind::kOther : Kind::kInteger;
    }
    std::array<Kind, 64> kinds_{};
};

std::uint32_t wireTypeOf(Kind kind) {
    switch (kind) {
        case Kind::kInteger: return kVarint;
        case Kind::kFloat: return kFixed32;
        case Kind::kDouble: return kFixed64;
        default: return kBytes;
    }
}

bool readLocation(std::string_view bytes, TelemetryValue& value) {
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        if (field.type != kFixed64 || field.number > 2) continue;
        (field.number == 1 ? value.latitude : value.longitude) = std::bit_cast<double>(field.integer);
    }
    return !reader.damaged();
}

bool readDoors(std::string_view bytes, TelemetryValue& value) {
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        if (field.type == kVarint && field.number <= value.doors.size())
            value.doors[field.number - 1] = field.integer != 0;
    }
    return !reader.damaged();
}

bool isWellFormed(std::string_view bytes) {
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {}
    return !reader.damaged();
}

bool readValue(std::string_view bytes, TelemetryValue& value) {
    static const ValueSchema* const schema = new ValueSchema;
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        Kind kind = schema->kindOf(field.number);
        if (kind == Kind::kUnknown || field.type != wireTypeOf(kind)) continue;
        if (value.field != field.number) value = TelemetryValue{};
        value.field = field.number;
        bool good = true;
        switch (kind) {
            case Kind::kText:
                value.text = field.bytes;
                good = cloudevent::isValidUtf8(field.bytes);
                break;
            case Kind::kInteger: value.integer = field.integer; break;
            case Kind::kFloat: value.real = std::bit_cast<float>(static_cast<std::uint32_t>(field.integer)); break;
            case Kind::kDouble: value.real = std::bit_cast<double>(field.integer); break;
            case Kind::kLocation: good = readLocation(field.bytes, value); break;
            case Kind::kDoors: good = readDoors(field.bytes, value); break;
            default: good = isWellFormed(field.bytes); break;
        }
        if (!good) return false;
    }
    return !reader.damaged();
}

bool readDatum(std::string_view bytes, TelemetryDatum& datum) {
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        if (field.number == 1 && field.type == kVarint) datum.key = static_cast<std::int32_t>(field.integer);
        if (field.number != 2 || field.type != kBytes) continue;
        datum.has_value = true;
        if (!readValue(field.bytes, datum.value)) return false;
    }
    return !reader.damaged();
}

bool readTime(std::string_view bytes, TelemetryTime& time) {
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        if (field.type != kVarint) continue;
        if (field.number == 1) time.seconds = static_cast<std::int64_t>(field.integer);
        if (field.number == 2) time.nanos = static_cast<std::int32_t>(field.integer);
    }
    return !reader.damaged();
}

}  // namespace

bool readTelemetry(std::string_view bytes, std::vector<TelemetryDatum>& data,
                   std::optional<TelemetryTime>& created_at) {
    data.clear();
    created_at.reset();
    WireReader reader(bytes);
    for (Field field; reader.next(field);) {
        if (field.type != kBytes) continue;
        bool good = true;
        if (field.number == 1) {
            good = readDatum(field.bytes, data.emplace_back());
        } else if (field.number == 2) {
            if (!created_at) created_at.emplace();
            good = readTime(field.bytes, *created_at);
        } else if (field.number == 3) {
            good = cloudevent::isValidUtf8(field.bytes);
        }
        if (!good) return false;
    }
    return !reader.damaged();
}

}  // namespace dq::decode
