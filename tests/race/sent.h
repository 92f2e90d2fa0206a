// What was sent to a lake and so what its decoded tables must hold; kept outside the lake.
//
// A row is known by its identity (subject, source, cloud_event_id, name, timestamp) and has a content (all other
// columns). An identity that was sent with several contents may rest with any one of them. Threads: any.
#pragma once
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <array>
#include <mutex>
#include <string>
#include <vector>

namespace dq::race {

enum Side : int { kSignals, kEvents };
inline constexpr std::array<const char*, 2> kSideNames{"signals", "events"};

struct DecodedRow {
    std::string identity, content;
};

class Sent {
  public:
    // Before the append: a reader may see the row as soon as it has committed.
    void announce(Side side, const DecodedRow& row);
    // "" when the rows are sent ones, each identity once; `all`: and none is missing.
    std::string difference(Side side, const std::vector<DecodedRow>& rest, bool all) const;
    std::size_t count(Side side) const;

  private:
    mutable std::mutex mutex_;
    std::array<absl::flat_hash_map<std::string, std::vector<std::string>>, 2> rows_;  // guarded by mutex_
};

// SELECT of identity and content of every row of lake.signals or lake.events; both are the texts that `Sent` holds.
std::string restSql(Side side);

}  // namespace dq::race
