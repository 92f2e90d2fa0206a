// Engine profile of one read: how many data files its largest scan opened (lake.md §9).
//
//   ReadProfile profile(*lease, directory);          // arms the connection; its plans go to a scratch file
//   … the read, drained …
//   std::optional<uint64_t> files = profile.finish();   // reads and deletes the file
//   if (!profile.disarmed()) lease.broken();
//
// Nothing here fails the read, and no plan reaches stdout: the file is the only output. Threads: that of the
// connection.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/database.h"

namespace dq::query {

// The largest "Total Files Read" of any operator of an engine profile in JSON; nullopt when there is none above 0, or
// for other text.
std::optional<std::uint64_t> filesReadOf(std::string_view profile);

class ReadProfile {
  public:
    // `directory` empty: that of the operating system.
    ReadProfile(engine::Connection& connection, const std::string& directory);
    ~ReadProfile();
    ReadProfile(const ReadProfile&) = delete;
    ReadProfile& operator=(const ReadProfile&) = delete;

    bool armed() const { return armed_; }
    std::optional<std::uint64_t> finish();
    bool disarmed() const { return disarmed_; }

  private:
    engine::Connection& connection_;
    std::string path_;
    bool armed_ = false, disarmed_ = true;
};

}  // namespace dq::query
