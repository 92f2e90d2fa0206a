// The line that `dq ingest` keeps up to date on a terminal: events, rate, share and time left where the input's size is
// known.
#pragma once
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "core/clock.h"

namespace dq::ingest {

struct ProgressState {
    std::uint64_t events = 0;
    std::int64_t elapsed_micros = 0;
    std::uint64_t position = 0;         // bytes of the inputs read
    std::optional<std::uint64_t> size;  // of all inputs
};

// "1,234,567 events  85,000/s  42 %  0:12 left"
std::string progressText(const ProgressState& state);

// Rewrites one line at most five times a second; does nothing when not enabled (no terminal). Threads: one.
class ProgressLine {
  public:
    ProgressLine(std::ostream& out, bool enabled, const Clock& clock);
    ~ProgressLine();  // clears the line
    ProgressLine(const ProgressLine&) = delete;
    void update(std::uint64_t events, std::uint64_t position, std::optional<std::uint64_t> size);
    // Removes the line, so that other text can be written.
    void clear();

  private:
    std::ostream& out_;
    bool enabled_;
    const Clock& clock_;
    std::int64_t started_, next_;
    std::size_t shown_ = 0;
};

}  // namespace dq::ingest
