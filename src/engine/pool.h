// A bounded pool of prepared connections of one instance, with the poison rules of lake.md §8.
//
//   DQ_ASSIGN_OR_RETURN(Lease lease, pool.acquire(cancel));
//   lease->query(...);   // back to the pool when the lease dies; discarded when broken() was called or it is too old
//
// `prepare` runs on every connection the pool mints (session settings, attach). Connections live ≤ 30 min, idle ≤ 5
// min.
// Threads: any; a Lease belongs to one thread. acquire() waits, first come first served, while all are in use, until
// the Cancel says stop. A connection that comes back inside a transaction is dropped.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>

#include "core/cancel.h"
#include "core/clock.h"
#include "core/metrics.h"
#include "engine/database.h"

namespace dq::engine {

class Pool {
  public:
    struct Options {
        std::string label;  // metric label: "query" or "materializer"
        int max_connections = 6;
        const Clock* clock = &systemClock();
        Metrics* metrics = nullptr;  // dq_db_pool_* series when given
    };
    using Prepare = std::function<absl::Status(Connection&)>;

    // A connection on loan.
    class Lease {
      public:
        Lease(Lease&&) noexcept;
        Lease& operator=(Lease&&) noexcept;
        ~Lease();
        Connection* operator->() const { return connection_.get(); }
        Connection& operator*() const { return *connection_; }
        // The pool drops this connection instead of reusing it.
        void broken() { broken_ = true; }
        // Minted after the last recycle() or replaceDatabase() (see PoisonWatch).
        bool fresh() const;

      private:
        friend class Pool;
        Lease(Pool* pool, std::unique_ptr<Connection> connection, std::int64_t born, std::uint64_t generation)
            : pool_(pool), connection_(std::move(connection)), born_(born), generation_(generation) {}
        Pool* pool_;
        std::unique_ptr<Connection> connection_;
        std::int64_t born_;
        std::uint64_t generation_;
        bool broken_ = false;
    };

    Pool(std::shared_ptr<Database> database, Prepare prepare, Options options);
    ~Pool();  // waits for no one: all leases must be back
    absl::StatusOr<Lease> acquire(const Cancel& cancel = Cancel::root());
    // Drops idle connections; those on loan are dropped when they come back ("recycle", and engine restart).
    void recycle();
    // Uses another instance from now on (engine restart). Statements that run on the old instance are interrupted, and
    // acquire() waits until its last connection on loan is back: two instances never work on one catalog file through
    // one pool. Who shares an instance between pools replaces it in all of them.
    void replaceDatabase(std::shared_ptr<Database> database);

  private:
    struct Impl;
    void giveBack(Lease& lease);
    std::shared_ptr<Impl> impl_;  // shared with the scrape callback, which may outlive the pool
};

}  // namespace dq::engine
