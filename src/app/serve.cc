#include "app/serve.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>

#include "app/process.h"
#include "app/serve_settings.h"
#include "core/log.h"
#include "core/status.h"

namespace dq::app {
namespace {

// SIGINT and SIGTERM as a readable descriptor, and a second one for fatal events of other threads. Made before any
// thread starts, so that no thread takes the signals.
class StopEvents {
  public:
    StopEvents() {
        sigemptyset(&signals_);
        sigaddset(&signals_, SIGINT);
        sigaddset(&signals_, SIGTERM);
        pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
        signal_fd_ = signalfd(-1, &signals_, SFD_CLOEXEC);
        fatal_fd_ = eventfd(0, EFD_CLOEXEC);
    }
    ~StopEvents() {
        close(signal_fd_);
        close(fatal_fd_);
    }
    void fatal() {
        const std::uint64_t one = 1;
        if (write(fatal_fd_, &one, sizeof one) != sizeof one) std::_Exit(1);
    }
    // True for a signal, false for a fatal event.
    bool wait() {
        pollfd fds[2] = {{signal_fd_, POLLIN, 0}, {fatal_fd_, POLLIN, 0}};
        while (poll(fds, 2, -1) < 0) {}
        return (fds[0].revents & POLLIN) != 0;
    }
    // From now on a signal ends the process at once.
    void restoreDefault() { pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr); }
    void discardSignal() {
        signalfd_siginfo info;
        if (read(signal_fd_, &info, sizeof info) < 0) return;
    }

  private:
    sigset_t signals_{};
    int signal_fd_ = -1, fatal_fd_ = -1;
};

void makeDevelopmentFolder(const settings::Settings& settings) {
    std::error_code ignored;
    const std::filesystem::path catalog = settings.ducklake_catalog_dsn;
    if (lake::catalogKind(settings.ducklake_catalog_dsn) == lake::CatalogKind::kFile && catalog.has_parent_path()) {
        std::filesystem::create_directories(catalog.parent_path(), ignored);
    }
}

}  // namespace

int serve(const ServeOptions& options) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    StopEvents events;
    auto loaded = loadServeSettings(options, settings::processEnvironment);
    if (!loaded.ok()) {
        logFatal("Invalid configuration.", {{"error", loaded.status().message()}});
        return 1;
    }
    if (!loaded->settings.file_note.empty()) std::printf("%s\n", loaded->settings.file_note.c_str());
    setLogLevel(loaded->settings.log_level);
    for (const std::string& warning : loaded->settings.warnings) logWarn(warning);
    std::optional<DevelopmentAuth> development;
    if (options.development) {
        auto made = developmentAuth(options.development_subject);
        if (!made.ok()) {
            logFatal("Couldn't create application.", {{"error", made.status().message()}});
            return 1;
        }
        development = std::move(*made);
        makeDevelopmentFolder(loaded->settings);
        std::printf("development mode: %s only, tokens of this process's own key\n", kDevelopmentAddress);
        std::printf("development token: %s\n", development->token.c_str());
        std::fflush(stdout);
    }
    Process process(std::move(loaded->settings), std::move(loaded->ingest), std::move(development));
    if (const auto booted = process.boot([&events] { events.fatal(); }); !booted.ok()) {
        logFatal("Couldn't create application.", {{"error", booted.message()}});
        return 1;
    }
    const bool by_signal = events.wait();
    if (by_signal) {
        events.discardSignal();
        events.restoreDefault();
        logInfo("Received signal, shutting down...");
    }
    process.shutDown();
    logInfo("Server shut down.");
    return by_signal ? 0 : 1;
}

}  // namespace dq::app
