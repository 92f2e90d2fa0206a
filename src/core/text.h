// String building over std::string_view: the distribution's Abseil has a string_view type of its own, which its
// functions demand.
#pragma once
#include <absl/strings/str_cat.h>

#include <string>
#include <string_view>

namespace dq {

namespace text_internal {
inline absl::string_view argument(std::string_view text) { return {text.data(), text.size()}; }
inline absl::string_view argument(const std::string& text) { return text; }
inline absl::string_view argument(absl::string_view text) { return text; }
inline absl::string_view argument(const char* text) { return text; }
template <typename T>
const T& argument(const T& value) {
    return value;
}
}  // namespace text_internal

// absl::StrCat and absl::StrAppend for any mix of strings, views and numbers.
template <typename... Parts>
std::string strCat(const Parts&... parts) {
    return absl::StrCat(text_internal::argument(parts)...);
}
template <typename... Parts>
void strAppend(std::string* out, const Parts&... parts) {
    absl::StrAppend(out, text_internal::argument(parts)...);
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace dq
