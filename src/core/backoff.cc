#include "core/backoff.h"

#include <algorithm>
#include <random>

namespace dq {

std::int64_t jitter(std::int64_t bound) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    return std::uniform_int_distribution<std::int64_t>(0, bound)(random);
}

std::int64_t backoffMicros(std::int64_t first, std::int64_t most, int attempt) {
    std::int64_t bound = std::min(first, most);
    for (int i = 0; i < attempt && bound < most; ++i) bound = std::min(2 * bound, most);
    return jitter(bound);
}

}  // namespace dq
