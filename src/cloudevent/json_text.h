// From the source text of a JSON string to its value.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "cloudevent/json_scanner.h"

namespace dq::cloudevent {

// True when `text` needs no copy: no escape, and valid UTF-8.
bool isVerbatim(const JsonString& text);
// Upper bound of what decodeText writes.
constexpr std::size_t textBound(const JsonString& text) { return 3 * text.raw.size(); }
// Resolves escapes; lone surrogates and invalid UTF-8 bytes become U+FFFD. Returns the bytes written.
std::size_t decodeText(const JsonString& text, char* out);
std::string textOf(const JsonString& text);
// Does the decoded text equal `name`?
bool textEquals(const JsonString& text, std::string_view name);
// The same without regard to case, by simple Unicode folding; `name` is ASCII. ("ſ" equals "s", the Kelvin sign equals "k".)
bool textEqualsFolded(const JsonString& text, std::string_view name);

}  // namespace dq::cloudevent
