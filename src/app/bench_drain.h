// `dq bench drain`: how fast a lake's raw events become rows, beside the time in which the engine alone inserts the
// same rows.
#pragma once
#include <iosfwd>
#include <string>

#include "core/cancel.h"
#include "settings/settings.h"

namespace dq::app {

struct BenchDrainOptions {
    std::string lake;    // folder with catalog.ducklake and lakedata/, as bench/gen_lake.py leaves it; never changed
    bool bare = false;   // also the engine alone: the decoded rows, day by day, in one transaction
    bool flush = false;  // also bring the rollups up to date
};

// Prints one line per measurement to `out`. Works on a copy of the lake in a temporary folder, which it removes.
// Returns the exit code.
int benchDrain(const BenchDrainOptions& options, const settings::Settings& settings, const Cancel& cancel,
               std::ostream& out, std::ostream& err);

}  // namespace dq::app
