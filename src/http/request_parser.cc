#include "http/request_parser.h"

#include <absl/strings/match.h>

#include <boost/beast/http/basic_parser.hpp>
#include <limits>

#include "core/status.h"

namespace dq::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::beast::error_code;
using BeastView = boost::beast::string_view;

// A body is promised before it is sent: memory is given for what has come, not for what was announced.
constexpr std::uint64_t kBodyReserve = 64 * 1024;
// A chunked body ends with "0\r\n\r\n", so at least this much is still to come; the parser asserts it when it
// resumes there.
constexpr std::size_t kShortestChunkEnd = 5;

std::string_view view(BeastView text) { return {text.data(), text.size()}; }
bool sameIgnoringCase(BeastView text, absl::string_view expected) {
    return absl::EqualsIgnoreCase(abslView(view(text)), expected);
}

// Path and query of a target in origin form (/a?b), absolute form (http://host/a?b) or as it stands (`*`, host:port).
void splitTarget(Request& request) {
    std::string_view rest = request.target;
    for (std::string_view scheme : {"http://", "https://"}) {
        if (!absl::StartsWithIgnoreCase(abslView(rest), abslView(scheme))) continue;
        rest.remove_prefix(scheme.size());
        rest.remove_prefix(std::min(rest.find_first_of("/?"), rest.size()));
        break;
    }
    const std::size_t mark = rest.find('?');
    request.path = std::string(rest.substr(0, mark));
    if (mark != std::string_view::npos) request.query = std::string(rest.substr(mark + 1));
    if (request.path.empty()) request.path = "/";
}

}  // namespace

struct RequestParser::Impl final : beast_http::basic_parser<true> {
    Impl(std::size_t max_header, std::function<std::size_t(std::string_view)> limit_of)
        : body_limit_of(std::move(limit_of)), max_header_bytes(max_header) {
        constexpr std::size_t kMax = std::numeric_limits<std::uint32_t>::max();
        header_limit(static_cast<std::uint32_t>(std::min(max_header, kMax)));
    }

    const std::function<std::size_t(std::string_view)> body_limit_of;

    Request request;
    const std::size_t max_header_bytes;
    std::size_t header_bytes = 0;
    int version = 11;
    int hosts = 0;
    int status = 0;
    bool expects_continue = false;
    bool header_done = false;

    void refuse(int with, error_code& ec) {
        status = with;
        ec = beast_http::error::bad_field;
    }
    int statusOf(const error_code& ec) const {
        if (status != 0) return status;
        if (ec == beast_http::error::header_limit) return 431;
        if (ec == beast_http::error::body_limit) return 413;
        return 400;
    }

    void on_request_impl(beast_http::verb, BeastView method, BeastView target, int v, error_code&) override {
        request.method = std::string(view(method));
        request.target = std::string(view(target));
        version = v;
        splitTarget(request);
        body_limit(static_cast<std::uint64_t>(body_limit_of(request.path)));
    }
    void on_response_impl(int, BeastView, int, error_code&) override {}
    void on_field_impl(beast_http::field field, BeastView name, BeastView value, error_code& ec) override {
        if (header_done) return;
        if (field == beast_http::field::host) {
            ++hosts;
        } else if (field == beast_http::field::transfer_encoding && !sameIgnoringCase(value, "chunked")) {
            return refuse(501, ec);
        } else if (field == beast_http::field::expect) {
            if (!sameIgnoringCase(value, "100-continue")) return refuse(417, ec);
            expects_continue = true;
        }
        request.headers.emplace_back(view(name), view(value));
    }
    void on_header_impl(error_code& ec) override {
        header_done = true;
        if (hosts > 1 || (hosts == 0 && version == 11)) refuse(400, ec);
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, error_code&) override {
        if (length) request.body.reserve(static_cast<std::size_t>(std::min(*length, kBodyReserve)));
    }
    std::size_t on_body_impl(BeastView bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_chunk_header_impl(std::uint64_t, BeastView, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, BeastView bytes, error_code&) override {
        request.body.append(bytes.data(), bytes.size());
        return bytes.size();
    }
    void on_finish_impl(error_code&) override {}
};

RequestParser::RequestParser(std::size_t max_header_bytes,
                             std::function<std::size_t(std::string_view path)> body_limit_of)
    : impl_(std::make_unique<Impl>(max_header_bytes, std::move(body_limit_of))) {}
RequestParser::~RequestParser() = default;

std::size_t RequestParser::feed(std::string_view input) {
    std::size_t used = 0;
    while (used < input.size() && impl_->status == 0 && !impl_->is_done()) {
        const bool in_header = !impl_->header_done;
        const std::string_view rest = input.substr(used);
        if (!in_header && impl_->chunked() && rest.size() < kShortestChunkEnd) break;
        error_code ec;
        const std::size_t taken = impl_->put(boost::asio::const_buffer(rest.data(), rest.size()), ec);
        used += taken;
        if (in_header) impl_->header_bytes += taken;
        if (ec && ec != beast_http::error::need_more) {
            impl_->status = impl_->statusOf(ec);
            break;
        }
        // A header, a chunk line or trailers without end.
        const std::size_t waiting = rest.size() - taken + (in_header ? impl_->header_bytes : 0);
        const bool header_ended = in_header && impl_->header_done;
        if (ec && waiting > impl_->max_header_bytes) impl_->status = 431;
        if (header_ended && impl_->header_bytes > impl_->max_header_bytes) impl_->status = 431;
        if (header_ended || ec || taken == 0) break;
    }
    return used;
}

RequestParser::Stage RequestParser::stage() const {
    if (!impl_->header_done) return Stage::kHeader;
    return impl_->is_done() ? Stage::kComplete : Stage::kBody;
}
int RequestParser::error() const { return impl_->status; }
bool RequestParser::keepAlive() const { return impl_->header_done && impl_->keep_alive(); }
bool RequestParser::http10() const { return impl_->version == 10; }
bool RequestParser::expectsContinue() const { return impl_->expects_continue && impl_->version == 11; }
Request& RequestParser::request() { return impl_->request; }

}  // namespace dq::http
