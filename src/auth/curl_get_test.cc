#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "auth/auth.h"
#include "auth/auth_testing.h"

namespace dq::auth {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kBound = 30 * kMicrosPerSecond;

// A server on a free port of the loopback: every connection gets `answer`, or nothing at all when it is empty.
class TinyServer {
  public:
    explicit TinyServer(std::string answer = "") : answer_(std::move(answer)) {
        listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(listen(listener_, 8), 0);
        EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
        thread_ = std::thread([this] { serve(); });
    }
    ~TinyServer() {
        shutdown(listener_, SHUT_RDWR);
        thread_.join();
        close(listener_);
        for (int held : held_) close(held);
    }
    std::string url(const std::string& path = "/keys") const {
        return "http://127.0.0.1:" + std::to_string(port_) + path;
    }
    int connections() const { return connections_; }
    void waitForConnection() const { connections_.wait(0); }

  private:
    void serve() {
        for (int client; (client = accept(listener_, nullptr, nullptr)) >= 0;) {
            ++connections_;
            connections_.notify_all();
            char request[4'096];
            if (answer_.empty() || read(client, request, sizeof request) <= 0) {
                held_.push_back(client);
                continue;
            }
            for (std::size_t at = 0; at < answer_.size();) {
                const ssize_t sent = send(client, answer_.data() + at, answer_.size() - at, MSG_NOSIGNAL);
                if (sent <= 0) break;
                at += static_cast<std::size_t>(sent);
            }
            close(client);
        }
    }

    std::string answer_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<int> connections_{0};
    std::vector<int> held_;
    std::thread thread_;
};

std::string http(const std::string& status, const std::string& body, const std::string& headers = "") {
    return "HTTP/1.1 " + status + "\r\nConnection: close\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

TEST(CurlGet, GivesTheBodyWhateverTheStatus) {
    for (const char* status : {"200 OK", "404 Not Found", "500 Internal Server Error"}) {
        const TinyServer server(http(status, "the body"));
        const auto body = curlGet()(server.url(), kBound);
        ASSERT_TRUE(body.ok()) << body.status();
        EXPECT_EQ(*body, "the body");
    }
}

TEST(CurlGet, FollowsARedirectOfTheSameScheme) {
    const TinyServer target(http("200 OK", "moved here"));
    const TinyServer server(http("302 Found", "", "Location: " + target.url() + "\r\n"));
    EXPECT_EQ(*curlGet()(server.url(), kBound), "moved here");
}

TEST(CurlGet, RefusesOtherSchemes) {
    for (const char* location : {"file:///etc/hostname", "ftp://127.0.0.1/", "https://127.0.0.1:1/"}) {
        const TinyServer server(http("302 Found", "", std::string("Location: ") + location + "\r\n"));
        const auto refused = curlGet()(server.url(), kBound);
        EXPECT_EQ(refused.status().code(), absl::StatusCode::kUnavailable) << location;
        EXPECT_THAT(std::string(refused.status().message()), HasSubstr("protocol")) << location;
    }
    EXPECT_EQ(curlGet()("file:///etc/hostname", kBound).status().code(), absl::StatusCode::kUnavailable);
}

TEST(CurlGet, EndsARedirectLoop) {
    const TinyServer server(http("302 Found", "", "Location: /again\r\n"));
    EXPECT_EQ(curlGet()(server.url(), kBound).status().code(), absl::StatusCode::kUnavailable);
    EXPECT_EQ(server.connections(), 4);
}

TEST(CurlGet, TakesOneMebibyteAndNoMore) {
    const TinyServer fits(http("200 OK", std::string(1 << 20, 'x')));
    EXPECT_EQ(curlGet()(fits.url(), kBound)->size(), 1u << 20);
    const TinyServer large(http("200 OK", std::string((1 << 20) + 1, 'x')));
    EXPECT_THAT(std::string(curlGet()(large.url(), kBound).status().message()), HasSubstr("larger than 1 MiB"));
}

TEST(CurlGet, GivesUpAfterItsTime) {
    const TinyServer silent;
    EXPECT_EQ(curlGet()(silent.url(), 50'000).status().code(), absl::StatusCode::kUnavailable);
}

TEST(CurlGet, AServerThatIsAwayIsUnavailableAndItsAddressNotShown) {
    std::string url;
    {
        const TinyServer gone;
        url = gone.url("/keys?token=hunter2");
    }
    const auto failed = curlGet()(url, kBound);
    EXPECT_EQ(failed.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(std::string(failed.status().message()), Not(HasSubstr("hunter2")));
}

TEST(CurlGet, FetchesAKeySet) {
    const TinyServer server(http("200 OK", testKey().jwksJson()));
    const ManualClock clock(kTestNow);
    const auto keys = std::make_shared<KeySet>(KeySet::Options{server.url(), kTestIssuer, curlGet(), &clock});
    EXPECT_TRUE(TokenValidator(kTestIssuer, keys, &clock).validate(signedToken(payload())).ok());
}

TEST(CurlGet, ASetDoesNotWaitForAHangingServiceWhenItEnds) {
    const TinyServer silent;
    std::atomic<int> fetches{0};
    KeySet::Options options;
    options.url = silent.url();
    options.unknown_kid_wait = 1;
    options.get = [&](const std::string& url, std::int64_t timeout) -> absl::StatusOr<std::string> {
        if (fetches++ == 0) return testKey().jwksJson();
        return curlGet()(url, timeout);
    };
    auto keys = std::make_shared<KeySet>(options);
    const ManualClock clock(kTestNow);
    {
        const TokenValidator validator(kTestIssuer, keys, &clock);
        EXPECT_TRUE(validator.validate(signedToken(payload())).ok());
        EXPECT_FALSE(validator.validate(signedToken(payload(), testKey(1))).ok());
    }
    silent.waitForConnection();
    const auto start = std::chrono::steady_clock::now();
    keys.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));  // the fetch alone would take 15
}

}  // namespace
}  // namespace dq::auth
