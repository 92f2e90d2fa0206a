#include "http/server.h"

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/log.h"
#include "core/status.h"
#include "http/http_testing.h"
#include "http/path.h"

namespace dq::http {
namespace {

// Says what it understood of the request.
Response echo(const Request& r, const Cancel&) {
    return Response::text(200, absl::StrCat(r.method, " ", r.path, " ", r.query, " ", r.body))
        .with("X-Target", r.target);
}

ServerOptions local() {
    ServerOptions options;
    options.address = "127.0.0.1";
    options.workers = 4;
    return options;
}

class Served {
  public:
    explicit Served(Handler handler = echo, ServerOptions options = local()) : server(options, std::move(handler)) {
        const absl::Status status = server.start();
        DQ_CHECK(status.ok(), "test server cannot start");
    }
    RawClient client() const { return RawClient(server.port()); }
    Server server;
};

TEST(Server, AnswersAndKeepsTheConnection) {
    Served s;
    RawClient client = s.client();
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(client.send(get("/query?x=%20y")));
        const auto response = client.read();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 200);
        EXPECT_EQ(response->body, "GET /query x=%20y ");
        EXPECT_EQ(response->headers.at("x-target"), "/query?x=%20y");
        EXPECT_EQ(response->headers.count("connection"), 0U);
    }
}

TEST(Server, RequestFacts) {
    Request seen;
    Served s([&](const Request& request, const Cancel&) {
        seen = request;
        return Response::text(200, "");
    });
    RawClient client = s.client();
    ASSERT_TRUE(client.send(get("http://host/p?q", "X-A: 1\r\nx-a: 2\r\nEmpty:\r\n")));
    ASSERT_TRUE(client.read());
    EXPECT_EQ(seen.path, "/p");
    EXPECT_EQ(seen.query, "q");
    EXPECT_EQ(seen.target, "http://host/p?q");
    EXPECT_EQ(seen.header("X-a"), "1");
    EXPECT_TRUE(seen.has("empty"));
    EXPECT_EQ(seen.header("empty"), "");
    EXPECT_FALSE(seen.has("absent"));
    EXPECT_EQ(seen.peer_address, "127.0.0.1");
    EXPECT_NE(seen.peer_port, 0);
    EXPECT_TRUE(seen.peer_is_loopback);
}

TEST(Server, AnyMethodAndAnyPathReachTheHandler) {
    Served s;
    RawClient client = s.client();
    for (const char* method : {"GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND", "BREW", "M-SEARCH"}) {
        ASSERT_TRUE(client.send(absl::StrCat(method, " //no/../such HTTP/1.1\r\nHost: t\r\n\r\n")));
        const auto response = client.read();
        ASSERT_TRUE(response) << method;
        EXPECT_EQ(response->body, absl::StrCat(method, " //no/../such  "));
    }
    ASSERT_TRUE(client.send("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n"));
    EXPECT_EQ(client.answer().body, "OPTIONS *  ");
}

TEST(Server, UpgradeRequestsArriveAsRequests) {
    Served s([](const Request& request, const Cancel&) {
        return Response::text(400, std::string(request.header("Upgrade"))).with("Sec-Websocket-Version", "13");
    });
    RawClient client = s.client();
    ASSERT_TRUE(client.send(get("/query", "Connection: Upgrade\r\nUpgrade: websocket\r\n")));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 400);
    EXPECT_EQ(response->body, "websocket");
    EXPECT_EQ(response->headers.at("sec-websocket-version"), "13");
    ASSERT_TRUE(client.send(get("/query")));
    EXPECT_TRUE(client.read());
}

TEST(Server, HeadHasTheLengthButNoBody) {
    Served s;
    RawClient client = s.client();
    ASSERT_TRUE(client.send("HEAD /x HTTP/1.1\r\nHost: t\r\n\r\n"));
    const auto response = client.read(true);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->headers.at("content-length"), std::to_string(std::string("HEAD /x  ").size()));
    ASSERT_TRUE(client.send(get("/y")));
    EXPECT_EQ(client.answer().body, "GET /y  ");
}

TEST(Server, StatusesWithoutBody) {
    Served s([](const Request&, const Cancel&) { return Response{204, {}, "never sent"}; });
    RawClient client = s.client();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(client.send(get("/")));
        const auto response = client.read();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 204);
        EXPECT_EQ(response->headers.count("content-length"), 0U);
    }
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
    Served s;
    RawClient client = s.client();
    std::string all;
    for (int i = 0; i < 500; ++i)
        all += i % 2 == 0 ? get(absl::StrCat("/", i)) : post(absl::StrCat("/", i), "body\r\n");
    std::thread sender([&] { EXPECT_TRUE(client.send(all)); });
    for (int i = 0; i < 500; ++i) {
        const auto response = client.read();
        ASSERT_TRUE(response) << i;
        EXPECT_EQ(response->body,
                  i % 2 == 0 ? absl::StrCat("GET /", i, "  ") : absl::StrCat("POST /", i, "  body\r\n"));
    }
    sender.join();
}

