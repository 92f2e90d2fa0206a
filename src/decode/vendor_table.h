// Rows of a vendor table: one source value to one signal.
#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "decode/loose_json.h"
#include "decode/module.h"
#include "decode/ops.h"
#include "vss/csv.h"
#include "vss/signals.h"

namespace dq::decode {

struct VendorRow {
    std::string_view key;  // member name, path or field, by the table's kind
    std::string_view signal;
    Role role = Role::kNone;
    vss::ValueType type = vss::ValueType::kFloat;
    std::string_view json_type;  // number, string, bool, array; empty for tables without one
    int attempt = 1;
    Pipeline pipeline;
    const vss::CsvTable::Row* source = nullptr;
};

// Loads an embedded table once; rows stay in file order. Lives as long as the process.
class VendorTable {
  public:
    // `key` names the column that becomes VendorRow::key.
    VendorTable(std::string_view csv, std::string_view key);
    const std::vector<VendorRow>& rows() const { return rows_; }
    std::string_view field(const VendorRow& row, std::string_view column) const {
        return (*row.source)[csv_.column(column)];
    }

  private:
    vss::CsvTable csv_;
    std::vector<VendorRow> rows_;
};

// Does the value have the one JSON type that the row accepts?
bool hasType(const LooseValue& value, const VendorRow& row);
// Runs a row on a value of its type. On kValue the signal's number or text is set, text being valid UTF-8.
Verdict runRow(const VendorRow& row, const LooseValue& value, const OpContext& context, RawSignal& out);

}  // namespace dq::decode
