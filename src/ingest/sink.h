// Where `dq ingest` sends its bundles: the lake of this process, or a serving process over HTTP.
#pragma once
#include <absl/status/statusor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ingest/committer.h"

namespace dq::ingest {

class Sink {
  public:
    virtual ~Sink() = default;
    // Starts to store a bundle; the ticket tells how it went. At most one bundle should be under way beside the one
    // being filled.
    virtual absl::StatusOr<Ticket> start(Submission submission, const Cancel& cancel) = 0;
    // Which rows are there already; Unimplemented where the sink cannot look.
    virtual absl::StatusOr<std::vector<bool>> existing(std::span<const Row> rows, const Cancel& cancel) = 0;
};

// Appends through a committer of its own; `existing` probes the lake. Both functions are injected by tests.
using Probe = std::function<absl::StatusOr<std::vector<bool>>(std::span<const Row>, const Cancel&)>;
std::unique_ptr<Sink> lakeSink(Append append, Probe probe, const SinkSettings& settings);

struct HttpPost {
    std::string url, content_type, bearer_token, body;
};
struct HttpReply {
    int status = 0;
    int retry_after_seconds = 0;  // 0: no such header
    std::string body;
};
// Unavailable when the peer cannot be reached or does not answer; InvalidArgument for a URL that cannot be used.
using PostFunction = std::function<absl::StatusOr<HttpReply>(const HttpPost&, const Cancel&)>;
// libcurl: http and https only, no redirects, answers up to 4 MiB.
PostFunction curlPost();

struct RemoteOptions {
    std::string url;  // of the server, with or without /v1/events
    std::string bearer_token;
    std::size_t batch_events = 1000;
    std::size_t batch_bytes = 2 * 1024 * 1024;  // below the body limit of a server with default settings
    int tries = 10;                             // of one batch, while the server answers 503 or cannot be reached
    int max_wait_seconds = 60;
    std::function<void(std::int64_t micros, const Cancel&)> wait;  // empty: Cancel::waitFor
};
// Sends rows as application/x-ndjson. Rows that the server rejects come back as poison with its reason; a batch that it
// does not take after all tries leaves its rows and all later ones pending. 413 halves a batch.
std::unique_ptr<Sink> remoteSink(PostFunction post, RemoteOptions options);

}  // namespace dq::ingest
