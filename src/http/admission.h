// Limits on requests in flight (server.md §5): one budget for the process, one per token subject.
//
// Threads: any. A Slot frees its place on every exit, a crash of its holder included.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/cancel.h"

namespace dq::http {

class Slot {
  public:
    Slot() = default;
    explicit Slot(std::function<void()> release) : release_(std::move(release)) {}
    Slot(Slot&& other) noexcept : release_(std::exchange(other.release_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept;
    ~Slot() {
        if (release_) release_();
    }

  private:
    std::function<void()> release_;
};

// At most `limit` at once (≤ 0: no limit); waits up to 100 ms for a place; nullopt when shed.
class GlobalLimiter {
  public:
    explicit GlobalLimiter(int limit, std::int64_t wait_micros = 100'000);
    ~GlobalLimiter();
    std::optional<Slot> enter(const Cancel& cancel);

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

// At most `limit` per key at once (≤ 0 or an empty key: no limit); never waits; a key at zero is forgotten.
class SubjectLimiter {
  public:
    explicit SubjectLimiter(int limit);
    ~SubjectLimiter();
    std::optional<Slot> enter(const std::string& key);
    std::size_t keys() const;

  private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

}  // namespace dq::http
