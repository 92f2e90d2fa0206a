#include <simdjson.h>

#include "core/status.h"
#include "core/text.h"
#include "ingest/event_json.h"
#include "ingest/sink.h"

namespace dq::ingest {
namespace {

constexpr std::string_view kPath = "/v1/events";

std::string eventsUrl(std::string_view url) {
    if (url.ends_with('/')) url.remove_suffix(1);
    return url.ends_with(kPath) ? std::string(url) : strCat(url, kPath);
}

struct Answer {
    std::vector<std::pair<std::size_t, std::string>> rejected;
    std::int64_t snapshot = 0;
};

// Reads {"accepted":n,"rejected":[{"index":i,"error":"…"}],"snapshot":id}; the counts must cover the batch.
StatusOr<Answer> parseAnswer(const std::string& body, std::size_t events) {
    const Status malformed = absl::InternalError("the server's answer is not that of an event endpoint");
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    if (parser.parse(body).get(root) != simdjson::SUCCESS) return malformed;
    std::uint64_t accepted = 0;
    simdjson::dom::array rejected;
    if (root["accepted"].get(accepted) != simdjson::SUCCESS || root["rejected"].get(rejected) != simdjson::SUCCESS)
        return malformed;
    Answer answer;
    for (simdjson::dom::element item : rejected) {
        std::uint64_t index = 0;
        std::string_view error;
        if (item["index"].get(index) != simdjson::SUCCESS || item["error"].get(error) != simdjson::SUCCESS ||
            index >= events) {
            return malformed;
        }
        answer.rejected.emplace_back(index, std::string(error));
    }
    if (accepted + answer.rejected.size() != events) return malformed;
    std::int64_t snapshot = 0;
    if (root["snapshot"].get(snapshot) == simdjson::SUCCESS) answer.snapshot = snapshot;
    return answer;
}

class RemoteSink final : public Sink {
  public:
    RemoteSink(PostFunction post, RemoteOptions options) : post_(std::move(post)), options_(std::move(options)) {
        options_.url = eventsUrl(options_.url);
        if (!options_.wait) {
            options_.wait = [](std::int64_t micros, const Cancel& cancel) { cancel.waitFor(micros); };
        }
    }

    StatusOr<Ticket> start(Submission submission, const Cancel& cancel) override {
        Outcome outcome;
        std::vector<Row>& rows = submission.rows;
        std::size_t begin = 0;
        while (begin < rows.size() && outcome.status.ok()) begin = sendBatch(rows, begin, outcome, cancel);
        for (std::size_t row = begin; row < rows.size(); ++row) outcome.faults.push_back({row, false, outcome.status});
        outcome.stored = rows.size() - outcome.faults.size();
        for (const RowFault& fault : outcome.faults) outcome.fault_rows.push_back(std::move(rows[fault.row]));
        return Ticket::ready(std::move(outcome));
    }

    StatusOr<std::vector<bool>> existing(std::span<const Row>, const Cancel&) override {
        return absl::UnimplementedError("a server cannot be asked which events it has");
    }

  private:
    // Sends rows from `begin` on; returns the first one not dealt with, which is `begin` when outcome.status is an
    // error.
    std::size_t sendBatch(const std::vector<Row>& rows, std::size_t begin, Outcome& outcome, const Cancel& cancel) {
        std::string body;
        std::size_t end = begin;
        while (end < rows.size() && end - begin < batchEvents()) {
            const std::string line = rowJson(rows[end]);
            if (end > begin && body.size() + line.size() > options_.batch_bytes) break;
            strAppend(&body, line, "\n");
            ++end;
        }
        StatusOr<HttpReply> reply = postPatiently(std::move(body), cancel);
        if (!reply.ok()) {
            outcome.status = reply.status();
            return begin;
        }
        if (reply->status == 413) {
            if (end - begin > 1) {
                halved_to_ = (end - begin) / 2;
                return begin;
            }
            outcome.faults.push_back(
                {begin, true, absl::InvalidArgumentError("the server takes no event of this size")});
            return end;
        }
        halved_to_ = halved_to_ * 2 < options_.batch_events ? halved_to_ * 2 : 0;
        outcome.status = take(*reply, begin, end, outcome);
        if (!outcome.status.ok()) return begin;
        ++outcome.commits;
        return end;
    }

    // After a 413 batches shrink until one is taken, then grow again.
    std::size_t batchEvents() const { return halved_to_ == 0 ? options_.batch_events : halved_to_; }

    static Status take(const HttpReply& reply, std::size_t begin, std::size_t end, Outcome& outcome) {
        if (reply.status == 401 || reply.status == 403) {
            return absl::PermissionDeniedError(
                "the server refuses the sender (401): set INGEST_TOKEN to its ingest token");
        }
        if (reply.status == 404 || reply.status == 405) {
            return absl::NotFoundError(
                strCat("the server takes no events (", reply.status, "): is the URL that of dq serve?"));
        }
        if (reply.status != 200 && reply.status != 400) {
            return absl::InternalError(strCat("the server answered ", reply.status));
        }
        DQ_ASSIGN_OR_RETURN(const Answer answer, parseAnswer(reply.body, end - begin));
        for (const auto& [index, error] : answer.rejected) {
            outcome.faults.push_back({begin + index, true, absl::InvalidArgumentError(error)});
        }
        outcome.snapshot = std::max(outcome.snapshot, answer.snapshot);
        return absl::OkStatus();
    }

    StatusOr<HttpReply> postPatiently(std::string body, const Cancel& cancel) {
        const HttpPost request{options_.url, "application/x-ndjson", options_.bearer_token, std::move(body)};
        for (int attempt = 1;; ++attempt) {
            DQ_RETURN_IF_ERROR(cancel.check());
            StatusOr<HttpReply> reply = post_(request, cancel);
            const bool passing = reply.ok() ? reply->status == 429 || reply->status == 502 || reply->status == 503 ||
                                                  reply->status == 504
                                            : absl::IsUnavailable(reply.status());
            if (!passing) return reply;
            if (attempt >= options_.tries) {
                return reply.ok() ? absl::UnavailableError(
                                        strCat("the server answered ", reply->status, " ", attempt, " times"))
                                  : reply;
            }
            const int asked = reply.ok() ? reply->retry_after_seconds : 0;
            const int seconds =
                std::clamp(asked > 0 ? asked : 1 << std::min(attempt - 1, 5), 1, options_.max_wait_seconds);
            options_.wait(seconds * kMicrosPerSecond, cancel);
        }
    }

    PostFunction post_;
    RemoteOptions options_;
    std::size_t halved_to_ = 0;
};

}  // namespace

std::unique_ptr<Sink> remoteSink(PostFunction post, RemoteOptions options) {
    return std::make_unique<RemoteSink>(std::move(post), std::move(options));
}

}  // namespace dq::ingest
