#include "ingest/committer.h"

#include <pthread.h>

#include "core/status.h"
#include "lake/raw_events.h"

namespace dq::ingest {

struct Ticket::State {
    Submission submission;
    std::uint64_t bytes = 0;
    std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    bool done = false, left = false;
    Outcome outcome;

    void complete(Outcome result) {
        std::lock_guard lock(mutex);
        outcome = std::move(result);
        done = true;
        changed.notify_all();
    }
};

namespace {

// All rows pending for one reason.
Outcome failedOutcome(Submission& submission, const Status& reason) {
    Outcome outcome;
    outcome.status = reason;
    outcome.fault_rows = std::move(submission.rows);
    for (std::size_t row = 0; row < outcome.fault_rows.size(); ++row) outcome.faults.push_back({row, false, reason});
    return outcome;
}

// The part of a bundle's result that belongs to the submission whose rows start at `begin`.
Outcome shareOf(const BundleResult& result, std::size_t& next_fault, std::size_t begin, std::size_t count,
                std::vector<Row>& rows) {
    Outcome outcome;
    outcome.commits = result.commits;
    for (; next_fault < result.faults.size() && result.faults[next_fault].row < begin + count; ++next_fault) {
        RowFault fault = result.faults[next_fault];
        outcome.fault_rows.push_back(std::move(rows[fault.row]));
        fault.row -= begin;
        if (!fault.poison && outcome.status.ok()) outcome.status = fault.reason;
        outcome.faults.push_back(std::move(fault));
    }
    outcome.stored = count - outcome.faults.size();
    if (outcome.stored > 0) outcome.snapshot = result.snapshot;
    return outcome;
}

}  // namespace

Ticket Ticket::ready(Outcome outcome) {
    auto state = std::make_shared<State>();
    state->complete(std::move(outcome));
    return Ticket(std::move(state));
}

Outcome Ticket::wait(const Cancel& cancel) {
    const std::shared_ptr<State> state = state_;
    const auto guard = cancel.onCancel([state] {
        std::lock_guard lock(state->mutex);
        state->left = true;
        state->changed.notify_all();
    });
    std::unique_lock lock(state->mutex);
    state->changed.wait(lock, [&] { return state->done || state->left; });
    if (state->done) return std::move(state->outcome);
    Outcome outcome;
    outcome.status = cancel.check();
    return outcome;
}

Committer::Committer(Append append, Options options) : append_(std::move(append)), options_(options) {
    thread_ = std::thread([this] {
        ::pthread_setname_np(::pthread_self(), "dq-ingest");
        run();
    });
}

Committer::~Committer() { stop(0); }

StatusOr<Ticket> Committer::enqueue(Submission submission, std::int64_t wait_micros, const Cancel& cancel) {
    auto state = std::make_shared<Ticket::State>();
    for (const Row& row : submission.rows) state->bytes += ingest::residentBytes(row);
    state->submission = std::move(submission);
    if (state->submission.rows.empty()) return Ticket::ready({});

    {
        std::lock_guard lock(mutex_);
        if (stopping_ || hasRoom(state->bytes)) return admit(std::move(state));
    }
    const Cancel limited = wait_micros < 0 ? cancel.child() : cancel.withTimeout(wait_micros);
    bool left = false;
    const auto guard = limited.onCancel([this, &left] {
        std::lock_guard lock(mutex_);
        left = true;
        changed_.notify_all();
    });
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || left || hasRoom(state->bytes); });
    if (stopping_ || hasRoom(state->bytes)) return admit(std::move(state));
    DQ_RETURN_IF_ERROR(cancel.check());
    return absl::ResourceExhaustedError("too many events wait for the lake");
}

// A submission over the ceiling enters alone, or it never would.
bool Committer::hasRoom(std::uint64_t bytes) const {
    return resident_ == 0 || resident_ + bytes <= options_.resident_ceiling;
}

StatusOr<Ticket> Committer::admit(std::shared_ptr<Ticket::State> state) {
    if (stopping_) return absl::UnavailableError("the writer is stopping");
    resident_ += state->bytes;
    if (options_.metrics != nullptr) options_.metrics->buffered_bytes.Increment(static_cast<double>(state->bytes));
    queue_.push_back(state);
    changed_.notify_all();
    return Ticket(std::move(state));
}

