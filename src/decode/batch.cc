#include <algorithm>
#include <cstring>

#include "decode/decoder.h"
#include "decode/scratch.h"

namespace dq::decode {

char* Arena::allocate(std::size_t bytes) {
    used_ += bytes;
    while (block_ < blocks_.size()) {
        if (blocks_[block_].second - offset_ >= bytes) {
            char* place = blocks_[block_].first.get() + offset_;
            offset_ += bytes;
            return place;
        }
        ++block_;
        offset_ = 0;
    }
    std::size_t size = std::max(bytes, kBlock);
    blocks_.emplace_back(std::unique_ptr<char[]>(new char[size]), size);
    offset_ = bytes;
    return blocks_.back().first.get();
}

std::string_view Arena::copy(std::string_view text) {
    char* place = allocate(text.size());
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
    return std::string_view(place, text.size());
}

void Arena::reset() { block_ = offset_ = used_ = 0; }

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
    arena.reset();
}

std::size_t Batch::bytes() const {
    return signals.size() * sizeof(SignalRow) + events.size() * sizeof(EventRow) +
           tags.size() * sizeof(std::string_view) + arena.bytesUsed();
}

void ScratchDeleter::operator()(Scratch* scratch) const { delete scratch; }
ScratchPtr makeScratch() { return ScratchPtr(new Scratch); }

}  // namespace dq::decode
