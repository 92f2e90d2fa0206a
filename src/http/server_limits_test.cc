// Time-outs, size limits, clients that leave or stall, overload, and stopping.
#include <absl/strings/str_cat.h>
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "core/log.h"
#include "core/status.h"
#include "http/admission.h"
#include "http/http_testing.h"
#include "http/server.h"

namespace dq::http {
namespace {

constexpr std::int64_t kLong = 20'000'000;

ServerOptions local() {
    ServerOptions options;
    options.address = "127.0.0.1";
    options.workers = 2;
    return options;
}

Response ok(const Request&, const Cancel&) { return Response::text(200, "ok"); }

// Threads wait until a count is reached.
class Count {
  public:
    void add() {
        std::lock_guard lock(mutex_);
        ++count_;
        changed_.notify_all();
    }
    bool reaches(int wanted) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, std::chrono::microseconds(kLong), [&] { return count_ >= wanted; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int count_ = 0;
};

// Handlers of "/wait" stay until open() or until they are cancelled; others answer at once.
class Gate {
  public:
    Handler handler() {
        return [this](const Request& request, const Cancel& cancel) {
            if (request.path != "/wait") return Response::text(200, "ok");
            entered.add();
            const bool gone = waitForEither(cancel);
            if (gone) cancelled.add();
            return Response::text(200, gone ? "cancelled" : "waited");
        };
    }
    void open() { opened_.cancel(); }
    Count entered, cancelled;

  private:
    // True when cancelled.
    bool waitForEither(const Cancel& cancel) {
        const Cancel either = cancel.child();
        const Cancel::Guard guard = opened_.onCancel([&] { either.cancel(); });
        std::ignore = either.waitFor(kLong);
        return cancel.cancelled();
    }
    const Cancel opened_ = Cancel::root();
};

TEST(Limits, Acceptance15_ABodyOf5MiBIsRefusedBeforeItIsRead) {
    Server server(local(), ok);
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port());
    ASSERT_TRUE(client.send("POST /query HTTP/1.1\r\nHost: t\r\nContent-Length: 5242880\r\n\r\n"));
    const auto early = client.read();
    ASSERT_TRUE(early);
    EXPECT_EQ(early->status, 413);
    EXPECT_EQ(early->body, "request body is larger than 4194304 bytes\n");
    EXPECT_TRUE(client.closedByPeer());

    // A client that sends all of it before it reads gets the answer too.
    RawClient whole(server.port());
    ASSERT_TRUE(whole.send(post("/query", std::string(5 * 1024 * 1024, 'x'))));
    EXPECT_EQ(whole.answer().status, 413);

