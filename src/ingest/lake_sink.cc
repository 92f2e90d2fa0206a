#include "ingest/sink.h"

namespace dq::ingest {
namespace {

class LakeSink final : public Sink {
  public:
    LakeSink(Append append, Probe probe, const SinkSettings& settings)
        : probe_(std::move(probe)),
          drain_micros_(settings.drain_micros),
          committer_(std::move(append), {.max_rows = settings.max_rows,
                                         .max_bytes = settings.max_bytes,
                                         .resident_ceiling = residentCeiling(settings.max_bytes),
                                         .share_commits = false}) {}
    ~LakeSink() override { committer_.stop(drain_micros_); }
    absl::StatusOr<Ticket> start(Submission submission, const Cancel& cancel) override {
        return committer_.enqueue(std::move(submission), -1, cancel);
    }
    absl::StatusOr<std::vector<bool>> existing(std::span<const Row> rows, const Cancel& cancel) override {
        return probe_(rows, cancel);
    }

  private:
    Probe probe_;
    std::int64_t drain_micros_;
    Committer committer_;
};

}  // namespace

std::unique_ptr<Sink> lakeSink(Append append, Probe probe, const SinkSettings& settings) {
    return std::make_unique<LakeSink>(std::move(append), std::move(probe), settings);
}

}  // namespace dq::ingest
