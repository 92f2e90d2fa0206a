// A collision-free hash table from a fixed set of names to their positions: one hash, one byte load, one compare a
// lookup.
//
// Built once from names that outlive it; immutable afterwards, so any thread may look up.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace dq::vss {

class NameIndex {
  public:
    // At most 254 distinct names.
    explicit NameIndex(std::span<const std::string_view> names);

    // Position of `name` in the list given, or -1. Exact bytes.
    int find(std::string_view name) const {
        std::uint8_t at = slots_[slotOf(name, seed_)];
        if (at == kFree) return -1;
        return names_[at] == name ? at : -1;
    }

  private:
    static constexpr std::size_t kSlotBits = 12;
    static constexpr std::uint8_t kFree = 255;

    // The top bits of a last product: those that every bit of the name reaches.
    static std::size_t slotOf(std::string_view name, std::uint64_t seed) {
        return (hash(name, seed) * seed) >> (64 - kSlotBits);
    }
    // Eight bytes a step, the last step overlapping the one before.
    static std::uint64_t hash(std::string_view name, std::uint64_t seed) {
        std::uint64_t h = name.size() * seed;
        const char* p = name.data();
        std::size_t left = name.size();
        for (; left > 8; left -= 8, p += 8) h = mix(h ^ load(p), seed);
        if (name.size() >= 8) return mix(h ^ load(p + left - 8), seed);
        std::uint64_t tail = 0;
        for (char c : name) tail = tail << 8 | static_cast<unsigned char>(c);
        return mix(h ^ tail, seed);
    }
    static std::uint64_t load(const char* p) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        return word;
    }
    static std::uint64_t mix(std::uint64_t h, std::uint64_t seed) {
        h *= seed;
        return h ^ h >> 32;
    }

    std::uint64_t seed_ = 0;
    std::vector<std::string_view> names_;
    std::array<std::uint8_t, 1u << kSlotBits> slots_;
};

}  // namespace dq::vss
