#include "api/multipart.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>

#include <optional>

#include "core/status.h"
#include "core/text.h"
#include "graphql/json_text.h"

namespace dq::api {
namespace {

std::string_view trimmed(std::string_view text) { return stdView(absl::StripAsciiWhitespace(abslView(text))); }

// Value of `name="value"` or `name=value` among the parameters of a header; names in any letter case.
std::optional<std::string> parameter(std::string_view header, std::string_view name) {
    const std::vector<std::string> parts = absl::StrSplit(abslView(header), ';');
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::pair<std::string, std::string> pair = absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
        if (!absl::EqualsIgnoreCase(abslView(trimmed(pair.first)), abslView(name))) continue;
        std::string_view value = trimmed(pair.second);
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
        return std::string(value);
    }
    return std::nullopt;
}

struct Part {
    std::string name;
    std::string_view content;
};

// Takes parts off the front of a body.
class PartReader {
  public:
    PartReader(std::string_view body, std::string_view boundary) : rest_(body), delimiter_(strCat("\r\n--", boundary)) {
        const std::string_view first = std::string_view(delimiter_).substr(2);
        if (rest_.starts_with(first)) {
            rest_.remove_prefix(first.size());
        } else {
            take();  // a preamble
        }
    }

    // The next part; nullopt at the end of the form or where it is broken.
    std::optional<Part> next() {
        const std::size_t line = rest_.find("\r\n");
        if (line == std::string_view::npos || rest_.starts_with("--")) return std::nullopt;
        rest_.remove_prefix(line);
        const std::optional<std::string_view> text = take();
        if (!text) return std::nullopt;
        const std::size_t end = text->find("\r\n\r\n");
        if (end == std::string_view::npos) return std::nullopt;
        Part part{"", text->substr(end + 4)};
        for (const absl::string_view header : absl::StrSplit(abslView(text->substr(0, end)), "\r\n")) {
            if (!absl::StartsWithIgnoreCase(header, "content-disposition:")) continue;
            part.name = parameter(stdView(header), "name").value_or("");
        }
        return part;
    }

  private:
    // Everything before the next delimiter, which is taken too.
    std::optional<std::string_view> take() {
        const std::size_t at = rest_.find(delimiter_);
        if (at == std::string_view::npos) {
            rest_ = {};
            return std::nullopt;
        }
        const std::string_view text = rest_.substr(0, at);
        rest_.remove_prefix(at + delimiter_.size());
        return text;
    }

    std::string_view rest_;
    const std::string delimiter_;
};

}  // namespace

absl::StatusOr<std::string> multipartOperations(std::string_view content_type, std::string_view body) {
    const auto boundary = parameter(content_type, "boundary");
    if (!boundary || boundary->empty() || boundary->size() > 70) {
        return absl::InvalidArgumentError("the multipart form has no boundary");
    }
    PartReader parts(body, *boundary);
    const std::optional<Part> operations = parts.next();
    if (!operations || operations->name != "operations") {
        return absl::InvalidArgumentError("first part must be operations");
    }
    const std::optional<Part> map = parts.next();
    if (!map || map->name != "map") return absl::InvalidArgumentError("second part must be map");
    std::string compact;
    if (!graphql::appendStoredJson(compact, map->content) || compact != "{}") {
        return absl::InvalidArgumentError("map must be an empty object: no argument takes a file");
    }
    return std::string(operations->content);
}

}  // namespace dq::api
