#include "ingest/run.h"

#include "core/status.h"
#include "core/text.h"
#include "ingest/event_json.h"

namespace dq::ingest {
namespace {

constexpr std::int64_t kIdleSliceMicros = 200'000;  // how soon a cancelled run notices while standard input is silent
constexpr std::int64_t kFirstRetryMicros = 500'000;
constexpr std::int64_t kLastRetryMicros = 30 * kMicrosPerSecond;

bool mayPass(const Status& status) {
    return absl::IsAborted(status) || absl::IsUnavailable(status) || absl::IsResourceExhausted(status) ||
           absl::IsUnknown(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

void IngestRun::Bundle::add(Row row, Origin origin, std::uint16_t delivered, std::uint64_t wire_bytes,
                            std::int64_t now) {
    if (rows.empty()) since = now;
    rows.push_back(std::move(row));
    origins.push_back(origin);
    deliveries.push_back(delivered);
    bytes += wire_bytes;
}

IngestRun::IngestRun(RunOptions options, Validator& validator, Sink& sink, DeadLetterFile* dead_letter,
                     ProgressLine& progress, std::ostream& err)
    : options_(std::move(options)),
      validator_(validator),
      sink_(sink),
      dead_letter_(dead_letter),
      progress_(progress),
      err_(err) {
    if (!options_.wait) {
        options_.wait = [](std::int64_t micros, const Cancel& cancel) { cancel.waitFor(micros); };
    }
}

Status IngestRun::run(const Cancel& cancel) {
    total_bytes_ = 0;
    for (const std::string& path :
         options_.inputs) {  // a name that cannot be read ends the run before anything is stored
        DQ_ASSIGN_OR_RETURN(const auto size, inputSize(path, options_.stdin_descriptor));
        if (dead_letter_ != nullptr && path != "-" && dead_letter_->isSameFile(path)) {
            return absl::InvalidArgumentError(strCat(path, ": is the dead-letter file"));
        }
        total_bytes_ = total_bytes_ && size ? std::optional(*total_bytes_ + *size) : std::nullopt;
    }
    Status status;
    for (std::size_t input = 0; status.ok() && !stopped_by_strict_ && input < options_.inputs.size(); ++input) {
        status = readInput(input, cancel);
    }
    status = status.ok() ? finish(cancel) : finishAfterFault(std::move(status), cancel);
    counts_.unstored += filling_.rows.size();
    if (dead_letter_ != nullptr) {
        const Status synced = dead_letter_->sync();
        if (status.ok()) status = synced;
    }
    return status;
}

Status IngestRun::readInput(std::size_t input, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto source, openInput(options_.inputs[input], options_.stdin_descriptor));
    EventReader reader(std::move(source), {.max_event_bytes = options_.max_event_bytes});
    Status status = readEvents(reader, input, cancel);
    finished_bytes_ += reader.source().position();
    return status;
}

Status IngestRun::readEvents(EventReader& reader, std::size_t input, const Cancel& cancel) {
    const bool from_stdin = options_.inputs[input] == "-";
    while (!stopped_by_strict_) {
        DQ_RETURN_IF_ERROR(cancel.check());
        const StatusOr<ReadResult> next = reader.next(waitBudget(from_stdin));
        if (!next.ok()) {
            input_damaged_ = true;
            return annotate(next.status(), strCat(options_.inputs[input], ": "));
        }
        if (next->kind == ReadKind::kEnd) return absl::OkStatus();
        if (next->kind == ReadKind::kItem) DQ_RETURN_IF_ERROR(takeItem(next->item, input));
        if (next->kind == ReadKind::kIdle && !due(from_stdin)) DQ_RETURN_IF_ERROR(settle(cancel));
        if (due(from_stdin) && !stopped_by_strict_) DQ_RETURN_IF_ERROR(flush(cancel));
        showProgress(&reader);
    }
    return absl::OkStatus();
}

std::int64_t IngestRun::waitBudget(bool from_stdin) const {
    if (filling_.rows.empty() || !from_stdin) return kIdleSliceMicros;
    const std::int64_t age = options_.clock->steadyMicros() - filling_.since;
    return std::clamp<std::int64_t>(options_.stdin_age_micros - age, 0, kIdleSliceMicros);
}

bool IngestRun::due(bool from_stdin) const {
    const std::int64_t age = options_.clock->steadyMicros() - filling_.since;
    return bundleDue(options_.sink, filling_.rows.size(), filling_.bytes, age) ||
           (from_stdin && !filling_.rows.empty() && age >= options_.stdin_age_micros);
}

Status IngestRun::takeItem(const InputItem& item, std::size_t input) {
    ++counts_.read;
    DeadLetter letter{options_.inputs[input], item.line, item.offset, item.bytes, item.error, item.text, item.cut};
    if (!item.error.empty()) return reject(letter, true);
    Verdict verdict = validator_.check(item.text);
    if (!verdict.fault.ok() || verdict.dropped_fingerprints > 0) {
        const std::string fault(verdict.fault.message());
        letter.error = verdict.fault.ok() ? "the fingerprint was dropped: data.vin is no VIN" : std::string_view(fault);
        counts_.dropped_fingerprints += verdict.dropped_fingerprints;
        DQ_RETURN_IF_ERROR(reject(letter, !verdict.fault.ok()));
        if (stopped_by_strict_) return absl::OkStatus();
    }
    if (verdict.rows.empty()) return absl::OkStatus();
    if (repeats_.seen(item.text)) {
        counts_.repeated += verdict.rows.size();
        return absl::OkStatus();
    }
    counts_.oversized += verdict.oversized;
    std::uint64_t wire_bytes = item.bytes;
    for (Row& row : verdict.rows) {
        filling_.add(std::move(row), {input, item.line, item.offset}, 0, wire_bytes, options_.clock->steadyMicros());
        wire_bytes = 0;
    }
    return absl::OkStatus();
}

Status IngestRun::reject(const DeadLetter& letter, bool counts_as_bad) {
    if (counts_as_bad) {
        ++counts_.rejected;
        stopped_by_strict_ = options_.strict;
        if (counts_.rejected <= options_.shown_faults) {
            progress_.clear();
            err_ << letter.file << ":" << letter.line << ": " << letter.error << "\n";
        } else if (counts_.rejected == options_.shown_faults + 1) {
            progress_.clear();
            err_ << "further bad events are counted"
                 << (dead_letter_ == nullptr ? "; --dead-letter FILE keeps them" : "") << "\n";
        }
    }
    return dead_letter_ == nullptr ? absl::OkStatus() : dead_letter_->write(letter);
}

// The event as it was to be stored, since its input text is gone.
Status IngestRun::letterFor(const Row& row, const Origin& origin, const Status& reason) {
    const std::string raw = rowJson(row);
    const std::string error(reason.message());
    return reject({options_.inputs[origin.input], origin.line, origin.offset, raw.size(), error, raw, false}, true);
}

Status IngestRun::flush(const Cancel& cancel) {
    DQ_RETURN_IF_ERROR(settle(cancel));  // may add pending rows to the bundle
    if (stopped_by_strict_) return absl::OkStatus();
    Bundle bundle = std::exchange(filling_, {});
    if (options_.skip_existing) DQ_RETURN_IF_ERROR(dropExisting(bundle, cancel));
    return send(std::move(bundle), cancel);
}

Status IngestRun::dropExisting(Bundle& bundle, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(const std::vector<bool> found, sink_.existing(bundle.rows, cancel));
    Bundle kept;
    kept.bytes = bundle.bytes;
    for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i]) {
            ++counts_.existing;
        } else {
            kept.add(std::move(bundle.rows[i]), bundle.origins[i], bundle.deliveries[i], 0, bundle.since);
        }
    }
    bundle = std::move(kept);
    return absl::OkStatus();
}

