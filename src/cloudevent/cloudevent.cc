#include "cloudevent/cloudevent.h"

#include <absl/container/flat_hash_set.h>
#include <absl/strings/str_cat.h>

#include "cloudevent/base64.h"
#include "cloudevent/json_scanner.h"
#include "cloudevent/json_text.h"
#include "cloudevent/utf8.h"

namespace dq::cloudevent {
namespace {

struct TextMember {
    std::string_view name;
    std::string Event::*field;
};
constexpr TextMember kTextMembers[] = {
    {"type", &Event::type},
    {"source", &Event::source},
    {"subject", &Event::subject},
    {"id", &Event::id},
    {"producer", &Event::producer},
    {"datacontenttype", &Event::data_content_type},
    {"dataversion", &Event::data_version},
    {"dataschema", &Event::data_schema},
    {"signature", &Event::signature},
    {"raweventid", &Event::raw_event_id},
};

absl::Status invalid(std::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("cloud event: ", std::string(what)));
}

// An object written member by member.
class ObjectText {
  public:
    // `json` is one valid JSON value.
    void add(std::string_view key, std::string_view json) {
        open(key);
        text_ += json;
    }
    void addText(std::string_view key, std::string_view text) {
        open(key);
        appendQuoted(text_, text);
    }
    std::string finish() { return repaired(text_ + "}"); }

  private:
    void open(std::string_view key) {
        if (text_.size() > 1) text_ += ',';
        appendQuoted(text_, key);
        text_ += ':';
    }
    std::string text_ = "{";
};

// Reads members into an Event; of duplicates the first counts.
class Parser {
  public:
    explicit Parser(std::string_view text) : scan_(text) {}

    absl::StatusOr<Event> run() {
        if (scan_.kind() != JsonKind::kObject) return invalid("the text is not a JSON object");
        scan_.openObject();
        JsonString key;
        while (scan_.nextMember(key)) {
            std::string name = textOf(key);
            bool repeated = !seen_.insert(name).second;
            if (repeated || name == "specversion") {
                scan_.skip();
            } else if (absl::Status read = member(name); !read.ok()) {
                return read;
            }
        }
        if (!scan_.atEnd()) return invalid("the text is not valid JSON");
        if (has_data_ && !event_.data_base64.empty()) return invalid("data and data_base64 exclude each other");
        event_.extras_json = extras_.finish();
        return std::move(event_);
    }

  private:
    absl::Status member(const std::string& name) {
        for (const TextMember& known : kTextMembers) {
            if (name == known.name) {
                readText(event_.*known.field);
                return absl::OkStatus();
            }
        }
        if (name == "time") return readTime();
        if (name == "data_base64") return readBase64();
        if (name == "tags") {
            readTags();
        } else if (name == "data") {
            has_data_ = true;
            event_.data = std::string(source());
        } else {
            extras_.add(name, source());
        }
        return absl::OkStatus();
    }

    // Exact source text of the next value.
    std::string_view source() {
        scan_.kind();
        const char* start = scan_.position();
        if (!scan_.skip()) return {};
        return std::string_view(start, static_cast<std::size_t>(scan_.position() - start));
    }

    // The next value if it is a string, else "".
    bool readText(std::string& out) {
        if (scan_.kind() != JsonKind::kString) {
            scan_.skip();
            return false;
        }
        JsonString text;
        if (scan_.readString(text)) out = textOf(text);
        return true;
    }

    absl::Status readTime() {
        std::string text;
        if (!readText(text)) return invalid("time is not a string");
        auto time = parseRfc3339(text);
        if (!time) return invalid("time is not an RFC 3339 time");
        event_.time = *time;
        return absl::OkStatus();
    }

    absl::Status readBase64() {
        if (!readText(event_.data_base64)) return invalid("data_base64 is not a string");
        if (!isBase64(event_.data_base64)) return invalid("data_base64 is not standard base64");
        return absl::OkStatus();
    }

    void readTags() {
        if (scan_.kind() != JsonKind::kArray) {
            scan_.skip();
            return;
        }
        scan_.openArray();
        while (scan_.nextElement()) readText(event_.tags.emplace_back());
    }

    JsonScanner scan_;
    Event event_;
    bool has_data_ = false;
    absl::flat_hash_set<std::string> seen_;
    ObjectText extras_;
};

// Members of the row's extras that come from header fields, with their presence.
bool overrides(const Event& event, const JsonString& key) {
    return (!event.data_schema.empty() && textEquals(key, "dataschema")) ||
           (!event.signature.empty() && textEquals(key, "signature")) ||
           (!event.raw_event_id.empty() && textEquals(key, "raweventid")) ||
           (!event.tags.empty() && textEquals(key, "tags"));
}

std::string rowExtras(const Event& event) {
    if (event.data_schema.empty() && event.signature.empty() && event.raw_event_id.empty() && event.tags.empty()) {
        return event.extras_json.empty() ? "{}" : repaired(event.extras_json);
    }
    ObjectText object;
    JsonScanner scan(event.extras_json);
    JsonString key;
    if (scan.kind() == JsonKind::kObject && scan.openObject()) {
        while (scan.nextMember(key)) {
            scan.kind();
            const char* start = scan.position();
            if (!scan.skip()) break;
            if (!overrides(event, key))
                object.add(textOf(key), std::string_view(start, static_cast<std::size_t>(scan.position() - start)));
        }
    }
    if (!event.data_schema.empty()) object.addText("dataschema", event.data_schema);
    if (!event.signature.empty()) object.addText("signature", event.signature);
    if (!event.raw_event_id.empty()) object.addText("raweventid", event.raw_event_id);
    if (!event.tags.empty()) {
        std::string tags;
        for (const std::string& tag : event.tags) {
            tags += tags.empty() ? '[' : ',';
            appendQuoted(tags, tag);
        }
        object.add("tags", tags + "]");
    }
    return object.finish();
}

}  // namespace

absl::StatusOr<Event> parse(std::string_view text) { return Parser(text).run(); }

Row toRow(const Event& event) {
    Row row;
    row.subject = repaired(event.subject);
    row.time = floorDiv(event.time.micros, 1000) * 1000;
    row.type = repaired(event.type);
    row.id = repaired(event.id);
    row.source = repaired(event.source);
    row.producer = repaired(event.producer);
    row.data_content_type = repaired(event.data_content_type);
    row.data_version = repaired(event.data_version);
    row.extras = rowExtras(event);
    if (!event.data_base64.empty()) {
        row.data_base64 = event.data_base64;
    } else if (!event.data.empty()) {
        row.data = repaired(event.data);
    }
    return row;
}

}  // namespace dq::cloudevent
