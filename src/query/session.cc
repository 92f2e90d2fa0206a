#include "query/session.h"

#include "core/log.h"
#include "query/profile.h"

namespace dq::query {
namespace {

using engine::ErrorClass;

// Another connection, with another snapshot, may do better: poisoned sessions and instances, and files that maintenance
// took away.
bool worthRepeating(const Status& outcome) {
    switch (engine::errorClass(outcome)) {
        case ErrorClass::kSessionAborted:
        case ErrorClass::kEngineDead:
        case ErrorClass::kUnavailable: return true;
        case ErrorClass::kOther: return outcome.code() == absl::StatusCode::kInternal;
        default: return false;
    }
}

}  // namespace

StatusOr<engine::Pool::Lease> LakeReader::lease(const Cancel& cancel) {
    StatusOr<engine::Pool::Lease> lease = lake.acquire(cancel);
    if (engine::errorClass(lease.status()) == ErrorClass::kEngineDead) {
        std::optional<engine::Pool::Lease> none;
        observe(lease.status(), none);
        lease = lake.acquire(cancel);
    }
    DQ_RETURN_IF_ERROR(lease.status());
    DQ_RETURN_IF_ERROR((*lease)->execute("BEGIN TRANSACTION READ ONLY", cancel).status());
    return lease;
}

void LakeReader::observe(const Status& outcome, std::optional<engine::Pool::Lease>& lease) {
    const bool fresh = !lease || lease->fresh();
    switch (watch_.observe(outcome, fresh)) {
        case engine::PoisonWatch::Action::kNone: return;
        case engine::PoisonWatch::Action::kRecycle:
            if (lease) lease->broken();
            lake.pool().recycle();
            log.countRecycle();
            logWarn("catalog session aborted: connections recycled");
            return;
        case engine::PoisonWatch::Action::kRestart: break;
    }
    const std::lock_guard lock(restart_mutex_);
    const bool stale = lease && !lease->fresh();  // another read has restarted the engine meanwhile
    if (lease) lease->broken();
    lease.reset();
    if (stale) return;
    const Status restarted = lake.restartEngine();
    watch_.reset();
    if (restarted.ok()) {
        logError("engine restarted after a fatal error");
    } else {
        logError("engine cannot be restarted", {{"error", restarted.message()}});
    }
}

void LakeReader::warnContradiction() {
    std::call_once(contradiction_, [&] {
        logWarn("LAKE_ROLLUP_DAILY_SERVING differs from what the lake records about signals_latest; the record decides",
                {{"setting", options.daily_serving}});
    });
}

Status LakeSession::open() {
    DQ_ASSIGN_OR_RETURN(engine::Pool::Lease lease, reader.lease(cancel));
    lease_.emplace(std::move(lease));
    return absl::OkStatus();
}

// Nothing was written, so ROLLBACK ends the transaction as well as COMMIT would, and also when a statement has aborted
// it.
void LakeSession::close() {
    if (!lease_) return;
    if ((*lease_)->inTransaction() && !(*lease_)->execute("ROLLBACK").ok()) lease_->broken();
    lease_.reset();
}

Status LakeSession::read(std::string_view op, const engine::Sql& sql, const std::function<void()>& restart,
                         const std::function<void(const engine::Chunk&)>& consume) {
    DQ_RETURN_IF_ERROR(failed_);
    for (bool repeated = false;; repeated = true) {
        restart();
        const Status outcome = drain(op, sql, consume);
        reader.observe(outcome, lease_);
        if (outcome.ok() || engine::errorClass(outcome) == ErrorClass::kMissingTable) {
            pinned_ = true;
            return outcome;
        }
        const bool again = !repeated && !pinned_ && worthRepeating(outcome) && !cancel.cancelled();
        if (lease_ && engine::errorClass(outcome) != ErrorClass::kInterrupted) lease_->broken();
        close();
        failed_ = again ? open() : outcome;
        DQ_RETURN_IF_ERROR(failed_);
    }
}

Status LakeSession::drain(std::string_view op, const engine::Sql& sql,
                          const std::function<void(const engine::Chunk&)>& consume) {
    std::optional<ReadProfile> profile;
    if (reader.options.profile_reads && !reader.log.profilingDisabled())
        profile.emplace(**lease_, reader.lake.config().temp_directory);
    const ReadLog::Read read = reader.log.begin(op);
    std::uint64_t rows = 0;
    const Status outcome = stream(sql, consume, rows);
    reader.log.finish(read, sql, rows);
    if (!profile) return outcome;
    if (const auto files = profile->finish()) reader.log.observeFiles(op, *files);
    if (!profile->disarmed()) {
        lease_->broken();
        reader.log.disableProfiling();
    }
    return outcome;
}

Status LakeSession::stream(const engine::Sql& sql, const std::function<void(const engine::Chunk&)>& consume,
                           std::uint64_t& rows) {
    DQ_ASSIGN_OR_RETURN(engine::Result result, (*lease_)->stream(sql, cancel));
    while (true) {
        DQ_ASSIGN_OR_RETURN(std::optional<engine::Chunk> chunk, result.next());
        if (!chunk) return absl::OkStatus();
        rows += chunk->size();
        consume(*chunk);
    }
}

}  // namespace dq::query
