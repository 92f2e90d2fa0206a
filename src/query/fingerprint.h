// The shape of a statement for a log line: literals and numbers become `?`, so that no subject can reach a log (lake.md
// §9).
#pragma once
#include <string>
#include <string_view>

namespace dq::query {

// Every '…' literal and every number that stands alone (digits and dots at word boundaries) becomes `?`, runs of white
// space become one space, and the text is cut at 400 bytes (at the start of a character) with `…` after the cut.
std::string statementShape(std::string_view statement);

}  // namespace dq::query
