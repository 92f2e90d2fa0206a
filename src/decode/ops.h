// Pipelines of the vendor tables (decode.md §8.1): "oid(960)|mul(6.89476)|nz" parsed once, run per value.
//
// All arithmetic is IEEE double with one rounding per written operation; the folder is compiled without contraction.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "decode/decoder.h"
#include "vss/signals.h"

namespace dq::decode {

enum class Verdict : std::uint8_t { kValue, kNotFound, kError, kPanic };

// A number or a text, by `is_text`.
struct OpValue {
    double number = 0;
    std::string_view text;
    bool is_text = false;
};

// What some steps ask about the payload around the value.
struct OpContext {
    Arena& arena;
    bool ignition_off = false;  // signals.409 is the string "0"
    bool unplugged = false;     // signals.985 is the string "1"
};

// How a Ruptela OID is read from hex text (ruptela_oids.csv).
struct Oid {
    std::uint32_t number = 0;
    bool is_signed = false;
    std::optional<std::uint64_t> sentinel;
    std::vector<std::uint64_t> error_values;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> error_range;
    std::optional<std::int64_t> minimum, maximum;
    double multiplier = 1, offset = 0;
};

// Hex digits of any case, nothing else, at most 64 bits.
std::optional<std::uint64_t> parseHex(std::string_view text);
Verdict readOid(const Oid& oid, std::string_view text, double& out);
// The OID of ruptela_oids.csv; the process ends when there is none.
const Oid& oidOf(std::uint32_t number);

struct Step {
    enum class Op : std::uint8_t {
        kId,
        kBool,
        kMultiply,
        kDivide,
        kPositiveZero,
        kNonZero,
        kNotFoundIf,
        kRange,
        kOid,
        kNonZeroIfIgnitionOff,
        kNotFoundIfUnplugged,
        kBit,
        kMap,
        kEnumMap,
        kTextMap,
        kSteps,
        kGear,
        kGearRatio,
        kDivideAbove,
        kSplit,
        kDtcCodes,
        kLocation,
        kDoor,
        kPanic,
    };
    struct Case {
        double key = 0;
        std::string_view text_key;
        double number = 0;
        std::string_view text;
        bool error = false;
    };
    Op op = Op::kId;
    double a = 0, b = 0;
    std::string_view text;  // argument of location and door, separator of split
    const Oid* oid = nullptr;
    std::vector<Case> cases;
    std::optional<Case> fallback;
    bool gives_text = false;
};

using Pipeline = std::vector<Step>;

// `text` outlives the result. The process ends on a step it does not know: the tables are our own.
Pipeline parsePipeline(std::string_view text, vss::ValueType type);
// kDtcCodes, kLocation and kDoor are their modules' own and must not come here.
Verdict runPipeline(const Pipeline& pipeline, const OpContext& context, OpValue& value);

}  // namespace dq::decode
