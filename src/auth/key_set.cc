#include "auth/key_set.h"

#include <pthread.h>
#include <simdjson.h>

#include <chrono>

#include "core/log.h"
#include "core/status.h"

namespace dq::auth {
namespace {

constexpr std::int64_t kFetchMicros = 15 * kMicrosPerSecond;
constexpr std::int64_t kFreshMicros = 60 * kMicrosPerSecond;
constexpr std::int64_t kUnknownKidPause = 10 * kMicrosPerSecond;
constexpr std::int64_t kPauseWithoutKeys = 1 * kMicrosPerSecond;
constexpr std::int64_t kPauseWithKeys = 10 * kMicrosPerSecond;

Status noKeys() { return absl::UnavailableError("the keys that verify tokens cannot be had"); }

std::int64_t elapsedSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

KeySet::Impl::Impl(Options options) : options_(std::move(options)) {}

KeySet::Impl::Impl(StatusOr<Keys> keys) {
    if (keys.ok()) keys_ = std::make_shared<const Keys>(*std::move(keys));
}

KeySet::Impl::~Impl() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        changed_.notify_all();
    }
    if (thread_.joinable()) thread_.join();
}

StatusOr<std::shared_ptr<const Keys>> KeySet::Impl::keysWith(const std::string& kid) {
    std::unique_lock lock(mutex_);
    const std::int64_t now = options_.clock->steadyMicros();
    bool waited = false;
    if (!keys_) {
        if (!fetching_ && mayFetch(now)) startFetch();
        if (!fetching_) return noKeys();
        waitForFetch(lock, kFetchMicros);
        waited = true;
        if (!keys_) return noKeys();
    } else if (!fetching_ && now - fetched_at_ >= kFreshMicros && mayFetch(now)) {
        startFetch();
    }
    if (!keys_->contains(kid) && !waited) {
        const bool paused = asked_unknown_ && now - *asked_unknown_ < kUnknownKidPause;
        if (!fetching_ && !paused && mayFetch(now)) startFetch();
        if (fetching_) {
            if (!paused) asked_unknown_ = now;
            waitForFetch(lock, options_.unknown_kid_wait);
        }
    }
    if (!keys_->contains(kid)) return absl::UnauthenticatedError("the key of the token is not known");
    return keys_;
}

bool KeySet::Impl::mayFetch(std::int64_t now) const {
    if (!options_.get || stopping_) return false;
    return !failed_at_ || now - *failed_at_ >= (keys_ ? kPauseWithKeys : kPauseWithoutKeys);
}

void KeySet::Impl::startFetch() {
    fetching_ = true;
    if (!thread_.joinable()) {
        thread_ = std::thread([this] { run(); });
        pthread_setname_np(thread_.native_handle(), "dq-keys");
    }
    changed_.notify_all();
}

void KeySet::Impl::waitForFetch(std::unique_lock<std::mutex>& lock, std::int64_t micros) {
    const std::uint64_t before = fetches_;
    changed_.wait_for(lock, std::chrono::microseconds(micros), [&] { return fetches_ != before || stopping_; });
}

void KeySet::Impl::run() {
    fetch_abandoned = &stopping_;
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [&] { return fetching_ || stopping_; });
        if (stopping_) return;
        lock.unlock();
        StatusOr<Keys> fetched = fetch();
        const std::int64_t now = options_.clock->steadyMicros();
        if (!fetched.ok() && !stopping_) {
            logWarn("fetching the keys that verify tokens failed", {{"error", stdView(fetched.status().message())}});
        }
        std::shared_ptr<const Keys> replaced;  // destroyed without the lock
        lock.lock();
        if (fetched.ok()) {
            replaced = std::exchange(keys_, std::make_shared<const Keys>(*std::move(fetched)));
            fetched_at_ = now;
            failed_at_.reset();
        } else {
            failed_at_ = now;
        }
        fetching_ = false;
        ++fetches_;
        changed_.notify_all();
        lock.unlock();
        replaced.reset();
        lock.lock();
    }
}

StatusOr<Keys> KeySet::Impl::fetch() const {
    const auto start = std::chrono::steady_clock::now();
    std::string url = options_.url;
    if (url.empty()) {
        DQ_ASSIGN_OR_RETURN(url, discover(kFetchMicros));
    }
    DQ_ASSIGN_OR_RETURN(const std::string body, options_.get(url, kFetchMicros - elapsedSince(start)));
    return parseKeySet(body);
}

StatusOr<std::string> KeySet::Impl::discover(std::int64_t timeout_micros) const {
    std::string base = options_.issuer;
    while (base.ends_with('/')) base.pop_back();
    DQ_ASSIGN_OR_RETURN(const std::string body,
                        options_.get(base + "/.well-known/openid-configuration", timeout_micros));
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    std::string_view url;
    if (parser.parse(body.data(), body.size()).get(root) != simdjson::SUCCESS ||
        root["jwks_uri"].get_string().get(url) != simdjson::SUCCESS || url.empty()) {
        return absl::InvalidArgumentError("the issuer's configuration names no jwks_uri");
    }
    if (base.starts_with("https://") && !url.starts_with("https://")) {
        return absl::InvalidArgumentError("the issuer's configuration names a jwks_uri that is not https");
    }
    return std::string(url);
}

KeySet::KeySet() = default;
KeySet::KeySet(Options options) : impl_(std::make_unique<Impl>(std::move(options))) {}
KeySet::~KeySet() = default;

std::shared_ptr<KeySet> KeySet::fixed(std::string jwks_json) {
    std::shared_ptr<KeySet> set(new KeySet());
    set->impl_ = std::make_unique<Impl>(parseKeySet(jwks_json));
    return set;
}

}  // namespace dq::auth
