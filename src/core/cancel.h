// Cancellation and deadlines of one unit of work (a request, a pass, a command).
//
// A Cancel is a cheap handle (shared state); copies see the same state. Work asks cancelled() at its safe points;
// blocking work registers a callback that interrupts it (the engine registers duckdb_interrupt). A child is cancelled
// with its parent.
//
//   Cancel request = Cancel::root().withTimeout(60 * kMicrosPerSecond);
//   auto guard = request.onCancel([&] { connection.interrupt(); });
//   if (Status s = request.check(); !s.ok()) return s;
//
// Threads: everything may be called from any thread. A callback runs once, on the cancelling thread or the deadline
// thread, or at once when the state is already cancelled; it must not block. Destroying the guard waits for a callback
// that is running.
#pragma once
#include <absl/status/status.h>

#include <cstdint>
#include <functional>
#include <memory>

namespace dq {

class Cancel {
  public:
    class State;
    // Unregisters its callback when destroyed.
    class Guard {
      public:
        Guard() = default;
        Guard(Guard&&) noexcept;
        Guard& operator=(Guard&&) noexcept;
        ~Guard();

      private:
        friend class Cancel;
        std::shared_ptr<State> state_;
        std::uint64_t id_ = 0;
    };

    static Cancel root();                           // never cancelled unless cancel() is called on it
    Cancel child() const;                           // cancelled with its parent, or alone
    Cancel withTimeout(std::int64_t micros) const;  // child that ends with DeadlineExceeded after `micros`

    void cancel() const;  // ends with Cancelled; later calls change nothing
    bool cancelled() const;
    absl::Status check() const;  // OK, Cancelled or DeadlineExceeded
    [[nodiscard]] Guard onCancel(std::function<void()> callback) const;
    // Waits until cancelled or until `micros` have passed; true when cancelled.
    bool waitFor(std::int64_t micros) const;

  private:
    explicit Cancel(std::shared_ptr<State> state) : state_(std::move(state)) {}
    std::shared_ptr<State> state_;
};

}  // namespace dq
