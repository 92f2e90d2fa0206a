// Values that are bound to statements, and the statement itself: Sql{text, binds}.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/time.h"

namespace dq::engine {

struct Null {};
struct TimestampTz {
    Micros micros;
};
struct Blob {
    std::string bytes;
};
using StringList = std::vector<std::string>;

// One bound parameter. Strings are copied; a StringList becomes VARCHAR[].
using Value = std::variant<Null, bool, std::int32_t, std::int64_t, std::uint64_t, double, std::string, TimestampTz,
                           Blob, StringList>;

// A statement with its parameters in order ($1, $2 …). Made by the named builders of lake/, rollup/, query/, maintain/,
// ingest/.
struct Sql {
    std::string text;
    std::vector<Value> binds;
};

// 'text' with quotes doubled; "identifier" likewise. For the few places where SQL takes no parameter (ATTACH, SET, list
// literals).
std::string quoteLiteral(std::string_view text);
std::string quoteIdentifier(std::string_view name);
// TIMESTAMPTZ literal with µs ("TIMESTAMPTZ '2026-11-29 12:00:00.000000+00'"): a literal prunes files, a parameter does
// not.
std::string timestampLiteral(Micros time);

}  // namespace dq::engine
