// Decoding a streamed span on worker threads, pages in feed order.
//
// Each worker fetches the next chunk under a lock, decodes it outside of it, and hands it to the consumer, who gets
// pages in the order of the feed. Fetching stops while the pages not yet consumed hold more than the byte budget, so
// memory does not grow with the span: budget + per worker one chunk and what it decodes to.
//
//   Pipeline pipeline(std::move(stream), decoder, {.workers = 2}, cancel);
//   while (true) { DQ_ASSIGN_OR_RETURN(auto page, pipeline.next()); if (!page) break; use(*page); }
//
// Threads: next() belongs to one thread. The destructor stops the workers and waits for them.
#pragma once
#include <absl/status/statusor.h>

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/cancel.h"
#include "decode/decoder.h"
#include "engine/result.h"
#include "materialize/page.h"

namespace dq::materialize {

class Pipeline {
  public:
    struct Options {
        int workers = 1;
        std::size_t byte_budget = 64u << 20;
    };
    Pipeline(engine::Result stream, const decode::Decoder& decoder, Payloads& payloads, Options options,
             const Cancel& cancel);
    ~Pipeline();
    Pipeline(const Pipeline&) = delete;
    Pipeline& operator=(const Pipeline&) = delete;

    // Next page with at least one raw row; null at the end of the span; an error ends it.
    absl::StatusOr<std::unique_ptr<Page>> next();

  private:
    void work();
    std::optional<engine::Chunk> fetch(std::uint64_t& sequence);  // none at the end
    void stop();

    const decode::Decoder& decoder_;
    Payloads& payloads_;
    const Options options_;
    const Cancel cancel_;

    std::mutex fetch_mutex_;
    engine::Result stream_;      // guarded by fetch_mutex_
    std::uint64_t fetched_ = 0;  // guarded by fetch_mutex_

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, std::unique_ptr<Page>> ready_;  // guarded by mutex_, as all below
    absl::Status status_;
    std::uint64_t consumed_ = 0;
    std::uint64_t end_ = UINT64_MAX;  // number of pages, once known
    std::size_t ready_bytes_ = 0;
    bool stopping_ = false;
    std::vector<std::jthread> workers_;
};

}  // namespace dq::materialize
