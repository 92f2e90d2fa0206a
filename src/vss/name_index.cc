#include "vss/name_index.h"

#include "core/status.h"

namespace dq::vss {

NameIndex::NameIndex(std::span<const std::string_view> names) : names_(names.begin(), names.end()) {
    DQ_CHECK(names_.size() < kFree, "too many names for a NameIndex");
    // About one seed in five places 120 names without a collision; names that no seed tells apart are a defect of the
    // data.
    for (std::uint64_t attempt = 1; attempt <= 100'000; ++attempt) {
        seed_ = (attempt * 0xD1342543DE82EF95ull) | 1;
        slots_.fill(kFree);
        bool placed = true;
        for (std::size_t i = 0; i < names_.size() && placed; ++i) {
            std::uint8_t& slot = slots_[slotOf(names_[i], seed_)];
            placed = slot == kFree;
            slot = static_cast<std::uint8_t>(i);
        }
        if (placed) return;
    }
    DQ_CHECK(false, "no seed separates the names of a NameIndex");
}

}  // namespace dq::vss
