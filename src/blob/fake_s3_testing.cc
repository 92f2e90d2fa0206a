#include "blob/fake_s3_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace dq::blob {
namespace {

// Header and body of one request; empty when the client left.
std::string readRequest(int connection) {
    std::string text;
    char buffer[65536];
    while (true) {
        const auto end = text.find("\r\n\r\n");
        if (end != std::string::npos) {
            const auto at = text.find("ontent-length: ");
            const std::size_t body =
                at == std::string::npos || at > end ? 0 : std::strtoul(&text[at + 15], nullptr, 10);
            if (text.size() >= end + 4 + body) return text;
        }
        const ssize_t got = recv(connection, buffer, sizeof buffer, 0);
        if (got <= 0) return "";
        text.append(buffer, static_cast<std::size_t>(got));
    }
}

}  // namespace

FakeS3::FakeS3(Script script) : script_(std::move(script)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || listen(listener_, 64) != 0) std::abort();
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] {
        int number = 0;
        while (!stopping_) {
            pollfd wait{listener_, POLLIN, 0};
            if (poll(&wait, 1, 50) <= 0) continue;
            const int connection = accept(listener_, nullptr, nullptr);
            if (connection < 0) continue;
            std::lock_guard lock(mutex_);
            connections_.emplace_back([this, connection, at = number++] { serve(connection, at); });
        }
    });
}

FakeS3::~FakeS3() {
    stopping_ = true;
    thread_.join();
    connections_.clear();
    close(listener_);
}

std::string FakeS3::endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<std::string> FakeS3::lines() const {
    std::lock_guard lock(mutex_);
    return lines_;
}

void FakeS3::serve(int connection, int number) {
    const std::string request = readRequest(connection);
    const std::string line = request.substr(0, request.find("\r\n"));
    {
        std::lock_guard lock(mutex_);
        lines_.push_back(line);
    }
    const auto body = request.find("\r\n\r\n");
    const Answer answer = script_(number, line, body == std::string::npos ? "" : request.substr(body + 4));
    while (answer.hang && !stopping_) {
        pollfd wait{connection, POLLIN, 0};
        if (poll(&wait, 1, 20) > 0) break;  // the client left
    }
    if (!answer.hang) {
        std::string text = "HTTP/1.1 " + std::to_string(answer.status) +
                           " X\r\nConnection: close\r\nETag: \"e\"\r\nLast-Modified: Tue, 20 Oct 2026 00:00:00 GMT\r\n"
                           "Content-Length: " +
                           std::to_string(answer.body.size()) + "\r\n\r\n";
        text += answer.cut ? answer.body.substr(0, answer.body.size() / 2) : answer.body;
        std::size_t sent = 0;
        while (sent < text.size()) {
            const ssize_t wrote = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
            if (wrote <= 0) break;
            sent += static_cast<std::size_t>(wrote);
        }
    }
    shutdown(connection, SHUT_RDWR);
    close(connection);
}

}  // namespace dq::blob
