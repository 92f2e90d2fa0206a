// One client connection: reads a request, has a worker answer it, writes the answer, again until one side is done.
//
// All of it runs on the io thread except the handler, which runs on a worker while the io thread watches the
// socket: bytes that come meanwhile are kept (pipelining, one request at a time), the end of the stream cancels the
// request. Requests are answered in order. Deadlines are checked by tick(), so a request costs no timer. Threads:
// io thread only.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/cancel.h"
#include "http/read_buffer.h"
#include "http/request_parser.h"
#include "http/server.h"
#include "http/worker_pool.h"

namespace dq::http {

class Connection;

// What a connection needs of its server. `buffered` is the sum over all connections of the bytes they hold.
struct ConnectionHost {
    ServerOptions options;
    Handler handler;
    WorkerPool* workers = nullptr;
    std::size_t buffered = 0;
    bool draining = false;

    virtual ~ConnectionHost() = default;
    virtual bool full() const = 0;                   // no place for another connection: answers close theirs
    virtual void quiet(Connection& connection) = 0;  // went idle, lingers or is closed
};

class Connection : public std::enable_shared_from_this<Connection> {
  public:
    Connection(boost::asio::ip::tcp::socket socket, ConnectionHost& host);
    void start();
    void tick(std::int64_t now);  // acts on a deadline that has passed
    void drain();                 // closes an idle connection; any other closes after its answer
    void close();                 // at once; cancels a running request
    // Idle after an answer, or waiting for the client to close. Not one that has just come: its request is on the
    // way; nor one that was refused while it sent: it would lose the answer.
    bool evictable() const { return (state_ == State::kIdle && !first_) || (state_ == State::kLingering && !refused_); }
    bool busy() const { return state_ > State::kIdle && state_ < State::kLingering; }
    bool closed() const { return state_ == State::kClosed; }
    std::int64_t deadline() const { return deadline_; }

  private:
    enum class State { kIdle, kHeader, kBody, kContinue, kRunning, kWriting, kLingering, kClosed };

    void advance();
    bool skipBlankLines();
    std::size_t bodyLimit(std::string_view path) const;
    bool beginRequest();
    bool parse();  // true when advance() should look again
    void needMore();
    void read();
    void onRead(bool failed, std::size_t bytes);
    void sendContinue();
    void dispatch();
    void runHandler();  // on a worker
    void finished();
    void refuse(int status, std::string_view text);
    void respond(bool may_keep);
    void write();
    void written();
    void linger();
    void abort();
    void account();
    std::int64_t timeoutOf(State state) const;
    void enter(State state);

    boost::asio::ip::tcp::socket socket_;
    ConnectionHost& host_;
    State state_ = State::kIdle;
    bool reading_ = false;  // one read is under way
    bool end_of_stream_ = false;
    bool keep_ = false;  // stays open after the answer being written
    bool first_ = true;  // no request yet
    bool refused_ = false;
    std::int64_t deadline_ = 0, request_start_ = 0;
    std::size_t accounted_ = 0;
    std::size_t sent_ = 0;
    ReadBuffer buffer_;
    std::optional<RequestParser> parser_;
    std::optional<Cancel> cancel_;
    std::string peer_address_;
    std::uint16_t peer_port_ = 0;
    bool peer_is_loopback_ = false;
    Response response_;
    std::string head_;
};

}  // namespace dq::http
