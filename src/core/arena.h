// Bytes that live as long as their arena; Threads: one at a time.
#pragma once
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace dq {

class Arena {
  public:
    std::string_view copy(std::string_view text);
    char* allocate(std::size_t bytes);
    void reset();   // forgets the bytes, keeps the blocks
    void shrink();  // gives the blocks back too
    std::size_t bytesUsed() const { return used_; }
    std::size_t bytesHeld() const { return held_; }  // of its blocks, used or not

  private:
    static constexpr std::size_t kBlock = 64 * 1024;
    std::vector<std::pair<std::unique_ptr<char[]>, std::size_t>> blocks_;
    std::size_t block_ = 0, offset_ = 0, used_ = 0, held_ = 0;
};

}  // namespace dq
