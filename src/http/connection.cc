#include "http/connection.h"

#include <absl/strings/str_cat.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <exception>

#include "core/clock.h"
#include "core/log.h"
#include "http/message.h"

namespace dq::http {
namespace {

namespace net = boost::asio;
using boost::system::error_code;

constexpr std::size_t kReadPiece = 16 * 1024;
// Kept of the requests behind the running one; a client that sends more is read on when its turn comes.
constexpr std::size_t kReadAhead = 64 * 1024;
// What a connection may hold while the server is over its memory bound.
constexpr std::size_t kSmall = 64 * 1024;
// After the last answer what still comes is thrown away for so long: closing with bytes unread would reset the
// connection and could take the answer away from the client.
constexpr std::int64_t kLingerMicros = 3'000'000;
constexpr std::string_view kContinueText = "HTTP/1.1 100 Continue\r\n\r\n";

std::int64_t steadyNow() { return systemClock().steadyMicros(); }

Response failureOf(std::string_view what) {
    logError("request handler failed", {{"panic", what.substr(0, 200)}});
    return Response::error(500, "Internal Server Error");
}

}  // namespace

Connection::Connection(net::ip::tcp::socket socket, ConnectionHost& host) : socket_(std::move(socket)), host_(host) {}

void Connection::start() {
    error_code ec;
    socket_.set_option(net::ip::tcp::no_delay(true), ec);
    socket_.set_option(net::socket_base::keep_alive(true), ec);
    const auto peer = socket_.remote_endpoint(ec);
    if (ec) return close();
    net::ip::address address = peer.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = net::ip::make_address_v4(net::ip::v4_mapped, address.to_v6());
    }
    peer_address_ = address.to_string();
    peer_port_ = peer.port();
    peer_is_loopback_ = address.is_loopback();
    enter(State::kIdle);
    read();
}

std::int64_t Connection::timeoutOf(State state) const {
    const ServerOptions& options = host_.options;
    switch (state) {
        // A connection that never said anything gets no longer than one that is slow to say it.
        case State::kIdle: return first_ ? options.header_timeout_micros : options.idle_timeout_micros;
        case State::kHeader: return options.header_timeout_micros;
        case State::kBody: return options.request_timeout_micros;
        case State::kContinue:
        case State::kWriting: return options.write_timeout_micros;
        case State::kLingering: return kLingerMicros;
        case State::kRunning:
        case State::kClosed: return 0;
    }
    return 0;
}

void Connection::enter(State state) {
    state_ = state;
    const std::int64_t timeout = timeoutOf(state);
    // Both parts of reading count from the first byte of the request.
    const bool reading = state == State::kHeader || state == State::kBody;
    deadline_ = timeout == 0 ? 0 : (reading ? request_start_ : steadyNow()) + timeout;
}

void Connection::tick(std::int64_t now) {
    if (deadline_ == 0 || now < deadline_) return;
    switch (state_) {
        case State::kHeader:
        case State::kBody: return refuse(408, "request took too long to arrive");
        case State::kContinue:
        case State::kWriting: return abort();
        default: return close();
    }
}

void Connection::drain() {
    if (state_ == State::kIdle) close();
}

void Connection::close() {
    if (state_ == State::kClosed) return;
    enter(State::kClosed);
    if (cancel_) cancel_->cancel();
    error_code ec;
    socket_.close(ec);
    host_.buffered -= accounted_;
    accounted_ = 0;
    host_.quiet(*this);
}

// The peer does not take what it is sent: a reset frees the kernel's copy too.
void Connection::abort() {
    error_code ec;
    socket_.set_option(net::socket_base::linger(true, 0), ec);
    close();
}

void Connection::account() {
    std::size_t held = buffer_.capacity() + head_.size() + response_.body.size();
    if (parser_ && state_ != State::kRunning) held += parser_->request().body.capacity();
    if (state_ == State::kRunning) held = accounted_;
    host_.buffered += held - accounted_;
    accounted_ = held;
}

void Connection::advance() {
    bool again = true;
    while (again) {
        switch (state_) {
            case State::kIdle: again = beginRequest(); break;
            case State::kHeader:
            case State::kBody: again = parse(); break;
            default: return;
        }
    }
}

// Some clients end a body with a line break that belongs to nothing.
bool Connection::skipBlankLines() {
    while (buffer_.size() >= 2 && buffer_.view().substr(0, 2) == "\r\n") buffer_.consume(2);
    return buffer_.size() > 0 && buffer_.view() != "\r";
}

std::size_t Connection::bodyLimit(std::string_view path) const {
    return host_.options.body_limit_of ? host_.options.body_limit_of(path) : host_.options.max_body_bytes;
}

bool Connection::beginRequest() {
    if (!skipBlankLines()) {
        needMore();
        return false;
    }
    request_start_ = steadyNow();
    parser_.emplace(host_.options.max_header_bytes, [this](std::string_view path) { return bodyLimit(path); });
    enter(State::kHeader);
    return true;
}

