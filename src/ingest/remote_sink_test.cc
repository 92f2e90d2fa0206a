#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "core/status.h"
#include "core/text.h"
#include "ingest/sink.h"

namespace dq::ingest {
namespace {

std::vector<Row> rows(int count, std::size_t data = 1) {
    std::vector<Row> out;
    for (int i = 0; i < count; ++i) {
        Row& row = out.emplace_back();
        row.id = std::to_string(i);
        row.extras = "{}";
        row.data = "\"" + std::string(data, 'x') + "\"";
    }
    return out;
}

class RemoteSink : public ::testing::Test {
  protected:
    // Plays the replies in order, then stores everything.
    Outcome send(std::vector<Row> batch, std::vector<StatusOr<HttpReply>> replies,
                 const Cancel& cancel = Cancel::root()) {
        options_.url = "http://127.0.0.1:1";
        options_.wait = [this](std::int64_t micros, const Cancel&) { waits_.push_back(micros / kMicrosPerSecond); };
        const auto sink = remoteSink(
            [this, replies](const HttpPost& post, const Cancel&) mutable -> StatusOr<HttpReply> {
                const auto events = std::count(post.body.begin(), post.body.end(), '\n');
                sent_.push_back(static_cast<int>(events));
                largest_ = std::max(largest_, post.body.size());
                if (next_ < replies.size()) return replies[next_++];
                return HttpReply{200, 0,
                                 strCat("{\"accepted\":", events, ",\"rejected\":[],\"snapshot\":", ++snapshot_, "}")};
            },
            options_);
        return sink->start({std::move(batch), {}}, cancel)->wait(Cancel::root());
    }
    RemoteOptions options_;
    std::vector<int> sent_;
    std::vector<std::int64_t> waits_;
    std::size_t next_ = 0, largest_ = 0;
    std::int64_t snapshot_ = 0;
};

TEST_F(RemoteSink, BatchesAreBoundedByEventsAndBytes) {
    const Outcome outcome = send(rows(2300), {});
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.stored, 2300u);
    EXPECT_EQ(outcome.snapshot, 3);
    EXPECT_EQ(outcome.commits, 3);
    EXPECT_EQ(sent_, (std::vector<int>{1000, 1000, 300}));
    options_.batch_bytes = 5000;
    sent_.clear();
    EXPECT_EQ(send(rows(20, 1000), {}).stored, 20u);
    EXPECT_EQ(sent_.size(), 5u);
    EXPECT_LE(largest_, 180'000u);
    EXPECT_EQ(send(rows(2, 9000), {}).stored, 2u);  // one event may be larger than a batch
}

TEST_F(RemoteSink, RejectedEventsComeBackWithTheirRowsAndReasons) {
    options_.batch_events = 2;
    const Outcome outcome =
        send(rows(4), {HttpReply{200, 0, R"({"accepted":2,"rejected":[]})"},
                       HttpReply{400, 0, R"({"accepted":1,"rejected":[{"index":1,"error":"bad subject"}]})"}});
    EXPECT_TRUE(outcome.status.ok());
    EXPECT_EQ(outcome.stored, 3u);
    ASSERT_EQ(outcome.faults.size(), 1u);
    EXPECT_EQ(outcome.faults[0].row, 3u);
    EXPECT_TRUE(outcome.faults[0].poison);
    EXPECT_EQ(outcome.faults[0].reason.message(), "bad subject");
    EXPECT_EQ(outcome.fault_rows.at(0).id, "3");
}

TEST_F(RemoteSink, BusyServerIsWaitedForAsItAsksAndNotForEver) {
    EXPECT_EQ(send(rows(1), {HttpReply{503, 7, ""}, HttpReply{503, 0, ""}, absl::UnavailableError("refused"),
                             HttpReply{503, 9999, ""}})
                  .stored,
              1u);
    EXPECT_EQ(waits_, (std::vector<std::int64_t>{7, 2, 4, 60}));
    next_ = 0;
    options_.batch_events = 1;
    options_.tries = 3;
    const HttpReply stored{200, 0, R"({"accepted":1,"rejected":[]})"}, busy{503, 1, ""};
    const Outcome outcome = send(rows(3), {stored, busy, busy, busy});
    EXPECT_TRUE(absl::IsUnavailable(outcome.status));
    EXPECT_EQ(outcome.stored, 1u);
    ASSERT_EQ(outcome.faults.size(), 2u);
    for (const RowFault& fault : outcome.faults) EXPECT_FALSE(fault.poison);
    EXPECT_EQ(outcome.fault_rows.at(0).id, "1");
}

TEST_F(RemoteSink, TooLargeBatchesAreHalvedAndGrowAgain) {
    options_.batch_events = 8;
    const HttpReply too_large{413, 0, "payload too large"};
    const Outcome outcome = send(rows(20), {too_large, too_large});
    EXPECT_EQ(outcome.stored, 20u);
    EXPECT_EQ(sent_, (std::vector<int>{8, 4, 2, 4, 8, 6}));
    next_ = 0;
    const Outcome single = send(rows(1), {too_large});
    EXPECT_TRUE(single.faults.at(0).poison);
    EXPECT_TRUE(single.status.ok());
}

TEST_F(RemoteSink, AnswersOfAnotherKindOfServerAreFaults) {
    for (const HttpReply& reply :
         {HttpReply{200, 0, "<html>"}, HttpReply{200, 0, "{}"}, HttpReply{200, 0, R"({"accepted":1,"rejected":[]})"},
          HttpReply{400, 0, R"({"accepted":1,"rejected":[{"index":2,"error":"x"}]})"}, HttpReply{404, 0, ""},
          HttpReply{401, 0, ""}, HttpReply{500, 0, ""}, HttpReply{302, 0, ""}}) {
        next_ = 0;
        const Outcome outcome = send(rows(2), {reply});
        EXPECT_FALSE(outcome.status.ok()) << reply.status;
        EXPECT_EQ(outcome.stored, 0u);
        EXPECT_EQ(outcome.faults.size(), 2u);
        EXPECT_FALSE(outcome.faults.at(0).poison);
    }
}

TEST_F(RemoteSink, CancelledRunSendsNothing) {
    const Cancel cancel = Cancel::root();
    cancel.cancel();
    EXPECT_TRUE(absl::IsCancelled(send(rows(2), {}, cancel).status));
    EXPECT_TRUE(sent_.empty());
}

// Answers one request with the given text and keeps what was asked.
class OneAnswerServer {
  public:
    explicit OneAnswerServer(std::string answer) : answer_(std::move(answer)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
        EXPECT_EQ(::listen(listener_, 1), 0);
        socklen_t length = sizeof(address);
        EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~OneAnswerServer() {
        if (thread_.joinable()) thread_.join();
        ::close(listener_);
    }
    std::string url() const { return strCat("http://127.0.0.1:", port_, "/v1/events"); }
    const std::string& request() {
        thread_.join();
        return request_;
    }

  private:
    void serve() {
        const int peer = ::accept(listener_, nullptr, nullptr);
        char buffer[4096];
        while (!request_.ends_with("{\"a\":1}\n")) {
            const ssize_t count = ::read(peer, buffer, sizeof(buffer));
            if (count <= 0) break;
            request_.append(buffer, static_cast<std::size_t>(count));
        }
        EXPECT_EQ(::write(peer, answer_.data(), answer_.size()), static_cast<ssize_t>(answer_.size()));
        ::close(peer);
    }
    std::string answer_, request_;
    int listener_ = -1;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

TEST(CurlPost, SendsTheBatchAndReadsStatusBodyAndRetryAfter) {
    OneAnswerServer server("HTTP/1.1 503 Busy\r\nretry-AFTER: 17\r\nContent-Length: 4\r\n\r\nbusy");
    const auto reply = curlPost()({server.url(), "application/x-ndjson", "t0ken", "{\"a\":1}\n"}, Cancel::root());
    ASSERT_TRUE(reply.ok()) << reply.status();
    EXPECT_EQ(reply->status, 503);
    EXPECT_EQ(reply->retry_after_seconds, 17);
    EXPECT_EQ(reply->body, "busy");
    const std::string& request = server.request();
    EXPECT_THAT(request, ::testing::StartsWith("POST /v1/events HTTP/1.1\r\n"));
    EXPECT_THAT(request, ::testing::HasSubstr("\r\nContent-Type: application/x-ndjson\r\n"));
    EXPECT_THAT(request, ::testing::HasSubstr("\r\nAuthorization: Bearer t0ken\r\n"));
    EXPECT_THAT(request, ::testing::HasSubstr("\r\nContent-Length: 8\r\n"));
}

TEST(CurlPost, RedirectIsAnAnswerAndABrokenOneIsNot) {
    OneAnswerServer moved("HTTP/1.1 302 Moved\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n");
    EXPECT_EQ(curlPost()({moved.url(), "application/x-ndjson", "", "{\"a\":1}\n"}, Cancel::root())->status, 302);
    OneAnswerServer broken("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    EXPECT_TRUE(absl::IsUnavailable(
        curlPost()({broken.url(), "application/x-ndjson", "", "{\"a\":1}\n"}, Cancel::root()).status()));
}

TEST(CurlPost, UnreachableServerAndWrongScheme) {
    const PostFunction post = curlPost();
    EXPECT_TRUE(absl::IsUnavailable(
        post({"http://127.0.0.1:1/v1/events", "application/x-ndjson", "", "{}"}, Cancel::root()).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(
        post({"file:///etc/hostname", "application/x-ndjson", "", "{}"}, Cancel::root()).status()));
    EXPECT_TRUE(absl::IsInvalidArgument(post({"http://[", "application/x-ndjson", "", "{}"}, Cancel::root()).status()));
}

}  // namespace
}  // namespace dq::ingest
