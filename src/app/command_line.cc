#include "app/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <thread>

#include "app/lake_settings.h"
#include "app/legacy_flags.h"
#include "app/serve.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "ingest/command.h"
#include "ingest/ingest_settings.h"
#include "settings/settings.h"

namespace dq::app {
namespace {

int serveLegacy(const std::vector<std::string>& arguments) {
    const auto flags = parseLegacyFlags(arguments);
    if (!flags.ok()) {
        std::cerr << flags.status().message() << "\n" << legacyUsage();
        return 2;
    }
    if (flags->help) {
        std::cerr << legacyUsage();
        return 0;
    }
    if (!flags->backfill_from.empty() || !flags->backfill_to.empty()) {
        logFatal("backfill failed", {{"error", "backfill is not available in this build"}});
        return 1;
    }
    return serve({.settings_file = flags->settings});
}

// Lake and ingest settings of a command that writes raw events: no server settings are needed.
struct WriterSettings {
    lake::LakeConfig lake;
    ingest::IngestSettings ingest;
};
StatusOr<WriterSettings> writerSettings(const std::string& file, bool needs_lake) {
    DQ_ASSIGN_OR_RETURN(const auto settings, settings::loadSettings(file, settings::processEnvironment));
    WriterSettings out;
    DQ_ASSIGN_OR_RETURN(out.ingest, ingest::readIngestSettings(settings::processEnvironment));
    if (needs_lake && settings.ducklake_catalog_dsn.empty()) {
        return absl::InvalidArgumentError(
            "DUCKLAKE_CATALOG_DSN is empty: name the lake's catalog, or send the events to a server with --to URL");
    }
    setLogLevel(settings.log_level);
    out.lake = lakeConfig(settings);
    return out;
}

// Cancels on SIGINT or SIGTERM: what was read is committed, then the command ends. A second signal ends the process
// at once.
class CancelOnSignal {
  public:
    explicit CancelOnSignal(Cancel cancel) {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        thread_ = std::thread([this, cancel] {
            int signal = 0;
            sigwait(&signals_, &signal);
            if (done_) return;
            cancel.cancel();
            pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
        });
    }
    ~CancelOnSignal() {
        done_ = true;
        pthread_kill(thread_.native_handle(), SIGTERM);
        thread_.join();
    }

  private:
    sigset_t signals_{};
    std::atomic<bool> done_{false};
    std::thread thread_;
};

int ingest(ingest::IngestCommand command, const std::string& settings_file) {
    logToStderr();
    const auto settings = writerSettings(settings_file, command.to_url.empty());
    if (!settings.ok()) {
        std::cerr << "dq ingest: " << settings.status().message() << "\n";
        return 1;
    }
    command.settings = settings->ingest;
    command.progress = isatty(STDERR_FILENO) != 0;
    command.cancel = Cancel::root();
    CancelOnSignal stop(command.cancel);
    return ingest::runIngest(command, settings->lake, std::cout, std::cerr);
}

}  // namespace

int runCommandLine(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.empty() || arguments[0][0] == '-') return serveLegacy(arguments);

    CLI::App app{"dq: the lake server for vehicle telemetry"};
    app.require_subcommand(1);
    ServeOptions serve_options;
    auto* serve_command =
        app.add_subcommand("serve", "Serve queries (the default); with MATERIALIZER_ENABLED=true also decode");
    serve_command->add_option("--settings", serve_options.settings_file, "settings file")->capture_default_str();
    serve_command->add_flag("--dev", serve_options.development,
                            "loopback only, no key service: prints a token; decodes and takes events");
    serve_command
        ->add_option("--dev-subject", serve_options.development_subject,
                     "vehicle DID that the development token is good for")
        ->capture_default_str();

    ingest::IngestCommand ingest_command;
    std::string ingest_file = "settings.yaml";
    auto* ingest_command_line = app.add_subcommand("ingest", "Read CloudEvents into lake.raw_events");
    ingest_command_line->add_option("inputs", ingest_command.inputs, "files, or - for standard input")->required();
    ingest_command_line->add_option("--settings", ingest_file, "settings file")->capture_default_str();
    ingest_command_line->add_option("--profile", ingest_command.profile, "connection, raw or attestation")
        ->capture_default_str();
    ingest_command_line->add_option("--source", ingest_command.source, "source of every event, 0x…");
    ingest_command_line->add_flag("--trust-source", ingest_command.trust_source, "keep each event's own source");
    ingest_command_line->add_flag("--strict", ingest_command.strict, "stop before the bundle with the first bad event");
    ingest_command_line->add_flag("--skip-existing", ingest_command.skip_existing, "drop events that the lake has");
    ingest_command_line->add_option("--dead-letter", ingest_command.dead_letter, "file for rejected events");
    ingest_command_line->add_option("--to", ingest_command.to_url, "send to a serving dq, http://host:port");
    auto* version = app.add_subcommand("version", "Print the version");

    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    if (version->parsed()) {
        std::cout << "dq " DQ_VERSION "\n";
        return 0;
    }
    return serve_command->parsed() ? serve(serve_options) : ingest(std::move(ingest_command), ingest_file);
}

}  // namespace dq::app
