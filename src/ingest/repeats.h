// Finds texts that one run has seen before. Remembers at least the newest `generation` texts and at most twice as many,
// by half of a SHA-256 each, so that a run of any length stays within bounded memory (about 150 MB at the default).
#pragma once
#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <string_view>
#include <utility>

namespace dq::ingest {

class RepeatFilter {
  public:
    explicit RepeatFilter(std::size_t generation = 2'000'000) : generation_(generation) {}
    // True when the text was seen; else it is remembered.
    bool seen(std::string_view text);

  private:
    using Digest = std::pair<std::uint64_t, std::uint64_t>;
    std::size_t generation_;
    absl::flat_hash_set<Digest> now_, before_;
};

}  // namespace dq::ingest
