// A loopback S3 for tests: answers what its script says, remembers what it was asked. One request per connection.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace dq::blob {

class FakeS3 {
  public:
    struct Answer {
        int status = 200;
        std::string body;
        bool cut = false;   // announces the whole body and sends half of it
        bool hang = false;  // takes the request and says nothing until the server stops
    };
    // `answer` sees the request's number (from 0), its first line and its body.
    using Script = std::function<Answer(int number, const std::string& line, const std::string& body)>;
    explicit FakeS3(Script script);
    ~FakeS3();
    std::string endpoint() const;
    std::vector<std::string> lines() const;

  private:
    void serve(int connection, int number);
    Script script_;
    int listener_ = -1, port_ = 0;
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
    std::vector<std::jthread> connections_;
    std::jthread thread_;
};

}  // namespace dq::blob
