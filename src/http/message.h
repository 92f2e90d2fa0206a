// The text of an answer: status line and headers as they go on the wire. Framing headers are the server's own.
#pragma once
#include <string>

#include "http/server.h"

namespace dq::http {

// kNone leaves the header out, which in HTTP/1.1 means "stays open".
enum class ConnectionHeader { kNone, kKeepAlive, kClose };

bool asksToClose(const Response& response);
// 1xx, 204 and 304 end with their header.
bool forbidsBody(int status);
// Status line, headers, empty line. Line breaks in values become blanks; names that are no token are left out.
std::string responseHead(const Response& response, ConnectionHeader connection);

}  // namespace dq::http
