#include "ingest/progress.h"

#include <fmt/format.h>

namespace dq::ingest {
namespace {

constexpr std::int64_t kUpdateMicros = 200'000;

std::string grouped(std::uint64_t number) {
    std::string digits = std::to_string(number);
    for (std::size_t place = digits.size(); place > 3;) digits.insert(place -= 3, ",");
    return digits;
}

}  // namespace

std::string progressText(const ProgressState& state) {
    const double seconds = std::max(static_cast<double>(state.elapsed_micros) / 1e6, 1e-3);
    std::string text = fmt::format("{} events  {}/s", grouped(state.events),
                                   grouped(static_cast<std::uint64_t>(static_cast<double>(state.events) / seconds)));
    if (!state.size || *state.size == 0) return text;
    const double share = std::min(1.0, static_cast<double>(state.position) / static_cast<double>(*state.size));
    text += fmt::format("  {:.0f} %", share * 100);
    if (share <= 0) return text;
    const auto left = static_cast<std::int64_t>(seconds / share * (1 - share) + 0.5);
    if (left >= 3600) return text + fmt::format("  {}:{:02}:{:02} left", left / 3600, left / 60 % 60, left % 60);
    return text + fmt::format("  {}:{:02} left", left / 60, left % 60);
}

ProgressLine::ProgressLine(std::ostream& out, bool enabled, const Clock& clock)
    : out_(out), enabled_(enabled), clock_(clock), started_(clock.steadyMicros()), next_(started_ + kUpdateMicros) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::update(std::uint64_t events, std::uint64_t position, std::optional<std::uint64_t> size) {
    if (!enabled_) return;
    const std::int64_t now = clock_.steadyMicros();
    if (now < next_) return;
    next_ = now + kUpdateMicros;
    const std::string text = progressText({events, now - started_, position, size});
    const std::size_t width = std::max(text.size(), shown_);
    out_ << '\r' << text << std::string(width - text.size(), ' ') << std::flush;
    shown_ = text.size();
}

void ProgressLine::clear() {
    if (shown_ == 0) return;
    out_ << '\r' << std::string(shown_, ' ') << '\r' << std::flush;
    shown_ = 0;
}

}  // namespace dq::ingest
