#include "core/arena.h"

#include <algorithm>
#include <cstring>

namespace dq {

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
    const std::size_t size = std::max(bytes, kBlock);
    blocks_.emplace_back(std::unique_ptr<char[]>(new char[size]), size);
    held_ += size;
    offset_ = bytes;
    return blocks_.back().first.get();
}

std::string_view Arena::copy(std::string_view text) {
    char* place = allocate(text.size());
    if (!text.empty()) std::memcpy(place, text.data(), text.size());
    return std::string_view(place, text.size());
}

void Arena::reset() { block_ = offset_ = used_ = 0; }

void Arena::shrink() {
    reset();
    blocks_.clear();
    held_ = 0;
}

}  // namespace dq
