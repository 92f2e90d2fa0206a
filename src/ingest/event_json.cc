#include "ingest/event_json.h"

#include <rapidjson/writer.h>

#include "core/text.h"

namespace dq::ingest {
namespace {

// The output stream that RapidJSON's Writer wants, over a string.
struct StringOutput {
    using Ch = char;
    std::string& out;
    void Put(char byte) { out.push_back(byte); }
    void Flush() {}
};

void addString(std::string& out, std::string_view text) {
    StringOutput output{out};
    rapidjson::Writer<StringOutput> writer(output);
    writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void addMember(std::string& out, std::string_view name, std::string_view value) {
    strAppend(&out, out.size() > 1 ? "," : "", "\"", name, "\":");
    addString(out, value);
}

void addOptional(std::string& out, std::string_view name, std::string_view value) {
    if (!value.empty()) addMember(out, name, value);
}

// Members of a JSON object's text, without its braces; empty for {}.
std::string_view membersOf(std::string_view object) {
    const std::size_t open = object.find('{');
    const std::size_t close = object.rfind('}');
    if (open == std::string_view::npos || close == std::string_view::npos || close <= open) return {};
    std::string_view members = object.substr(open + 1, close - open - 1);
    while (!members.empty() &&
           (members.front() == ' ' || members.front() == '\n' || members.front() == '\t' || members.front() == '\r')) {
        members.remove_prefix(1);
    }
    return members;
}

void addMembers(std::string& out, std::string_view object) {
    const std::string_view members = membersOf(object);
    if (!members.empty()) strAppend(&out, ",", members);
}

}  // namespace

std::string jsonString(std::string_view text) {
    std::string out;
    addString(out, text);
    return out;
}

bool headerFits(const cloudevent::Event& event) {
    // A character takes at most six bytes: most headers are far below the limit and need no serialization.
    constexpr std::size_t kNamesAndTime = 320;
    std::size_t characters = event.type.size() + event.source.size() + event.subject.size() + event.id.size() +
                             event.producer.size() + event.data_content_type.size() + event.data_version.size() +
                             event.data_schema.size() + event.signature.size() + event.raw_event_id.size();
    for (const std::string& tag : event.tags) characters += tag.size() + 3;
    if (6 * characters + event.extras_json.size() + kNamesAndTime <= kMaxHeaderBytes) return true;
    return headerJson(event).size() <= kMaxHeaderBytes;
}

std::string headerJson(const cloudevent::Event& event) {
    std::string out = "{";
    addMember(out, "specversion", "1.0");
    addMember(out, "type", event.type);
    addMember(out, "source", event.source);
    addMember(out, "subject", event.subject);
    addMember(out, "id", event.id);
    addMember(out, "time", formatRfc3339(event.time));
    addOptional(out, "datacontenttype", event.data_content_type);
    addOptional(out, "dataschema", event.data_schema);
    addOptional(out, "dataversion", event.data_version);
    addOptional(out, "producer", event.producer);
    addOptional(out, "signature", event.signature);
    addOptional(out, "raweventid", event.raw_event_id);
    if (!event.tags.empty()) {
        out += ",\"tags\":[";
        for (std::size_t i = 0; i < event.tags.size(); ++i) {
            if (i > 0) out += ',';
            addString(out, event.tags[i]);
        }
        out += ']';
    }
    addMembers(out, event.extras_json);
    out += '}';
    return out;
}

std::string rowJson(const cloudevent::Row& row) {
    std::string out = "{";
    addMember(out, "specversion", "1.0");
    addMember(out, "type", row.type);
    addMember(out, "source", row.source);
    addMember(out, "subject", row.subject);
    addMember(out, "id", row.id);
    addMember(out, "time", formatRfc3339(row.time));
    addOptional(out, "datacontenttype", row.data_content_type);
    addOptional(out, "dataversion", row.data_version);
    addOptional(out, "producer", row.producer);
    addMembers(out, row.extras);
    if (row.data_base64) {
        addMember(out, "data_base64", *row.data_base64);
    } else if (row.data) {
        // Payload text may be spread over lines; a line end inside JSON text is always white space.
        std::string data = *row.data;
        std::replace_if(
            data.begin(), data.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
        strAppend(&out, ",\"data\":", data);
    }
    std::replace_if(
        out.begin(), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    out += '}';
    return out;
}

}  // namespace dq::ingest
