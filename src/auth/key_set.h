// The state behind a KeySet. Inside of this folder only.
#pragma once
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "auth/auth.h"
#include "auth/jwk.h"

namespace dq::auth {

// Set in the thread of a fetch: curlGet() gives up soon after it becomes true, so that a process can end.
inline thread_local const std::atomic<bool>* fetch_abandoned = nullptr;

struct KeySet::Impl {
  public:
    explicit Impl(Options options);            // fetches
    explicit Impl(absl::StatusOr<Keys> keys);  // never does
    ~Impl();
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;

    // A set that holds `kid`. Unauthenticated: the key service does not know it. Unavailable: there is no set.
    absl::StatusOr<std::shared_ptr<const Keys>> keysWith(const std::string& kid);

  private:
    void run();
    absl::StatusOr<Keys> fetch() const;
    absl::StatusOr<std::string> discover(std::int64_t timeout_micros) const;
    bool mayFetch(std::int64_t now) const;
    void startFetch();
    void waitForFetch(std::unique_lock<std::mutex>& lock, std::int64_t micros);

    const Options options_;
    std::atomic<bool> stopping_{false};

    std::mutex mutex_;  // guards all below; never held during a fetch
    std::condition_variable changed_;
    std::shared_ptr<const Keys> keys_;
    std::int64_t fetched_at_ = 0;                // steady µs of the last success
    std::optional<std::int64_t> failed_at_;      // steady µs of the last fetch, if it failed
    std::optional<std::int64_t> asked_unknown_;  // steady µs of the last fetch for an unknown kid
    bool fetching_ = false;                      // wanted or running
    std::uint64_t fetches_ = 0;                  // ended ones
    std::thread thread_;                         // started by the first fetch
};

}  // namespace dq::auth