Outcome Committer::submit(Submission submission, std::int64_t wait_micros, const Cancel& cancel) {
    StatusOr<Ticket> ticket = enqueue(std::move(submission), wait_micros, cancel);
    if (ticket.ok()) return ticket->wait(cancel);
    Outcome outcome;
    outcome.status = ticket.status();
    return outcome;
}

void Committer::stop(std::int64_t drain_micros) {
    {
        std::unique_lock lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
        changed_.wait_for(lock, std::chrono::microseconds(drain_micros), [this] { return finished_; });
    }
    cancel_.cancel();
    std::call_once(joined_, [this] { thread_.join(); });
}

std::uint64_t Committer::residentBytes() const {
    std::lock_guard lock(mutex_);
    return resident_;
}

std::int64_t Committer::failingForMicros() const {
    std::lock_guard lock(mutex_);
    return failing_since_ ? std::max<std::int64_t>(options_.clock->steadyMicros() - *failing_since_, 1) : 0;
}

void Committer::run() {
    while (true) {
        Group group;
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
            if (queue_.empty()) {
                finished_ = true;
                changed_.notify_all();
                return;
            }
            group = takeGroup();
        }
        commitGroup(group);
    }
}

Committer::Group Committer::takeGroup() {
    Group group;
    std::size_t rows = 0;
    std::uint64_t bytes = 0;
    while (!queue_.empty()) {
        const auto& next = queue_.front();
        const std::size_t next_rows = next->submission.rows.size();
        const bool fits = options_.share_commits && rows + next_rows <= options_.max_rows &&
                          bytes + next->bytes <= options_.max_bytes;
        if (!group.empty() && !fits) break;
        rows += next_rows;
        bytes += next->bytes;
        group.push_back(next);
        queue_.pop_front();
    }
    if (options_.metrics != nullptr) {
        options_.metrics->buffered_bytes.Decrement(static_cast<double>(bytes));
        options_.metrics->inflight_bytes.Set(static_cast<double>(bytes));
    }
    return group;
}

void Committer::commitGroup(Group& group) {
    if (Status stopped = cancel_.check(); !stopped.ok()) {
        for (auto& state : group)
            state->complete(failedOutcome(state->submission, absl::UnavailableError("the writer is stopping")));
        release(group);
        return;
    }
    std::vector<Row> rows;
    std::vector<std::uint16_t> deliveries;
    std::vector<std::size_t> counts;
    for (auto& state : group) {
        Submission& submission = state->submission;
        counts.push_back(submission.rows.size());
        submission.deliveries.resize(submission.rows.size(), 0);
        if (group.size() == 1) {
            rows = std::move(submission.rows);
            deliveries = std::move(submission.deliveries);
            break;
        }
        std::move(submission.rows.begin(), submission.rows.end(), std::back_inserter(rows));
        deliveries.insert(deliveries.end(), submission.deliveries.begin(), submission.deliveries.end());
    }
    const BundleResult result =
        commitBundle(rows, deliveries, append_, cancel_.withTimeout(options_.bundle_micros), options_.metrics);
    noteResult(result);
    std::vector<Outcome> outcomes;
    std::size_t begin = 0, next_fault = 0;
    for (const std::size_t count : counts) {
        outcomes.push_back(shareOf(result, next_fault, begin, count, rows));
        begin += count;
    }
    rows = {};
    release(group);  // before the answers, so that a caller who has one finds the room given back
    for (std::size_t i = 0; i < group.size(); ++i) group[i]->complete(std::move(outcomes[i]));
}

void Committer::noteResult(const BundleResult& result) {
    std::lock_guard lock(mutex_);
    if (result.commits > 0) {
        failing_since_.reset();
    } else if (!failing_since_) {
        failing_since_ = options_.clock->steadyMicros();
    }
}

void Committer::release(const Group& group) {
    std::lock_guard lock(mutex_);
    for (const auto& state : group) resident_ -= state->bytes;
    changed_.notify_all();
    if (options_.metrics != nullptr) options_.metrics->inflight_bytes.Set(0);
}

Append lakeAppend(lake::Lake& lake) {
    return
        [&lake](std::span<const Row> rows, const Cancel& cancel) { return lake::appendRawEvents(lake, rows, cancel); };
}

}  // namespace dq::ingest
