#include "ingest/http_events.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <array>

#include "core/status.h"
#include "core/text.h"
#include "ingest/ascii_text.h"
#include "ingest/event_json.h"
#include "ingest/reader.h"

namespace dq::ingest {
namespace {

constexpr int kRetryAfterSeconds = 5;

PostResponse plain(int status, std::string_view body) {
    return {status, std::string(body), "text/plain; charset=utf-8", 0};
}
PostResponse unavailable() {
    return {503, "ingest temporarily unavailable", "text/plain; charset=utf-8", kRetryAfterSeconds};
}

// Media type without its parameters, in lower case.
std::string mediaType(std::string_view content_type) {
    return lowerAscii(trimmed(content_type.substr(0, content_type.find(';'))));
}

bool isLoopbackName(std::string_view host) {
    if (host.starts_with("[")) return host.starts_with("[::1]");
    const std::string name = lowerAscii(host.substr(0, host.find(':')));
    return name.empty() || name == "localhost" || name.ends_with(".localhost") ||
           (name.starts_with("127.") && name.find_first_not_of("0123456789.") == std::string::npos);
}

bool mayPassLater(const Status& status) {
    switch (status.code()) {
        case absl::StatusCode::kAborted:
        case absl::StatusCode::kUnavailable:
        case absl::StatusCode::kResourceExhausted:
        case absl::StatusCode::kDeadlineExceeded:
        case absl::StatusCode::kCancelled:
        case absl::StatusCode::kUnknown:
        case absl::StatusCode::kDataLoss: return true;
        default: return false;
    }
}

}  // namespace

struct EventsEndpoint::Batch {
    struct Rejection {
        std::size_t event;
        std::string error;
    };
    std::vector<Row> rows;
    std::vector<std::size_t> event_of_row;
    std::vector<Rejection> rejected;
    std::size_t events = 0;
};

bool equalSecrets(std::string_view a, std::string_view b) {
    // Digests have one length, so that not even the length of the secret shows.
    std::array<unsigned char, SHA256_DIGEST_LENGTH> left{}, right{};
    ::SHA256(reinterpret_cast<const unsigned char*>(a.data()), a.size(), left.data());
    ::SHA256(reinterpret_cast<const unsigned char*>(b.data()), b.size(), right.data());
    return ::CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

EventsEndpoint::EventsEndpoint(Options options, Validator& validator, Committer& committer, IngestMetrics* metrics,
                               const Clock* clock)
    : options_(std::move(options)), validator_(validator), committer_(committer), metrics_(metrics), clock_(clock) {}

bool EventsEndpoint::authorized(const PostRequest& request) const {
    if (options_.token.empty()) return request.peer_is_loopback && isLoopbackName(request.host);
    constexpr std::string_view kScheme = "bearer ";
    if (!startsWithIgnoringCase(request.authorization, kScheme)) return false;
    return equalSecrets(trimmed(request.authorization.substr(kScheme.size())), options_.token);
}

PostResponse EventsEndpoint::handle(const PostRequest& request, const Cancel& cancel) {
    if (request.method != "POST") return plain(405, "method not allowed");
    if (!authorized(request)) return plain(401, "unauthorized");
    const std::string type = mediaType(request.content_type);
    const bool single = type == "application/json" || type == "application/cloudevents+json";
    const bool array = type == "application/cloudevents-batch+json";
    if (!single && !array && type != "application/x-ndjson") {
        return plain(415,
                     "the content type must be application/cloudevents+json, application/json, "
                     "application/cloudevents-batch+json or "
                     "application/x-ndjson");
    }
    const std::string encoding = lowerAscii(trimmed(request.content_encoding));
    const bool gzip = encoding == "gzip" || encoding == "x-gzip";
    if (!gzip && !encoding.empty() && encoding != "identity")
        return plain(415, "the content encoding must be gzip or none");

    std::string unpacked;
    std::string_view body = request.body;
    if (body.size() > options_.max_body_bytes) {
        if (metrics_ != nullptr) metrics_->publish_too_large.Increment();
        return plain(413, "payload too large");
    }
    if (gzip) {
        StatusOr<std::string> text = gunzip(body, options_.max_body_bytes);
        if (absl::IsResourceExhausted(text.status())) {
            if (metrics_ != nullptr) metrics_->publish_too_large.Increment();
            return plain(413, "payload too large");
        }
        if (!text.ok()) return plain(400, std::string(text.status().message()));
        unpacked = *std::move(text);
        body = unpacked;
    }
    Batch batch = readBatch(body, single, array);
    const std::int64_t started = clock_->steadyMicros();
    const Outcome outcome = committer_.submit({std::move(batch.rows), {}}, options_.room_wait_micros, cancel);
    PostResponse response = answer(batch, outcome, single);
    if (metrics_ != nullptr)
        metrics_->publish_ack_seconds.Observe(static_cast<double>(clock_->steadyMicros() - started) / 1e6);
    count(response, batch.event_of_row.size());
    return response;
}

EventsEndpoint::Batch EventsEndpoint::readBatch(std::string_view body, bool single, bool array) {
    const InputFormat format = single ? InputFormat::kSingle : array ? InputFormat::kArray : InputFormat::kLines;
    ReaderOptions options{.format = format, .max_event_bytes = options_.max_body_bytes};
    options.buffer_bytes = std::min(options.buffer_bytes, body.size());
    EventReader reader(memorySource(body), options);
    Batch batch;
    while (true) {
        StatusOr<ReadResult> next = reader.next();
        if (!next.ok()) {  // memory cannot fail to be read
            batch.rejected.push_back({batch.events, std::string(next.status().message())});
            return batch;
        }
        if (next->kind == ReadKind::kEnd) return batch;
        const InputItem& item = next->item;
        const std::size_t event = batch.events++;
        if (!item.error.empty()) {
            batch.rejected.push_back({event, item.error});
            continue;
        }
        Verdict verdict = validator_.check(item.text);
        if (!verdict.fault.ok()) batch.rejected.push_back({event, std::string(verdict.fault.message())});
        for (Row& row : verdict.rows) {
            batch.rows.push_back(std::move(row));
            batch.event_of_row.push_back(event);
        }
    }
}

PostResponse EventsEndpoint::answer(const Batch& batch, const Outcome& outcome, bool single) const {
    if (!outcome.status.ok()) return mayPassLater(outcome.status) ? unavailable() : plain(500, "internal error");
    std::vector<Batch::Rejection> rejected = batch.rejected;
    for (const RowFault& fault : outcome.faults) {
        rejected.push_back({batch.event_of_row[fault.row], "the lake refuses a value of the event"});
    }
    std::stable_sort(rejected.begin(), rejected.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
    rejected.erase(
        std::unique(rejected.begin(), rejected.end(), [](const auto& a, const auto& b) { return a.event == b.event; }),
        rejected.end());
    if (single) return rejected.empty() ? plain(200, "") : plain(400, rejected.front().error);
    std::string body = strCat("{\"accepted\":", batch.events - rejected.size(), ",\"rejected\":[");
    for (std::size_t i = 0; i < rejected.size(); ++i) {
        strAppend(&body, i > 0 ? "," : "", "{\"index\":", rejected[i].event,
                  ",\"error\":", jsonString(rejected[i].error), "}");
    }
    body += "]";
    if (rejected.empty()) strAppend(&body, ",\"snapshot\":", outcome.snapshot);
    body += "}";
    return {rejected.empty() ? 200 : 400, std::move(body), "application/json", 0};
}

void EventsEndpoint::count(const PostResponse& response, std::size_t events) const {
    if (metrics_ == nullptr) return;
    auto& counter = response.status == 503 ? metrics_->publish_unavailable : metrics_->publish_ok;
    if (response.status != 500) counter.Increment(static_cast<double>(events));
}

}  // namespace dq::ingest
