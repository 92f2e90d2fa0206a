#include <curl/curl.h>

#include <algorithm>
#include <memory>

#include "auth/auth.h"
#include "auth/key_set.h"
#include "core/status.h"

namespace dq::auth {
namespace {

constexpr std::size_t kLargestBody = 1 << 20;
constexpr long kConnectMillis = 5'000;
constexpr long kMostRedirects = 3;

struct EasyRelease {
    void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
struct ListRelease {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct Body {
    std::string bytes;
    bool too_large = false;
};

extern "C" std::size_t takeBody(char* data, std::size_t size, std::size_t count, void* out) {
    Body& body = *static_cast<Body*>(out);
    body.too_large = size * count > kLargestBody - body.bytes.size();
    if (body.too_large) return 0;
    body.bytes.append(data, size * count);
    return size * count;
}

extern "C" int stopWhenAbandoned(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return fetch_abandoned != nullptr && fetch_abandoned->load() ? 1 : 0;
}

bool initialised() {
    static const bool ok = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
    return ok;
}

// The message leaves the address out: it may hold a password.
StatusOr<std::string> get(const std::string& url, std::int64_t timeout_micros) {
    const std::unique_ptr<CURL, EasyRelease> handle(initialised() ? curl_easy_init() : nullptr);
    if (!handle) return absl::UnavailableError("libcurl cannot be set up");
    const std::unique_ptr<curl_slist, ListRelease> headers(curl_slist_append(nullptr, "Accept: application/json"));
    const bool secure = url.starts_with("https://");
    Body body;
    CURL* curl = handle.get();
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, kMostRedirects);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, timeout_micros / 1000)));
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, kConnectMillis);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "dq");
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, takeBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, stopWhenAbandoned);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    const CURLcode code = curl_easy_perform(curl);
    if (body.too_large) return absl::UnavailableError("the answer is larger than 1 MiB");
    if (code != CURLE_OK) return absl::UnavailableError(curl_easy_strerror(code));
    return std::move(body.bytes);
}

}  // namespace

HttpGet curlGet() { return get; }

}  // namespace dq::auth
