// Named threads that run jobs of a bounded queue, in order.
//
//   WorkerPool pool(16, 1024, "dq-http");
//   if (!pool.tryPost([] { ... })) refuse();
//
// A job must not throw. The constructor throws std::system_error when a thread cannot be had. Threads: any; stop()
// not from a job.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dq::http {

class WorkerPool {
  public:
    WorkerPool(int threads, std::size_t max_queued, const std::string& name);
    ~WorkerPool();
    // False when the queue is full or the pool has stopped.
    bool tryPost(std::function<void()> job);
    // Drops the jobs that wait, lets the running ones end, joins.
    void stop();

  private:
    void run();

    const std::size_t max_queued_;
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::function<void()>> queue_;
    bool stopped_ = false;
    std::vector<std::thread> threads_;
};

// Name of the calling thread as debuggers show it (cut at 15 bytes).
void nameThisThread(const std::string& name);

}  // namespace dq::http
