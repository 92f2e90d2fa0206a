// The loop of a materializer: passes, flushes, and what a failed pass leads to (materializer.md §2).
#include <pthread.h>

#include <thread>

#include "core/backoff.h"
#include "core/log.h"
#include "core/status.h"
#include "materialize/materializer.h"

namespace dq::materialize {
namespace {

constexpr int kFailuresToRestart = 5;              // in a row
constexpr std::int64_t kLongestWait = 60'000'000;  // between passes that fail

}  // namespace

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

// True when the pass may be tried again at once.
bool Materializer::restartEngine(bool though_it_answers) {
    logWarn("starting a fresh engine instance", {{"component", "materializer"}, {"failures", failures_}});
    const absl::Status restarted = lake_.restartEngine(though_it_answers);
    if (!restarted.ok()) logError("engine restart failed", {{"error", restarted.message()}});
    aborted_before_ = false;
    return restarted.ok() && failures_ == 1;
}

Materializer::AfterFailure Materializer::failed(const absl::Status& error) {
    metrics_.pass_errors.Increment();
    logError("materializer pass failed", {{"component", "materializer"}, {"error", error.message()}});
    const std::int64_t now = clock_.steadyMicros();
    if (failing_since_ < 0) failing_since_ = now;
    if (now - failing_since_ >= options_.failure_window) return AfterFailure::kGiveUp;
    ++failures_;
    const engine::ErrorClass error_class = engine::errorClass(error);
    // An instance can remember what is no longer so (tables of inlined rows that another process dropped): what the
    // engine refuses again and again on a catalog that answers is tried with a fresh one. Errors of other parts, an
    // object store that is away for instance, are none of its business.
    const bool stale = engine::isEngineError(error) && failures_ % kFailuresToRestart == 0 &&
                       error_class != engine::ErrorClass::kUnavailable &&
                       error_class != engine::ErrorClass::kOutOfMemory;
    if (error_class == engine::ErrorClass::kEngineDead || stale ||
        (error_class == engine::ErrorClass::kSessionAborted && aborted_before_)) {
        return restartEngine(stale) ? AfterFailure::kAtOnce : AfterFailure::kWait;
    }
    if (error_class == engine::ErrorClass::kSessionAborted) {
        aborted_before_ = true;
        logWarn("poisoned catalog session detected; recycled idle connections", {{"component", "materializer"}});
        metrics_.poison_recycles.Increment();
        lake_.pool().recycle();
    }
    return AfterFailure::kWait;
}

bool Materializer::lostRace(const Cancel& cancel) {
    const std::int64_t now = clock_.steadyMicros();
    if (waiting_since_ < 0) waiting_since_ = now;
    if (now - waiting_since_ >= options_.failure_window) return false;
    cancel.waitFor(jitter(50'000));
    return true;
}

// A catalog that is away is not asked at every poll by every process at once.
void Materializer::waitAfterFailure(const Cancel& cancel) {
    const std::int64_t bound = std::max<std::int64_t>(options_.poll_interval, kLongestWait);
    const std::int64_t wait = std::min<std::int64_t>(options_.poll_interval << std::min(failures_ - 1, 6), bound);
    cancel.waitFor(wait / 2 + jitter(wait / 2));
}

absl::Status Materializer::run(const Cancel& cancel) {
    logInfo("materializer started", {{"component", "materializer"}});
    last_flush_ = clock_.steadyMicros();
    reporter_.start(cancel);
    std::jthread pruning;
    const Cancel prune_cancel = cancel.child();
    if (retention_) {
        pruning = std::jthread([this, prune_cancel] {
            pthread_setname_np(pthread_self(), "dq-prune");
            retention_->run(prune_cancel);
        });
    }
    if (options_.rebuild_rollups)
        ignore(rebuildRollups(cancel), "logged; decoding goes on, marks keep the rollups honest");
    const absl::Status ended = loop(cancel);
    prune_cancel.cancel();
    if (pruning.joinable()) pruning.join();
    reporter_.stop();
    release();
    return ended;
}

absl::Status Materializer::loop(const Cancel& cancel) {
    using State = PassResult::State;
    while (!cancel.cancelled()) {
        const auto result = pass(cancel);
        if (cancel.cancelled()) break;
        if (!result.ok()) {
            const AfterFailure after = failed(result.status());
            if (after == AfterFailure::kGiveUp) return result.status();
            if (after == AfterFailure::kWait) waitAfterFailure(cancel);
            continue;
        }
        if (result->state == State::kLostRace) {
            // Not a failure, and never taken for being caught up: nothing is flushed, no streak ends.
            if (!lostRace(cancel)) return absl::AbortedError("no commit for so long while rows wait");
            continue;
        }
        failing_since_ = waiting_since_ = -1;
        failures_ = 0;
        aborted_before_ = false;
        const bool draining = result->state == State::kProgress;
        if (result->state != State::kStandby && !(options_.bulk && draining)) {
            ignore(flushIfDue(cancel), "logged and counted; retried when due again");
        }
        if (!draining) cancel.waitFor(options_.poll_interval);
    }
    return absl::OkStatus();
}

}  // namespace dq::materialize