TEST(Server, HalfClosedClientsGetTheirAnswers) {
    Served s;
    RawClient client = s.client();
    ASSERT_TRUE(client.send(get("/1") + get("/2")));
    client.shutdownWrite();
    EXPECT_EQ(client.answer().body, "GET /1  ");
    EXPECT_EQ(client.answer().body, "GET /2  ");
    EXPECT_TRUE(client.closedByPeer());
}

TEST(Server, ByteByByteAndBlankLinesBetween) {
    Served s;
    RawClient client = s.client();
    const std::string text = post("/a", "xyz") + "\r\n\r\n" +
                             "POST /b HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n"
                             "1;ext=\"v\"\r\nX\r\n3\r\nYZ!\r\n0\r\nTrailer: t\r\n\r\n"
                             "POST /c HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" +
                             get("/d");
    for (char c : text) ASSERT_TRUE(client.send({&c, 1}));
    EXPECT_EQ(client.answer().body, "POST /a  xyz");
    EXPECT_EQ(client.answer().body, "POST /b  XYZ!");
    EXPECT_EQ(client.answer().body, "POST /c  ");
    EXPECT_EQ(client.answer().body, "GET /d  ");
}

TEST(Server, ABodyMayComeAfterItsHeaderWasRead) {
    Served s;
    RawClient client = s.client(), other = s.client();
    const std::string framings[] = {"Content-Length: 3\r\n\r\n|abc",
                                    "Transfer-Encoding: chunked\r\n\r\n|3\r\nabc\r\n0\r\n\r\n"};
    for (const std::string& framing : framings) {
        const std::size_t cut = framing.find('|');
        ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: t\r\n" + framing.substr(0, cut)));
        // An answer on another connection: the io thread has seen the header by then.
        for (int i = 0; i < 2; ++i) {
            ASSERT_TRUE(other.send(get("/")));
            ASSERT_TRUE(other.read());
        }
        ASSERT_TRUE(client.send(framing.substr(cut + 1)));
        const auto response = client.read();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->body, "POST /x  abc");
    }
}

TEST(Server, Http10ClosesUnlessAskedNotTo) {
    Served s;
    RawClient once = s.client();
    ASSERT_TRUE(once.send("GET /x HTTP/1.0\r\n\r\n"));
    EXPECT_EQ(once.answer().headers.at("connection"), "close");
    EXPECT_TRUE(once.closedByPeer());
    RawClient kept = s.client();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(kept.send("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
        EXPECT_EQ(kept.answer().headers.at("connection"), "keep-alive");
    }
}

TEST(Server, ConnectionCloseOfEitherSide) {
    Served s([](const Request& request, const Cancel&) {
        Response response = Response::text(200, "x");
        if (request.path == "/bye") response.headers.emplace_back("Connection", "close");
        return response;
    });
    RawClient asks = s.client();
    ASSERT_TRUE(asks.send(get("/", "Connection: close\r\n")));
    EXPECT_EQ(asks.answer().headers.at("connection"), "close");
    EXPECT_TRUE(asks.closedByPeer());
    RawClient told = s.client();
    ASSERT_TRUE(told.send(get("/bye")));
    EXPECT_EQ(told.answer().headers.at("connection"), "close");
    EXPECT_TRUE(told.closedByPeer());
}

TEST(Server, ContinueIsSentBeforeTheBodyIs) {
    Served s;
    RawClient client = s.client();
    ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"));
    EXPECT_EQ(client.answer().status, 100);
    ASSERT_TRUE(client.send("abc"));
    EXPECT_EQ(client.answer().body, "POST /x  abc");
    ASSERT_TRUE(client.send("POST /x HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 200-ok\r\n\r\n"));
    EXPECT_EQ(client.answer().status, 417);
}

TEST(Server, MalformedRequestsGet400AndAreClosed) {
    for (const char* text :
         {"nonsense\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/2.0\r\nHost: t\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
          "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "GET / HTTP/1.1\r\nHost: t\r\nBad Name: x\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1x\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
          "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n\r\n", "\x16\x03\x01\x02\r\n\r\n"}) {
        Served s;
        RawClient client = s.client();
        ASSERT_TRUE(client.send(text));
        const auto response = client.read();
        ASSERT_TRUE(response) << text;
        EXPECT_EQ(response->status, 400) << text;
        EXPECT_EQ(response->headers.at("connection"), "close");
        EXPECT_EQ(response->headers.at("x-content-type-options"), "nosniff");
        EXPECT_TRUE(client.closedByPeer()) << text;
    }
}

TEST(Server, UnknownTransferCodingsAreRefused) {
    Served s;
    RawClient client = s.client();
    ASSERT_TRUE(client.send(
        "POST / HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: xchunked\r\n\r\nGET / HTTP/1.1\r\nHost: t\r\n\r\n"));
    EXPECT_EQ(client.answer().status, 501);
    EXPECT_TRUE(client.closedByPeer());
}

TEST(Server, AThrowingHandlerGives500AndTheServerGoesOn) {
    LogCapture logs;
    Served s([](const Request& request, const Cancel&) -> Response {
        if (request.path == "/int") throw 5;
        if (request.path == "/throw") throw std::runtime_error("broken");
        if (request.path == "/status") return {7, {}, ""};
        return Response::text(200, "fine");
    });
    RawClient client = s.client();
    for (const char* path : {"/throw", "/int", "/status"}) {
        ASSERT_TRUE(client.send(get(path)));
        const auto response = client.read();
        ASSERT_TRUE(response);
        EXPECT_EQ(response->status, 500) << path;
        EXPECT_EQ(response->body, "Internal Server Error\n");
    }
    ASSERT_TRUE(client.send(get("/")));
    EXPECT_EQ(client.answer().body, "fine");
    EXPECT_NE(logs.text().find("\"panic\":\"broken\""), std::string::npos);
}

TEST(Server, HeadersOfAHandlerCannotBreakTheAnswer) {
    Served s([](const Request&, const Cancel&) {
        return Response::json(200, "{}")
            .with("X-A", "1\r\nX-Evil: 2")
            .with("Bad Name", "x")
            .with("Content-Length", "99")
            .with("Transfer-Encoding", "chunked");
    });
    RawClient client = s.client();
    ASSERT_TRUE(client.send(get("/")));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->headers.at("x-a"), "1  X-Evil: 2");
    EXPECT_EQ(response->headers.at("content-type"), "application/json");
    EXPECT_EQ(response->headers.at("content-length"), "2");
    EXPECT_EQ(response->headers.size(), 3U);
}

