#include "http/admission.h"

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>

namespace dq::http {

Slot& Slot::operator=(Slot&& other) noexcept {
    if (this != &other) {
        if (release_) release_();
        release_ = std::exchange(other.release_, nullptr);
    }
    return *this;
}

struct GlobalLimiter::Impl {
    struct Waiter {
        std::condition_variable changed;
        bool granted = false;
        bool cancelled = false;
    };

    Impl(int at_most, std::int64_t micros) : limit(at_most), wait_micros(micros) {}

    const int limit;
    const std::int64_t wait_micros;
    std::mutex mutex;
    int in_use = 0;
    std::list<Waiter*> waiters;  // the longest waiting first

    // A place freed goes straight to the first waiter: a newcomer cannot take it before that one has woken up.
    void releaseLocked() {
        if (waiters.empty()) {
            --in_use;
            return;
        }
        Waiter* next = waiters.front();
        waiters.pop_front();
        next->granted = true;
        next->changed.notify_one();
    }

    bool waitForPlace(const Cancel& cancel) {
        Waiter self;
        {
            std::lock_guard lock(mutex);
            if (in_use < limit) {
                ++in_use;
                return true;
            }
            waiters.push_back(&self);
        }
        // Declared after `self` and outside the lock: the guard's end waits for its callback, which takes the lock.
        const Cancel::Guard guard = cancel.onCancel([this, &self] {
            std::lock_guard lock(mutex);
            self.cancelled = true;
            self.changed.notify_one();
        });
        std::unique_lock lock(mutex);
        self.changed.wait_for(lock, std::chrono::microseconds(wait_micros),
                              [&] { return self.granted || self.cancelled; });
        if (!self.granted) {
            waiters.remove(&self);
            return false;
        }
        if (self.cancelled) {
            releaseLocked();
            return false;
        }
        return true;
    }
};

GlobalLimiter::GlobalLimiter(int limit, std::int64_t wait_micros) : impl_(std::make_shared<Impl>(limit, wait_micros)) {}
GlobalLimiter::~GlobalLimiter() = default;

std::optional<Slot> GlobalLimiter::enter(const Cancel& cancel) {
    if (impl_->limit <= 0) return Slot();
    if (!impl_->waitForPlace(cancel)) return std::nullopt;
    return Slot([impl = impl_] {
        std::lock_guard lock(impl->mutex);
        impl->releaseLocked();
    });
}

struct SubjectLimiter::Impl {
    explicit Impl(int at_most) : limit(at_most) {}

    const int limit;
    mutable std::mutex mutex;
    absl::flat_hash_map<std::string, int> in_use;
};

SubjectLimiter::SubjectLimiter(int limit) : impl_(std::make_shared<Impl>(limit)) {}
SubjectLimiter::~SubjectLimiter() = default;

std::optional<Slot> SubjectLimiter::enter(const std::string& key) {
    if (impl_->limit <= 0 || key.empty()) return Slot();
    {
        std::lock_guard lock(impl_->mutex);
        int& count = impl_->in_use[key];
        if (count >= impl_->limit) return std::nullopt;
        ++count;
    }
    return Slot([impl = impl_, key] {
        std::lock_guard lock(impl->mutex);
        const auto found = impl->in_use.find(key);
        if (found != impl->in_use.end() && --found->second == 0) impl->in_use.erase(found);
    });
}

std::size_t SubjectLimiter::keys() const {
    std::lock_guard lock(impl_->mutex);
    return impl_->in_use.size();
}

}  // namespace dq::http
