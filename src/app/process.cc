#include "app/process.h"

#include <pthread.h>

#include <algorithm>

#include "app/lake_settings.h"
#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/tables.h"

namespace dq::app {
namespace {

constexpr std::int64_t kDrain = 25'000'000, kReadyProbe = 2'000'000;

// Settings that a later build serves. Those that would change answers or tables stop the boot, the others are named
// in the log.
absl::Status checkBuild(const settings::Settings& settings) {
    if (settings.materializer_enabled && settings.materializer_daily_rollup_mode != settings::DailyRollupMode::kOff) {
        return absl::FailedPreconditionError(
            "MATERIALIZER_DAILY_ROLLUP_MODE other than off is not available in this build");
    }
    const auto inert = [](bool set, std::string_view name) {
        if (set) logWarn("setting has no effect in this build", {{"setting", name}});
    };
    inert(settings.latest_kv_write_enabled, "LATEST_KV_WRITE_ENABLED");
    inert(settings.latest_kv_read_mode != settings::KvMode::kOff, "LATEST_KV_READ_MODE");
    inert(settings.enable_pprof, "ENABLE_PPROF");
    inert(settings.materializer_quality_metrics, "MATERIALIZER_QUALITY_METRICS");
    return absl::OkStatus();
}

}  // namespace

Process::Process(settings::Settings settings, ingest::IngestSettings ingest, std::optional<DevelopmentAuth> development)
    : settings_(std::move(settings)), ingest_settings_(std::move(ingest)), development_(std::move(development)) {}

Process::~Process() { shutDown(); }

absl::Status Process::openLake() {
    DQ_ASSIGN_OR_RETURN(lakes_, lake::Lakes::open(lakeConfig(settings_), settings_.materializer_enabled, &metrics_));
    query::ReaderOptions options;
    options.slow_read_micros = settings_.duckdb_slow_read_threshold.value_or(-1);
    options.profile_reads = settings_.duckdb_profile_reads;
    options.daily_serving = settings_.lake_rollup_daily_serving;
    reader_ = std::make_unique<query::Reader>(lakes_->reader(), options, metrics_);
    return absl::OkStatus();
}

absl::Status Process::openMaterializer() {
    if (!settings_.materializer_enabled) return absl::OkStatus();
    materialize::MaterializerOptions options = materializerOptions(settings_);
    DQ_ASSIGN_OR_RETURN(options.payloads, payloadOptions(settings_));
    materializer_ = std::make_unique<materialize::Materializer>(lakes_->writer(), decodeOptions(settings_),
                                                                std::move(options), metrics_);
    return materializer_->prepare(cancel_);
}

void Process::openApi() {
    graphql_ = std::make_unique<api::GraphqlApi>(*reader_, metrics_);
    std::shared_ptr<auth::KeySet> keys;
    if (development_) {
        keys = development_->keys;
    } else {
        keys = std::make_shared<auth::KeySet>(auth::KeySet::Options{.url = settings_.token_exchange_jwk_key_set_url,
                                                                    .issuer = settings_.token_exchange_issuer_url,
                                                                    .get = auth::curlGet()});
    }
    tokens_ = std::make_unique<auth::TokenValidator>(
        development_ ? development_->issuer : settings_.token_exchange_issuer_url, std::move(keys));
    global_limit_ = std::make_unique<http::GlobalLimiter>(static_cast<int>(settings_.max_concurrent_requests));
    subject_limit_ =
        std::make_unique<http::SubjectLimiter>(static_cast<int>(settings_.max_concurrent_requests_per_subject));
    readiness_ = std::make_unique<Readiness>(
        Readiness::Options{}, [this] { return reader_->probe(cancel_.withTimeout(kReadyProbe)); }, fatal_);
}

// Events are taken wherever the lake is attached read-write. The table is made with the first post: a reader creates
// nothing unasked.
void Process::openIngest() {
    if (lakes_->reader().readOnly()) return;
    lake::Lake* target = lakes_->hasWriter() ? &lakes_->writer() : &lakes_->reader();
    ingest_metrics_ = std::make_unique<ingest::IngestMetrics>(metrics_);
    ingest::ValidationOptions options;
    options.fingerprint_validation = ingest_settings_.fingerprint_validation;
    options.allowable_skew_micros = ingest_settings_.allowable_skew_micros;
    options.inline_limit = ingest_settings_.document_size_threshold;
    validator_ = std::make_unique<ingest::Validator>(options);
    ingest::Append append = ingest::lakeAppend(*target);
    auto ready = std::make_shared<std::atomic<bool>>(false);
    ingest::Committer::Options committing;
    committing.metrics = ingest_metrics_.get();
    committer_ = std::make_unique<ingest::Committer>(
        [target, append, ready](std::span<const ingest::Row> rows,
                                const Cancel& cancel) -> absl::StatusOr<std::int64_t> {
            if (!ready->load()) {
                DQ_RETURN_IF_ERROR(lake::ensureRawEvents(*target, cancel));
                ready->store(true);
            }
            return append(rows, cancel);
        },
        committing);
    events_ = std::make_unique<ingest::EventsEndpoint>(
        ingest::EventsEndpoint::Options{.token = settings_.ingest_token,
                                        .max_body_bytes = ingest_settings_.max_body_bytes},
        *validator_, *committer_, ingest_metrics_.get());
}

absl::Status Process::openServers() {
    routes_ = std::make_unique<MainRoutes>(MainRoutes{.graphql = graphql_.get(),
                                                      .tokens = tokens_.get(),
                                                      .readiness = readiness_.get(),
                                                      .events = events_.get(),
                                                      .global_limit = global_limit_.get(),
                                                      .subject_limit = subject_limit_.get(),
                                                      .metrics = &metrics_,
                                                      .max_request_micros = settings_.max_request_duration});
    http::ServerOptions options;
    if (development_) options.address = kDevelopmentAddress;
    options.port = static_cast<std::uint16_t>(settings_.port);
    // More workers than admitted requests: those over the limit are shed by it, and /ready does not wait behind slow
    // queries.
    options.workers = static_cast<int>(std::clamp<std::int64_t>(settings_.max_concurrent_requests + 8, 16, 1024));
    options.body_limit_of = [this](std::string_view path) { return bodyLimit(path, ingest_settings_.max_body_bytes); };
    main_ = std::make_unique<http::Server>(options, [this](const http::Request& request, const Cancel& cancel) {
        return routes_->handle(request, cancel);
    });
    logInfo(strCat("Server started on port: ", settings_.port));
    return main_->start();
}

void Process::startMaterializer() {
    if (materializer_ == nullptr) return;
    decode_thread_ = std::thread([this] {
        pthread_setname_np(pthread_self(), "dq-materialize");
        const absl::Status ended = materializer_->run(cancel_);
        if (ended.ok()) return;
        logFatal("materializer durably failed; exiting to restart the pod", {{"error", ended.message()}});
        fatal_();
    });
}

absl::Status Process::boot(std::function<void()> fatal) {
    fatal_ = std::move(fatal);
    DQ_RETURN_IF_ERROR(checkBuild(settings_));
    // Liveness first: opening a slow catalog must not look like a hanging process.
    http::ServerOptions monitoring;
    if (development_) monitoring.address = kDevelopmentAddress;
    monitoring.port = static_cast<std::uint16_t>(settings_.mon_port);
    monitoring.workers = 2;
    monitoring_ = std::make_unique<http::Server>(monitoring, [this](const http::Request& request, const Cancel&) {
        return handleMonitoring(request, metrics_);
    });
    DQ_RETURN_IF_ERROR(monitoring_->start());
    DQ_RETURN_IF_ERROR(openLake());
    DQ_RETURN_IF_ERROR(openMaterializer());
    openApi();
    openIngest();
    DQ_RETURN_IF_ERROR(openServers());
    startMaterializer();
    return absl::OkStatus();
}

void Process::shutDown() {
    if (readiness_ != nullptr) readiness_->stop();
    if (main_ != nullptr && !main_->stop(kDrain))
        logWarn("requests were still running after the drain time", {{"addr", strCat(":", settings_.port)}});
    if (committer_ != nullptr) committer_->stop(kDrain);
    cancel_.cancel();
    if (decode_thread_.joinable()) decode_thread_.join();
    if (monitoring_ != nullptr) monitoring_->stop(1'000'000);
    monitoring_.reset();
    main_.reset();
}

}  // namespace dq::app
