// What went wrong with single items of one payload: a count, and a capped text for whoever asked.
//
// Reasons are fixed texts and positions, never names or values of the payload, since they end in a log. Allocates
// only when a text was asked for.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace dq::decode {

class Errors {
  public:
    static constexpr std::size_t kMaxText = 1024;

    explicit Errors(std::string* why) : why_(why) {
        if (why_ != nullptr) why_->clear();
    }
    void add(std::string_view reason) { note(reason, kNoItem); }
    // `item` counts from 0 within the payload.
    void add(std::string_view reason, std::size_t item) { note(reason, item); }
    std::size_t count() const { return count_; }

  private:
    static constexpr std::size_t kNoItem = static_cast<std::size_t>(-1);

    void note(std::string_view reason, std::size_t item) {
        ++count_;
        if (why_ == nullptr || full_) return;
        std::size_t before = why_->size();
        if (before > 0) *why_ += "; ";
        if (item != kNoItem) *why_ += "item " + std::to_string(item) + ": ";
        *why_ += reason;
        if (why_->size() <= kMaxText) return;
        why_->resize(before);
        *why_ += "; …";
        full_ = true;
    }

    std::string* why_;
    std::size_t count_ = 0;
    bool full_ = false;
};

}  // namespace dq::decode
