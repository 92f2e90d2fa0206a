#include "decode/decoder.h"

#include "cloudevent/base64.h"
#include "cloudevent/cloudevent.h"
#include "cloudevent/did.h"
#include "cloudevent/utf8.h"
#include "core/hash.h"
#include "decode/default_module.h"
#include "decode/module.h"
#include "decode/pipeline.h"
#include "decode/scratch.h"

namespace dq::decode {
namespace {

std::string_view cleanText(std::string_view text, Arena& arena) {
    if (cloudevent::isValidUtf8(text)) return text;
    std::size_t size = cloudevent::repairedSize(text);
    char* out = arena.allocate(size);
    cloudevent::repairTo(text, out);
    return std::string_view(out, size);
}

Header headerOf(const Input& input, Arena& arena) {
    Header header;
    header.subject = cleanText(input.subject, arena);
    header.source = cleanText(input.source, arena);
    header.producer = cleanText(input.producer, arena);
    header.id = cleanText(input.id, arena);
    header.data_version = cleanText(input.data_version, arena);
    header.bucket = subjectBucket(header.subject);
    return header;
}

// False when base64 text that should be decoded is malformed.
bool resolvePayload(const Input& input, bool repair, Arena& arena, std::string_view& payload) {
    payload = input.payload;
    if (!input.payload_is_base64_text) return true;
    payload = {};
    if (!repair) return true;
    char* out = arena.allocate(cloudevent::base64Bound(input.payload.size()));
    std::size_t size = 0;
    if (!cloudevent::decodeBase64(input.payload, out, size)) return false;
    payload = std::string_view(out, size);
    return true;
}

Outcome decodeSignals(const Module& module, const Work& work, Micros now, Batch& out) {
    std::vector<RawSignal>& raw = work.scratch.raw;
    raw.clear();
    Outcome outcome = module.signals(work, raw);
    if (outcome == Outcome::kPayload || outcome == Outcome::kPanic) return outcome;
    if (appendRows(work.header, now, raw, work.scratch.order, out)) {
        work.errors.add("a number is not finite");
        if (outcome == Outcome::kNone) outcome = Outcome::kNonFinite;
    }
    return outcome;
}

}  // namespace

EventRow& appendEvent(const Work& work, Batch& out) {
    EventRow& row = out.events.emplace_back();
    row = EventRow{};
    row.subject = work.header.subject;
    row.subject_bucket = work.header.bucket;
    row.source = work.header.source;
    row.producer = work.header.producer;
    row.cloud_event_id = work.header.id;
    row.data_version = work.header.data_version;
    row.first_tag = static_cast<std::uint32_t>(out.tags.size());
    return row;
}

Decoder::Decoder(Options options)
    : options_(std::move(options)), gate_(options_.vehicle_address_hex.find_first_not_of('0') != std::string::npos) {}

bool Decoder::wants(std::string_view type, std::string_view subject) const {
    if (type == cloudevent::kEventsType) return true;
    if (type != cloudevent::kStatusType) return false;
    return !gate_ || cloudevent::isTokenOf(subject, options_.chain_id, options_.vehicle_address_hex);
}

Outcome Decoder::decode(const Input& input, Scratch& scratch, Batch& out, std::string* why) const {
    Errors errors(why);
    if (!wants(input.type, input.subject)) return Outcome::kSkipped;
    const bool repair = options_.compat == Compat::kRepair;
    const Header header = headerOf(input, out.arena);
    std::string_view payload;
    Outcome outcome = Outcome::kPayload;
    if (resolvePayload(input, repair, out.arena, payload)) {
        const Work work{input, header, payload, repair, out.arena, scratch, errors};
        const Module& module = moduleOf(input.source);
        outcome = input.type == cloudevent::kEventsType ? module.events(work, out)
                                                        : decodeSignals(module, work, options_.clock->now(), out);
    } else {
        errors.add("the payload is not base64");
    }
    if (outcome != Outcome::kNone) ++out.failed;
    return outcome;
}

}  // namespace dq::decode
