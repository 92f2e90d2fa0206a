// Random waits, so that processes that failed together do not come back together. Threads: any.
#pragma once
#include <cstdint>

namespace dq {

// 0 … `bound`, both included.
std::int64_t jitter(std::int64_t bound);
// 0 … min(`first` · 2^`attempt`, `most`).
std::int64_t backoffMicros(std::int64_t first, std::int64_t most, int attempt);

}  // namespace dq
