// Any bytes, read in every format whole and in small pieces: the same items, none over its limit; then judged by both
// profiles, where whatever is accepted must be a storable row that its own JSON text gives again.
#include <cstdlib>

#include "ingest/event_json.h"
#include "ingest/reader.h"
#include "ingest/validate.h"

namespace {

using namespace dq::ingest;

constexpr std::size_t kLimit = 2000;

void require(bool condition) {
    if (!condition) std::abort();
}

std::vector<InputItem> itemsOf(std::string_view text, InputFormat format, std::size_t buffer) {
    ReaderOptions options{.format = format, .max_event_bytes = kLimit, .kept_bytes = 100, .buffer_bytes = buffer};
    EventReader reader(memorySource(text), options);
    std::vector<InputItem> items;
    while (true) {
        auto next = reader.next();
        require(next.ok());
        if (next->kind == ReadKind::kEnd) return items;
        require(next->item.text.size() <= kLimit);
        require(next->item.offset <= text.size());
        items.push_back(std::move(next->item));
    }
}

void judge(std::string_view text, Validator& validator) {
    Verdict verdict = validator.check(text);
    for (const auto& row : verdict.rows) {
        Verdict again = validator.check(rowJson(row));
        require(again.rows.size() == 1 || !again.fault.ok());
        // A header may outgrow its limit when its escapes are written out in full; nothing else may change the verdict.
        if (again.rows.empty()) continue;
        require(again.rows[0].id == row.id && again.rows[0].subject == row.subject && again.rows[0].time == row.time);
        require(again.rows[0].voids_id == row.voids_id && again.rows[0].data_base64 == row.data_base64);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    static Validator connection({});
    static Validator raw({.profile = Profile::kRaw, .source_rule = SourceRule::kTrust});
    for (const InputFormat format :
         {InputFormat::kAuto, InputFormat::kLines, InputFormat::kArray, InputFormat::kSingle}) {
        const auto whole = itemsOf(text, format, 1 << 16);
        const auto pieces = itemsOf(text, format, 16);
        require(whole.size() == pieces.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
            require(whole[i].text == pieces[i].text && whole[i].error == pieces[i].error &&
                    whole[i].line == pieces[i].line);
            if (!whole[i].error.empty()) continue;
            judge(whole[i].text, connection);
            judge(whole[i].text, raw);
        }
    }
    (void)gunzip(text, 1 << 16);
    return 0;
}
