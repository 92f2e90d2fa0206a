#include "app/backfill_command.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "app/cancel_on_signal.h"
#include "app/lake_settings.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "core/time.h"
#include "materialize/backfill.h"
#include "settings/settings.h"

namespace dq::app {
namespace {

Status parseTime(std::string_view name, const std::string& text, Micros& out) {
    if (text.empty()) return absl::InvalidArgumentError(strCat(name, " is missing: both ends of the range are needed"));
    const auto time = parseRfc3339(text);
    if (!time)
        return absl::InvalidArgumentError(strCat(name, " must be an RFC 3339 time, such as 2026-01-31T00:00:00Z"));
    out = time->micros;
    return absl::OkStatus();
}

void printProgress(const materialize::BackfillProgress& progress, double seconds) {
    const double rate = seconds > 0 ? static_cast<double>(progress.rows) / seconds : 0;
    const double left = rate > 0 ? static_cast<double>(progress.total - progress.rows) / rate : 0;
    std::fprintf(stderr, "backfill: %lld of %lld raw events, %.0f/s, up to %s, about %.0f s left\n",
                 static_cast<long long>(progress.rows), static_cast<long long>(progress.total), rate,
                 formatRfc3339(progress.reached).c_str(), std::max(0.0, left));
}

Status run(const BackfillCommand& command, const Cancel& cancel) {
    materialize::BackfillRange range;
    range.subject = command.subject;
    DQ_RETURN_IF_ERROR(parseTime("backfill-from", command.from, range.from));
    DQ_RETURN_IF_ERROR(parseTime("backfill-to", command.to, range.to));
    if (range.from >= range.to) return absl::InvalidArgumentError("backfill-from must lie before backfill-to");
    DQ_ASSIGN_OR_RETURN(const auto settings,
                        settings::loadSettings(command.settings_file, settings::processEnvironment));
    setLogLevel(settings.log_level);
    DQ_RETURN_IF_ERROR(settings.checkDecoding());
    if (settings.ducklake_catalog_dsn.empty()) return absl::InvalidArgumentError("DUCKLAKE_CATALOG_DSN is empty");
    lake::LakeConfig config = lakeConfig(settings);
    config.read_only = false;  // whatever the query fleet's settings say
    Metrics metrics;
    DQ_ASSIGN_OR_RETURN(auto lakes, lake::Lakes::open(config, /*writer=*/true, &metrics));
    materialize::BackfillOptions options;
    options.limits = materializerOptions(settings).limits;
    DQ_ASSIGN_OR_RETURN(options.payloads, payloadOptions(settings));
    options.restart = command.restart;
    const auto start = std::chrono::steady_clock::now();
    if (command.progress) {
        options.progress = [&](const materialize::BackfillProgress& progress) {
            printProgress(progress, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        };
    }
    const auto done = materialize::backfill(lakes->writer(), decodeOptions(settings), range, options, metrics, cancel);
    if (!done.ok()) return done.status();
    std::printf("%lld raw events, %lld signal rows and %lld event rows decoded, %llu raw events with errors\n",
                static_cast<long long>(done->raw_rows), static_cast<long long>(done->signals),
                static_cast<long long>(done->events), static_cast<unsigned long long>(done->failed));
    return absl::OkStatus();
}

}  // namespace

int runBackfill(const BackfillCommand& command) {
    logToStderr();
    const Cancel cancel = Cancel::root();
    CancelOnSignal stop(cancel);
    const Status status = run(command, cancel);
    if (status.ok()) return 0;
    if (cancel.cancelled()) {
        logFatal("backfill stopped; run it again to go on", {{"error", status.message()}});
    } else {
        logFatal("backfill failed", {{"error", status.message()}});
    }
    return 1;
}

}  // namespace dq::app
