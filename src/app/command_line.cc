#include "app/command_line.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "app/backfill_command.h"
#include "app/cancel_on_signal.h"
#include "app/lake_settings.h"
#include "app/legacy_flags.h"
#include "app/serve.h"
#include "bench/drain.h"
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
        BackfillCommand command;
        command.from = flags->backfill_from;
        command.to = flags->backfill_to;
        command.settings_file = flags->settings;
        command.progress = isatty(STDERR_FILENO) != 0;
        return runBackfill(command);
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

int benchDrain(bench::DrainOptions options, const std::string& settings_file) {
    logToStderr();
    const auto settings = settings::loadSettings(settings_file, settings::processEnvironment);
    auto payloads = settings.ok() ? payloadOptions(*settings) : settings.status();
    if (!payloads.ok()) {
        std::cerr << "dq bench: " << payloads.status().message() << "\n";
        return 1;
    }
    setLogLevel(settings->log_level);
    options.config = lakeConfig(*settings);
    options.decode = decodeOptions(*settings);
    options.materializer = materializerOptions(*settings);
    options.materializer.payloads = *std::move(payloads);
    const Cancel cancel = Cancel::root();
    CancelOnSignal stop(cancel);
    return bench::drain(options, cancel, std::cout, std::cerr);
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
    BackfillCommand backfill_command;
    auto* backfill_line = app.add_subcommand("backfill", "Decode a range of raw events again; rows at rest stay once");
    backfill_line->add_option("--from", backfill_command.from, "first event time, RFC 3339")->required();
    backfill_line->add_option("--to", backfill_command.to, "event time after the last, RFC 3339")->required();
    backfill_line->add_option("--subject", backfill_command.subject, "only this vehicle DID");
    backfill_line->add_flag("--restart", backfill_command.restart, "from the start, though an earlier run got further");
    backfill_line->add_option("--settings", backfill_command.settings_file, "settings file")->capture_default_str();

    bench::DrainOptions drain_options;
    std::string bench_file = "settings.yaml";
    auto* bench_command = app.add_subcommand("bench", "Measure this machine");
    bench_command->require_subcommand(1);
    auto* drain_command =
        bench_command->add_subcommand("drain", "Decode a copy of a lake's raw events and say how long it took");
    drain_command->add_option("lake", drain_options.lake, "folder that bench/gen_lake.py made")->required();
    drain_command->add_flag("--bare", drain_options.bare, "also time the engine alone inserting the same rows");
    drain_command->add_flag("--rollups", drain_options.flush, "also time bringing the rollups up to date");
    drain_command->add_option("--settings", bench_file, "settings file")->capture_default_str();
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
    if (backfill_line->parsed()) {
        backfill_command.progress = isatty(STDERR_FILENO) != 0;
        return runBackfill(backfill_command);
    }
    if (drain_command->parsed()) return benchDrain(std::move(drain_options), bench_file);
    return serve_command->parsed() ? serve(serve_options) : ingest(std::move(ingest_command), ingest_file);
}

}  // namespace dq::app
