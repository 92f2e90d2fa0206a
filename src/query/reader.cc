#include "query/reader.h"

#include <map>
#include <optional>

#include "query/rows.h"
#include "query/serving.h"
#include "query/session.h"
#include "query/sql_events.h"
#include "query/sql_latest.h"
#include "query/sql_signals.h"

namespace dq::query {
namespace {

using Rows = std::vector<LatestSignal>;

// Rollup rows, and the rows of the tail where the lake says that the rollup ends at a watermark.
StatusOr<Rows> readRollup(LakeSession& session, const std::string& subject, std::string_view op) {
    ServingRows progress;
    Rows rows;
    const auto restart = [&] {
        progress = {};
        rows.clear();
    };
    const auto consume = [&](const engine::Chunk& chunk) { appendLatest(chunk, progress, rows); };
    Status outcome = session.read(op, latestRollupSql(subject, /*with_progress=*/true), restart, consume);
    // A lake without progress rows: no table, no record.
    if (absl::IsNotFound(outcome))
        outcome = session.read(op, latestRollupSql(subject, /*with_progress=*/false), restart, consume);
    DQ_RETURN_IF_ERROR(outcome);
    keepFirstOfName(rows);
    DQ_ASSIGN_OR_RETURN(const ServingChoice choice, chooseServing(progress, session.reader.options.daily_serving));
    if (choice.contradicts_setting) session.reader.warnContradiction();
    if (!choice.tail_from) return rows;
    Rows tail;
    DQ_RETURN_IF_ERROR(session.read(
        op, latestScanSql(subject, std::nullopt, choice.tail_from), [&] { tail.clear(); },
        [&](const engine::Chunk& chunk) { appendLatest(chunk, progress, tail); }));
    return mergeTail(std::move(rows), std::move(tail));
}

StatusOr<Rows> readScan(LakeSession& session, const std::string& subject, const std::string& source,
                        std::string_view op) {
    ServingRows none;
    Rows rows;
    DQ_RETURN_IF_ERROR(session.read(
        op, latestScanSql(subject, source, std::nullopt), [&] { rows.clear(); },
        [&](const engine::Chunk& chunk) { appendLatest(chunk, none, rows); }));
    return rows;
}

StatusOr<std::vector<EventSummary>> readSummaries(LakeSession& session, std::string_view op, const engine::Sql& sql) {
    std::vector<EventSummary> rows;
    const ReadLog::Read read = session.reader.log.begin(op);
    const Status outcome = session.read(
        op, sql, [&] { rows.clear(); }, [&](const engine::Chunk& chunk) { appendSummaries(chunk, rows); });
    if (!absl::IsNotFound(outcome)) session.reader.log.observeSeconds(read);
    DQ_RETURN_IF_ERROR(outcome);
    return rows;
}

}  // namespace

struct Reader::Impl : LakeReader {
    using LakeReader::LakeReader;
};
struct Session::Impl : LakeSession {
    using LakeSession::LakeSession;
    std::map<std::pair<std::string, std::optional<std::string>>, std::shared_ptr<const Rows>>
        remembered;  // by subject and source
};

Session::Session(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

StatusOr<std::vector<SignalBucket>> Session::signals(const SignalsQuestion& question) {
    if (question.floats.empty() && question.strings.empty() && question.locations.empty())
        return std::vector<SignalBucket>();
    if (question.interval < 1) return absl::InvalidArgumentError("interval is not a positive integer");
    const SignalsStatement statement = signalsSql(question);
    std::optional<SignalRows> rows;
    const ReadLog::Read read = impl_->reader.log.begin("signalsRange");
    const Status outcome = impl_->read(
        read.op, statement.sql, [&] { rows.emplace(question, statement); },
        [&](const engine::Chunk& chunk) { rows->add(chunk); });
    impl_->reader.log.observeSeconds(read);
    DQ_RETURN_IF_ERROR(outcome);
    return rows->take();
}

StatusOr<std::shared_ptr<const std::vector<LatestSignal>>> Session::latest(const std::string& subject,
                                                                           const std::optional<std::string>& source,
                                                                           std::string_view operation) {
    ReadLog& log = impl_->reader.log;
    const std::string_view path = source ? "scan" : "rollup";
    auto& remembered = impl_->remembered[{subject, source}];
    if (remembered == nullptr) {
        const ReadLog::Read read = log.begin(operation);
        StatusOr<Rows> rows =
            source ? readScan(*impl_, subject, *source, operation) : readRollup(*impl_, subject, operation);
        log.observeLatest(read, path);
        DQ_RETURN_IF_ERROR(rows.status());
        remembered = std::make_shared<const Rows>(*std::move(rows));
    }
    log.countServed(path);
    return remembered;
}

StatusOr<std::vector<Event>> Session::events(const EventsQuestion& question) {
    std::vector<Event> rows;
    const ReadLog::Read read = impl_->reader.log.begin("events");
    const Status outcome = impl_->read(
        read.op, eventsSql(question), [&] { rows.clear(); },
        [&](const engine::Chunk& chunk) { appendEvents(chunk, rows); });
    impl_->reader.log.observeSeconds(read);
    DQ_RETURN_IF_ERROR(outcome);
    return rows;
}

StatusOr<std::vector<EventSummary>> Session::eventSummaries(const std::string& subject) {
    StatusOr<std::vector<EventSummary>> rows =
        readSummaries(*impl_, "eventSummariesRollup", eventSummariesRollupSql(subject));
    // The table's absence is known by the read itself; no rows may mean that the rollup does not cover the subject yet.
    const bool answered = rows.ok() && !rows->empty();
    if (answered || (!rows.ok() && !absl::IsNotFound(rows.status()))) return rows;
    return readSummaries(*impl_, "eventSummariesScan", eventSummariesScanSql(subject));
}

Reader::Reader(lake::Lake& lake, ReaderOptions options, Metrics& metrics, const Clock& clock)
    : impl_(std::make_unique<Impl>(lake, options, metrics, clock)) {}
Reader::~Reader() = default;

StatusOr<Session> Reader::begin(const Cancel& cancel) {
    auto session = std::make_unique<Session::Impl>(*impl_, cancel);
    DQ_RETURN_IF_ERROR(session->open());
    return Session(std::move(session));
}

Status Reader::probe(const Cancel& cancel) {
    StatusOr<engine::Pool::Lease> acquired = impl_->lake.acquire(cancel);
    DQ_RETURN_IF_ERROR(acquired.status());
    std::optional<engine::Pool::Lease> lease(std::move(*acquired));
    const Status outcome = (*lease)->execute("SELECT 1 FROM lake.signals LIMIT 0", cancel).status();
    impl_->observe(outcome, lease);
    return outcome;
}

}  // namespace dq::query
