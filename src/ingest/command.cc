#include "ingest/command.h"

#include <memory>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "ingest/ascii_text.h"
#include "ingest/existing_rows.h"
#include "lake/tables.h"

namespace dq::ingest {
namespace {

constexpr int kStored = 0, kFault = 1, kSomeRejected = 2;

ValidationOptions validationOf(const IngestCommand& command, Profile profile) {
    ValidationOptions options;
    options.profile = profile;
    options.source_rule = !command.source.empty() ? SourceRule::kFixed
                          : command.trust_source  ? SourceRule::kTrust
                                                  : SourceRule::kOwnAddress;
    options.source = command.source;
    options.fingerprint_validation = command.settings.fingerprint_validation;
    options.allowable_skew_micros = command.settings.allowable_skew_micros;
    options.inline_limit = command.settings.document_size_threshold;
    options.clock = command.clock;
    return options;
}

StatusOr<ValidationOptions> checkCommand(const IngestCommand& command) {
    if (command.inputs.empty()) return absl::InvalidArgumentError("name at least one file, or - for standard input");
    if (std::count(command.inputs.begin(), command.inputs.end(), "-") > 1)
        return absl::InvalidArgumentError("- may be named once");
    if (!command.source.empty() && command.trust_source) {
        return absl::InvalidArgumentError("--source and --trust-source exclude each other");
    }
    if (!command.to_url.empty() && command.skip_existing) {
        return absl::InvalidArgumentError("--skip-existing looks into the lake itself and does not go with --to");
    }
    DQ_ASSIGN_OR_RETURN(const Profile profile, parseProfile(command.profile));
    ValidationOptions options = validationOf(command, profile);
    DQ_RETURN_IF_ERROR(checkOptions(options));
    return options;
}

int failed(std::ostream& err, const Status& status) {
    err << "dq ingest: " << status.message() << "\n";
    return kFault;
}

// A catalog file belongs to one process; the engine's message names the holder.
int failedOpening(std::ostream& err, const Status& status, const lake::LakeConfig& config) {
    failed(err, status);
    if (lake::catalogKind(config.catalog_dsn) == lake::CatalogKind::kFile &&
        contains(std::string(status.message()), "lock")) {
        err << "A catalog file belongs to one process at a time. Send the events to the process that holds it:\n"
               "  dq ingest --to http://ADDRESS:PORT FILE...\n";
    }
    return kFault;
}

void warnAboutPlainToken(std::ostream& err, const std::string& url, const std::string& token) {
    const bool near = contains(url, "//127.") || contains(url, "//localhost") || contains(url, "//[::1]");
    if (!token.empty() && startsWithIgnoringCase(url, "http:") && !near) {
        err << "dq ingest: INGEST_TOKEN goes to " << url << " unencrypted\n";
    }
}

}  // namespace

std::string summaryJson(const RunCounts& counts) {
    return strCat("{\"read\":", counts.read, ",\"written\":", counts.written, ",\"bundles\":", counts.bundles,
                  ",\"externalized\":0,\"rejected\":", counts.rejected, ",\"repeated\":", counts.repeated,
                  ",\"existing\":", counts.existing, ",\"dropped_fingerprints\":", counts.dropped_fingerprints,
                  ",\"oversized_inline\":", counts.oversized, ",\"unstored\":", counts.unstored,
                  ",\"last_snapshot\":", counts.last_snapshot ? strCat(*counts.last_snapshot) : "null", "}");
}

int runIngest(const IngestCommand& command, Sink& sink, std::ostream& out, std::ostream& err) {
    const StatusOr<ValidationOptions> options = checkCommand(command);
    if (!options.ok()) return failed(err, options.status());
    std::unique_ptr<DeadLetterFile> dead_letter;
    if (!command.dead_letter.empty()) {
        StatusOr<std::unique_ptr<DeadLetterFile>> file = DeadLetterFile::open(command.dead_letter);
        if (!file.ok()) return failed(err, file.status());
        dead_letter = *std::move(file);
    }
    Validator validator(*options);
    RunOptions run_options;
    run_options.inputs = command.inputs;
    run_options.stdin_descriptor = command.stdin_descriptor;
    run_options.sink = command.settings.sink;
    run_options.max_event_bytes = command.settings.max_body_bytes;
    run_options.strict = command.strict;
    run_options.skip_existing = command.skip_existing;
    run_options.max_passes = command.to_url.empty() ? run_options.max_passes : 1;  // a remote sink is patient itself
    run_options.clock = command.clock;
    Status status;
    RunCounts counts;
    {
        ProgressLine progress(err, command.progress, *command.clock);
        IngestRun run(run_options, validator, sink, dead_letter.get(), progress, err);
        status = run.run(command.cancel);
        counts = run.counts();
    }
    if (counts.oversized > 0) {
        err << "dq ingest: " << counts.oversized << " payloads over DOCUMENT_SIZE_THRESHOLD were stored inline\n";
    }
    if (absl::IsCancelled(status) && command.cancel.cancelled()) {
        err << "dq ingest: interrupted; what was read before is stored except for " << counts.unstored << " events\n";
    } else if (!status.ok()) {
        failed(err, status);
    }
    out << summaryJson(counts) << std::endl;
    if (!status.ok() || !out) return kFault;
    return counts.rejected > 0 ? kSomeRejected : kStored;
}

int runIngest(const IngestCommand& command, lake::LakeConfig config, std::ostream& out, std::ostream& err) {
    const StatusOr<ValidationOptions> options = checkCommand(command);
    if (!options.ok()) return failed(err, options.status());
    if (!command.to_url.empty()) {
        warnAboutPlainToken(err, command.to_url, command.settings.token);
        RemoteOptions remote;
        remote.url = command.to_url;
        remote.bearer_token = command.settings.token;
        const auto sink = remoteSink(command.post ? command.post : curlPost(), std::move(remote));
        return runIngest(command, *sink, out, err);
    }
    config.read_only = false;
    StatusOr<std::unique_ptr<lake::Lakes>> lakes = lake::Lakes::open(config, /*writer=*/true);
    if (!lakes.ok()) return failedOpening(err, lakes.status(), config);
    lake::Lake& lake = (*lakes)->writer();
    if (Status status = lake::ensureRawEvents(lake, command.cancel); !status.ok()) return failed(err, status);
    const auto sink = lakeSink(
        lakeAppend(lake),
        [&lake](std::span<const Row> rows, const Cancel& cancel) { return existingRows(lake, rows, cancel); },
        command.settings.sink);
    return runIngest(command, *sink, out, err);
}

}  // namespace dq::ingest