Status IngestRun::send(Bundle bundle, const Cancel& cancel) {
    if (bundle.rows.empty()) return absl::OkStatus();
    const std::size_t rows = bundle.rows.size();
    sent_origins_ = std::move(bundle.origins);
    sent_deliveries_ = bundle.deliveries;
    StatusOr<Ticket> ticket = sink_.start({std::move(bundle.rows), std::move(bundle.deliveries)}, cancel);
    if (!ticket.ok()) {
        counts_.unstored += rows;
        return ticket.status();
    }
    under_way_ = *std::move(ticket);
    return absl::OkStatus();
}

Status IngestRun::settle(const Cancel& cancel) {
    if (!under_way_) return absl::OkStatus();
    Outcome outcome = std::exchange(under_way_, std::nullopt)->wait(cancel);
    counts_.written += outcome.stored;
    counts_.bundles += static_cast<std::uint64_t>(outcome.commits);
    if (outcome.snapshot > 0) counts_.last_snapshot = std::max(counts_.last_snapshot.value_or(0), outcome.snapshot);
    if (outcome.faults.empty()) return outcome.status;

    Bundle pending;
    for (std::size_t i = 0; i < outcome.faults.size(); ++i) {
        const RowFault& fault = outcome.faults[i];
        if (fault.poison) {
            DQ_RETURN_IF_ERROR(letterFor(outcome.fault_rows[i], sent_origins_[fault.row], fault.reason));
        } else {
            const auto deliveries = static_cast<std::uint16_t>(sent_deliveries_[fault.row] + 1);
            pending.add(std::move(outcome.fault_rows[i]), sent_origins_[fault.row], deliveries, 0,
                        options_.clock->steadyMicros());
        }
    }
    passes_without_commit_ = outcome.stored > 0 ? 0 : passes_without_commit_ + 1;
    if (pending.rows.empty()) return absl::OkStatus();
    const std::size_t pending_rows = pending.rows.size();
    const Status cancelled = cancel.check();
    if (!cancelled.ok()) {
        counts_.unstored += pending_rows;
        return cancelled;
    }
    if (absl::IsUnknown(outcome.status)) {
        const Status looked = dropExisting(pending, cancel);
        if (!looked.ok() && !absl::IsUnimplemented(looked)) {
            counts_.unstored += pending_rows;
            return looked;
        }
    }
    if (outcome.stored == 0) return retryAlone(std::move(pending), outcome.status, cancel);
    for (std::size_t i = 0; i < pending.rows.size(); ++i) {
        filling_.add(std::move(pending.rows[i]), pending.origins[i], pending.deliveries[i], 0,
                     options_.clock->steadyMicros());
    }
    return absl::OkStatus();
}

