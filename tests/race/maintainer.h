// Maintenance of a lake beside its writer, as the owner of raw_events runs it every few minutes; here as fast as it
// goes.
//
// One round: flush inlined rows, merge files, rewrite files with deleted rows, expire snapshots, delete files that
// nothing needs any more. Snapshots at or below the least reported position expire (lake.md §3.8); at times also later
// ones, as after an outage of the decoder. Threads: one.
#pragma once
#include <map>
#include <random>
#include <string>

#include "core/cancel.h"
#include "lake/lake.h"

namespace dq::race {

class Maintainer {
  public:
    // `deletes`: at times raw rows that are decoded are deleted, as an operator may, so that rewrites meet
    // raw_events too.
    Maintainer(lake::Lake& lake, std::uint64_t seed, bool deletes) : lake_(lake), random_(seed), deletes_(deletes) {}

    void run(const Cancel& stop);

    std::int64_t done() const { return done_; }  // statements that succeeded
    std::int64_t conflicts() const { return conflicts_; }
    std::int64_t closerExpiries() const { return closer_expiries_; }
    std::int64_t deleted() const { return deleted_; }
    // Errors that are no commit conflicts: text → how often.
    const std::map<std::string, int>& errors() const { return errors_; }

  private:
    void round();
    Status call(const std::string& statement);
    Status deleteDecoded(engine::Connection& connection);
    Status expire(engine::Connection& connection);
    std::uint64_t below(std::uint64_t bound) { return random_() % bound; }

    lake::Lake& lake_;
    std::mt19937_64 random_;
    const bool deletes_;
    std::int64_t done_ = 0, conflicts_ = 0, closer_expiries_ = 0, deleted_ = 0;
    std::map<std::string, int> errors_;
};

}  // namespace dq::race
