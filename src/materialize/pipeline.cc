#include "materialize/pipeline.h"

#include <pthread.h>

#include "core/status.h"

namespace dq::materialize {

Pipeline::Pipeline(engine::Result stream, const decode::Decoder& decoder, Payloads& payloads, Options options,
                   const Cancel& cancel)
    : decoder_(decoder), payloads_(payloads), options_(options), cancel_(cancel), stream_(std::move(stream)) {
    for (int i = 0; i < std::max(1, options_.workers); ++i) {
        workers_.emplace_back([this] {
            pthread_setname_np(pthread_self(), "dq-decode");
            work();
        });
    }
}

Pipeline::~Pipeline() { stop(); }

void Pipeline::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    workers_.clear();  // joins
}

std::optional<engine::Chunk> Pipeline::fetch(std::uint64_t& sequence) {
    std::lock_guard fetch_lock(fetch_mutex_);
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return stopping_ || ready_bytes_ < options_.byte_budget; });
        if (stopping_ || end_ != UINT64_MAX) return std::nullopt;
    }
    absl::StatusOr<std::optional<engine::Chunk>> chunk = stream_.next();
    std::lock_guard lock(mutex_);
    if (!chunk.ok() || !chunk->has_value()) {
        if (end_ == UINT64_MAX) {
            if (!chunk.ok()) status_ = chunk.status();
            end_ = fetched_;
        }
        changed_.notify_all();
        return std::nullopt;
    }
    sequence = fetched_++;
    return std::move(**chunk);
}

void Pipeline::work() {
    PageDecoder pages(decoder_, payloads_, std::max(1, blob::kMaxInFlight / std::max(1, options_.workers)));
    std::uint64_t sequence = 0;
    while (auto chunk = fetch(sequence)) {
        auto page = pages.decode(*chunk, cancel_);
        chunk.reset();
        std::lock_guard lock(mutex_);
        if (page.ok()) {
            ready_bytes_ += (*page)->bytes();
            ready_.emplace(sequence, *std::move(page));
        } else if (sequence < end_) {  // the span ends before this page
            end_ = sequence;
            status_ = page.status();
        }
        changed_.notify_all();
    }
}

absl::StatusOr<std::unique_ptr<Page>> Pipeline::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready_.contains(consumed_) || consumed_ >= end_; });
    if (auto found = ready_.find(consumed_); found != ready_.end()) {
        auto page = std::move(found->second);
        ready_.erase(found);
        ++consumed_;
        ready_bytes_ -= page->bytes();
        changed_.notify_all();
        return page;
    }
    if (!status_.ok()) return status_;
    return std::unique_ptr<Page>();
}

}  // namespace dq::materialize
