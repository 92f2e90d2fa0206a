#include "core/cancel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace dq {
namespace {

using SteadyTime = std::chrono::steady_clock::time_point;

// Far enough to mean "never", near enough that the sum with the present does not overflow.
constexpr std::int64_t kLongestWaitMicros = 10LL * 365 * 86'400 * 1'000'000;

SteadyTime steadyAfter(std::int64_t micros) {
    return std::chrono::steady_clock::now() +
           std::chrono::microseconds(std::clamp<std::int64_t>(micros, 0, kLongestWaitMicros));
}

}  // namespace

// Lock order: a state's mutex is never held while another state's, or the deadline thread's, is taken.
class Cancel::State : public std::enable_shared_from_this<State> {
  public:
    State() = default;
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    // A new state that ends with `parent`. It keeps its parent alive, whose deadline it depends on.
    static std::shared_ptr<State> below(const std::shared_ptr<State>& parent);

    absl::StatusCode code() const { return code_.load(std::memory_order_acquire); }
    void end(absl::StatusCode code);
    std::uint64_t add(std::function<void()>& callback);  // 0: already ended, nothing was added
    void remove(std::uint64_t id);
    bool waitUntil(SteadyTime time);
    void setDeadline(SteadyTime time);

  private:
    std::shared_ptr<State> parent_;
    std::uint64_t id_in_parent_ = 0;
    std::uint64_t deadline_id_ = 0;
    SteadyTime deadline_{};

    std::atomic<absl::StatusCode> code_{absl::StatusCode::kOk};
    std::mutex mutex_;  // guards all below, and the change of code_
    std::condition_variable changed_;
    std::uint64_t next_id_ = 1;
    std::map<std::uint64_t, std::function<void()>> callbacks_;
    std::map<std::uint64_t, std::weak_ptr<State>> children_;
    std::uint64_t running_id_ = 0;
    std::thread::id running_thread_;
};

namespace {

// Ends states when their time comes. One object and one thread for the process, started by the first deadline and never
// destroyed: a state may outlive main().
class DeadlineThread {
  public:
    using State = Cancel::State;
    static DeadlineThread& instance() {
        static DeadlineThread* thread = new DeadlineThread();
        return *thread;
    }

    std::uint64_t add(SteadyTime time, std::weak_ptr<State> state) {
        std::lock_guard lock(mutex_);
        const std::uint64_t id = next_id_++;
        const auto added = entries_.emplace(std::make_pair(time, id), std::move(state)).first;
        if (added == entries_.begin()) changed_.notify_one();
        return id;
    }
    void remove(SteadyTime time, std::uint64_t id) {
        std::lock_guard lock(mutex_);
        entries_.erase({time, id});
    }

  private:
    DeadlineThread() {
        std::thread thread([this] { run(); });
        pthread_setname_np(thread.native_handle(), "dq-deadline");
        thread.detach();  // its object is never destroyed, and it touches nothing else that is
    }
    void run() {
        std::unique_lock lock(mutex_);
        for (;;) {
            if (entries_.empty()) {
                changed_.wait(lock);
                continue;
            }
            const auto first = entries_.begin();
            if (first->first.first > std::chrono::steady_clock::now()) {
                changed_.wait_until(lock, SteadyTime(first->first.first));
                continue;
            }
            std::weak_ptr<State> due = std::move(first->second);
            entries_.erase(first);
            lock.unlock();
            if (const std::shared_ptr<State> state = due.lock()) state->end(absl::StatusCode::kDeadlineExceeded);
            lock.lock();
        }
    }

    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    std::uint64_t next_id_ = 1;
    std::map<std::pair<SteadyTime, std::uint64_t>, std::weak_ptr<State>> entries_;
};

}  // namespace

Cancel::State::~State() {
    if (deadline_id_ != 0) DeadlineThread::instance().remove(deadline_, deadline_id_);
    if (parent_ && id_in_parent_ != 0) {
        std::lock_guard lock(parent_->mutex_);
        parent_->children_.erase(id_in_parent_);
    }
}

