// Bytes read and not yet used, contiguous. While a read into prepare() is under way, view() and consume() stay valid.
// Threads: one.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace dq::http {

class ReadBuffer {
  public:
    std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
    std::size_t size() const { return end_ - begin_; }
    std::size_t capacity() const { return capacity_; }
    void consume(std::size_t bytes) { begin_ += std::min(bytes, size()); }
    void commit(std::size_t bytes) { end_ += bytes; }

    // Room for `bytes` behind the data. A buffer grown for one large request shrinks again when it is empty.
    char* prepare(std::size_t bytes) {
        const std::size_t held = size();
        const bool oversized = held == 0 && capacity_ > kKeep;
        if (capacity_ - held < bytes || oversized) {
            const std::size_t wanted = oversized ? bytes : std::max(held + bytes, capacity_ * 2);
            auto grown = std::make_unique<char[]>(wanted);
            if (held > 0) std::memcpy(grown.get(), data_.get() + begin_, held);
            data_ = std::move(grown);
            capacity_ = wanted;
            begin_ = 0;
            end_ = held;
        } else if (capacity_ - end_ < bytes || held == 0) {
            if (held > 0) std::memmove(data_.get(), data_.get() + begin_, held);
            begin_ = 0;
            end_ = held;
        }
        return data_.get() + end_;
    }

  private:
    static constexpr std::size_t kKeep = 64 * 1024;
    std::unique_ptr<char[]> data_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

}  // namespace dq::http
