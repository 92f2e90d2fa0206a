// What a download asks its caller: room for its bytes before it reads them, and whether to go on. Called from Rust.
#pragma once
#include <cstdint>
#include <functional>

#include "core/cancel.h"

namespace dq::blob {

class GetGuard {
  public:
    // Blocks until `bytes` may be held; false when cancelled.
    using Admit = std::function<bool(std::uint64_t bytes)>;
    GetGuard(Cancel cancel, Admit admit) : cancel_(std::move(cancel)), admit_(std::move(admit)) {}
    bool admit(std::uint64_t bytes) const { return !cancel_.cancelled() && (!admit_ || admit_(bytes)); }
    bool cancelled() const { return cancel_.cancelled(); }

  private:
    Cancel cancel_;
    Admit admit_;
};

}  // namespace dq::blob
