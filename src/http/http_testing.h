// A client for tests that says exactly what it is told to and reads answers from the socket. Every wait ends after
// 20 s.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace dq::http {

struct RawResponse {
    int status = 0;
    std::map<std::string, std::string> headers;  // names in lower case
    std::string body;
};

class RawClient {
  public:
    explicit RawClient(std::uint16_t port, const char* address = "127.0.0.1");
    // Takes a descriptor now and connects it later.
    RawClient();
    ~RawClient();
    RawClient(RawClient&& other) noexcept;
    RawClient(const RawClient&) = delete;

    bool connect(std::uint16_t port, const char* address = "127.0.0.1");
    bool send(std::string_view bytes);                   // false when the peer has gone
    std::optional<RawResponse> read(bool head = false);  // nullopt: closed before a whole answer; head: no body follows
    RawResponse answer() { return read().value_or(RawResponse{}); }  // status 0 when closed
    bool closedByPeer();                                             // waits for the end of the stream (or a reset)
    bool anythingToRead(int millis);  // an answer or the end of the stream came within that time
    void shutdownWrite();
    void reset();  // closes with a reset
    void close();
    int descriptor() const { return fd_; }

  private:
    bool fill();

    int fd_ = -1;
    std::string pending_;
};

std::string get(std::string_view target, std::string_view more_headers = "");
std::string post(std::string_view target, std::string_view body, std::string_view more_headers = "");

}  // namespace dq::http
