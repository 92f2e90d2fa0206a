#include "http/message.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_cat.h>

#include <boost/beast/http/status.hpp>

#include "core/status.h"
#include "http/server.h"

namespace dq::http {
namespace {

bool isToken(std::string_view name) {
    if (name.empty()) return false;
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return absl::ascii_isalnum(c) ||
               std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
    });
}

// A line break inside a value would let its author write headers of his own.
void appendValue(std::string& out, std::string_view value) {
    for (char c : value) out.push_back(c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
}

absl::string_view reason(int status) {
    const auto text =
        boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(static_cast<unsigned>(status)));
    return {text.data(), text.size()};
}

}  // namespace

std::string_view Request::header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
        if (absl::EqualsIgnoreCase(key, abslView(name))) return value;
    }
    return {};
}

bool Request::has(std::string_view name) const {
    return std::any_of(headers.begin(), headers.end(),
                       [&](const auto& h) { return absl::EqualsIgnoreCase(h.first, abslView(name)); });
}

Response Response::text(int status, std::string body) {
    return {status, {{"Content-Type", "text/plain; charset=utf-8"}}, std::move(body)};
}

Response Response::json(int status, std::string body) {
    return {status, {{"Content-Type", "application/json"}}, std::move(body)};
}

Response Response::error(int status, std::string_view body) {
    std::string line(body);
    if (!absl::EndsWith(line, "\n")) line.push_back('\n');
    return Response::text(status, std::move(line)).with("X-Content-Type-Options", "nosniff");
}

Response&& Response::with(std::string name, std::string value) && {
    headers.emplace_back(std::move(name), std::move(value));
    return std::move(*this);
}

bool asksToClose(const Response& response) {
    return std::any_of(response.headers.begin(), response.headers.end(), [](const auto& h) {
        return absl::EqualsIgnoreCase(h.first, "connection") && absl::EqualsIgnoreCase(h.second, "close");
    });
}

bool forbidsBody(int status) { return status < 200 || status == 204 || status == 304; }

std::string responseHead(const Response& response, ConnectionHeader connection) {
    std::string head = absl::StrCat("HTTP/1.1 ", response.status, " ", reason(response.status), "\r\n");
    for (const auto& [name, value] : response.headers) {
        if (!isToken(name) || absl::EqualsIgnoreCase(name, "content-length") ||
            absl::EqualsIgnoreCase(name, "transfer-encoding") || absl::EqualsIgnoreCase(name, "connection")) {
            continue;
        }
        head += name;
        head += ": ";
        appendValue(head, value);
        head += "\r\n";
    }
    if (!forbidsBody(response.status)) absl::StrAppend(&head, "Content-Length: ", response.body.size(), "\r\n");
    if (connection == ConnectionHeader::kClose) head += "Connection: close\r\n";
    if (connection == ConnectionHeader::kKeepAlive) head += "Connection: keep-alive\r\n";
    head += "\r\n";
    return head;
}

}  // namespace dq::http
