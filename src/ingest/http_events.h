// POST /v1/events: CloudEvents into the lake over HTTP, apart from any server (writer.md A2, B1).
//
//   EventsEndpoint endpoint({.token = settings.ingest_token}, validator, committer, &metrics);
//   PostResponse response = endpoint.handle(request, cancel);
//
// Bodies: application/json or application/cloudevents+json (one event), application/cloudevents-batch+json (array),
// application/x-ndjson (lines); gzip as Content-Encoding, bounded by max_body_bytes after decompression too. The answer
// comes after the lake commit; posts that arrive together share one.
//   200  all stored. One event: no body. Batch and lines: {"accepted":n,"rejected":[],"snapshot":id}
//   400  one event: the reason as text. Batch and lines: {"accepted":n,"rejected":[{"index":i,"error":"…"}]}, the good
//        ones stored
//   401  no right to post; 405 not POST; 413 body too large; 415 a content type or encoding that is none of these
//   503  with Retry-After 5: the lake took none or not all; sending everything again is safe, readers de-duplicate
//   500  a fault that a repetition will not mend
//
// Who may post: with a token configured, whoever sends it as `Authorization: Bearer`. Without one, callers on this
// machine, and only when they address it by a loopback name, so that a web page cannot reach it under a name of its
// own. A content type is required for the same reason: browsers send none of these across origins without asking first.
// Threads: any; each call blocks its thread until the commit.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/cancel.h"
#include "ingest/committer.h"
#include "ingest/ingest_metrics.h"
#include "ingest/validate.h"

namespace dq::ingest {

struct PostRequest {
    std::string_view method = "POST";
    std::string_view content_type = {}, content_encoding = {}, authorization = {}, host = {};
    std::string_view body = {};
    bool peer_is_loopback = false;
};

struct PostResponse {
    int status = 200;
    std::string body = {};
    std::string content_type = "text/plain; charset=utf-8";
    int retry_after_seconds = 0;  // > 0: header Retry-After
};

class EventsEndpoint {
  public:
    struct Options {
        std::string token = {};                                 // INGEST_TOKEN; empty: callers on this machine only
        std::size_t max_body_bytes = 32 * 1024 * 1024;          // MAX_BODY_BYTES
        std::int64_t room_wait_micros = 10 * kMicrosPerSecond;  // for memory, before 503
    };
    // Everything referred to must outlive the endpoint.
    EventsEndpoint(Options options, Validator& validator, Committer& committer, IngestMetrics* metrics = nullptr,
                   const Clock* clock = &systemClock());
    PostResponse handle(const PostRequest& request, const Cancel& cancel);

  private:
    struct Batch;
    bool authorized(const PostRequest& request) const;
    Batch readBatch(std::string_view body, bool single, bool array);
    PostResponse answer(const Batch& batch, const Outcome& outcome, bool single) const;
    void count(const PostResponse& response, std::size_t events) const;

    const Options options_;
    Validator& validator_;
    Committer& committer_;
    IngestMetrics* metrics_;
    const Clock* clock_;
};

// Compares in time that depends on the lengths only.
bool equalSecrets(std::string_view a, std::string_view b);

}  // namespace dq::ingest
