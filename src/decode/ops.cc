#include "decode/ops.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/status.h"
#include "decode/float_text.h"
#include "decode/json_array_text.h"
#include "embedded/ruptela_oids_csv.h"
#include "vss/csv.h"

namespace dq::decode {
namespace {

using Op = Step::Op;

// Integer part of a value, for look-ups; values beyond 64 bits are no key of any table.
std::optional<std::int64_t> integerOf(double value) {
    if (!(std::fabs(value) < 9.2e18)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

Verdict choose(const Step& step, const Step::Case* found, OpValue& value) {
    if (found == nullptr && step.fallback) found = &*step.fallback;
    if (found == nullptr) return Verdict::kNotFound;
    if (found->error) return Verdict::kError;
    value.is_text = step.gives_text;
    value.text = found->text;
    value.number = found->number;
    return Verdict::kValue;
}

Verdict lookUpNumber(const Step& step, OpValue& value) {
    auto key = integerOf(value.number);
    const Step::Case* found = nullptr;
    for (const Step::Case& entry : step.cases) {
        if (key && entry.key == static_cast<double>(*key)) found = &entry;
        if (found != nullptr) break;
    }
    return choose(step, found, value);
}

Verdict lookUpText(const Step& step, OpValue& value) {
    auto found = std::find_if(step.cases.begin(), step.cases.end(),
                              [&](const Step::Case& entry) { return entry.text_key == value.text; });
    return choose(step, found == step.cases.end() ? nullptr : &*found, value);
}

Verdict lookUpStep(const Step& step, OpValue& value) {
    auto found = std::find_if(step.cases.begin(), step.cases.end(),
                              [&](const Step::Case& entry) { return value.number < entry.key; });
    return choose(step, found == step.cases.end() ? nullptr : &*found, value);
}

Verdict readBit(const Step& step, OpValue& value) {
    auto bits = integerOf(value.number);
    if (!bits || *bits < 0 || *bits >= 255) return Verdict::kNotFound;
    value.number = static_cast<double>(*bits >> static_cast<int>(step.a) & 1);
    return Verdict::kValue;
}

Verdict readGear(const Step& step, OpValue& value) {
    auto whole = integerOf(value.number);
    if (!whole) return Verdict::kNotFound;
    auto bits = static_cast<std::uint32_t>(*whole);
    if ((bits >> 24 & 1) == 0 || (bits >> 16 & 15) != 0) return Verdict::kNotFound;
    value.number =
        step.op == Op::kGear ? static_cast<double>(bits >> 20 & 15) : static_cast<double>(bits & 0xFFFF) / 1000;
    return Verdict::kValue;
}

Verdict split(const Step& step, const OpContext& context, OpValue& value) {
    std::string_view left = value.text;
    auto items = static_cast<std::size_t>(std::count(left.begin(), left.end(), step.text[0])) + 1;
    JsonArrayText array(context.arena, left.size(), items);
    for (;;) {
        std::size_t end = left.find(step.text[0]);
        array.add(left.substr(0, end));
        if (end == std::string_view::npos) break;
        left.remove_prefix(end + 1);
    }
    value.text = array.finish();
    return Verdict::kValue;
}

Verdict when(bool found) { return found ? Verdict::kValue : Verdict::kNotFound; }

Verdict runStep(const Step& step, const OpContext& context, OpValue& value) {
    switch (step.op) {
        case Op::kId:
        case Op::kBool: return Verdict::kValue;  // the caller has made true 1 and false 0
        case Op::kMultiply: value.number *= step.a; return Verdict::kValue;
        case Op::kDivide: value.number /= step.a; return Verdict::kValue;
        case Op::kPositiveZero: value.number += 0.0; return Verdict::kValue;
        case Op::kNonZero: return when(value.number != 0);
        case Op::kNotFoundIf: return when(value.number != step.a);
        case Op::kRange: return when(!(value.number < step.a || value.number > step.b));
        case Op::kOid: value.is_text = false; return readOid(*step.oid, value.text, value.number);
        case Op::kNonZeroIfIgnitionOff: return when(!context.ignition_off || value.number != 0);
        case Op::kNotFoundIfUnplugged: return when(!context.unplugged);
        case Op::kBit: return readBit(step, value);
        case Op::kMap:
        case Op::kEnumMap: return lookUpNumber(step, value);
        case Op::kTextMap: return lookUpText(step, value);
        case Op::kSteps: return lookUpStep(step, value);
        case Op::kGear:
        case Op::kGearRatio: return readGear(step, value);
        case Op::kDivideAbove:
            if (value.number > step.a) value.number = std::round(value.number / step.b);
            return Verdict::kValue;
        case Op::kSplit: return split(step, context, value);
        case Op::kPanic: return Verdict::kPanic;
        case Op::kDtcCodes:
        case Op::kLocation:
        case Op::kDoor: break;
    }
    return Verdict::kError;
}

std::vector<std::uint64_t> integersOf(std::string_view text, std::string_view separator) {
    std::vector<std::uint64_t> numbers;
    while (!text.empty()) {
        std::uint64_t number = 0;
        auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        DQ_CHECK(error == std::errc(), "ruptela_oids.csv has a malformed integer");
        numbers.push_back(number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (text.empty()) break;
        DQ_CHECK(text.starts_with(separator), "ruptela_oids.csv has a malformed list");
        text.remove_prefix(separator.size());
    }
    return numbers;
}

std::optional<std::int64_t> boundOf(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::int64_t number = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    DQ_CHECK(error == std::errc() && end == text.data() + text.size(), "ruptela_oids.csv has a malformed bound");
    return number;
}

double factorOf(std::string_view text) {
    auto number = parseFloatText(text);
    DQ_CHECK(number.has_value(), "ruptela_oids.csv has a malformed number");
    return *number;
}

std::vector<Oid> loadOids() {
    vss::CsvTable table(embedded::ruptela_oids_csv);
    std::vector<Oid> oids;
    for (const auto& row : table.rows()) {
        auto field = [&](std::string_view name) { return row[table.column(name)]; };
        Oid oid;
        oid.number = static_cast<std::uint32_t>(integersOf(field("oid"), "").at(0));
        oid.is_signed = field("sign") == "signed";
        if (auto sentinel = integersOf(field("sentinel"), ""); !sentinel.empty()) oid.sentinel = sentinel[0];
        oid.error_values = integersOf(field("error_values"), ";");
        if (auto range = integersOf(field("error_range"), ".."); range.size() == 2)
            oid.error_range.emplace(range[0], range[1]);
        oid.minimum = boundOf(field("raw_min"));
        oid.maximum = boundOf(field("raw_max"));
        oid.multiplier = factorOf(field("multiplier"));
        oid.offset = factorOf(field("offset"));
        oids.push_back(std::move(oid));
    }
    return oids;
}

Verdict readSigned(const Oid& oid, std::string_view text, double& out) {
    bool negative = !text.empty() && text[0] == '-';
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
    auto magnitude = parseHex(text);
    constexpr std::uint64_t kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!magnitude || *magnitude > kMost + (negative ? 1 : 0)) return Verdict::kError;
    auto raw = static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
    if ((oid.minimum && raw < *oid.minimum) || (oid.maximum && raw > *oid.maximum)) return Verdict::kNotFound;
    out = static_cast<double>(raw) * oid.multiplier + oid.offset;
    return Verdict::kValue;
}

}  // namespace

std::optional<std::uint64_t> parseHex(std::string_view text) {
    std::uint64_t value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Verdict readOid(const Oid& oid, std::string_view text, double& out) {
    if (oid.is_signed) return readSigned(oid, text, out);
    auto raw = parseHex(text);
    if (!raw) return Verdict::kError;
    bool refused = oid.sentinel == raw ||
                   std::find(oid.error_values.begin(), oid.error_values.end(), *raw) != oid.error_values.end();
    if (oid.error_range && *raw >= oid.error_range->first && *raw <= oid.error_range->second) refused = true;
    if (oid.minimum && *oid.minimum > 0 && *raw < static_cast<std::uint64_t>(*oid.minimum)) refused = true;
    if (oid.maximum && *raw > static_cast<std::uint64_t>(*oid.maximum)) refused = true;
    if (refused) return Verdict::kNotFound;
    out = static_cast<double>(*raw) * oid.multiplier + oid.offset;
    return Verdict::kValue;
}

const Oid& oidOf(std::uint32_t number) {
    static const std::vector<Oid>* const oids = new std::vector<Oid>(loadOids());
    auto found = std::find_if(oids->begin(), oids->end(), [&](const Oid& oid) { return oid.number == number; });
    DQ_CHECK(found != oids->end(), "a vendor table names an OID that ruptela_oids.csv lacks");
    return *found;
}

Verdict runPipeline(const Pipeline& pipeline, const OpContext& context, OpValue& value) {
    for (const Step& step : pipeline) {
        Verdict verdict = runStep(step, context, value);
        if (verdict != Verdict::kValue) return verdict;
    }
    return Verdict::kValue;
}

}  // namespace dq::decode