std::shared_ptr<Cancel::State> Cancel::State::below(const std::shared_ptr<State>& parent) {
    auto child = std::make_shared<State>();
    child->parent_ = parent;
    std::lock_guard lock(parent->mutex_);
    if (const absl::StatusCode code = parent->code(); code != absl::StatusCode::kOk) {
        child->code_.store(code, std::memory_order_release);
    } else {
        child->id_in_parent_ = parent->next_id_++;
        parent->children_.emplace(child->id_in_parent_, child);
    }
    return child;
}

void Cancel::State::end(absl::StatusCode code) {
    std::vector<std::shared_ptr<State>> children;
    {
        std::unique_lock lock(mutex_);
        if (this->code() != absl::StatusCode::kOk) return;
        code_.store(code, std::memory_order_release);
        changed_.notify_all();
        // Held by shared pointers that are released after the lock: a child's destructor takes this mutex.
        for (const auto& [id, weak] : children_) {
            if (auto child = weak.lock()) children.push_back(std::move(child));
        }
        running_thread_ = std::this_thread::get_id();
        while (!callbacks_.empty()) {
            auto node = callbacks_.extract(callbacks_.begin());
            running_id_ = node.key();
            lock.unlock();
            node.mapped()();
            node.mapped() = nullptr;  // what it captured ends before the guard's destructor may return
            lock.lock();
            running_id_ = 0;
            changed_.notify_all();
        }
    }
    for (const auto& child : children) child->end(code);
}

std::uint64_t Cancel::State::add(std::function<void()>& callback) {
    std::lock_guard lock(mutex_);
    if (code() != absl::StatusCode::kOk) return 0;
    const std::uint64_t id = next_id_++;
    callbacks_.emplace(id, std::move(callback));
    return id;
}

void Cancel::State::remove(std::uint64_t id) {
    decltype(callbacks_)::node_type removed;  // destroyed after the lock is released
    std::unique_lock lock(mutex_);
    removed = callbacks_.extract(id);
    if (!removed.empty() || running_thread_ == std::this_thread::get_id()) {
        lock.unlock();
        return;
    }
    changed_.wait(lock, [&] { return running_id_ != id; });
}

bool Cancel::State::waitUntil(SteadyTime time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, time, [&] { return code() != absl::StatusCode::kOk; });
}

void Cancel::State::setDeadline(SteadyTime time) {
    deadline_ = time;
    deadline_id_ = DeadlineThread::instance().add(time, weak_from_this());
}

Cancel::Guard::Guard(Guard&& other) noexcept : state_(std::move(other.state_)), id_(std::exchange(other.id_, 0)) {}

Cancel::Guard& Cancel::Guard::operator=(Guard&& other) noexcept {
    if (this != &other) {
        Guard ended(std::move(*this));
        state_ = std::move(other.state_);
        id_ = std::exchange(other.id_, 0);
    }
    return *this;
}

Cancel::Guard::~Guard() {
    if (state_) state_->remove(id_);
}

Cancel Cancel::root() { return Cancel(std::make_shared<State>()); }
Cancel Cancel::child() const { return Cancel(State::below(state_)); }

Cancel Cancel::withTimeout(std::int64_t micros) const {
    Cancel out = child();
    if (micros <= 0) {
        out.state_->end(absl::StatusCode::kDeadlineExceeded);
    } else if (!out.cancelled()) {
        out.state_->setDeadline(steadyAfter(micros));
    }
    return out;
}

void Cancel::cancel() const { state_->end(absl::StatusCode::kCancelled); }
bool Cancel::cancelled() const { return state_->code() != absl::StatusCode::kOk; }

absl::Status Cancel::check() const {
    switch (state_->code()) {
        case absl::StatusCode::kOk: return absl::OkStatus();
        case absl::StatusCode::kDeadlineExceeded: return absl::DeadlineExceededError("the time of the request is up");
        default: return absl::CancelledError("the request was cancelled");
    }
}

Cancel::Guard Cancel::onCancel(std::function<void()> callback) const {
    Guard guard;
    const std::uint64_t id = state_->add(callback);
    if (id == 0) {
        callback();
    } else {
        guard.state_ = state_;
        guard.id_ = id;
    }
    return guard;
}

bool Cancel::waitFor(std::int64_t micros) const { return state_->waitUntil(steadyAfter(micros)); }

}  // namespace dq