TEST(Server, ManyClientsAreAllAnswered) {
    Served s;
    std::vector<std::thread> threads;
    std::atomic<int> right = 0;
    for (int t = 0; t < 64; ++t) {
        threads.emplace_back([&, t] {
            RawClient client = s.client();
            for (int i = 0; i < 200; ++i) {
                const std::string body = absl::StrCat(t, "/", i);
                if (!client.send(post("/p", body))) return;
                const auto response = client.read();
                if (response && response->body == absl::StrCat("POST /p  ", body)) ++right;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(right, 64 * 200);
}

TEST(Server, LargeAnswersArriveWhole) {
    std::string large(8 * 1024 * 1024, 'x');
    for (std::size_t i = 0; i < large.size(); i += 4096) large[i] = static_cast<char>('a' + i / 4096 % 26);
    Served s([&](const Request&, const Cancel&) { return Response::text(200, large); });
    RawClient client = s.client();
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(client.send(get("/")));
        const auto response = client.read();
        ASSERT_TRUE(response);
        EXPECT_TRUE(response->body == large);
    }
}

TEST(Server, Ipv6) {
    ServerOptions options = local();
    options.address = "::1";
    Server server(options, [](const Request& r, const Cancel&) { return Response::text(200, r.peer_address); });
    if (const absl::Status started = server.start(); !started.ok()) {
        ASSERT_NE(started.message().find("assign requested address"), absl::string_view::npos) << started;
        GTEST_SKIP() << "no IPv6 on this machine";
    }
    RawClient client(server.port(), "::1");
    ASSERT_TRUE(client.send(get("/")));
    EXPECT_EQ(client.answer().body, "::1");
}

TEST(Server, Acceptance16_APortInUseIsAnErrorThatNamesIt) {
    Served s;
    ServerOptions options = local();
    options.port = s.server.port();
    Server second(options, echo);
    const absl::Status status = second.start();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
    EXPECT_NE(status.message().find(absl::StrCat("127.0.0.1 port ", options.port)), absl::string_view::npos) << status;
    EXPECT_TRUE(second.stop(0));
    options.address = "not an address";
    EXPECT_EQ(Server(options, echo).start().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Server, ThePortIsFreeAgainAfterStop) {
    ServerOptions options = local();
    for (int i = 0; i < 3; ++i) {
        Served s(echo, options);
        options.port = s.server.port();
        RawClient client = s.client();
        ASSERT_TRUE(client.send(get("/")));
        EXPECT_TRUE(client.read());
        EXPECT_TRUE(s.server.stop(1'000'000));
    }
}

TEST(Server, RedirectsOverTheWire) {
    Served s([](const Request& request, const Cancel& cancel) {
        if (auto redirect = redirectToCleanPath(request)) return *redirect;
        return echo(request, cancel);
    });
    RawClient client = s.client();
    ASSERT_TRUE(client.send(get("//query?a=b")));
    const auto response = client.read();
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 307);
    EXPECT_EQ(response->headers.at("location"), "/query?a=b");
}

}  // namespace
}  // namespace dq::http
