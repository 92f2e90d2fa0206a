#include "decode/decoder.h"
#include "decode/scratch.h"

namespace dq::decode {
namespace {

constexpr std::size_t kKeptBytes = 8u << 20;

}  // namespace

std::string_view outcomeName(Outcome outcome) {
    switch (outcome) {
        case Outcome::kNone: return "none";
        case Outcome::kPartial: return "partial";
        case Outcome::kPayload: return "payload";
        case Outcome::kPanic: return "panic";
        case Outcome::kNonFinite: return "nonfinite";
        case Outcome::kSkipped: return "skipped";
    }
    return "unknown";
}

void Batch::clear() {
    signals.clear();
    events.clear();
    tags.clear();
    failed = 0;
    // One huge payload must not hold its room for ever.
    if (arena.bytesHeld() > kKeptBytes) {
        arena.shrink();
    } else {
        arena.reset();
    }
}

std::size_t Batch::bytes() const {
    return signals.size() * sizeof(SignalRow) + events.size() * sizeof(EventRow) +
           tags.size() * sizeof(std::string_view) + arena.bytesUsed();
}

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }
ScratchPtr makeScratch() { return ScratchPtr(new Scratch); }

}  // namespace dq::decode
