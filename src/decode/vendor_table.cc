#include "decode/vendor_table.h"

#include <algorithm>
#include <charconv>

#include "cloudevent/utf8.h"
#include "core/status.h"

namespace dq::decode {

using cloudevent::JsonKind;

namespace {

vss::ValueType typeOf(std::string_view text) {
    if (text == "float") return vss::ValueType::kFloat;
    if (text == "string") return vss::ValueType::kString;
    DQ_CHECK(text == "location", "a vendor table has an unknown value_type");
    return vss::ValueType::kLocation;
}

std::string_view validText(std::string_view text, Arena& arena) {
    if (cloudevent::isValidUtf8(text)) return text;
    std::size_t size = cloudevent::repairedSize(text);
    char* out = arena.allocate(size);
    cloudevent::repairTo(text, out);
    return std::string_view(out, size);
}

}  // namespace

VendorTable::VendorTable(std::string_view csv, std::string_view key) : csv_(csv) {
    for (const auto& fields : csv_.rows()) {
        VendorRow row;
        row.source = &fields;
        row.key = fields[csv_.column(key)];
        row.signal = fields[csv_.column("signal")];
        row.role = roleOf(row.signal);
        row.type = typeOf(fields[csv_.column("value_type")]);
        if (csv.substr(0, csv.find('\n')).find("json_type") != std::string_view::npos) {
            row.json_type = fields[csv_.column("json_type")];
            std::string_view attempt = fields[csv_.column("attempt")];
            std::from_chars(attempt.data(), attempt.data() + attempt.size(), row.attempt);
        }
        row.pipeline = parsePipeline(fields[csv_.column("op")], row.type);
        rows_.push_back(std::move(row));
    }
}

bool hasType(const LooseValue& value, const VendorRow& row) {
    switch (value.kind) {
        case JsonKind::kNumber: return row.json_type == "number";
        case JsonKind::kString: return row.json_type == "string";
        case JsonKind::kTrue:
        case JsonKind::kFalse: return row.json_type == "bool";
        case JsonKind::kArray: return row.json_type == "array";
        default: return false;
    }
}

Verdict runRow(const VendorRow& row, const LooseValue& value, const OpContext& context, RawSignal& out) {
    OpValue current;
    current.is_text = value.kind == JsonKind::kString;
    if (current.is_text) {
        current.text = looseText(value, context.arena);
    } else {
        current.number = value.kind == JsonKind::kNumber ? value.number : value.kind == JsonKind::kTrue ? 1 : 0;
    }
    Verdict verdict = runPipeline(row.pipeline, context, current);
    if (verdict != Verdict::kValue) return verdict;
    out.name = row.signal;
    out.role = row.role;
    if (row.type == vss::ValueType::kString) {
        out.text = validText(current.text, context.arena);
    } else {
        out.number = current.number;
    }
    return Verdict::kValue;
}

}  // namespace dq::decode
