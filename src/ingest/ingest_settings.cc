#include "ingest/ingest_settings.h"

#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>

#include <cstdlib>

#include "core/status.h"
#include "core/text.h"
#include "ingest/ascii_text.h"

namespace dq::ingest {
namespace {

class Reader {
  public:
    explicit Reader(const SettingLookup& lookup) : lookup_(lookup) {}

    template <typename Number>
    void count(const std::string& name, Number& out) {
        const std::string text = get(name);
        std::uint64_t value = 0;
        if (text.empty()) return;
        if (!absl::SimpleAtoi(text, &value) || value == 0 || value > (std::uint64_t{1} << 40))
            return bad(name, "a whole number above 0");
        out = static_cast<Number>(value);
    }
    void duration(const std::string& name, std::int64_t& out_micros) {
        const std::string text = get(name);
        if (text.empty()) return;
        const StatusOr<std::int64_t> nanos = parseGoDuration(text);
        if (!nanos.ok() || *nanos < 0) return bad(name, "a duration such as 30s");
        out_micros = *nanos / 1000;
    }
    void flag(const std::string& name, bool& out) {
        const std::string text = lowerAscii(get(name));
        if (text.empty()) return;
        if (text == "true" || text == "1" || text == "t") {
            out = true;
        } else if (text == "false" || text == "0" || text == "f") {
            out = false;
        } else {
            bad(name, "true or false");
        }
    }
    std::string get(const std::string& name) { return lookup_(name).value_or(""); }
    void bad(const std::string& name, std::string_view wanted) { faults_.push_back(strCat(name, " must be ", wanted)); }
    Status status() const {
        return faults_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(absl::StrJoin(faults_, "; "));
    }

  private:
    const SettingLookup& lookup_;
    std::vector<std::string> faults_;
};

}  // namespace

StatusOr<IngestSettings> readIngestSettings(const SettingLookup& lookup) {
    IngestSettings settings;
    Reader reader(lookup);
    reader.count("SINK_MAX_ROWS_PER_FLUSH", settings.sink.max_rows);
    reader.count("SINK_MAX_BYTES_PER_FLUSH", settings.sink.max_bytes);
    reader.count("SINK_MIN_FLUSH_BYTES", settings.sink.min_flush_bytes);
    reader.duration("SINK_MAX_AGE", settings.sink.max_age_micros);
    reader.duration("SINK_MAX_AGE_HARD", settings.sink.max_age_hard_micros);
    reader.duration("SINK_DRAIN_TIMEOUT", settings.sink.drain_micros);
    reader.count("MAX_BODY_BYTES", settings.max_body_bytes);
    reader.count("DOCUMENT_SIZE_THRESHOLD", settings.document_size_threshold);
    reader.duration("ALLOWABLE_TIME_SKEW", settings.allowable_skew_micros);
    reader.flag("FINGERPRINT_VALIDATION", settings.fingerprint_validation);
    settings.token = reader.get("INGEST_TOKEN");
    if (std::any_of(settings.token.begin(), settings.token.end(), [](char c) { return c <= ' ' || c > '~'; })) {
        reader.bad("INGEST_TOKEN", "printable ASCII without blanks");
    }
    DQ_RETURN_IF_ERROR(reader.status());
    return settings;
}

StatusOr<IngestSettings> readIngestSettings() {
    return readIngestSettings([](const std::string& name) -> std::optional<std::string> {
        const char* value = std::getenv(name.c_str());
        return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
    });
}

}  // namespace dq::ingest
