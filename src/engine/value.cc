#include "engine/value.h"

#include <absl/strings/str_cat.h>

namespace dq::engine {
namespace {

std::string quote(std::string_view text, char mark) {
    std::string out;
    out.reserve(text.size() + 2);
    out.push_back(mark);
    for (char c : text) {
        if (c == mark) out.push_back(mark);
        out.push_back(c);
    }
    out.push_back(mark);
    return out;
}

}  // namespace

std::string quoteLiteral(std::string_view text) { return quote(text, '\''); }

std::string quoteIdentifier(std::string_view name) { return quote(name, '"'); }

std::string timestampLiteral(Micros time) { return absl::StrCat("TIMESTAMPTZ '", formatSqlTimestamp(time), "'"); }

}  // namespace dq::engine
