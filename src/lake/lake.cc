#include "lake/lake.h"

#include <cstdlib>

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include "core/log.h"
#include "core/status.h"
#include "core/text.h"
#include "lake/attach.h"

namespace dq::lake {

struct Lake::Instance {
    std::mutex mutex;
    std::shared_ptr<engine::Database> database;  // guarded by mutex
    std::weak_ptr<engine::Database> previous;    // guarded by mutex: a dead instance that sessions may still hold
    bool bootstrapped = false;                   // guarded by mutex: instance-wide statements have run
    std::vector<engine::Pool*> pools;            // of the sides; fixed after open
    std::mutex commit_lock;
};

namespace {

Status bootstrapError(const std::string& statement, const Status& error) {
    return annotate(error, strCat("failed to run bootstrap query \"", engine::redactStatement(statement), "\""));
}

// An instance that has spilled refuses to set its temporary directory again, even to the same value (lake.md §1.3).
bool temporaryDirectoryIsSet(engine::Connection& connection, const std::string& statement) {
    auto result = connection.query("SELECT current_setting('temp_directory')");
    if (!result.ok()) return true;
    auto chunk = result->next();
    if (!chunk.ok() || !chunk->has_value()) return true;
    return contains(statement, engine::quoteLiteral((*chunk)->strings(0)[0]));
}

Status runBootstrap(engine::Connection& connection, const BootstrapStatement& statement) {
    const auto outcome = connection.execute(statement.text);
    if (outcome.ok()) return absl::OkStatus();
    if (statement.tolerate_spilled_temp_directory &&
        contains(stdView(outcome.status().message()), "Cannot switch temporary directory") &&
        temporaryDirectoryIsSet(connection, statement.text)) {
        return absl::OkStatus();
    }
    return bootstrapError(statement.text, outcome.status());
}

StatusOr<bool> catalogIsEncrypted(engine::Connection& connection) {
    DQ_ASSIGN_OR_RETURN(auto result,
                        connection.query("SELECT value FROM ducklake_options('lake') WHERE option_name = 'encrypted'"));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    return chunk.has_value() && chunk->strings(0)[0] == "true";
}

Status checkEncryption(engine::Connection& connection, bool wanted) {
    DQ_ASSIGN_OR_RETURN(const bool encrypted, catalogIsEncrypted(connection));
    if (encrypted == wanted) return absl::OkStatus();
    return absl::FailedPreconditionError(strCat("LAKE_ENCRYPTION_ENABLED is ", wanted ? "true" : "false",
                                                " but the catalog says ", encrypted ? "encrypted" : "not encrypted",
                                                "; encryption is fixed when a catalog is created"));
}

// ENCRYPTED on a plaintext catalog fails inside ATTACH; say which state each side has.
Status explainAttach(const Status& status, const LakeConfig& config) {
    if (config.encryption && contains(absl::AsciiStrToLower(status.message()), "encrypt")) {
        return absl::FailedPreconditionError(
            strCat("LAKE_ENCRYPTION_ENABLED is true but the catalog says not encrypted; encryption is fixed when a "
                   "catalog is created (",
                   status.message(), ")"));
    }
    return status;
}

}  // namespace

Lake::Lake(LakeConfig config, std::shared_ptr<Instance> instance, bool query_side, bool writer_process,
           Metrics* metrics, const Clock* clock)
    : config_(std::move(config)),
      kind_(catalogKind(config_.catalog_dsn)),
      instance_(std::move(instance)),
      bootstrap_(bootstrapStatements(config_, query_side, writer_process)),
      commit_lock_(&instance_->commit_lock) {
    engine::Pool::Options options;
    options.label = query_side ? "query" : "materializer";
    options.max_connections = config_.max_connections > 0 ? config_.max_connections : 6;
    options.clock = clock;
    options.metrics = metrics;
    pool_ = std::make_unique<engine::Pool>(
        instance_->database, [this](engine::Connection& connection) { return prepare(connection); }, options);
    instance_->pools.push_back(pool_.get());
}

Status Lake::prepare(engine::Connection& connection) {
    std::lock_guard lock(instance_->mutex);
    // Two instances on one catalog file corrupt it: the new one attaches when the last session of the old one is
    // gone.
    if (!instance_->previous.expired()) {
        return absl::UnavailableError("the engine is restarting; sessions of the old instance are still open");
    }
    for (const BootstrapStatement& statement : bootstrap_) {
        if (statement.session || !instance_->bootstrapped)
            DQ_RETURN_IF_ERROR(explainAttach(runBootstrap(connection, statement), config_));
    }
    instance_->bootstrapped = true;
    return absl::OkStatus();
}

Status Lake::restartEngine(bool though_it_answers) {
    std::lock_guard lock(instance_->mutex);
    if (!though_it_answers) {
        if (auto connection = instance_->database->connect(); connection.ok() && connection->execute("SELECT 1").ok())
            return absl::OkStatus();
    }
    DQ_ASSIGN_OR_RETURN(auto database, engine::Database::open());
    instance_->previous = std::exchange(instance_->database, database);
    instance_->bootstrapped = false;
    for (engine::Pool* pool : instance_->pools) pool->replaceDatabase(database);
    return absl::OkStatus();
}

StatusOr<std::unique_ptr<Lakes>> Lakes::open(LakeConfig config, bool writer, Metrics* metrics, const Clock* clock) {
    if (config.catalog_dsn.empty())
        return absl::InvalidArgumentError("DUCKLAKE_CATALOG_DSN is empty: the lake needs a catalog");
    if (writer) config.read_only = false;
    auto newInstance = []() -> StatusOr<std::shared_ptr<Lake::Instance>> {
        auto instance = std::make_shared<Lake::Instance>();
        DQ_ASSIGN_OR_RETURN(instance->database, engine::Database::open());
        return instance;
    };
    auto lakes = std::make_unique<Lakes>();
    DQ_ASSIGN_OR_RETURN(auto instance, newInstance());
    lakes->reader_.reset(new Lake(config, instance, /*query_side=*/true, writer, metrics, clock));
    if (writer) {
        // One instance per catalog file and process; a server catalog gets one per side.
        if (catalogKind(config.catalog_dsn) == CatalogKind::kPostgres) {
            DQ_ASSIGN_OR_RETURN(instance, newInstance());
        }
        lakes->writer_.reset(new Lake(config, instance, /*query_side=*/false, writer, metrics, clock));
        DQ_ASSIGN_OR_RETURN(auto connection, lakes->writer_->acquire());
        DQ_RETURN_IF_ERROR(checkEncryption(*connection, config.encryption));
    }
    DQ_ASSIGN_OR_RETURN(auto connection, lakes->reader_->acquire());
    return lakes;
}

namespace {

// "381.4 MiB", as the engine shows sizes.
std::size_t parseSize(std::string_view text) {
    const std::string copy(text);
    char* end = nullptr;
    const double number = std::strtod(copy.c_str(), &end);
    const std::string_view unit = std::string_view(end).substr(*end == ' ' ? 1 : 0);
    double scale = 1;
    for (const std::string_view name : {"KiB", "MiB", "GiB", "TiB"}) {
        scale *= 1024;
        if (unit == name) return static_cast<std::size_t>(number * scale);
    }
    return static_cast<std::size_t>(number);
}

}  // namespace

StatusOr<std::size_t> memoryLimit(engine::Connection& connection, const Cancel& cancel) {
    DQ_ASSIGN_OR_RETURN(auto result, connection.query("SELECT current_setting('memory_limit')", cancel));
    DQ_ASSIGN_OR_RETURN(auto chunk, result.next());
    return chunk ? parseSize(chunk->strings(0)[0]) : 0;
}

}  // namespace dq::lake
