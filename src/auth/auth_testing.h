// Helpers of this folder's tests.
#pragma once
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "auth/auth.h"

namespace dq::auth {

inline constexpr Micros kTestNow = 1'795'953'600LL * kMicrosPerSecond;  // 2026-11-29T12:00:00Z
inline constexpr std::int64_t kTestSecond = 1'795'953'600;
inline constexpr char kTestIssuer[] = "https://auth.example";
inline constexpr char kTestKeyUrl[] = "https://auth.example/keys";

// Keys made once for the program: making one takes long.
const DevelopmentKey& testKey(int number = 0);
std::string kidOf(const DevelopmentKey& key);

// A valid token's payload, with members replaced (a text that is empty removes one).
std::string payload(const std::map<std::string, std::string>& changes = {});
std::string signedToken(const std::string& payload_json, const DevelopmentKey& key = testKey());

// A key service: answers per URL, counts, and can hold answers back.
class FakeKeyService {
  public:
    HttpGet get();
    void answer(const std::string& url, absl::StatusOr<std::string> body);
    int requests() const;
    std::vector<std::string> urls() const;
    void hold();  // answers wait from now on
    void waitUntilRequested(int count);
    void release();

  private:
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, absl::StatusOr<std::string>> bodies_;
    std::vector<std::string> urls_;
    bool held_ = false;
};

}  // namespace dq::auth
