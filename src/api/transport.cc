#include "api/transport.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <simdjson.h>

#include "api/multipart.h"
#include "core/status.h"
#include "core/text.h"
#include "graphql/json_text.h"

namespace dq::api {
namespace {

constexpr std::string_view kJson = "application/json", kGraphqlJson = "application/graphql-response+json";

TransportResponse failure(const TransportRequest& request, int status, std::string_view message) {
    return {status, std::string(negotiate(request)), graphql::errorBody(message), ""};
}

// Media type of a header value: before the first ';', lower case, trimmed.
std::string mediaType(std::string_view header) {
    return absl::AsciiStrToLower(absl::StripAsciiWhitespace(abslView(header.substr(0, header.find(';')))));
}

std::optional<std::string> percentDecode(std::string_view text) {
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            out += ' ';
        } else if (text[i] == '%') {
            if (i + 2 >= text.size() || digit(text[i + 1]) < 0 || digit(text[i + 2]) < 0) return std::nullopt;
            out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
            i += 2;
        } else {
            out += text[i];
        }
    }
    return out;
}

// The object that a text begins with, without white space; what follows it is ignored. nullopt when it is no JSON
// object.
std::optional<std::string> firstObject(std::string_view text) {
    const std::string_view json = stdView(absl::StripLeadingAsciiWhitespace(abslView(text)));
    if (!json.starts_with('{')) return std::nullopt;
    bool quoted = false;
    std::size_t depth = 0, end = 0;
    for (bool open = true; open; open = depth > 0) {
        if (end >= json.size()) return std::nullopt;
        const char c = json[end++];
        if (quoted) {
            if (c == '\\') ++end;
            if (c == '"') quoted = false;
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            ++depth;
        } else if (c == '}' || c == ']') {
            --depth;
        }
    }
    std::string object;
    if (!graphql::appendStoredJson(object, json.substr(0, end))) return std::nullopt;
    return object;
}

std::variant<graphql::Request, TransportResponse> readGet(const TransportRequest& request) {
    graphql::Request out;
    for (const absl::string_view pair : absl::StrSplit(abslView(request.query_string), '&')) {
        const std::pair<absl::string_view, absl::string_view> parts = absl::StrSplit(pair, absl::MaxSplits('=', 1));
        const auto name = percentDecode(stdView(parts.first)), value = percentDecode(stdView(parts.second));
        if (!name || !value) continue;
        if (*name == "query") out.query = *value;
        if (*name == "operationName") out.operation_name = *value;
        if (*name != "variables" && *name != "extensions") continue;
        if (value->empty() || absl::StripAsciiWhitespace(*value) == "null") continue;
        auto object = firstObject(*value);
        if (!object) return failure(request, 400, strCat(*name, " could not be decoded"));
        if (*name == "variables") out.variables_json = *std::move(object);
    }
    return out;
}

// Reads the members of the object that a body begins with; the last of equal members wins.
Status readBody(std::string_view body, graphql::Request& out) {
    const auto invalid = [](std::string_view what) {
        return absl::InvalidArgumentError(strCat("request body could not be decoded: ", what));
    };
    const std::optional<std::string> text = firstObject(body);
    if (!text) return invalid("it is not a JSON object");
    const simdjson::padded_string padded(*text);
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS ||
        document.get_object().get(object) != simdjson::SUCCESS) {
        return invalid("it is not a JSON object");
    }
    for (auto field : object) {
        std::string_view key, content;
        simdjson::ondemand::value value;
        simdjson::ondemand::json_type type;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS ||
            value.type().get(type) != simdjson::SUCCESS) {
            return invalid("broken JSON");
        }
        if (type == simdjson::ondemand::json_type::null) continue;
        if (key == "query" || key == "operationName") {
            const bool query = key == "query";
            if (value.get_string().get(content) != simdjson::SUCCESS) {
                return invalid(query ? "\"query\" is not a string" : "\"operationName\" is not a string");
            }
            (query ? out.query : out.operation_name) = std::string(content);
        } else if (key == "variables") {
            simdjson::ondemand::object variables;
            if (value.get_object().get(variables) != simdjson::SUCCESS ||
                variables.raw_json().get(content) != simdjson::SUCCESS) {
                return invalid("\"variables\" is not an object");
            }
            out.variables_json = std::string(content);
        }
    }
    return absl::OkStatus();
}

}  // namespace

std::string_view negotiate(const TransportRequest& request) {
    if (!request.has_accept) return kJson;
    for (const absl::string_view item : absl::StrSplit(abslView(request.accept), ',')) {
        const std::string type = mediaType(stdView(item));
        if (type == kJson || type == "*/*" || type == "application/*") return kJson;
        if (type == kGraphqlJson) return kGraphqlJson;
    }
    return kGraphqlJson;
}

std::variant<graphql::Request, TransportResponse> readRequest(const TransportRequest& request) {
    if (request.wants_upgrade) {
        const bool get = request.method == "GET";
        return TransportResponse{
            get ? 400 : 405, "text/plain; charset=utf-8",
            strCat(get ? "Bad Request" : "Method Not Allowed", "\n", graphql::errorBody("unable to upgrade")), ""};
    }
    if (request.method == "OPTIONS") return TransportResponse{200, "", "", "OPTIONS, GET, POST"};
    if (request.method == "HEAD") return TransportResponse{405, "", "", ""};
    if (request.method == "GET") return readGet(request);
    const std::string type = mediaType(request.content_type);
    if (request.method != "POST" || (type != kJson && type != "multipart/form-data")) {
        return TransportResponse{400, "text/plain; charset=utf-8", graphql::errorBody("transport not supported"), ""};
    }
    std::string operations;
    if (type != kJson) {
        auto form = multipartOperations(request.content_type, request.body);
        if (!form.ok()) return failure(request, 422, stdView(form.status().message()));
        operations = *std::move(form);
    }
    graphql::Request out;
    if (const Status read = readBody(type == kJson ? request.body : operations, out); !read.ok()) {
        return failure(request, type == kJson ? 400 : 422, stdView(read.message()));
    }
    return out;
}

TransportResponse writeResponse(const TransportRequest& request, graphql::Response response) {
    const std::string_view type = negotiate(request);
    const bool refused =
        response.kind == graphql::Response::Kind::kParseFailed || response.kind == graphql::Response::Kind::kInvalid;
    const int status = !refused ? 200 : type == kJson ? 422 : 400;
    return {status, std::string(type), std::move(response.body), ""};
}

}  // namespace dq::api
