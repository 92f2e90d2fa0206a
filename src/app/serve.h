// The serving process: settings, lake, servers, decode loop, and a clean end (server.md §7–§9).
#pragma once
#include <string>

namespace dq::app {

struct ServeOptions {
    std::string settings_file = "settings.yaml";
    bool development = false;  // --dev: loopback only, own signing key, everything in one process
    std::string development_subject = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1";
};

// Returns the exit status.
int serve(const ServeOptions& options);

}  // namespace dq::app
