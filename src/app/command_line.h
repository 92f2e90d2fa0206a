// The command line of dq. Without a subcommand it serves, with the flags of the service it replaces (server.md §1).
//
// Exit status: 0 clean stop or done, 1 every fatal condition (settings, boot, listener, sustained failure), 2 wrong
// flags, and for `dq ingest` events that were rejected.
#pragma once

namespace dq::app {

int runCommandLine(int argc, char** argv);

}  // namespace dq::app
