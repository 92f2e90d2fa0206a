#include "lake/row_block.h"

#include <absl/hash/hash.h>

#include <tuple>

namespace dq::lake {
namespace {

// Texts longer than this are seldom equal, and comparing them costs more than a copy.
constexpr std::size_t kSharedBytes = 128;

template <typename T>
std::size_t heldBy(const std::vector<T>& items) {
    return items.capacity() * sizeof(T);
}

}  // namespace

engine::Text RowBlock::keep(std::string_view text) {
    return engine::Text(text.size() <= engine::Text::kInPlace ? text : arena_.copy(text));
}

std::uint32_t RowBlock::once(std::string_view text) {
    if (auto found = known_.find(text); found != known_.end()) return found->second;
    const auto index = static_cast<std::uint32_t>(texts_.size());
    const std::string_view kept = arena_.copy(text);
    texts_.push_back(engine::Text(kept));
    known_.emplace(kept, index);
    return index;
}

engine::Text RowBlock::shared(std::string_view text) {
    if (text.size() <= engine::Text::kInPlace || text.size() > kSharedBytes) return keep(text);
    return texts_[once(text)];
}

std::uint32_t RowBlock::header(const HeaderTexts& texts, std::int32_t bucket) {
    const auto is = [&](const RowHeader& last) {
        return last.cloud_event_id.view() == texts.cloud_event_id && last.subject.view() == texts.subject &&
               last.source.view() == texts.source && last.producer.view() == texts.producer &&
               last.data_version.view() == texts.data_version;
    };
    if (headers_.empty() || !is(headers_.back())) {
        RowHeader& header = headers_.emplace_back();
        header.subject = shared(texts.subject);
        header.source = shared(texts.source);
        header.producer = shared(texts.producer);
        header.cloud_event_id = keep(texts.cloud_event_id);
        header.data_version = shared(texts.data_version);
        header.bucket = bucket;
        header.hash = absl::HashOf(std::tie(texts.subject, texts.source, texts.cloud_event_id));
    }
    return static_cast<std::uint32_t>(headers_.size() - 1);
}

void RowBlock::seal() {
    known_ = {};
    headers_.shrink_to_fit();
    signals_.shrink_to_fit();
    rests_.shrink_to_fit();
    events_.shrink_to_fit();
    tags_.shrink_to_fit();
    texts_.shrink_to_fit();
}

std::size_t RowBlock::bytes() const {
    return sizeof(*this) + arena_.bytesHeld() + heldBy(headers_) + heldBy(signals_) + heldBy(rests_) + heldBy(events_) +
           heldBy(tags_) + heldBy(texts_);
}

std::size_t RowBlock::used() const {
    return arena_.bytesUsed() + headers_.size() * sizeof(RowHeader) + signals_.size() * sizeof(SignalCells) +
           rests_.size() * sizeof(SignalRest) + events_.size() * sizeof(EventCells) +
           (tags_.size() + texts_.size()) * sizeof(engine::Text);
}

}  // namespace dq::lake
