// `dq backfill` and the flags -backfill-from/-backfill-to: decodes a range of raw events again, then ends.
#pragma once
#include <string>

namespace dq::app {

struct BackfillCommand {
    std::string from, to;  // RFC 3339
    std::string subject;   // "" = all
    std::string settings_file = "settings.yaml";
    bool restart = false;
    bool progress = false;  // lines on standard error while it runs
};

// Returns the exit code: 0 when everything in the range is decoded and the rollups follow, else 1 with a fatal log
// line. SIGINT and SIGTERM end it within 2 s; what is done stays done, and the same command goes on from there.
int runBackfill(const BackfillCommand& command);

}  // namespace dq::app
