// Compact JSON arrays of strings as they are stored in string signals (decode.md §8.1).
#pragma once
#include <string_view>

#include "decode/decoder.h"

namespace dq::decode {

// Builds `["a","b"]` in an arena. Bytes that HTML dislikes are escaped, invalid UTF-8 becomes \ufffd.
class JsonArrayText {
  public:
    // `bound`: bytes of all items together, `items`: how many at most.
    JsonArrayText(Arena& arena, std::size_t bound, std::size_t items)
        : start_(arena.allocate(6 * bound + 3 * items + 2)), end_(start_) {}
    void add(std::string_view text);
    std::string_view finish();

  private:
    void put(std::string_view text);
    char* start_;
    char* end_;
};

}  // namespace dq::decode
