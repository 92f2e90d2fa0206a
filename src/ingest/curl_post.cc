#include <curl/curl.h>

#include <charconv>
#include <mutex>

#include "core/status.h"
#include "core/text.h"
#include "ingest/ascii_text.h"
#include "ingest/sink.h"

namespace dq::ingest {
namespace {

constexpr std::size_t kMaxAnswer = 4 * 1024 * 1024;
constexpr long kConnectSeconds = 10;
constexpr long kAnswerSeconds = 120;

struct Transfer {
    HttpReply reply;
    const Cancel* cancel;
};

std::size_t onBody(char* data, std::size_t size, std::size_t count, void* user) {
    auto* transfer = static_cast<Transfer*>(user);
    if (transfer->reply.body.size() + size * count > kMaxAnswer) return 0;
    transfer->reply.body.append(data, size * count);
    return size * count;
}

std::size_t onHeader(char* data, std::size_t size, std::size_t count, void* user) {
    std::string_view line(data, size * count);
    constexpr std::string_view kName = "retry-after:";
    if (!startsWithIgnoringCase(line, kName)) return size * count;
    const std::string_view value = trimmed(line.substr(kName.size()));
    int seconds = 0;
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), seconds);
    if (fault == std::errc() && seconds > 0) static_cast<Transfer*>(user)->reply.retry_after_seconds = seconds;
    return size * count;
}

int onProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<Transfer*>(user)->cancel->cancelled() ? 1 : 0;
}

struct Headers {
    curl_slist* list = nullptr;
    void add(const std::string& line) { list = ::curl_slist_append(list, line.c_str()); }
    ~Headers() { ::curl_slist_free_all(list); }
};

Status statusOf(CURLcode code, const Cancel& cancel) {
    if (code == CURLE_ABORTED_BY_CALLBACK) return cancel.check();
    const std::string message = strCat("the server: ", ::curl_easy_strerror(code));
    switch (code) {
        case CURLE_URL_MALFORMAT:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE: return absl::InvalidArgumentError(message);
        default: return absl::UnavailableError(message);
    }
}

StatusOr<HttpReply> post(CURL* curl, const HttpPost& request, const Cancel& cancel) {
    Transfer transfer{{}, &cancel};
    Headers headers;
    headers.add("Content-Type: " + request.content_type);
    headers.add("Expect:");
    if (!request.bearer_token.empty()) headers.add("Authorization: Bearer " + request.bearer_token);
    ::curl_easy_reset(curl);  // keeps the connection
    ::curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
    ::curl_easy_setopt(curl, CURLOPT_POST, 1L);
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
    ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, onBody);
    ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, onHeader);
    ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, onProgress);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
    ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT, kAnswerSeconds);
    const CURLcode code = ::curl_easy_perform(curl);
    if (code != CURLE_OK) return statusOf(code, cancel);
    long status = 0;
    ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    transfer.reply.status = static_cast<int>(status);
    return std::move(transfer.reply);
}

}  // namespace

PostFunction curlPost() {
    static std::once_flag initialized;
    std::call_once(initialized, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    std::shared_ptr<CURL> curl(::curl_easy_init(), [](CURL* handle) { ::curl_easy_cleanup(handle); });
    return [curl](const HttpPost& request, const Cancel& cancel) -> StatusOr<HttpReply> {
        if (curl == nullptr) return absl::ResourceExhaustedError("libcurl could not start");
        return post(curl.get(), request, cancel);
    };
}

}  // namespace dq::ingest
