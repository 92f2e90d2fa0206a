#include "graphql/errors.h"

#include <absl/strings/str_cat.h>

#include "graphql/executor.h"
#include "graphql/json_text.h"

namespace dq::graphql {

namespace {

// Names of GraphQL never start with a digit.
void appendPathText(std::string& out, std::string_view item) {
    const bool index = !item.empty() && item.find_first_not_of("0123456789") == std::string_view::npos;
    if (index) {
        out += item;
    } else {
        appendJsonString(out, item);
    }
}

void appendPath(std::string& out, const Path& path, const std::vector<std::string>& below) {
    if (path.empty() && below.empty()) return;
    out += ",\"path\":[";
    const char* separator = "";
    for (const PathItem& item : path) {
        out += separator;
        if (item.is_index) {
            appendUnsigned(out, item.index);
        } else {
            appendJsonString(out, item.key);
        }
        separator = ",";
    }
    for (const std::string& item : below) {
        out += separator;
        appendPathText(out, item);
        separator = ",";
    }
    out += ']';
}

void appendExtensions(std::string& out, std::string_view code, std::string_view reason) {
    if (code.empty() && reason.empty()) return;
    out += ",\"extensions\":{";
    if (!code.empty()) {
        out += "\"code\":";
        appendJsonString(out, code);
    }
    if (!reason.empty()) {
        out += code.empty() ? "\"reason\":" : ",\"reason\":";
        appendJsonString(out, reason);
    }
    out += '}';
}

}  // namespace

void ErrorList::begin(std::string_view message) {
    if (!text_.empty()) text_ += ',';
    text_ += "{\"message\":";
    appendJsonString(text_, message);
}

void ErrorList::add(const FieldError& error, const Path& path, const std::vector<std::string>& below) {
    if (++count_ > kMaxErrors) return;
    begin(error.message);
    appendPath(text_, path, below);
    appendExtensions(text_, error.code, error.reason);
    text_ += '}';
}

void ErrorList::addRequestError(std::string_view message, std::string_view code, std::uint32_t line,
                                std::uint32_t column, const Path& path) {
    ++count_;
    begin(message);
    appendPath(text_, path, {});
    if (line != 0) absl::StrAppend(&text_, ",\"locations\":[{\"line\":", line, ",\"column\":", column, "}]");
    appendExtensions(text_, code, {});
    text_ += '}';
}

std::string ErrorList::finish() {
    if (count_ > kMaxErrors) {
        begin(absl::StrCat(count_ - kMaxErrors, " more errors are left out"));
        text_ += '}';
    }
    return absl::StrCat("\"errors\":[", text_, "]");
}

std::string errorBody(std::string_view message, std::string_view code) {
    ErrorList errors;
    errors.addRequestError(message, code, 0, 0, {});
    return absl::StrCat("{", errors.finish(), ",\"data\":null}");
}

}  // namespace dq::graphql
