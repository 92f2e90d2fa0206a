// JSON text as the contract wants it, appended to a buffer: `<`, `>`, `&`, U+2028 and U+2029 escaped, control
// characters as \u00XX, floats in Go's form. The text is always valid UTF-8 and valid JSON, whatever comes in.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace dq::graphql {

// A quoted string; bytes that are not UTF-8 become U+FFFD.
void appendJsonString(std::string& out, std::string_view text);
void appendInteger(std::string& out, std::int64_t value);
void appendUnsigned(std::string& out, std::uint64_t value);
// `value` is finite.
void appendFloat(std::string& out, double value);

// Appends stored JSON without its white space; false and nothing appended when it is no JSON.
bool appendStoredJson(std::string& out, std::string_view json);
// The same for JSON that is known to be valid.
void appendTrustedJson(std::string& out, std::string_view json);

}  // namespace dq::graphql
