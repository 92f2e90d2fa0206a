// One run of `dq ingest`: inputs → events → rows → bundles → sink, with what was refused counted and kept.
//
// While a bundle is being stored the next one is read and checked. Rows that the sink leaves pending are sent again:
// with the next bundle when siblings were stored (so that poison can be proven), alone and after a growing wait when
// nothing was. A run whose rows cannot be stored ends with that error; what it stored stays stored. Rows whose outcome
// is unknown are looked up before they are sent again. Threads: one, beside those of the sink.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "ingest/bundle.h"
#include "ingest/dead_letter.h"
#include "ingest/progress.h"
#include "ingest/reader.h"
#include "ingest/repeats.h"
#include "ingest/sink.h"
#include "ingest/validate.h"

namespace dq::ingest {

struct RunOptions {
    std::vector<std::string> inputs;  // paths; "-" is standard input
    int stdin_descriptor = 0;
    SinkSettings sink;
    std::int64_t stdin_age_micros = 5 * kMicrosPerSecond;  // bundles of standard input are committed at this age
    std::size_t max_event_bytes = 32 * 1024 * 1024;
    bool strict = false;  // the first bad event ends the run, its bundle is not committed
    bool skip_existing = false;
    int max_passes = 10;              // tries of rows that nothing of is stored
    std::uint64_t shown_faults = 10;  // bad events named on the error stream
    const Clock* clock = &systemClock();
    std::function<void(std::int64_t micros, const Cancel&)> wait;  // between tries; empty: Cancel::waitFor
};

struct RunCounts {
    std::uint64_t read = 0, written = 0, bundles = 0, rejected = 0;
    std::uint64_t repeated = 0;  // exact repeats inside the run
    std::uint64_t existing = 0;  // rows the lake had (skip_existing, or after an unknown outcome)
    std::uint64_t dropped_fingerprints = 0;
    std::uint64_t oversized = 0;  // payloads over the inline limit, stored inline
    std::uint64_t unstored = 0;   // good rows not stored because the run ended early
    std::optional<std::int64_t> last_snapshot;
};

class IngestRun {
  public:
    // `dead_letter` may be null. Everything referred to must outlive the run.
    IngestRun(RunOptions options, Validator& validator, Sink& sink, DeadLetterFile* dead_letter, ProgressLine& progress,
              std::ostream& err);
    absl::Status run(const Cancel& cancel);
    const RunCounts& counts() const { return counts_; }

  private:
    struct Origin {
        std::size_t input = 0;
        std::uint64_t line = 0, offset = 0;
    };
    struct Bundle {
        std::vector<Row> rows;
        std::vector<Origin> origins;
        std::vector<std::uint16_t> deliveries;
        std::uint64_t bytes = 0;
        std::int64_t since = 0;  // steady time of the first row
        void add(Row row, Origin origin, std::uint16_t delivered, std::uint64_t wire_bytes, std::int64_t now);
    };
    absl::Status readInput(std::size_t input, const Cancel& cancel);
    absl::Status readEvents(EventReader& reader, std::size_t input, const Cancel& cancel);
    absl::Status takeItem(const InputItem& item, std::size_t input);
    absl::Status reject(const DeadLetter& letter, bool counts_as_bad);
    absl::Status letterFor(const Row& row, const Origin& origin, const absl::Status& reason);
    std::int64_t waitBudget(bool from_stdin) const;
    bool due(bool from_stdin) const;
    absl::Status flush(const Cancel& cancel);
    absl::Status dropExisting(Bundle& bundle, const Cancel& cancel);
    absl::Status send(Bundle bundle, const Cancel& cancel);
    absl::Status settle(const Cancel& cancel);  // waits for the bundle under way
    absl::Status retryAlone(Bundle pending, const absl::Status& reason, const Cancel& cancel);
    absl::Status finish(const Cancel& cancel);
    absl::Status finishAfterFault(absl::Status fault, const Cancel& cancel);
    void showProgress(const EventReader* reader);

    RunOptions options_;
    Validator& validator_;
    Sink& sink_;
    DeadLetterFile* dead_letter_;
    ProgressLine& progress_;
    std::ostream& err_;
    RunCounts counts_;
    RepeatFilter repeats_;
    Bundle filling_;
    std::optional<Ticket> under_way_;
    std::vector<Origin> sent_origins_;
    std::vector<std::uint16_t> sent_deliveries_;
    int passes_without_commit_ = 0;
    bool stopped_by_strict_ = false, input_damaged_ = false;
    std::uint64_t finished_bytes_ = 0;
    std::optional<std::uint64_t> total_bytes_;
};

}  // namespace dq::ingest
