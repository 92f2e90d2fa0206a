// The loop of a materializer: passes, flushes, and what a failed pass leads to (materializer.md §2).
#include "core/log.h"
#include "core/status.h"
#include "materialize/materializer.h"

namespace dq::materialize {

absl::StatusOr<Materializer::FlushRight> Materializer::flushRight(const Cancel& cancel) {
    if (writer_.owner()) return FlushRight::kOwner;
    DQ_ASSIGN_OR_RETURN(auto connection, lake_.acquire(cancel));
    DQ_ASSIGN_OR_RETURN(const bool signals, signals_rollup_.hasWork(*connection, cancel));
    DQ_ASSIGN_OR_RETURN(const bool events, events_rollup_.hasWork(*connection, cancel));
    if (!signals && !events) return FlushRight::kNothingToDo;
    DQ_ASSIGN_OR_RETURN(const auto rows, lake::readProgress(*connection, cancel));
    DQ_ASSIGN_OR_RETURN(const bool owner, writer_.own(*connection, rows.lease.value_or(""), cancel));
    return owner ? FlushRight::kOwner : FlushRight::kNotYet;
}

absl::Status Materializer::flushIfDue(const Cancel& cancel) {
    if (clock_.steadyMicros() - last_flush_ < options_.rollup_interval) return absl::OkStatus();
    if (idle_ && flushed_head_ == last_head_) return absl::OkStatus();  // no commit since the last flush
    last_flush_ = clock_.steadyMicros();
    const std::int64_t head = last_head_;
    DQ_ASSIGN_OR_RETURN(const FlushRight right, flushRight(cancel));
    if (right == FlushRight::kNotYet) return absl::OkStatus();  // asked again though no commit may come
    if (right == FlushRight::kOwner) DQ_RETURN_IF_ERROR(flush(cancel));
    flushed_head_ = head;
    return absl::OkStatus();
}

bool Materializer::failed(const absl::Status& error) {
    metrics_.pass_errors.Increment();
    logError("materializer pass failed", {{"component", "materializer"}, {"error", error.message()}});
    const std::int64_t now = clock_.steadyMicros();
    if (failing_since_ < 0) failing_since_ = now;
    if (now - failing_since_ >= options_.failure_window) return true;
    switch (engine::errorClass(error)) {
        case engine::ErrorClass::kEngineDead:
            logWarn("engine instance invalidated; starting a fresh one", {{"component", "materializer"}});
            if (auto restarted = lake_.restartEngine(); !restarted.ok()) {
                logError("engine restart failed", {{"error", restarted.message()}});
            }
            break;
        case engine::ErrorClass::kSessionAborted:
            logWarn("poisoned catalog session detected; recycled idle connections", {{"component", "materializer"}});
            lake_.pool().recycle();
            break;
        default: break;
    }
    return false;
}

absl::Status Materializer::run(const Cancel& cancel) {
    logInfo("materializer started", {{"component", "materializer"}});
    last_flush_ = clock_.steadyMicros();
    if (options_.rebuild_rollups)
        ignore(rebuildRollups(cancel), "logged; decoding goes on, marks keep the rollups honest");
    while (!cancel.cancelled()) {
        const auto result = pass(cancel);
        if (cancel.cancelled()) break;
        if (!result.ok()) {
            if (failed(result.status())) return result.status();
            cancel.waitFor(options_.poll_interval);
            continue;
        }
        failing_since_ = -1;
        if (result->state != PassResult::State::kLostRace && result->state != PassResult::State::kStandby) {
            ignore(flushIfDue(cancel), "logged and counted; retried when due again");
        }
        if (result->state == PassResult::State::kProgress || result->state == PassResult::State::kLostRace) continue;
        cancel.waitFor(options_.poll_interval);
    }
    release();
    return absl::OkStatus();
}

}  // namespace dq::materialize
