// One serving process: everything it owns, built in order, taken down in reverse.
#pragma once
#include <absl/status/status.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "api/graphql_api.h"
#include "app/development.h"
#include "app/readiness.h"
#include "app/routes.h"
#include "auth/auth.h"
#include "core/metrics.h"
#include "http/admission.h"
#include "http/server.h"
#include "ingest/committer.h"
#include "ingest/http_events.h"
#include "ingest/ingest_metrics.h"
#include "ingest/ingest_settings.h"
#include "ingest/validate.h"
#include "lake/lake.h"
#include "materialize/materializer.h"
#include "query/reader.h"
#include "settings/settings.h"

namespace dq::app {

class Process {
  public:
    Process(settings::Settings settings, ingest::IngestSettings ingest, std::optional<DevelopmentAuth> development);
    ~Process();
    // Opens all of it; the error says what could not be. `fatal` is called from other threads when the process must
    // end with 1.
    absl::Status boot(std::function<void()> fatal);
    // Stops taking requests, waits for the running ones, ends the decode loop, closes the lake.
    void shutDown();

  private:
    absl::Status openLake();
    absl::Status openMaterializer();
    void openApi();
    void openIngest();
    absl::Status openServers();
    void startMaterializer();

    settings::Settings settings_;
    ingest::IngestSettings ingest_settings_;
    std::optional<DevelopmentAuth> development_;
    std::function<void()> fatal_;
    const Cancel cancel_ = Cancel::root();

    Metrics metrics_;
    std::unique_ptr<lake::Lakes> lakes_;
    std::unique_ptr<query::Reader> reader_;
    std::unique_ptr<auth::TokenValidator> tokens_;
    std::unique_ptr<api::GraphqlApi> graphql_;
    std::unique_ptr<ingest::IngestMetrics> ingest_metrics_;
    std::unique_ptr<ingest::Validator> validator_;
    std::unique_ptr<ingest::Committer> committer_;
    std::unique_ptr<ingest::EventsEndpoint> events_;
    std::unique_ptr<materialize::Materializer> materializer_;
    std::unique_ptr<Readiness> readiness_;
    std::unique_ptr<http::GlobalLimiter> global_limit_;
    std::unique_ptr<http::SubjectLimiter> subject_limit_;
    std::unique_ptr<MainRoutes> routes_;
    std::unique_ptr<http::Server> monitoring_, main_;
    std::thread decode_thread_;
};

}  // namespace dq::app
