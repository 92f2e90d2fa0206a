#include "query/fingerprint.h"

#include <absl/strings/ascii.h>

namespace dq::query {
namespace {

constexpr std::size_t kMaxBytes = 400;

bool isWordByte(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_' || (c & 0x80) != 0; }
bool isDigit(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }

// End of the literal that opens at `at`; doubled quotes belong to it, and an unclosed one runs to the end of the text.
std::size_t literalEnd(std::string_view text, std::size_t at) {
    for (std::size_t i = at + 1; i < text.size(); ++i) {
        if (text[i] != '\'') continue;
        if (i + 1 < text.size() && text[i + 1] == '\'') {
            ++i;
            continue;
        }
        return i + 1;
    }
    return text.size();
}

// End of the number that begins at `at`, exponent included; `at` itself when a word only begins with digits.
std::size_t numberEnd(std::string_view text, std::size_t at) {
    std::size_t i = at;
    while (i < text.size() && (isDigit(text[i]) || text[i] == '.')) ++i;
    if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
        std::size_t j = i + 1;
        if (j < text.size() && (text[j] == '+' || text[j] == '-')) ++j;
        if (j < text.size() && isDigit(text[j])) {
            while (j < text.size() && isDigit(text[j])) ++j;
            i = j;
        }
    }
    return i < text.size() && isWordByte(text[i]) ? at : i;
}

std::string cut(std::string shape) {
    if (shape.size() <= kMaxBytes) return shape;
    std::size_t end = kMaxBytes;
    while (end > 0 && (shape[end] & 0xC0) == 0x80) --end;
    shape.resize(end);
    return shape + "…";
}

}  // namespace

std::string statementShape(std::string_view statement) {
    std::string out;
    for (std::size_t i = 0; i < statement.size();) {
        const char c = statement[i];
        if (c == '\'') {
            out.push_back('?');
            i = literalEnd(statement, i);
        } else if (absl::ascii_isspace(static_cast<unsigned char>(c))) {
            if (!out.empty() && out.back() != ' ') out.push_back(' ');
            ++i;
        } else if (isWordByte(c)) {
            const std::size_t end = isDigit(c) ? numberEnd(statement, i) : i;
            if (end > i) {
                out.push_back('?');
                i = end;
            } else {
                while (i < statement.size() && isWordByte(statement[i])) out.push_back(statement[i++]);
            }
        } else {
            out.push_back(c);
            ++i;
        }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return cut(std::move(out));
}

}  // namespace dq::query
