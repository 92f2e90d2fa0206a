// The parser in pieces and at once must agree, and neither may crash. First byte of the input: length of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/request_parser.h"

namespace {

using dq::http::RequestParser;

struct Outcome {
    int error;
    RequestParser::Stage stage;
    std::string body, target;
    bool operator==(const Outcome&) const = default;
};

Outcome parse(std::string_view text, std::size_t piece) {
    RequestParser parser(512, [](std::string_view) { return std::size_t{256}; });
    std::string held;
    while (!text.empty() && parser.error() == 0 && parser.stage() != RequestParser::Stage::kComplete) {
        held += text.substr(0, piece);
        text.remove_prefix(std::min(piece, text.size()));
        for (std::size_t used = 1; used > 0 && !held.empty() && parser.error() == 0;) {
            used = parser.feed(held);
            held.erase(0, used);
            if (parser.stage() == RequestParser::Stage::kComplete) break;
        }
    }
    return {parser.error(), parser.stage(), parser.request().body, parser.request().target};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Outcome whole = parse(text, text.size() + 1);
    const Outcome pieces = parse(text, 1 + data[0] % 16);
    // A refusal may come at another place, but what one reading accepts the other must accept as the same request.
    const auto accepted = [](const Outcome& o) { return o.error == 0 && o.stage == RequestParser::Stage::kComplete; };
    if ((accepted(whole) || accepted(pieces)) && !(whole == pieces)) std::abort();
    return 0;
}
