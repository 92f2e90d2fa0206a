#include "decode/strict_json.h"

#include <charconv>

#include "cloudevent/utf8.h"

namespace dq::decode {

using cloudevent::JsonKind;
using cloudevent::JsonScanner;
using cloudevent::JsonString;

std::string_view strictText(const JsonString& text, Arena& arena) {
    if (text.plain() || cloudevent::isVerbatim(text)) return text.raw;
    char* out = arena.allocate(cloudevent::textBound(text));
    return std::string_view(out, cloudevent::decodeText(text, out));
}

bool readStrictText(JsonScanner& scan, Arena& arena, std::string_view& out) {
    JsonKind kind = scan.kind();
    if (kind == JsonKind::kNull) return scan.readLiteral();
    JsonString text;
    if (kind != JsonKind::kString || !scan.readString(text)) return false;
    out = strictText(text, arena);
    return true;
}

bool readStrictUint64(JsonScanner& scan, std::uint64_t& out) {
    JsonKind kind = scan.kind();
    if (kind == JsonKind::kNull) return scan.readLiteral();
    cloudevent::JsonNumber number;
    if (kind != JsonKind::kNumber || !scan.readNumber(number)) return false;
    const char* end = number.text.data() + number.text.size();
    auto [stop, error] = std::from_chars(number.text.data(), end, out);
    return error == std::errc() && stop == end;
}

bool StrictTime::read(JsonScanner& scan, Instant& out) {
    JsonKind kind = scan.kind();
    if (kind == JsonKind::kNull) return scan.readLiteral();
    JsonString text;
    if (kind != JsonKind::kString || !scan.readString(text)) return false;
    if (text_.empty() || text.raw != text_) {
        auto time = parseRfc3339(text.raw);
        if (!time) return false;
        text_ = text.raw;
        time_ = *time;
    }
    out = time_;
    return true;
}

}  // namespace dq::decode
