// FNV-1a 32: the hash that assigns a subject to one of 256 lake partitions (`subject_bucket`). Part of the lake
// contract.
#pragma once
#include <cstdint>
#include <string_view>

namespace dq {

constexpr std::uint32_t fnv1a32(std::string_view bytes) {
    std::uint32_t h = 2166136261u;
    for (char c : bytes) {
        h ^= static_cast<unsigned char>(c);
        h *= 16777619u;
    }
    return h;
}
constexpr std::int32_t subjectBucket(std::string_view subject) {
    return static_cast<std::int32_t>(fnv1a32(subject) % 256);
}

}  // namespace dq