bool Connection::parse() {
    buffer_.consume(parser_->feed(buffer_.view()));
    if (const int status = parser_->error(); status != 0) {
        switch (status) {
            case 413:
                refuse(413, absl::StrCat("request body is larger than ", bodyLimit(parser_->request().path), " bytes"));
                break;
            case 417: refuse(417, "only 100-continue can be expected"); break;
            case 431:
                refuse(431, absl::StrCat("request header is larger than ", host_.options.max_header_bytes, " bytes"));
                break;
            case 501: refuse(501, "only the transfer coding chunked is known"); break;
            default: refuse(400, "malformed HTTP request");
        }
        return false;
    }
    account();
    if (parser_->stage() == RequestParser::Stage::kComplete) {
        dispatch();
        return false;
    }
    if (host_.buffered > host_.options.max_buffered_bytes && accounted_ > kSmall) {
        refuse(503, "server is short of memory; retry shortly");
        return false;
    }
    if (state_ == State::kHeader && parser_->stage() == RequestParser::Stage::kBody) {
        if (parser_->expectsContinue() && buffer_.size() == 0) {
            sendContinue();
            return false;
        }
        enter(State::kBody);
        if (buffer_.size() > 0) return true;
    }
    needMore();
    return false;
}

void Connection::needMore() {
    if (end_of_stream_) return close();
    read();
}

void Connection::read() {
    if (reading_ || end_of_stream_ || state_ == State::kClosed) return;
    const bool ahead = state_ == State::kContinue || state_ == State::kRunning || state_ == State::kWriting;
    if (ahead && buffer_.size() >= kReadAhead) return;
    reading_ = true;
    char* const into = buffer_.prepare(kReadPiece);
    socket_.async_read_some(
        net::buffer(into, kReadPiece),
        [self = shared_from_this()](error_code ec, std::size_t bytes) { self->onRead(static_cast<bool>(ec), bytes); });
}

void Connection::onRead(bool failed, std::size_t bytes) {
    reading_ = false;
    if (state_ == State::kClosed) return;
    buffer_.commit(bytes);
    end_of_stream_ = failed;
    if (state_ == State::kLingering) {
        buffer_.consume(buffer_.size());
        return failed ? close() : read();
    }
    if (state_ == State::kIdle || state_ == State::kHeader || state_ == State::kBody) {
        // needMore() closes on the end of the stream.
        return advance();
    }
    // The client has left, or at least will not hear of a change of mind: the work for it ends, the answer is tried.
    if (failed && cancel_) cancel_->cancel();
    read();
}

void Connection::sendContinue() {
    enter(State::kContinue);
    net::async_write(socket_, net::buffer(kContinueText), [self = shared_from_this()](error_code ec, std::size_t) {
        if (self->state_ == State::kClosed) return;
        if (ec) return self->close();
        self->enter(State::kBody);
        self->advance();
    });
}

void Connection::dispatch() {
    Request& request = parser_->request();
    request.peer_address = peer_address_;
    request.peer_port = peer_port_;
    request.peer_is_loopback = peer_is_loopback_;
    first_ = false;
    cancel_ = Cancel::root();
    enter(State::kRunning);
    if (!host_.workers->tryPost([self = shared_from_this()] { self->runHandler(); })) {
        response_ = Response::error(503, "server is overloaded; retry shortly").with("Retry-After", "1");
        return respond(true);
    }
    if (end_of_stream_) cancel_->cancel();
    read();
}

void Connection::runHandler() {
    Response response;
    try {
        response = host_.handler(parser_->request(), *cancel_);
        if (response.status < 200 || response.status > 999) response = failureOf("status outside 200..999");
    } catch (const std::exception& e) {
        response = failureOf(e.what());
    } catch (...) {
        response = failureOf("unknown exception");
    }
    net::post(socket_.get_executor(), [self = shared_from_this(), answer = std::move(response)]() mutable {
        if (self->state_ == State::kClosed) return;
        self->response_ = std::move(answer);
        self->finished();
    });
}

void Connection::finished() {
    cancel_.reset();
    respond(true);
}

void Connection::refuse(int status, std::string_view text) {
    refused_ = true;
    response_ = Response::error(status, text);
    if (status == 503) response_.headers.emplace_back("Retry-After", "1");
    respond(false);
}

void Connection::respond(bool may_keep) {
    const bool stream_over = end_of_stream_ && buffer_.size() == 0;
    keep_ =
        may_keep && parser_->keepAlive() && !stream_over && !host_.draining && !host_.full() && !asksToClose(response_);
    const ConnectionHeader header = !keep_              ? ConnectionHeader::kClose
                                    : parser_->http10() ? ConnectionHeader::kKeepAlive
                                                        : ConnectionHeader::kNone;
    head_ = responseHead(response_, header);
    if (parser_->request().method == "HEAD" || forbidsBody(response_.status)) response_.body.clear();
    parser_.reset();
    sent_ = 0;
    enter(State::kWriting);
    account();
    write();
}

void Connection::write() {
    const std::size_t of_head = std::min(sent_, head_.size());
    const std::array<net::const_buffer, 2> rest{net::buffer(head_) + of_head,
                                                net::buffer(response_.body) + (sent_ - of_head)};
    socket_.async_write_some(rest, [self = shared_from_this()](error_code ec, std::size_t bytes) {
        if (self->state_ == State::kClosed) return;
        if (ec) return self->close();
        self->sent_ += bytes;
        if (self->sent_ == self->head_.size() + self->response_.body.size()) return self->written();
        self->enter(State::kWriting);  // progress: the time-out starts anew
        self->write();
    });
}

void Connection::written() {
    response_ = {};
    head_ = {};
    account();
    if (!keep_ || host_.draining) return linger();
    enter(State::kIdle);
    host_.quiet(*this);
    advance();
}

void Connection::linger() {
    if (end_of_stream_) return close();
    error_code ec;
    socket_.shutdown(net::ip::tcp::socket::shutdown_send, ec);
    if (ec) return close();
    buffer_.consume(buffer_.size());
    enter(State::kLingering);
    host_.quiet(*this);
    read();
}

}  // namespace dq::http
