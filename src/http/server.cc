#include "http/server.h"

#include <absl/strings/str_cat.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <unordered_map>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "http/connection.h"
#include "http/worker_pool.h"

namespace dq::http {
namespace {

namespace net = boost::asio;
using boost::system::error_code;
using tcp = net::ip::tcp;

constexpr std::int64_t kFirstBackoffMicros = 5'000, kLastBackoffMicros = 1'000'000;

// Deadlines are met within a quarter of the shortest time-out, at least four times a second.
std::int64_t tickMicros(const ServerOptions& o) {
    const std::int64_t shortest =
        std::min({o.header_timeout_micros, o.request_timeout_micros, o.idle_timeout_micros, o.write_timeout_micros});
    return std::clamp<std::int64_t>(shortest / 4, 5'000, 250'000);
}

}  // namespace

struct Server::Impl final : ConnectionHost {
    net::io_context io{1};
    tcp::acceptor acceptor{io};
    net::steady_timer retry{io}, ticker{io};
    std::optional<net::executor_work_guard<net::io_context::executor_type>> work;
    std::optional<WorkerPool> pool;
    std::thread io_thread;
    std::uint16_t bound_port = 0;

    // Owned by the io thread.
    std::unordered_map<Connection*, std::shared_ptr<Connection>> connections;
    bool accepting = false, retrying = false, closing = false;
    std::int64_t backoff_micros = 0;

    std::mutex stop_mutex;  // one stop() at a time
    bool started = false, stopped = false, stop_result = true;
    std::mutex drain_mutex;
    std::condition_variable drain_done;
    bool drained = false;

    absl::Status listen();
    void run();
    void accept();
    void accepted(error_code ec, tcp::socket socket);
    bool evictIdle();
    void tick();
    std::vector<std::shared_ptr<Connection>> all() const;
    void beginDrain();
    void reportDrained();
    void closeAll();

