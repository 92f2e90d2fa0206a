#include "http/path.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <vector>

#include "core/status.h"

namespace dq::http {
namespace {

// 1 for ".", 2 for "..", 0 for any other part; a dot may be percent-encoded.
int dots(std::string_view part) {
    int count = 0;
    while (!part.empty()) {
        if (part.front() == '.') {
            part.remove_prefix(1);
        } else if (absl::StartsWithIgnoreCase(abslView(part), "%2e")) {
            part.remove_prefix(3);
        } else {
            return 0;
        }
        if (++count > 2) return 0;
    }
    return count;
}

// Browsers read `\` as `/`, so "/\host" would leave the site; what no URL may hold is encoded.
std::string urlText(std::string_view text) {
    constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte <= 0x20 || byte >= 0x7f || std::string_view("\\\"<>^`{|}").find(c) != std::string_view::npos) {
            out.push_back('%');
            out.push_back(kHex[byte >> 4]);
            out.push_back(kHex[byte & 15]);
        } else {
            out.push_back(c);
        }
    }
    return out;
}

std::string htmlText(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '&') {
            out += "&amp;";
        } else if (c == '\'') {
            out += "&#39;";
        } else {
            out.push_back(c);
        }
    }
    return out;
}

}  // namespace

std::string cleanPath(std::string_view path) {
    std::vector<std::string_view> parts;
    bool ends_with_slash = true;
    std::size_t at = 0;
    while (at <= path.size()) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        const std::string_view part = path.substr(at, slash - at);
        at = slash + 1;
        const int level = dots(part);
        ends_with_slash = part.empty();
        if (level == 2 && !parts.empty()) parts.pop_back();
        if (level == 0 && !part.empty()) parts.push_back(part);
    }
    std::string out;
    for (std::string_view part : parts) absl::StrAppend(&out, "/", abslView(part));
    if (out.empty() || ends_with_slash) out.push_back('/');
    return out;
}

std::optional<Response> redirectToCleanPath(const Request& request) {
    if (request.method == "CONNECT" || request.path == "*") return std::nullopt;
    const std::string clean = cleanPath(request.path);
    if (clean == request.path) return std::nullopt;
    std::string location = urlText(clean);
    if (!request.query.empty()) absl::StrAppend(&location, "?", urlText(request.query));
    Response response{307, {{"Location", location}}, ""};
    if (request.method == "GET" || request.method == "HEAD") {
        response.headers.emplace_back("Content-Type", "text/html; charset=utf-8");
        response.body = absl::StrCat("<a href=\"", htmlText(location), "\">Temporary Redirect</a>.\n\n");
    }
    return response;
}

}  // namespace dq::http
