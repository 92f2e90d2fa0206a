#include "ingest/http_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>

#include "core/status.h"
#include "core/text.h"
#include "ingest/ingest_testing.h"

namespace dq::ingest {
namespace {

using testing::gzipped;
using testing::statusEvent;

class HttpEvents : public ::testing::Test {
  protected:
    HttpEvents()
        : metrics_(registry_),
          validator_({}),
          committer_(
              [this](std::span<const Row> rows, const Cancel&) -> StatusOr<std::int64_t> {
                  std::lock_guard lock(mutex_);
                  if (!failure_.ok()) return failure_;
                  for (const Row& row : rows) {
                      if (row.id == "poison") return absl::InvalidArgumentError("refused");
                  }
                  for (const Row& row : rows) ids_.push_back(row.id);
                  return ++snapshot_;
              },
              {}) {}

    PostResponse post(std::string_view body, std::string_view type = "application/json",
                      PostRequest request = {.peer_is_loopback = true}) {
        request.body = body;
        request.content_type = type;
        return EventsEndpoint(options_, validator_, committer_, &metrics_).handle(request, Cancel::root());
    }
    void fail(Status failure) {
        std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
    }

    Metrics registry_;
    IngestMetrics metrics_;
    EventsEndpoint::Options options_;
    std::mutex mutex_;
    Status failure_;
    std::vector<std::string> ids_;
    std::int64_t snapshot_ = 0;
    Validator validator_;
    Committer committer_;
};

constexpr const char* kBatch = "application/cloudevents-batch+json";
constexpr const char* kLines = "application/x-ndjson";

TEST_F(HttpEvents, OneEventAnswersAfterItsCommitWithoutABody) {
    for (const char* type : {"application/json", "application/cloudevents+json", "Application/JSON; charset=utf-8"}) {
        const PostResponse response = post(statusEvent("a"), type);
        EXPECT_EQ(response.status, 200) << response.body;
        EXPECT_EQ(response.body, "");
    }
    EXPECT_EQ(ids_.size(), 3u);
    EXPECT_EQ(metrics_.publish_ok.Value(), 3);
}

TEST_F(HttpEvents, FaultOfOneEventIs400WithTheReason) {
    EXPECT_EQ(post("{").status, 400);
    EXPECT_EQ(post("").body, "there is no event");
    EXPECT_EQ(post("[" + statusEvent("a") + "]").status, 400);
    EXPECT_EQ(post(statusEvent("a!b")).body.substr(0, 3), "id:");
    EXPECT_TRUE(ids_.empty());
}

TEST_F(HttpEvents, BatchAndLinesNameTheRejectedAndStoreTheGood) {
    const std::string good = statusEvent("a"), other = statusEvent("b");
    EXPECT_EQ(post("[" + good + "," + other + "]", kBatch).body, R"({"accepted":2,"rejected":[],"snapshot":1})");
    const PostResponse batch = post("[" + good + ", 7, " + other + ",{}]", kBatch);
    EXPECT_EQ(batch.status, 400);
    EXPECT_EQ(batch.content_type, "application/json");
    EXPECT_THAT(
        batch.body,
        ::testing::StartsWith(
            R"({"accepted":2,"rejected":[{"index":1,"error":"an element of the array is not an object"},{"index":3,)"));
    const PostResponse lines = post(good + "\n\nrubbish\n" + other, kLines);
    EXPECT_EQ(lines.status, 400);
    EXPECT_THAT(lines.body, ::testing::StartsWith(R"({"accepted":2,"rejected":[{"index":1,"error":")"));
    EXPECT_EQ(ids_, (std::vector<std::string>{"a", "b", "a", "b", "a", "b"}));
    EXPECT_EQ(post("[]", kBatch).status, 200);
    EXPECT_EQ(post("", kBatch).status, 400);
    EXPECT_EQ(post(good, kBatch).status, 400);
    EXPECT_EQ(post("[" + good + "] trailing", kBatch).status, 400);
}

TEST_F(HttpEvents, PoisonIsRejectedWithItsIndexAndAloneGivesNoFalseVerdict) {
    const PostResponse response =
        post("[" + statusEvent("a") + "," + statusEvent("poison") + "," + statusEvent("b") + "]", kBatch);
    EXPECT_EQ(response.status, 400);
    EXPECT_EQ(response.body,
              R"({"accepted":2,"rejected":[{"index":1,"error":"the lake refuses a value of the event"}]})");
    EXPECT_EQ(post(statusEvent("poison")).status, 500);  // nothing proves that the event is at fault
}

TEST_F(HttpEvents, Complaint46_OutageIs503ForEveryoneAndRejectsNothing) {
    for (const Status& failure :
         {absl::UnavailableError("away"), absl::AbortedError("conflict"), absl::UnknownError("lost"),
          absl::ResourceExhaustedError("memory"), absl::DataLossError("dead")}) {
        fail(failure);
        for (const PostResponse& response :
             {post(statusEvent("a")), post("[" + statusEvent("a") + "," + statusEvent("b") + ",7]", kBatch)}) {
            EXPECT_EQ(response.status, 503) << failure;
            EXPECT_EQ(response.retry_after_seconds, 5);
            EXPECT_EQ(response.body, "ingest temporarily unavailable");
        }
    }
    EXPECT_EQ(metrics_.poison_rows.Value(), 0);
    EXPECT_EQ(metrics_.publish_unavailable.Value(), 15);
    fail(absl::InternalError("secret text of the engine"));
    EXPECT_EQ(post(statusEvent("a")).status, 500);
    EXPECT_EQ(post(statusEvent("a")).body, "internal error");
    committer_.stop(0);
    EXPECT_EQ(post(statusEvent("a")).status, 503);
}

TEST_F(HttpEvents, BodiesOverTheLimitAre413BeforeAndAfterDecompression) {
    const std::string event = statusEvent("a");
    options_.max_body_bytes = event.size();
    const auto packed = [&](const std::string& text, std::string_view encoding = "gzip") {
        return post(text, "application/json", {.content_encoding = encoding, .peer_is_loopback = true});
    };
    EXPECT_EQ(post(event).status, 200);
    EXPECT_EQ(post(event + " ").status, 413);
    EXPECT_EQ(packed(gzipped(event)).status, 200);
    EXPECT_EQ(packed(gzipped(event), "X-GZIP").status, 200);
    EXPECT_EQ(packed(gzipped(event + std::string(100'000, ' '))).status, 413);
    EXPECT_EQ(packed(event).status, 400);
    EXPECT_EQ(packed(gzipped(event).substr(0, 40)).status, 400);
    EXPECT_EQ(packed(event, "br").status, 415);
    EXPECT_EQ(packed(event, "identity").status, 200);
    EXPECT_EQ(metrics_.publish_too_large.Value(), 2);
}

TEST_F(HttpEvents, ContentTypeIsRequired) {
    for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
        EXPECT_EQ(post(statusEvent("a"), type).status, 415) << type;
    }
    EXPECT_EQ(post(statusEvent("a"), "application/json", {.method = "GET", .peer_is_loopback = true}).status, 405);
    EXPECT_TRUE(ids_.empty());
}

TEST_F(HttpEvents, WithoutATokenOnlyThisMachineUnderALoopbackName) {
    const auto from = [&](bool loopback, std::string_view host) {
        return post(statusEvent("a"), "application/json", {.host = host, .peer_is_loopback = loopback}).status;
    };
    for (const char* host :
         {"", "localhost:8080", "LOCALHOST", "127.0.0.1:8080", "127.1.2.3", "[::1]:8080", "dq.localhost"}) {
        EXPECT_EQ(from(true, host), 200) << host;
        EXPECT_EQ(from(false, host), 401) << host;
    }
    for (const char* host :
         {"evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "192.168.0.1", "[::2]"}) {
        EXPECT_EQ(from(true, host), 401) << host;
    }
}

TEST_F(HttpEvents, WithATokenWhoeverSendsIt) {
    options_.token = "s3cret";
    const auto with = [&](std::string_view authorization) {
        return post(statusEvent("a"), "application/json",
                    {.authorization = authorization, .host = "any.example", .peer_is_loopback = true});
    };
    EXPECT_EQ(with("Bearer s3cret").status, 200);
    EXPECT_EQ(with("bearer  s3cret ").status, 200);
    for (const char* wrong :
         {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cre", "Bearer s3cret!", "Bearer S3CRET"}) {
        EXPECT_EQ(with(wrong).status, 401) << wrong;
        EXPECT_EQ(with(wrong).body, "unauthorized");
    }
    EXPECT_TRUE(equalSecrets("", ""));
    EXPECT_FALSE(equalSecrets("a", ""));
}

}  // namespace
}  // namespace dq::ingest
