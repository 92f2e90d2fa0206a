#include "http/worker_pool.h"

#include <absl/strings/str_cat.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

namespace dq::http {

void nameThisThread(const std::string& name) { pthread_setname_np(pthread_self(), name.substr(0, 15).c_str()); }

WorkerPool::WorkerPool(int threads, std::size_t max_queued, const std::string& name) : max_queued_(max_queued) {
    try {
        for (int i = 0; i < std::max(threads, 1); ++i) {
            threads_.emplace_back([this, label = absl::StrCat(name, "-", i)] {
                nameThisThread(label);
                run();
            });
        }
    } catch (...) {
        stop();
        throw;
    }
}

WorkerPool::~WorkerPool() { stop(); }

bool WorkerPool::tryPost(std::function<void()> job) {
    {
        std::lock_guard lock(mutex_);
        if (stopped_ || queue_.size() >= max_queued_) return false;
        queue_.push_back(std::move(job));
    }
    ready_.notify_one();
    return true;
}

void WorkerPool::stop() {
    std::deque<std::function<void()>> dropped;
    {
        std::lock_guard lock(mutex_);
        stopped_ = true;
        dropped.swap(queue_);
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) {
        if (thread.joinable()) thread.join();
    }
}

void WorkerPool::run() {
    for (;;) {
        std::function<void()> job;
        {
            std::unique_lock lock(mutex_);
            ready_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
            if (stopped_) return;
            job = std::move(queue_.front());
            queue_.pop_front();
        }
        job();
    }
}

}  // namespace dq::http
