#include "sent.h"

#include <algorithm>

#include "core/text.h"

namespace dq::race {

void Sent::announce(Side side, const DecodedRow& row) {
    std::lock_guard lock(mutex_);
    std::vector<std::string>& contents = rows_[side][row.identity];
    if (std::find(contents.begin(), contents.end(), row.content) == contents.end()) contents.push_back(row.content);
}

std::size_t Sent::count(Side side) const {
    std::lock_guard lock(mutex_);
    return rows_[side].size();
}

std::string Sent::difference(Side side, const std::vector<DecodedRow>& rest, bool all) const {
    constexpr int kShown = 5;
    int faults = 0;
    std::string out;
    const auto fault = [&](const char* what, const std::string& row) {
        if (++faults <= kShown) strAppend(&out, kSideNames[side], ": ", what, " ", row, "\n");
    };
    absl::flat_hash_set<std::string_view> seen;
    std::lock_guard lock(mutex_);
    for (const DecodedRow& row : rest) {
        if (!seen.insert(row.identity).second) {
            fault("twice", row.identity);
            continue;
        }
        const auto found = rows_[side].find(row.identity);
        if (found == rows_[side].end()) {
            fault("never sent", strCat(row.identity, " with ", row.content));
        } else if (std::find(found->second.begin(), found->second.end(), row.content) == found->second.end()) {
            fault("sent with another content:", strCat(row.identity, " rests with ", row.content));
        }
    }
    if (all) {
        for (const auto& [identity, contents] : rows_[side]) {
            if (!seen.contains(identity)) fault("missing", identity);
        }
    }
    if (faults > kShown) strAppend(&out, kSideNames[side], ": and ", faults - kShown, " more\n");
    return out;
}

std::string restSql(Side side) {
    constexpr const char* kIdentity = R"(concat_ws('|', subject, source, cloud_event_id, name, epoch_us("timestamp")))";
    if (side == kSignals) {
        return strCat("SELECT ", kIdentity, R"(,
            printf('%d|%s|%.17g|%s|%.17g|%.17g|%.17g|%.17g', subject_bucket, producer, value_number, value_string,
                   loc_lat, loc_lon, loc_hdop, loc_heading) FROM lake.signals)");
    }
    return strCat("SELECT ", kIdentity, R"(,
        concat_ws('|', subject_bucket, producer, type, data_version, duration_ns, metadata, array_to_string(tags, ','))
        FROM lake.events)");
}

}  // namespace dq::race
