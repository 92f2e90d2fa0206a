#include "auth/auth_testing.h"

#include <fmt/format.h>

#include "core/status.h"

namespace dq::auth {

const DevelopmentKey& testKey(int number) {
    static std::mutex mutex;
    static std::map<int, DevelopmentKey>* keys = new std::map<int, DevelopmentKey>();
    std::lock_guard lock(mutex);
    const auto found = keys->find(number);
    if (found != keys->end()) return found->second;
    auto made = DevelopmentKey::generate();
    DQ_CHECK(made.ok(), "a test key");
    return keys->emplace(number, *made).first->second;
}

std::string kidOf(const DevelopmentKey& key) {
    const std::string json = key.jwksJson();
    const std::size_t at = json.find("\"kid\":\"") + 7;
    return json.substr(at, json.find('"', at) - at);
}

std::string payload(const std::map<std::string, std::string>& changes) {
    std::map<std::string, std::string> members = {{"iss", fmt::format("\"{}\"", kTestIssuer)},
                                                  {"aud", R"(["dimo.zone"])"},
                                                  {"sub", R"("0xDeveloper")"},
                                                  {"asset", R"("did:erc721:137:0xbA57:42")"},
                                                  {"permissions", R"(["privilege:GetNonLocationHistory"])"},
                                                  {"iat", std::to_string(kTestSecond - 10)},
                                                  {"exp", std::to_string(kTestSecond + 600)}};
    for (const auto& [name, value] : changes) members[name] = value;
    std::string out;
    for (const auto& [name, value] : members) {
        if (!value.empty()) out += fmt::format("{}\"{}\":{}", out.empty() ? "{" : ",", name, value);
    }
    return out + '}';
}

std::string signedToken(const std::string& payload_json, const DevelopmentKey& key) {
    auto token = key.signRaw(fmt::format(R"({{"alg":"RS256","typ":"JWT","kid":"{}"}})", kidOf(key)), payload_json);
    DQ_CHECK(token.ok(), "signing a test token");
    return *std::move(token);
}

HttpGet FakeKeyService::get() {
    return [this](const std::string& url, std::int64_t) -> StatusOr<std::string> {
        std::unique_lock lock(mutex_);
        urls_.push_back(url);
        changed_.notify_all();
        changed_.wait(lock, [&] { return !held_; });
        const auto found = bodies_.find(url);
        if (found == bodies_.end()) return absl::UnavailableError("no answer");
        if (found->second.ok()) return *found->second;
        // A Status of its own: ThreadSanitizer cannot see how Abseil, a prebuilt library, shares one between threads.
        return absl::Status(found->second.status().code(), found->second.status().message());
    };
}

void FakeKeyService::answer(const std::string& url, StatusOr<std::string> body) {
    std::lock_guard lock(mutex_);
    bodies_.insert_or_assign(url, std::move(body));
}

int FakeKeyService::requests() const {
    std::lock_guard lock(mutex_);
    return static_cast<int>(urls_.size());
}

std::vector<std::string> FakeKeyService::urls() const {
    std::lock_guard lock(mutex_);
    return urls_;
}

void FakeKeyService::hold() {
    std::lock_guard lock(mutex_);
    held_ = true;
}

void FakeKeyService::waitUntilRequested(int count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return static_cast<int>(urls_.size()) >= count; });
}

void FakeKeyService::release() {
    std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
}

}  // namespace dq::auth
