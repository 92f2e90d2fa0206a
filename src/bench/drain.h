// `dq bench drain`: how fast a lake's raw events become rows, beside the time in which the engine alone inserts the
// same rows.
#pragma once
#include <iosfwd>
#include <string>

#include "core/cancel.h"
#include "decode/decoder.h"
#include "lake/lake.h"
#include "materialize/materializer.h"

namespace dq::bench {

struct DrainOptions {
    std::string lake;    // folder with catalog.ducklake and lakedata/, as bench/gen_lake.py leaves it; never changed
    bool bare = false;   // also the engine alone: the decoded rows, day by day, in one transaction
    bool flush = false;  // also bring the rollups up to date
    // As the materializer of this machine would be configured; catalog and data path are the copy's.
    lake::LakeConfig config;
    decode::Options decode;
    materialize::MaterializerOptions materializer;
};

// Prints one line per measurement to `out`. Works on a copy of the lake in a temporary folder, which it removes.
// Returns the exit code.
int drain(const DrainOptions& options, const Cancel& cancel, std::ostream& out, std::ostream& err);

}  // namespace dq::bench
