// `dq ingest FILE...|-`: CloudEvents from files or standard input into lake.raw_events.
//
//   IngestCommand command{.inputs = {"drive.ndjson.gz"}};
//   return runIngest(command, lake_config, std::cout, std::cerr);
//
// Ends with one JSON line on `out`:
//   {"read","written","bundles","externalized","rejected","repeated","existing","dropped_fingerprints",
//    "oversized_inline","unstored","last_snapshot"}
// Exit status: 0 all stored, 2 some events were rejected, 1 a fault ended the run (its reason on `err`). The summary is
// printed in every case in which reading had begun. Progress is shown on `err` when `progress` is set.
#pragma once
#include <ostream>
#include <string>
#include <vector>

#include "core/cancel.h"
#include "ingest/ingest_settings.h"
#include "ingest/run.h"
#include "ingest/validate.h"
#include "lake/lake.h"

namespace dq::ingest {

struct IngestCommand {
    std::vector<std::string> inputs = {};  // paths; "-" is standard input
    std::string profile = "connection";    // --profile
    std::string source = {};               // --source 0x…: of every event
    bool trust_source = false;             // --trust-source
    bool strict = false;                   // --strict
    bool skip_existing = false;            // --skip-existing
    std::string dead_letter = {};          // --dead-letter FILE
    std::string to_url = {};               // --to URL: a serving process takes the events
    IngestSettings settings = {};
    bool progress = false;  // `err` is a terminal
    int stdin_descriptor = 0;
    Cancel cancel = Cancel::root();  // what was read is committed before the run ends
    const Clock* clock = &systemClock();
    PostFunction post = {};  // empty: curlPost()
};

int runIngest(const IngestCommand& command, lake::LakeConfig config, std::ostream& out, std::ostream& err);
// What runIngest does after its sink is open.
int runIngest(const IngestCommand& command, Sink& sink, std::ostream& out, std::ostream& err);

std::string summaryJson(const RunCounts& counts);

}  // namespace dq::ingest
