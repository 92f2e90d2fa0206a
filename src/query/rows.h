// Chunks of the statements of sql_*.h as values. NULL reads as 0, '' and, for times, the epoch.
#pragma once
#include <absl/container/flat_hash_map.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "query/serving.h"
#include "query/sql_signals.h"
#include "query/types.h"

namespace dq::query {

// Rows of signalsSql() → buckets. The statement must outlive it.
class SignalRows {
  public:
    SignalRows(const SignalsQuestion& question, const SignalsStatement& statement);
    void add(const engine::Chunk& chunk);
    std::vector<SignalBucket> take();

  private:
    struct Request {
        RequestKind kind;
        std::uint32_t index;
        const RequestColumns* columns;
        bool presence_only;
    };
    struct Spans;  // the columns of one request in one chunk
    void addRequests(const SignalsQuestion& question, const SignalsStatement& statement);
    void finishBucket();
    const Micros from_;
    const std::int64_t interval_;
    std::vector<Request> requests_;                                                // grouped by name
    absl::flat_hash_map<std::string, std::pair<std::size_t, std::size_t>> names_;  // name → [first, last) of requests_
    std::vector<SignalBucket> buckets_;
};

// Rows of latestRollupSql() and latestScanSql(): progress rows go to `progress`, the others are appended to `rows`.
void appendLatest(const engine::Chunk& chunk, ServingRows& progress, std::vector<LatestSignal>& rows);
// Rows of eventsSql().
void appendEvents(const engine::Chunk& chunk, std::vector<Event>& rows);
// Rows of eventSummaries…Sql(); of equal names that follow one another the first is kept.
void appendSummaries(const engine::Chunk& chunk, std::vector<EventSummary>& rows);

}  // namespace dq::query
