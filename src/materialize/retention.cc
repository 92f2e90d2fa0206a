#include "materialize/retention.h"

#include "core/log.h"
#include "core/status.h"
#include "lake/prune.h"

namespace dq::materialize {
namespace {

constexpr std::int64_t kEvery = 3'600'000'000;

}  // namespace

StatusOr<std::int64_t> Retention::prune(const Cancel& cancel) {
    auto removed = lake::pruneDecoded(lake_, clock_.now() - keep_, cancel);
    if (removed.ok()) {
        if (*removed > 0) {
            logInfo(
                "pruned decoded rows past retention",
                {{"component", "materializer"}, {"rows", *removed}, {"retention", static_cast<double>(keep_) / 1e3}});
        }
    } else if (!cancel.cancelled()) {
        metrics_.prune_errors.Increment();
        logError("decoded retention prune failed",
                 {{"component", "materializer"}, {"error", removed.status().message()}});
    }
    return removed;
}

void Retention::run(const Cancel& cancel) {
    while (!cancel.waitFor(kEvery)) {
        if (may_()) ignore(prune(cancel).status(), "logged and counted; tried again in an hour");
    }
}

}  // namespace dq::materialize