    bool full() const override { return connections.size() >= static_cast<std::size_t>(options.max_connections); }
    void quiet(Connection& connection) override;
};

absl::Status Server::Impl::listen() {
    error_code ec;
    const net::ip::address address = net::ip::make_address(options.address, ec);
    if (ec)
        return absl::InvalidArgumentError(absl::StrCat("listen address ", options.address, " is not an IP address"));
    const tcp::endpoint endpoint(address, options.port);
    acceptor.open(endpoint.protocol(), ec);
    if (!ec) acceptor.set_option(net::socket_base::reuse_address(true), ec);
    if (!ec) acceptor.bind(endpoint, ec);
    if (!ec) acceptor.listen(net::socket_base::max_listen_connections, ec);
    if (!ec) bound_port = acceptor.local_endpoint(ec).port();
    if (!ec) return absl::OkStatus();
    error_code ignored;
    acceptor.close(ignored);
    return absl::UnavailableError(
        absl::StrCat("cannot listen on ", options.address, " port ", options.port, ": ", ec.message()));
}

void Server::Impl::run() {
    for (;;) {
        try {
            io.run();
            return;
        } catch (const std::exception& e) {
            // Out of memory for one connection must not end the service of the others.
            logError("http io failed", {{"error", e.what()}});
        }
    }
}

void Server::Impl::accept() {
    if (accepting || retrying || draining) return;
    if (full() && !evictIdle()) return;  // quiet() comes back here
    accepting = true;
    acceptor.async_accept([this](error_code ec, tcp::socket socket) { accepted(ec, std::move(socket)); });
}

void Server::Impl::accepted(error_code ec, tcp::socket socket) {
    accepting = false;
    if (draining) return;
    if (!ec) {
        backoff_micros = 0;
        auto connection = std::make_shared<Connection>(std::move(socket), *this);
        connections.emplace(connection.get(), connection);
        connection->start();
        return accept();
    }
    // Out of descriptors, or the client was gone already. The listener stays and tries again.
    if (backoff_micros == 0) logWarn("accepting a connection failed", {{"error", ec.message()}});
    backoff_micros = backoff_micros == 0 ? kFirstBackoffMicros : std::min(backoff_micros * 2, kLastBackoffMicros);
    if (ec == net::error::no_descriptors) evictIdle();
    retrying = true;
    retry.expires_after(std::chrono::microseconds(backoff_micros));
    retry.async_wait([this](error_code) {
        retrying = false;
        accept();
    });
}

// Makes room: a connection that waits for its end anyway, else the one that has been idle longest.
bool Server::Impl::evictIdle() {
    std::shared_ptr<Connection> oldest;
    for (const auto& [key, connection] : connections) {
        if (connection->evictable() && (!oldest || connection->deadline() < oldest->deadline())) oldest = connection;
    }
    if (!oldest) return false;
    oldest->close();
    return true;
}

void Server::Impl::quiet(Connection& connection) {
    if (connection.closed()) connections.erase(&connection);
    if (draining) return reportDrained();
    // Posted: this is called from inside a connection, which accept() might close.
    if (!accepting && !retrying) net::post(io, [this] { accept(); });
}

std::vector<std::shared_ptr<Connection>> Server::Impl::all() const {
    std::vector<std::shared_ptr<Connection>> list;
    list.reserve(connections.size());
    for (const auto& [key, connection] : connections) list.push_back(connection);
    return list;
}

void Server::Impl::tick() {
    if (closing) return;
    accept();
    const std::int64_t now = systemClock().steadyMicros();
    for (const auto& connection : all()) connection->tick(now);
    ticker.expires_after(std::chrono::microseconds(tickMicros(options)));
    ticker.async_wait([this](error_code cancelled) {
        if (!cancelled) tick();
    });
}

void Server::Impl::beginDrain() {
    draining = true;
    error_code ec;
    acceptor.close(ec);
    retry.cancel();
    for (const auto& connection : all()) connection->drain();
    reportDrained();
}

void Server::Impl::reportDrained() {
    for (const auto& [key, connection] : connections) {
        if (connection->busy()) return;
    }
    std::lock_guard lock(drain_mutex);
    drained = true;
    drain_done.notify_all();
}

void Server::Impl::closeAll() {
    closing = true;
    ticker.cancel();
    for (const auto& connection : all()) connection->close();
}

Server::Server(ServerOptions options, Handler handler) : impl_(std::make_unique<Impl>()) {
    impl_->options = std::move(options);
    impl_->options.max_connections = std::max(impl_->options.max_connections, 1);
    impl_->handler = std::move(handler);
}

Server::~Server() { stop(0); }

absl::Status Server::start() {
    Impl& s = *impl_;
    std::lock_guard lock(s.stop_mutex);
    if (s.started || s.stopped) return absl::FailedPreconditionError("server was started before");
    if (absl::Status listening = s.listen(); !listening.ok()) return listening;
    s.work.emplace(s.io.get_executor());
    net::post(s.io, [&s] { s.tick(); });
    try {
        s.pool.emplace(s.options.workers, s.options.max_queued, "dq-http");
        s.workers = &*s.pool;
        s.io_thread = std::thread([&s] {
            nameThisThread("dq-http-io");
            s.run();
        });
    } catch (const std::system_error& e) {
        s.stopped = true;
        error_code ignored;
        s.acceptor.close(ignored);
        return absl::ResourceExhaustedError(absl::StrCat("cannot start the threads of a server: ", e.what()));
    }
    s.started = true;
    return absl::OkStatus();
}

std::uint16_t Server::port() const { return impl_->bound_port; }

bool Server::stop(std::int64_t drain_micros) {
    Impl& s = *impl_;
    std::lock_guard lock(s.stop_mutex);
    if (!s.started || s.stopped) return s.stop_result;
    s.stopped = true;
    net::post(s.io, [&s] { s.beginDrain(); });
    {
        std::unique_lock wait(s.drain_mutex);
        s.stop_result =
            s.drain_done.wait_for(wait, std::chrono::microseconds(drain_micros), [&s] { return s.drained; });
    }
    net::post(s.io, [&s] { s.closeAll(); });
    s.pool->stop();
    net::post(s.io, [&s] { s.work.reset(); });
    s.io_thread.join();
    return s.stop_result;
}

}  // namespace dq::http
