#include "materialize/writer.h"

#include <random>

#include "core/backoff.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/progress.h"

namespace dq::materialize {
namespace {

using lake::WindowOutcome;
using lake::WindowPlan;
using lake::WindowResult;

constexpr std::int64_t kLongestBackoff = 5'000'000;

std::string randomId() {
    std::random_device random;
    const std::uint64_t id = (static_cast<std::uint64_t>(random()) << 32) | random();
    return strCat(absl::Hex(id, absl::kZeroPad16));
}

// The catalog's own retries for the next snapshot id were used up: a conflict with nobody in particular.
bool retriesUsedUp(const Status& status) { return contains(stdView(status.message()), "maximum retry count"); }

}  // namespace

Writer::Writer(lake::Lake& lake, MaterializerMetrics& metrics, Options options, const Clock& clock)
    : lake_(lake), metrics_(metrics), options_(options), clock_(clock), id_(randomId()) {}

std::string Writer::next() const { return strCat(id_, "/", count_ + 1); }

bool Writer::mayOwn(const std::string& stored) {
    if (owner_ && stored == lease_) return true;
    owner_ = false;
    if (stored != foreign_) {
        foreign_ = stored;
        foreign_since_ = clock_.steadyMicros();
    }
    return stored.starts_with("-") || lake_.kind() == lake::CatalogKind::kFile ||
           clock_.steadyMicros() - foreign_since_ >= options_.takeover_micros;
}

StatusOr<bool> Writer::own(engine::Connection& connection, const std::string& stored, const Cancel& cancel) {
    const bool may = mayOwn(stored);
    if (owner_) return true;
    if (!may) {
        metrics_.standby.Set(1);
        return false;
    }
    const std::string mine = strCat(id_, "/", count_);
    std::lock_guard commit(lake_.commitLock());
    auto changed = connection.execute(lake::moveLeaseSql(stored, mine), cancel);
    if (!changed.ok() && engine::errorClass(changed.status()) != engine::ErrorClass::kConflict) return changed.status();
    owner_ = changed.ok() && *changed == 1;
    if (owner_) lease_ = mine;
    metrics_.standby.Set(owner_ ? 0 : 1);
    return owner_;
}

StatusOr<Commit> Writer::commit(engine::Connection& connection, const lake::Stage& stage, WindowPlan plan,
                                const Cancel& cancel) {
    const std::int64_t start = clock_.steadyMicros();
    if (settled_) failures_ = 0;
    settled_ = false;
    for (int attempt = 0;; ++attempt) {
        plan.lease_from = lease_;
        plan.lease_to = next();
        if (attempt > 0) plan.anti_join = true;
        WindowOutcome outcome;
        {
            std::lock_guard commit(lake_.commitLock());
            outcome = lake::writeWindow(connection, stage, plan, cancel);
        }
        if (outcome.result == WindowResult::kUnknown) {
            DQ_ASSIGN_OR_RETURN(const Verdict verdict, look(plan, cancel));
            if (verdict == Verdict::kLanded) {
                metrics_.landed_commits.Increment();
                logWarn(
                    "commit returned an error but the cursor advanced to the target; treating as committed (lost ack)");
                outcome.result = WindowResult::kCommitted;
            } else {
                outcome.result = verdict == Verdict::kFenced ? WindowResult::kFenced : WindowResult::kConflict;
            }
        }
        const char* reason = nullptr;
        switch (outcome.result) {
            case WindowResult::kCommitted:
                metrics_.observePhase("write_window", outcome.write_seconds);
                metrics_.observePhase("commit", outcome.commit_seconds);
                ++count_;
                lease_ = plan.lease_to;
                settled_ = true;
                return Commit::kCommitted;
            case WindowResult::kFenced:
                owner_ = false;
                reason = "fenced";
                break;
            case WindowResult::kCursorMoved: reason = "cursor"; break;
            case WindowResult::kConflict: reason = retriesUsedUp(outcome.status) ? "retries" : "conflict"; break;
            default: return outcome.status.ok() ? absl::InternalError("window not written") : outcome.status;
        }
        ++failures_;
        metrics_.lost_races.Add({{"reason", reason}}).Increment();
        logWarn("commit lost to another writer", {{"reason", reason}, {"attempt", attempt + 1}});
        if (outcome.result != WindowResult::kConflict) return Commit::kLostRace;
        if (clock_.steadyMicros() - start >= options_.give_up_micros) return outcome.status;
        if (!backoff(attempt, cancel)) return cancel.check();
    }
}

// Reads the lease on a connection of its own, until it can be read.
StatusOr<Writer::Verdict> Writer::look(const WindowPlan& plan, const Cancel& cancel) {
    for (int attempt = 0;; ++attempt) {
        auto connection = lake_.acquire(cancel);
        StatusOr<lake::ProgressRows> rows = connection.ok() ? lake::readProgress(**connection, cancel)
                                                            : StatusOr<lake::ProgressRows>(connection.status());
        if (rows.ok()) {
            if (rows->lease == plan.lease_to) return Verdict::kLanded;
            return rows->lease == plan.lease_from ? Verdict::kNotLanded : Verdict::kFenced;
        }
        // A dead engine answers nothing any more. The pass fails, and its span is read again: the anti-join absorbs
        // what landed.
        if (engine::errorClass(rows.status()) == engine::ErrorClass::kEngineDead) return rows.status();
        if (connection.ok()) connection->broken();
        if (!backoff(attempt, cancel)) return cancel.check();
    }
}

// False when cancelled.
bool Writer::backoff(int attempt, const Cancel& cancel) {
    return !cancel.waitFor(backoffMicros(options_.backoff_micros, kLongestBackoff, attempt));
}

void Writer::release() {
    if (!owner_) return;
    owner_ = false;
    auto connection = lake_.acquire();
    if (!connection.ok()) return;
    std::lock_guard commit(lake_.commitLock());
    ignore((*connection)->execute(lake::moveLeaseSql(lease_, lake::kFreeLease)).status(),
           "best effort: the lease ages out by itself");
}

}  // namespace dq::materialize
