#include <algorithm>
#include <string>

#include "core/status.h"
#include "decode/float_text.h"
#include "decode/ops.h"
#include "embedded/enums_csv.h"
#include "vss/csv.h"

namespace dq::decode {
namespace {

using Op = Step::Op;

struct OpName {
    std::string_view name;
    Op op;
};
constexpr OpName kOps[] = {
    {"id", Op::kId},
    {"bool", Op::kBool},
    {"mul", Op::kMultiply},
    {"div", Op::kDivide},
    {"poszero", Op::kPositiveZero},
    {"nz", Op::kNonZero},
    {"nf", Op::kNotFoundIf},
    {"range", Op::kRange},
    {"oid", Op::kOid},
    {"nz_if_ign_off", Op::kNonZeroIfIgnitionOff},
    {"nf_if_unplugged", Op::kNotFoundIfUnplugged},
    {"bit", Op::kBit},
    {"map", Op::kMap},
    {"emap", Op::kEnumMap},
    {"smap", Op::kTextMap},
    {"enum", Op::kMap},
    {"steps", Op::kSteps},
    {"gear", Op::kGear},
    {"gear_ratio", Op::kGearRatio},
    {"gt_div_round", Op::kDivideAbove},
    {"split_json", Op::kSplit},
    {"dtc_codes", Op::kDtcCodes},
    {"location", Op::kLocation},
    {"door", Op::kDoor},
    {"panic", Op::kPanic},
};

double numberOf(std::string_view text) {
    auto number = parseFloatText(text);
    DQ_CHECK(number.has_value(), "a vendor table has a malformed number");
    return *number;
}

// Parts of `text` at each separator.
std::vector<std::string_view> splitAt(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

const vss::CsvTable& enumTable() {
    static const vss::CsvTable* const table = new vss::CsvTable(embedded::enums_csv);
    return *table;
}

void addEnum(Step& step, std::string_view name) {
    const vss::CsvTable& table = enumTable();
    for (const auto& row : table.rows()) {
        if (row[table.column("enum")] != name) continue;
        Step::Case entry;
        entry.key = numberOf(row[table.column("code")]);
        entry.text = row[table.column("text")];
        step.cases.push_back(entry);
    }
    DQ_CHECK(!step.cases.empty(), "a vendor table names an unknown enum");
    step.gives_text = true;
}

void addCases(Step& step, std::string_view arguments, bool text_result) {
    step.gives_text = text_result;
    for (std::string_view argument : splitAt(arguments, ';')) {
        std::size_t colon = argument.find(':');
        DQ_CHECK(colon != std::string_view::npos, "a vendor table has a case without result");
        std::string_view key = argument.substr(0, colon), result = argument.substr(colon + 1);
        Step::Case entry;
        entry.error = step.op == Op::kEnumMap && result == "ERR";
        entry.text = result;
        if (!text_result && !entry.error) entry.number = numberOf(result);
        if (key == "*") {
            step.fallback = entry;
            continue;
        }
        entry.text_key = key;
        if (step.op != Op::kTextMap) entry.key = numberOf(key);
        step.cases.push_back(entry);
    }
}

Step parseStep(std::string_view text, vss::ValueType type) {
    std::size_t open = text.find('(');
    std::string_view name = text.substr(0, open);
    std::string_view arguments;
    if (open != std::string_view::npos) {
        DQ_CHECK(text.back() == ')', "a vendor table has an open bracket");
        arguments = text.substr(open + 1, text.size() - open - 2);
    }
    auto known =
        std::find_if(std::begin(kOps), std::end(kOps), [&](const OpName& entry) { return entry.name == name; });
    DQ_CHECK(known != std::end(kOps), "a vendor table has an unknown step");
    Step step;
    step.op = known->op;
    const bool text_signal = type == vss::ValueType::kString;
    switch (step.op) {
        case Op::kMultiply:
        case Op::kDivide:
        case Op::kNotFoundIf:
        case Op::kBit: step.a = numberOf(arguments); break;
        case Op::kRange:
        case Op::kDivideAbove: {
            auto parts = splitAt(arguments, ';');
            DQ_CHECK(parts.size() == 2, "a vendor table has a step without its two numbers");
            step.a = numberOf(parts[0]);
            step.b = numberOf(parts[1]);
            break;
        }
        case Op::kOid: step.oid = &oidOf(static_cast<std::uint32_t>(numberOf(arguments))); break;
        case Op::kMap:
            if (name == "enum") {
                addEnum(step, arguments);
            } else {
                addCases(step, arguments, text_signal);
            }
            break;
        case Op::kEnumMap:
        case Op::kTextMap:
        case Op::kSteps: addCases(step, arguments, text_signal); break;
        case Op::kSplit: DQ_CHECK(arguments.size() == 1, "split_json wants one character"); [[fallthrough]];
        case Op::kLocation:
        case Op::kDoor: step.text = arguments; break;
        default: break;
    }
    return step;
}

}  // namespace

Pipeline parsePipeline(std::string_view text, vss::ValueType type) {
    Pipeline pipeline;
    for (std::string_view step : splitAt(text, '|')) pipeline.push_back(parseStep(step, type));
    return pipeline;
}

}  // namespace dq::decode
