#include "api/transport.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>
#include <simdjson.h>

#include "core/status.h"
#include "core/text.h"

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
    const auto digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1; };
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

bool isJsonObjectOrNull(const std::string& text, bool& null) {
    simdjson::dom::parser parser;
    simdjson::dom::element element;
    if (parser.parse(text).get(element) != simdjson::SUCCESS) return false;
    null = element.is_null();
    return null || element.is_object();
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
        bool null = false;
        if (value->empty()) continue;
        if (!isJsonObjectOrNull(*value, null)) return failure(request, 400, strCat(*name, " could not be decoded"));
        if (*name == "variables" && !null) out.variables_json = *value;
    }
    return out;
}

// Reads the members of the first JSON value of a body; text after it is ignored, the last of equal members wins.
Status readBody(std::string_view body, graphql::Request& out) {
    const simdjson::padded_string padded(body.data(), body.size());
    simdjson::ondemand::parser parser;
    simdjson::ondemand::document document;
    simdjson::ondemand::object object;
    const auto invalid = [](std::string_view what) { return absl::InvalidArgumentError(strCat("request body could not be decoded: ", what)); };
    if (parser.iterate(padded).get(document) != simdjson::SUCCESS || document.get_object().get(object) != simdjson::SUCCESS) {
        return invalid("it is not a JSON object");
    }
    for (auto field : object) {
        std::string_view key;
        simdjson::ondemand::value value;
        if (field.unescaped_key().get(key) != simdjson::SUCCESS || field.value().get(value) != simdjson::SUCCESS) return invalid("broken JSON");
        const bool text = key == "query" || key == "operationName";
        if (!text && key != "variables") continue;
        simdjson::ondemand::json_type type;
        if (value.type().get(type) != simdjson::SUCCESS) return invalid("broken JSON");
        if (type == simdjson::ondemand::json_type::null) continue;
        if (text) {
            std::string_view content;
            if (value.get_string().get(content) != simdjson::SUCCESS) return invalid(strCat("\"", key, "\" is not a string"));
            (key == "query" ? out.query : out.operation_name) = std::string(content);
            continue;
        }
        simdjson::ondemand::object variables;
        std::string_view raw;
        if (value.get_object().get(variables) != simdjson::SUCCESS || variables.raw_json().get(raw) != simdjson::SUCCESS) {
            return invalid("\"variables\" is not an object");
        }
        out.variables_json = std::string(raw);
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
        return TransportResponse{get ? 400 : 405, "text/plain; charset=utf-8",
                                 strCat(get ? "Bad Request" : "Method Not Allowed", "\n", graphql::errorBody("unable to upgrade")), ""};
    }
    if (request.method == "OPTIONS") return TransportResponse{200, "", "", "OPTIONS, GET, POST"};
    if (request.method == "HEAD") return TransportResponse{405, "", "", ""};
    if (request.method == "GET") return readGet(request);
    if (request.method != "POST" || mediaType(request.content_type) != kJson) {
        return TransportResponse{400, "text/plain; charset=utf-8", graphql::errorBody("transport not supported"), ""};
    }
    graphql::Request out;
    if (const Status status = readBody(request.body, out); !status.ok()) return failure(request, 400, stdView(status.message()));
    return out;
}

TransportResponse writeResponse(const TransportRequest& request, graphql::Response response) {
    const std::string_view type = negotiate(request);
    const bool refused = response.kind == graphql::Response::Kind::kParseFailed || response.kind == graphql::Response::Kind::kInvalid;
    const int status = !refused ? 200 : type == kJson ? 422 : 400;
    return {status, std::string(type), std::move(response.body), ""};
}

}  // namespace dq::api
