// Reads of decoded data. One Session = one read transaction = one lake snapshot; a GraphQL operation uses one Session
// for all its fields, so that its answers agree with one another.
//
//   DQ_ASSIGN_OR_RETURN(Session session, reader.begin(cancel));
//   DQ_ASSIGN_OR_RETURN(auto rows, session.latest(subject, std::nullopt));
//
// Threads: a Reader is shared; a Session belongs to one thread. Errors are those of engine/error.h; callers show them
// as "failed to query db", or as a time-out (Cancelled, DeadlineExceeded). Reads are retried once on a fresh connection
// when the session was poisoned before its first row.
#pragma once
#include <absl/status/statusor.h>

#include <memory>

#include "core/metrics.h"
#include "lake/lake.h"
#include "query/types.h"

namespace dq::query {

struct ReaderOptions {
    std::int64_t slow_read_micros = 1'500'000;  // < 0: no slow-read line
    bool profile_reads = false;
    bool daily_serving = false;  // LAKE_ROLLUP_DAILY_SERVING
};

class Reader;

class Session {
  public:
    Session(Session&&) noexcept;
    Session& operator=(Session&&) noexcept;
    ~Session();

    // Buckets ascending; buckets without any row are absent.
    absl::StatusOr<std::vector<SignalBucket>> signals(const SignalsQuestion& question);
    // Every stored name of the subject, ascending bytewise. Without a source from the rollup (one read serves latest,
    // snapshot, available and summary alike, so the result is remembered for the session); with one from a scan.
    absl::StatusOr<std::shared_ptr<const std::vector<LatestSignal>>> latest(const std::string& subject,
                                                                            const std::optional<std::string>& source,
                                                                            std::string_view operation);
    // Newest first, then name, then source.
    absl::StatusOr<std::vector<Event>> events(const EventsQuestion& question);
    // Per name, ascending.
    absl::StatusOr<std::vector<EventSummary>> eventSummaries(const std::string& subject);

  private:
    friend class Reader;
    struct Impl;
    explicit Session(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

class Reader {
  public:
    Reader(lake::Lake& lake, ReaderOptions options, Metrics& metrics, const Clock& clock = systemClock());
    ~Reader();
    absl::StatusOr<Session> begin(const Cancel& cancel);
    // Zero-row select on lake.signals (readiness).
    absl::Status probe(const Cancel& cancel);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dq::query
