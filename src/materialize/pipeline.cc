#include "materialize/pipeline.h"

#include <pthread.h>

#include "core/status.h"
#include "lake/feed.h"

namespace dq::materialize {
namespace {

std::size_t chunkBytes(const engine::Chunk& chunk) {
    const auto data = chunk.strings(lake::kFeedData), base64 = chunk.strings(lake::kFeedDataBase64);
    std::size_t bytes = 0;
    for (idx_t row = 0; row < chunk.size(); ++row) bytes += data[row].size() + base64[row].size();
    // The chunk, the padded copy and the decoded rows are of like size.
    return 3 * bytes + chunk.size() * 512;
}

}  // namespace

Pipeline::Pipeline(engine::Result stream, const decode::Decoder& decoder, Options options, const Cancel& cancel)
    : decoder_(decoder), options_(options), cancel_(cancel), stream_(std::move(stream)) {
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

std::unique_ptr<Page> Pipeline::fetch(std::uint64_t& sequence) {
    std::lock_guard fetch_lock(fetch_mutex_);
    {
        std::unique_lock lock(mutex_);
        changed_.wait(lock,
                      [&] { return stopping_ || bytes_in_flight_ == 0 || bytes_in_flight_ < options_.byte_budget; });
        if (stopping_ || end_ != UINT64_MAX) return nullptr;
    }
    absl::StatusOr<std::optional<engine::Chunk>> chunk = stream_.next();
    std::lock_guard lock(mutex_);
    if (!chunk.ok() || !chunk->has_value()) {
        if (!chunk.ok()) status_ = chunk.status();
        end_ = fetched_;
        changed_.notify_all();
        return nullptr;
    }
    sequence = fetched_++;
    auto page = std::make_unique<Page>(std::move(**chunk));
    bytes_in_flight_ += chunkBytes(page->chunk);
    return page;
}

void Pipeline::work() {
    const decode::ScratchPtr scratch = decode::makeScratch();
    std::uint64_t sequence = 0;
    while (auto page = fetch(sequence)) {
        decodePage(decoder_, *scratch, *page);
        std::lock_guard lock(mutex_);
        ready_.emplace(sequence, std::move(page));
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
        bytes_in_flight_ -= chunkBytes(page->chunk);
        changed_.notify_all();
        return page;
    }
    if (!status_.ok()) return status_;
    return std::unique_ptr<Page>();
}

}  // namespace dq::materialize