Status IngestRun::retryAlone(Bundle pending, const Status& reason, const Cancel& cancel) {
    if (!mayPass(reason) || passes_without_commit_ >= options_.max_passes) {
        counts_.unstored += pending.rows.size();
        const Origin& origin = pending.origins.front();
        return annotate(reason,
                        strCat("committed nothing in ", passes_without_commit_, " passes, first unstored event ",
                               options_.inputs[origin.input], ":", origin.line, ": "));
    }
    const int doublings = std::min(passes_without_commit_ - 1, 6);
    options_.wait(std::min(kFirstRetryMicros << doublings, kLastRetryMicros), cancel);
    DQ_RETURN_IF_ERROR(send(std::move(pending), cancel));
    return settle(cancel);
}

Status IngestRun::finish(const Cancel& cancel) {
    while (!stopped_by_strict_ && (under_way_ || !filling_.rows.empty())) {
        DQ_RETURN_IF_ERROR(flush(cancel));
    }
    return settle(cancel);
}

// What was read before a damaged input or an interruption is good and goes in; its own faults are second to the first.
Status IngestRun::finishAfterFault(Status fault, const Cancel& cancel) {
    const Cancel last = cancel.cancelled() ? Cancel::root().withTimeout(options_.sink.drain_micros) : cancel;
    if ((input_damaged_ || cancel.cancelled()) && !options_.strict) {
        ignore(finish(last), "the first fault is the run's");
    } else {
        ignore(settle(last), "the first fault is the run's");
    }
    return fault;
}

void IngestRun::showProgress(const EventReader* reader) {
    progress_.update(counts_.read, finished_bytes_ + reader->source().position(), total_bytes_);
}

}  // namespace dq::ingest