    RawClient careful(server.port());
    ASSERT_TRUE(careful.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 5242880\r\nExpect: 100-continue\r\n\r\n"));
    EXPECT_EQ(careful.answer().status, 413);
}

TEST(Limits, BodiesUpToTheLimitPassAlsoInChunks) {
    ServerOptions options = local();
    options.max_body_bytes = 100'000;
    Server server(options,
                  [](const Request& r, const Cancel&) { return Response::text(200, absl::StrCat(r.body.size())); });
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port());
    ASSERT_TRUE(client.send(post("/", std::string(100'000, 'x'))));
    EXPECT_EQ(client.answer().body, "100000");
    const std::string head = "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n";
    const std::string chunk = "2710\r\n" + std::string(10'000, 'y') + "\r\n";
    std::string ten = head;
    for (int i = 0; i < 10; ++i) ten += chunk;
    ASSERT_TRUE(client.send(ten + "0\r\n\r\n"));
    EXPECT_EQ(client.answer().body, "100000");
    ASSERT_TRUE(client.send(ten + "1\r\nz\r\n0\r\n\r\n"));
    EXPECT_EQ(client.answer().status, 413);
}

TEST(Limits, APathMayHaveABodyLimitOfItsOwn) {
    ServerOptions options = local();
    options.body_limit_of = [](std::string_view path) { return path == "/large" ? 1000u : 10u; };
    Server server(options,
                  [](const Request& r, const Cancel&) { return Response::text(200, absl::StrCat(r.body.size())); });
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port());
    ASSERT_TRUE(client.send(post("/large", std::string(1000, 'x'))));
    EXPECT_EQ(client.answer().body, "1000");
    ASSERT_TRUE(client.send(post("/small", std::string(11, 'x'))));
    EXPECT_EQ(client.answer().status, 413);
}

TEST(Limits, HeadersUpToOneMiBPassAndMoreGets431) {
    Server server(local(), [](const Request& r, const Cancel&) {
        return Response::text(200, absl::StrCat(r.header("x").size()));
    });
    ASSERT_TRUE(server.start().ok());
    RawClient fits(server.port());
    ASSERT_TRUE(fits.send(get("/", absl::StrCat("X: ", std::string(1'040'000, 'v'), "\r\n"))));
    EXPECT_EQ(fits.answer().body, "1040000");
    RawClient above(server.port());
    std::thread sender([&] { above.send(get("/", absl::StrCat("X: ", std::string(1'100'000, 'v'), "\r\n"))); });
    const auto response = above.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 431);
    sender.join();
    EXPECT_TRUE(above.closedByPeer());
    // Many small lines, and trailers without end, are bounded as well.
    for (const char* start :
         {"GET / HTTP/1.1\r\nHost: t\r\n", "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"}) {
        std::string lines = start;
        for (int i = 0; i < 110'000; ++i) lines += "A: 345678\r\n";
        RawClient many(server.port());
        std::thread feeding([&] { many.send(lines); });
        const auto refused = many.read();
        feeding.join();
        ASSERT_TRUE(refused);
        EXPECT_EQ(refused->status, 431);
    }
}

TEST(Limits, OverTheMemoryBoundOnlyLargeRequestsAreRefused) {
    ServerOptions options = local();
    options.max_buffered_bytes = 400'000;
    Server server(options, ok);
    ASSERT_TRUE(server.start().ok());
    RawClient first(server.port());
    const std::string large = post("/", std::string(1'000'000, 'x'));
    std::thread sender([&] { first.send(large); });
    EXPECT_EQ(first.answer().status, 503);
    sender.join();
    RawClient small(server.port());
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(small.send(get("/")));
        EXPECT_EQ(small.answer().status, 200);
    }
    // What the first one held is given back.
    ASSERT_TRUE(small.send(post("/", std::string(200'000, 'x'))));
    EXPECT_EQ(small.answer().status, 200);
}

TEST(Timeouts, ASlowHeaderGets408) {
    ServerOptions options = local();
    options.header_timeout_micros = 100'000;
    Server server(options, ok);
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port());
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHo"));
    // A byte now and then does not prolong it.
    std::atomic<bool> done = false;
    std::thread drip([&] {
        while (!done && !client.anythingToRead(20)) client.send("x");
    });
    const bool answered = client.anythingToRead(20'000);
    done = true;
    drip.join();
    ASSERT_TRUE(answered);
    EXPECT_EQ(client.answer().status, 408);
    EXPECT_TRUE(client.closedByPeer());
}

TEST(Timeouts, ASlowBodyGets408AndSilenceIsClosed) {
    ServerOptions options = local();
    options.request_timeout_micros = 100'000;
    options.idle_timeout_micros = 100'000;
    options.header_timeout_micros = 100'000;
    Server server(options, ok);
    ASSERT_TRUE(server.start().ok());
    RawClient slow(server.port());
    ASSERT_TRUE(slow.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n123"));
    EXPECT_EQ(slow.answer().status, 408);
    RawClient silent(server.port());
    EXPECT_TRUE(silent.closedByPeer());
    RawClient idle(server.port());
    ASSERT_TRUE(idle.send(get("/")));
    EXPECT_EQ(idle.answer().status, 200);
    EXPECT_TRUE(idle.closedByPeer());
}

TEST(Timeouts, AClientThatNeverReadsIsReset) {
    ServerOptions options = local();
    options.write_timeout_micros = 100'000;
    Server server(options,
                  [](const Request&, const Cancel&) { return Response::text(200, std::string(64 << 20, 'x')); });
    ASSERT_TRUE(server.start().ok());
    RawClient client;
    const int small = 4096;
    ASSERT_EQ(::setsockopt(client.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    ASSERT_TRUE(client.connect(server.port()));
    ASSERT_TRUE(client.send(get("/")));
    // Only the reset ends the stream: what was not sent by then never comes.
    int error = 0;
    const auto start = std::chrono::steady_clock::now();
    while (error == 0 && std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
        socklen_t size = sizeof error;
        ::getsockopt(client.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
        std::this_thread::yield();
    }
    EXPECT_EQ(error, ECONNRESET);
    EXPECT_TRUE(server.stop(kLong));
}

TEST(Disconnect, CancelsTheRunningRequest) {
    Gate gate;
    Server server(local(), gate.handler());
    ASSERT_TRUE(server.start().ok());
    for (int i = 1; i <= 3; ++i) {
        RawClient client(server.port());
        ASSERT_TRUE(client.send(get("/wait")));
        ASSERT_TRUE(gate.entered.reaches(i));
        if (i == 1) client.close();
        if (i == 2) client.reset();
        if (i == 3) client.shutdownWrite();
        EXPECT_TRUE(gate.cancelled.reaches(i)) << i;
        if (i == 3) {
            EXPECT_EQ(client.answer().body, "cancelled");
        }
    }
    RawClient next(server.port());
    ASSERT_TRUE(next.send(get("/")));
    EXPECT_EQ(next.answer().body, "ok");
}

TEST(Disconnect, PipelinedBytesDoNotHideIt) {
    Gate gate;
    Server server(local(), gate.handler());
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port());
    ASSERT_TRUE(client.send(get("/wait") + get("/a") + get("/b")));
    ASSERT_TRUE(gate.entered.reaches(1));
    client.close();
    EXPECT_TRUE(gate.cancelled.reaches(1));
}

TEST(Disconnect, FreesTheLimiterPlaceItWaitedFor) {
    GlobalLimiter limiter(1, kLong);
    Count waiting, shed;
    Server server(local(), [&](const Request&, const Cancel& cancel) {
        waiting.add();
        const auto slot = limiter.enter(cancel);
        if (!slot) shed.add();
        return Response::text(slot ? 200 : 429, "");
    });
    ASSERT_TRUE(server.start().ok());
    auto held = limiter.enter(Cancel::root());
    RawClient client(server.port());
    ASSERT_TRUE(client.send(get("/")));
    ASSERT_TRUE(waiting.reaches(1));
    client.close();
    EXPECT_TRUE(shed.reaches(1));
    held.reset();
    EXPECT_TRUE(limiter.enter(Cancel::root()));
}

TEST(Overload, AFullQueueGives503AndTheConnectionStays) {
    Gate gate;
    ServerOptions options = local();
    options.workers = 1;
    options.max_queued = 1;
    Server server(options, gate.handler());
    ASSERT_TRUE(server.start().ok());
    RawClient running(server.port()), first(server.port()), second(server.port());
    ASSERT_TRUE(running.send(get("/wait")));
    ASSERT_TRUE(gate.entered.reaches(1));
    // One of the two waits in the queue, the other is refused.
    ASSERT_TRUE(first.send(get("/")));
    ASSERT_TRUE(second.send(get("/")));
    while (!first.anythingToRead(1) && !second.anythingToRead(1)) {}
    RawClient& refused = first.anythingToRead(0) ? first : second;
    RawClient& queued = &refused == &first ? second : first;
    const auto response = refused.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 503);
    EXPECT_EQ(response->headers.at("retry-after"), "1");
    gate.open();
    EXPECT_EQ(queued.answer().body, "ok");
    EXPECT_EQ(running.answer().body, "waited");
    ASSERT_TRUE(refused.send(get("/")));
    EXPECT_EQ(refused.answer().body, "ok");
}

TEST(Overload, AtTheConnectionLimitTheIdleGoAndTheBusyStay) {
    Gate gate;
    ServerOptions options = local();
    options.max_connections = 2;
    Server server(options, gate.handler());
    ASSERT_TRUE(server.start().ok());
    RawClient idle(server.port());
    ASSERT_TRUE(idle.send(get("/")));
    ASSERT_TRUE(idle.read());
    RawClient busy(server.port());
    ASSERT_TRUE(busy.send(get("/wait")));
    ASSERT_TRUE(gate.entered.reaches(1));
    EXPECT_TRUE(idle.closedByPeer());
    RawClient third(server.port());
    ASSERT_TRUE(third.send(get("/wait")));
    ASSERT_TRUE(gate.entered.reaches(2));
    // Nobody is idle now: the next one waits in the backlog until a place is free.
    RawClient fourth(server.port());
    ASSERT_TRUE(fourth.send(get("/")));
    gate.open();
    EXPECT_EQ(busy.answer().body, "waited");
    EXPECT_EQ(third.answer().body, "waited");
    EXPECT_EQ(fourth.answer().body, "ok");
}

// Lowers the limit of descriptors to those in use.
class NoDescriptors {
  public:
    NoDescriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const int next = ::dup(0);
        ::close(next);
        const rlimit now{static_cast<rlim_t>(next), before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &now);
    }
    ~NoDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  private:
    rlimit before_{};
};

TEST(Overload, OutOfDescriptorsTheListenerTriesAgain) {
    LogCapture logs;
    Server server(local(), ok);
    ASSERT_TRUE(server.start().ok());
    RawClient warm(server.port());
    ASSERT_TRUE(warm.send(get("/", "Connection: close\r\n")));
    ASSERT_TRUE(warm.read());
    ASSERT_TRUE(warm.closedByPeer());
    RawClient client;
    {
        const NoDescriptors none;
        ASSERT_TRUE(client.connect(server.port()));
        ASSERT_TRUE(client.send(get("/")));
        while (logs.text().find("accepting a connection failed") == std::string::npos && !client.anythingToRead(1)) {}
        EXPECT_NE(logs.text().find("accepting a connection failed"), std::string::npos);
    }
    EXPECT_EQ(client.answer().status, 200);
}

TEST(Stop, Acceptance16_ARunningRequestCompletes) {
    Gate gate;
    Server server(local(), gate.handler());
    ASSERT_TRUE(server.start().ok());
    const std::uint16_t port = server.port();
    RawClient idle(port);
    ASSERT_TRUE(idle.send(get("/")));
    ASSERT_TRUE(idle.read());
    RawClient running(port);
    ASSERT_TRUE(running.send(get("/wait")));
    ASSERT_TRUE(gate.entered.reaches(1));
    auto stopping = std::async(std::launch::async, [&] { return server.stop(kLong); });
    // Idle connections and the listener go at once, the running request goes on.
    EXPECT_TRUE(idle.closedByPeer());
    RawClient late;
    EXPECT_FALSE(late.connect(port));
    EXPECT_FALSE(running.anythingToRead(0));
    gate.open();
    const auto response = running.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->body, "waited");
    EXPECT_EQ(response->headers.at("connection"), "close");
    EXPECT_TRUE(stopping.get());
    EXPECT_TRUE(running.closedByPeer());
}

TEST(Stop, ARequestBeingReadCompletesToo) {
    Server server(local(), ok);
    ASSERT_TRUE(server.start().ok());
    RawClient client(server.port()), idle(server.port());
    ASSERT_TRUE(client.send("POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    ASSERT_EQ(client.answer().status, 100);
    auto stopping = std::async(std::launch::async, [&] { return server.stop(kLong); });
    EXPECT_TRUE(idle.closedByPeer());
    ASSERT_TRUE(client.send("abc"));
    EXPECT_EQ(client.answer().body, "ok");
    EXPECT_TRUE(stopping.get());
}

TEST(Stop, AfterTheDrainTimeTheRestIsCancelled) {
    Gate gate;
    ServerOptions options = local();
    options.workers = 1;
    Server server(options, gate.handler());
    ASSERT_TRUE(server.start().ok());
    RawClient running(server.port()), queued(server.port());
    ASSERT_TRUE(running.send(get("/wait")));
    ASSERT_TRUE(gate.entered.reaches(1));
    ASSERT_TRUE(queued.send(get("/wait")));
    EXPECT_FALSE(server.stop(10'000));
    EXPECT_TRUE(gate.cancelled.reaches(1));
    EXPECT_FALSE(running.read());
    EXPECT_FALSE(queued.read());
    EXPECT_FALSE(server.stop(10'000));  // the outcome stays
}

TEST(Stop, UnderLoadNothingHangsAndNoAnswerIsCut) {
    for (int round = 0; round < 20; ++round) {
        Server server(local(), ok);
        ASSERT_TRUE(server.start().ok());
        std::atomic<int> answered = 0, cut = 0;
        Count begun;
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; ++t) {
            threads.emplace_back([&] {
                RawClient client;
                if (!client.connect(server.port())) return begun.add();
                for (int i = 0;; ++i) {
                    if (i == 5) begun.add();
                    if (!client.send(get("/"))) break;
                    const auto response = client.read();
                    if (!response) break;
                    ++(response->body == "ok" ? answered : cut);
                    if (response->headers.count("connection") > 0) break;
                }
            });
        }
        ASSERT_TRUE(begun.reaches(8));
        EXPECT_TRUE(server.stop(kLong));
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(cut, 0);
        EXPECT_GE(answered, 40);
    }
}

TEST(Stop, WithoutStartAndTwice) {
    Server never(local(), ok);
    EXPECT_TRUE(never.stop(0));
    Server server(local(), ok);
    ASSERT_TRUE(server.start().ok());
    EXPECT_EQ(server.start().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_TRUE(server.stop(kLong));
    EXPECT_TRUE(server.stop(kLong));
    EXPECT_EQ(server.start().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace dq::http
