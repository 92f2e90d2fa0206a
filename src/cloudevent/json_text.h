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
enum class BadBytes { kReplace, kKeep };
// Resolves escapes; lone surrogates become U+FFFD, so do invalid UTF-8 bytes unless they are kept. Returns the bytes
// written.
std::size_t decodeText(const JsonString& text, char* out, BadBytes bad = BadBytes::kReplace);
std::string textOf(const JsonString& text);
// Appends `text` as a JSON string with its quotes; everything but quotes, backslashes and controls stays as it is.
void appendQuoted(std::string& out, std::string_view text);
// Does the decoded text equal `name`?
bool textEquals(const JsonString& text, std::string_view name);
// The same without regard to case, by simple Unicode folding; `name` is ASCII. ("ſ" equals "s", the Kelvin sign
// equals "k".)
bool textEqualsFolded(const JsonString& text, std::string_view name);

}  // namespace dq::cloudevent
