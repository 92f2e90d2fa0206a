// The attached lake: one DuckLake catalog (a DuckDB file or PostgreSQL) seen through pooled connections.
//
// A file catalog has one engine instance per process, shared by the reading and the writing side (two instances
// diverge silently and corrupt it); PostgreSQL gets one instance per side, so that a poisoned writer does not take
// reads down. Every connection is prepared alike: limits, TimeZone UTC, extensions, secret, then `lake` (the
// catalog) and `meta` (progress reports) attached.
//
//   DQ_ASSIGN_OR_RETURN(auto lakes, Lakes::open(config, /*writer=*/true, metrics));
//   DQ_ASSIGN_OR_RETURN(auto connection, lakes->reader().acquire(cancel));
//
// Threads: any. Errors: Unavailable when the catalog is away, FailedPrecondition for an encryption mismatch or a
// held catalog file, InvalidArgument for a setting the engine refuses (the text names the statement, secrets cut).
#pragma once
#include <absl/status/statusor.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/clock.h"
#include "core/metrics.h"
#include "engine/database.h"
#include "engine/pool.h"

namespace dq::lake {

enum class CatalogKind { kFile, kPostgres };

struct S3Config {
    bool enabled = false;  // the lake path or a legacy BLOB_BUCKET needs S3
    std::string region, access_key_id, secret_access_key, endpoint;
};

struct LakeConfig {
    std::string catalog_dsn;       // DUCKLAKE_CATALOG_DSN, required
    std::string catalog_read_dsn;  // replica, read-only attaches only
    std::string data_path;
    bool read_only = false;  // effective: never with a writer
    bool encryption = false;
    std::string memory_limit, query_memory_limit, temp_directory, extension_directory;
    int threads = 0;  // <= 0: engine default
    int max_connections = 6;
    S3Config s3;
};

// Postgres iff it starts with postgres:// or postgresql://, or contains host= or dbname=.
CatalogKind catalogKind(std::string_view dsn);
// Adds a connect_timeout of 10 s to a Postgres DSN that has none.
std::string withConnectTimeout(std::string_view dsn);
// The statements of lake.md §1.2, §2.2, §2.3, in order; `query_side` chooses the memory limit. Those of the session
// run on every connection, the others (instance-wide) on the first one only.
struct BootstrapStatement {
    std::string text;
    bool session = false;
    bool tolerate_spilled_temp_directory = false;  // §1.3
};
std::vector<BootstrapStatement> bootstrapStatements(const LakeConfig& config, bool query_side, bool writer_process);

// One side (query or materializer) of the lake: a pool over an engine instance.
class Lake {
  public:
    absl::StatusOr<engine::Pool::Lease> acquire(const Cancel& cancel = Cancel::root()) {
        return pool_->acquire(cancel);
    }
    engine::Pool& pool() { return *pool_; }
    CatalogKind kind() const { return kind_; }
    bool readOnly() const { return config_.read_only; }
    const LakeConfig& config() const { return config_; }
    // The instance's commit lock (materializer.md §13.1): held from a writing transaction's first lake access to its
    // outcome.
    std::mutex& commitLock() { return *commit_lock_; }

    // A fresh engine instance in place of a dead one; both sides of a file catalog get the same (lake.md §8).
    // Leaves an instance alone that answers, since the other side may have done it already, unless `though_it_answers`.
    absl::Status restartEngine(bool though_it_answers = false);

  private:
    friend class Lakes;
    struct Instance;  // what the sides that share one engine instance share
    Lake(LakeConfig config, std::shared_ptr<Instance> instance, bool query_side, bool writer_process, Metrics* metrics,
         const Clock* clock);
    absl::Status prepare(engine::Connection& connection);

    LakeConfig config_;
    CatalogKind kind_;
    std::shared_ptr<Instance> instance_;
    std::vector<BootstrapStatement> bootstrap_;
    std::mutex* commit_lock_;
    std::unique_ptr<engine::Pool> pool_;
};

class Lakes {
  public:
    // Opens the reading side, and the writing side when `writer`; one connection of each is opened at once, so that
    // bad settings fail here. A writer also checks the catalog's encryption against the setting, before any write.
    static absl::StatusOr<std::unique_ptr<Lakes>> open(LakeConfig config, bool writer, Metrics* metrics = nullptr,
                                                       const Clock* clock = &systemClock());
    Lake& reader() { return *reader_; }
    Lake& writer() { return *writer_; }  // only when opened with `writer`
    bool hasWriter() const { return writer_ != nullptr; }

  private:
    std::unique_ptr<Lake> reader_, writer_;
};

// The engine's memory limit in bytes, as it stands.
absl::StatusOr<std::size_t> memoryLimit(engine::Connection& connection, const Cancel& cancel);

}  // namespace dq::lake
