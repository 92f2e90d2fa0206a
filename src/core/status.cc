#include "core/status.h"

#include <absl/strings/str_cat.h>

#include <cstdio>
#include <cstdlib>

namespace dq {

Status annotate(const Status& status, std::string_view prefix) {
    if (status.ok()) return status;
    Status out(status.code(), absl::StrCat(abslView(prefix), ": ", status.message()));
    status.ForEachPayload([&](absl::string_view url, const absl::Cord& payload) { out.SetPayload(url, payload); });
    return out;
}

void checkFailed(const char* expression, const char* file, int line, std::string_view reason) {
    std::fprintf(stderr, "%s:%d: broken invariant (%s): %.*s\n", file, line, expression,
                 static_cast<int>(reason.size()), reason.data());
    std::abort();
}

}  // namespace dq
