// One HTTP/1.1 request out of a stream of bytes, straight into a Request (headers of any length, unknown methods
// kept).
//
//   RequestParser parser(max_header_bytes, [](std::string_view path) { return max_body_bytes; });
//   used = parser.feed(bytes);        // stops at the end of the header once, then at the end of the request
//   if (parser.error() != 0) ...      // the HTTP status that refuses the request; the connection cannot go on
//
// Stricter than the parser underneath where two readers of one stream could disagree: a transfer coding other than
// `chunked`, a missing or second Host are refused. Trailers are checked and dropped. Threads: one.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

#include "http/server.h"

namespace dq::http {

class RequestParser {
  public:
    enum class Stage { kHeader, kBody, kComplete };

    // `body_limit_of` is asked once the path is known, before any of the body is kept.
    RequestParser(std::size_t max_header_bytes, std::function<std::size_t(std::string_view path)> body_limit_of);
    ~RequestParser();
    // Returns how many bytes of the front were used; the rest must be offered again, with more behind it.
    std::size_t feed(std::string_view input);
    Stage stage() const;
    int error() const;       // 0, 400, 413, 417, 431 or 501
    bool keepAlive() const;  // what the client asks for; valid after the header
    bool http10() const;
    bool expectsContinue() const;
    Request& request();

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace dq::http
