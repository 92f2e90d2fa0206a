#include "http/http_testing.h"

#include <absl/strings/ascii.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_cat.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "core/status.h"

namespace dq::http {
namespace {
constexpr int kPatienceMillis = 20'000;
}

RawClient::RawClient() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}

RawClient::RawClient(std::uint16_t port, const char* address) {
    DQ_CHECK(connect(port, address), "test client cannot connect");
}

RawClient::RawClient(RawClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), pending_(std::move(other.pending_)) {}

RawClient::~RawClient() { close(); }

bool RawClient::connect(std::uint16_t port, const char* address) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    const bool is_v4 = ::inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    if (!is_v4 && ::inet_pton(AF_INET6, address, &v6.sin6_addr) != 1) return false;
    if (fd_ < 0) fd_ = ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (is_v4) return ::connect(fd_, reinterpret_cast<const sockaddr*>(&v4), sizeof v4) == 0;
    return ::connect(fd_, reinterpret_cast<const sockaddr*>(&v6), sizeof v6) == 0;
}

bool RawClient::send(std::string_view bytes) {
    while (!bytes.empty()) {
        pollfd waiting{fd_, POLLOUT, 0};
        if (::poll(&waiting, 1, kPatienceMillis) <= 0) return false;
        const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno != EAGAIN) return false;
        if (n > 0) bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
}

bool RawClient::anythingToRead(int millis) {
    pollfd waiting{fd_, POLLIN, 0};
    return !pending_.empty() || ::poll(&waiting, 1, millis) > 0;
}

bool RawClient::fill() {
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, kPatienceMillis) <= 0) return false;
    char piece[16 * 1024];
    const ssize_t n = ::recv(fd_, piece, sizeof piece, 0);
    if (n <= 0) return false;
    pending_.append(piece, static_cast<std::size_t>(n));
    return true;
}

std::optional<RawResponse> RawClient::read(bool head) {
    std::size_t end;
    while ((end = pending_.find("\r\n\r\n")) == std::string::npos) {
        if (!fill()) return std::nullopt;
    }
    RawResponse response;
    if (!absl::SimpleAtoi(pending_.substr(9, 3), &response.status)) return std::nullopt;
    std::size_t line = pending_.find("\r\n") + 2;
    while (line < end) {
        const std::size_t stop = pending_.find("\r\n", line);
        const std::size_t colon = pending_.find(": ", line);
        response.headers[absl::AsciiStrToLower(pending_.substr(line, colon - line))] =
            pending_.substr(colon + 2, stop - colon - 2);
        line = stop + 2;
    }
    pending_.erase(0, end + 4);
    std::size_t length = 0;
    const auto found = response.headers.find("content-length");
    if (found != response.headers.end() && !absl::SimpleAtoi(found->second, &length)) return std::nullopt;
    if (head) return response;
    while (pending_.size() < length) {
        if (!fill()) return std::nullopt;
    }
    response.body = pending_.substr(0, length);
    pending_.erase(0, length);
    return response;
}

bool RawClient::closedByPeer() {
    if (!pending_.empty()) return false;
    pollfd waiting{fd_, POLLIN, 0};
    if (::poll(&waiting, 1, kPatienceMillis) <= 0) return false;
    char byte;
    return ::recv(fd_, &byte, 1, 0) <= 0;
}

void RawClient::shutdownWrite() { ::shutdown(fd_, SHUT_WR); }

void RawClient::reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
}

void RawClient::close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::string get(std::string_view target, std::string_view more_headers) {
    return absl::StrCat("GET ", abslView(target), " HTTP/1.1\r\nHost: t\r\n", abslView(more_headers), "\r\n");
}

std::string post(std::string_view target, std::string_view body, std::string_view more_headers) {
    return absl::StrCat("POST ", abslView(target), " HTTP/1.1\r\nHost: t\r\nContent-Length: ", body.size(), "\r\n",
                        abslView(more_headers), "\r\n", abslView(body));
}

}  // namespace dq::http
