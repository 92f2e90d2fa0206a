// A whole process in this one: booted over a lake in a temp folder, asked over HTTP, shut down.
#include "app/process.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "app/serve_settings.h"
#include "core/log.h"
#include "core/text.h"
#include "ingest/sink.h"

namespace dq::app {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t kPatience = 60 * kMicrosPerSecond;
constexpr char kVehicle[] = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:42";

// A listening socket on a port of the system's choice.
class Listener {
  public:
    Listener() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        EXPECT_EQ(::bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
        EXPECT_EQ(::listen(fd_, 1), 0);
        EXPECT_EQ(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
        port_ = ntohs(address.sin_port);
    }
    ~Listener() { ::close(fd_); }
    Listener(const Listener&) = delete;
    std::string port() const { return strCat(port_); }

  private:
    int fd_;
    int port_ = 0;
};

// A process in development mode, or why it did not boot.
struct Booted {
    absl::Status status;
    std::unique_ptr<Process> process;
    std::string url, monitoring_url, token;
    std::shared_ptr<std::atomic<bool>> fatal = std::make_shared<std::atomic<bool>>(false);
};

class ProcessTest : public testing::Test {
  protected:
    ProcessTest() {
        std::string pattern = (std::filesystem::temp_directory_path() / "dq-process-XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
        environment_ = {{"DUCKLAKE_CATALOG_DSN", folder_ + "/catalog.ducklake"},
                        {"DUCKLAKE_DATA_PATH", folder_ + "/lake"},
                        {"MATERIALIZER_POLL_INTERVAL", "20ms"},
                        {"DUCKDB_THREADS", "2"}};
        if (const char* extensions = std::getenv("DUCKDB_EXTENSION_DIR"))
            environment_["DUCKDB_EXTENSION_DIR"] = extensions;
    }
    ~ProcessTest() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    absl::StatusOr<ServeSettings> load(bool development = true) const {
        ServeOptions options;
        options.settings_file = folder_ + "/settings.yaml";
        options.development = development;
        return loadServeSettings(options, [this](const std::string& name) -> std::optional<std::string> {
            const auto found = environment_.find(name);
            return found == environment_.end() ? std::nullopt : std::optional(found->second);
        });
    }
    void choosePorts() {
        const Listener main, monitoring, grpc;
        environment_["PORT"] = main.port();
        environment_["MON_PORT"] = monitoring.port();
        environment_["GRPC_PORT"] = grpc.port();
    }
    Booted bootOnce() const {
        Booted out;
        auto settings = load();
        auto development = developmentAuth(kVehicle);
        EXPECT_TRUE(settings.ok()) << settings.status();
        EXPECT_TRUE(development.ok()) << development.status();
        if (!settings.ok() || !development.ok()) return out;
        out.url = strCat("http://127.0.0.1:", settings->settings.port);
        out.monitoring_url = strCat("http://127.0.0.1:", settings->settings.mon_port);
        out.token = development->token;
        out.process = std::make_unique<Process>(std::move(settings->settings), std::move(settings->ingest),
                                                *std::move(development));
        out.status = out.process->boot([fatal = out.fatal] { *fatal = true; });
        return out;
    }
    // On ports that nobody takes between the choice and the boot.
    Booted boot() {
        Booted out;
        for (int attempt = 0; attempt < 5; ++attempt) {
            choosePorts();
            out = bootOnce();
            if (out.status.ok() || !contains(stdView(out.status.message()), "in use")) break;
        }
        EXPECT_TRUE(out.status.ok()) << out.status;
        return out;
    }

    static ingest::HttpReply post(const std::string& url, const std::string& content_type, const std::string& body,
                                  const std::string& token = "") {
        const auto reply = ingest::curlPost()({url, content_type, token, body}, Cancel::root().withTimeout(kPatience));
        return reply.ok() ? *reply : ingest::HttpReply{};
    }
    static std::string ask(const Booted& process, const std::string& selection) {
        const std::string query =
            strCat(R"({"query":"{signalsLatest(subject:\")", kVehicle, R"(\"){)", selection, R"(}}"})");
        return post(process.url + "/query", "application/json", query, process.token).body;
    }
    // Asks until the answer is the one wanted; the last answer.
    static std::string askUntil(const Booted& process, const std::string& selection, const std::string& wanted) {
        const std::int64_t end = systemClock().steadyMicros() + kPatience;
        std::string answer = ask(process, selection);
        while (answer != wanted && systemClock().steadyMicros() < end) answer = ask(process, selection);
        return answer;
    }
    static std::string metricsOf(const Booted& process) {
        return auth::curlGet()(process.monitoring_url + "/metrics", kPatience).value_or("");
    }
    // Several of them in one body, with speeds that rise.
    static std::string events(int first, int count) {
        std::string out;
        for (int i = first; i < first + count; ++i) {
            const std::string time = strCat("2026-06-08T10:00:0", i, "Z");
            strAppend(&out, out.empty() ? "[" : ",",
                      R"({"specversion":"1.0","type":"dimo.status",)"
                      R"("source":"0x5555555555555555555555555555555555555555","subject":")",
                      kVehicle,
                      R"(","producer":"did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:7",)"
                      R"("dataversion":"default/v1.0","id":"event-)",
                      i, R"(","time":")", time, R"(","data":{"signals":[{"name":"speed","timestamp":")", time,
                      R"(","value":)", 50 + i, "}]}}");
        }
        return out + "]";
    }
    static constexpr char kBatch[] = "application/cloudevents-batch+json";

    std::string folder_;
    std::map<std::string, std::string> environment_;
};

std::string speedAnswer(int speed) { return strCat(R"({"data":{"signalsLatest":{"speed":{"value":)", speed, "}}}}"); }
constexpr char kSpeed[] = "speed{value}";

TEST_F(ProcessTest, EventsBecomeAnswersAndSurviveRestarts) {
    {
        Booted first = boot();
        ASSERT_TRUE(first.status.ok());
        EXPECT_EQ(post(first.url + "/ready", "text/plain", "").status, 200);
        EXPECT_EQ(auth::curlGet()(first.monitoring_url + "/", kPatience).value_or(""), "ok");
        EXPECT_EQ(ask(first, kSpeed), R"({"data":{"signalsLatest":{"speed":null}}})");
        const auto stored = post(first.url + "/v1/events", kBatch, events(1, 3));
        ASSERT_EQ(stored.status, 200) << stored.body;
        EXPECT_THAT(stored.body, HasSubstr(R"("accepted":3)"));
        EXPECT_EQ(askUntil(first, kSpeed, speedAnswer(53)), speedAnswer(53));
        EXPECT_THAT(metricsOf(first), HasSubstr("dq_materializer_"));
        first.process->shutDown();
        EXPECT_EQ(post(first.url + "/ready", "text/plain", "").status, 0);  // nobody listens any more
        EXPECT_FALSE(*first.fatal);
    }
    {
        Booted second = boot();
        ASSERT_TRUE(second.status.ok());
        EXPECT_EQ(askUntil(second, kSpeed, speedAnswer(53)), speedAnswer(53));
        EXPECT_EQ(post(second.url + "/v1/events", kBatch, events(4, 1)).status, 200);
        EXPECT_EQ(askUntil(second, kSpeed, speedAnswer(54)), speedAnswer(54));
    }  // the destructor shuts it down
    // Acceptance 20: a reader has no series of a materializer.
    environment_["MATERIALIZER_ENABLED"] = "false";
    environment_["DUCKLAKE_READ_ONLY"] = "true";
    const Booted reader = boot();
    ASSERT_TRUE(reader.status.ok());
    EXPECT_EQ(ask(reader, kSpeed), speedAnswer(54));
    const auto refused = post(reader.url + "/v1/events", kBatch, events(5, 1));
    EXPECT_EQ(refused.status, 403) << refused.body;
    EXPECT_THAT(metricsOf(reader), AllOf(HasSubstr("graphql_request_total"), Not(HasSubstr("dq_materializer_"))));
}

TEST_F(ProcessTest, AReaderThatMayWriteTakesEventsButCreatesNothingUnasked) {
    environment_["MATERIALIZER_ENABLED"] = "false";
    const Booted reader = boot();
    ASSERT_TRUE(reader.status.ok());
    // Nobody has made the tables of decoded rows.
    EXPECT_EQ(post(reader.url + "/ready", "text/plain", "").status, 503);
    EXPECT_EQ(post(reader.url + "/v1/events", kBatch, events(1, 1)).status, 200);
    EXPECT_EQ(post(reader.url + "/ready", "text/plain", "").status, 503);
}

TEST_F(ProcessTest, Acceptance16_APortInUseEndsTheBoot) {
    const Listener taken;
    for (const char* name : {"PORT", "MON_PORT"}) {
        choosePorts();
        environment_[name] = taken.port();
        const Booted failed = bootOnce();
        EXPECT_FALSE(failed.status.ok()) << name;
        EXPECT_THAT(std::string(failed.status.message()), HasSubstr(taken.port())) << name;
    }
    // What the failed boots had opened is free again.
    EXPECT_TRUE(boot().status.ok());
}

TEST_F(ProcessTest, ALakeThatCannotBeOpenedEndsTheBoot) {
    environment_["DUCKLAKE_CATALOG_DSN"] = folder_ + "/no/such/folder/catalog.ducklake";
    choosePorts();
    EXPECT_FALSE(bootOnce().status.ok());
    environment_["DUCKLAKE_CATALOG_DSN"] = folder_ + "/catalog.ducklake";
    environment_["DUCKDB_MEMORY_LIMIT"] = "zz";
    const Booted failed = bootOnce();
    EXPECT_THAT(std::string(failed.status.message()), AllOf(HasSubstr("memory_limit"), HasSubstr("zz")));
}

TEST_F(ProcessTest, ModesOfALaterBuildEndTheBootOrAreNamed) {
    LogCapture capture;
    choosePorts();
    environment_["MATERIALIZER_DAILY_ROLLUP_MODE"] = "on";
    EXPECT_THAT(std::string(bootOnce().status.message()), HasSubstr("MATERIALIZER_DAILY_ROLLUP_MODE"));
    environment_.erase("MATERIALIZER_DAILY_ROLLUP_MODE");
    environment_["ENABLE_PPROF"] = "true";
    EXPECT_TRUE(boot().status.ok());
    EXPECT_THAT(capture.text(), HasSubstr("ENABLE_PPROF"));
}

// Settings of a server as deployments give them, in place of development mode.
void deployed(std::map<std::string, std::string>& environment) {
    environment["PORT"] = "8080";
    environment["GRPC_PORT"] = "8086";
    environment["MON_PORT"] = "8888";
    environment["DIMO_REGISTRY_CHAIN_ID"] = "137";
    environment["TOKEN_EXCHANGE_ISSUER_URL"] = "https://auth.example";
}

TEST_F(ProcessTest, Acceptance01_PortsAndChainAreChecked) {
    deployed(environment_);
    EXPECT_TRUE(load(false).ok()) << load(false).status();
    for (const char* name : {"PORT", "GRPC_PORT", "MON_PORT"}) {
        for (const char* value : {"0", "-1", "abc"}) {
            const std::string sound = std::exchange(environment_[name], value);
            const auto refused = load(false);
            ASSERT_FALSE(refused.ok()) << name << "=" << value;
            EXPECT_THAT(std::string(refused.status().message()), HasSubstr(name));
            environment_[name] = sound;
        }
    }
    environment_["DIMO_REGISTRY_CHAIN_ID"] = "0";
    EXPECT_FALSE(load(false).ok());
}

TEST_F(ProcessTest, Acceptance19_OneMessageNamesAllMalformedSettings) {
    deployed(environment_);
    environment_["MATERIALIZER_ENABLED"] = "ture";
    environment_["MON_PORT"] = "many";
    environment_["MAX_REQUEST_DURATION"] = "banana";
    environment_["MAX_BODY_BYTES"] = "lots";
    const auto refused = load(false);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(std::string(refused.status().message()),
                AllOf(HasSubstr("MATERIALIZER_ENABLED"), HasSubstr("MON_PORT"), HasSubstr("MAX_REQUEST_DURATION"),
                      HasSubstr("MAX_BODY_BYTES")));
}

TEST_F(ProcessTest, OneMessageNamesAllThatAServerCannotStartWith) {
    deployed(environment_);
    environment_["PORT"] = "0";
    environment_["DIMO_REGISTRY_CHAIN_ID"] = "0";
    environment_["MAX_BODY_BYTES"] = "lots";
    environment_.erase("TOKEN_EXCHANGE_ISSUER_URL");
    const auto refused = load(false);
    ASSERT_FALSE(refused.ok());
    EXPECT_THAT(std::string(refused.status().message()),
                AllOf(HasSubstr("PORT must be > 0"), HasSubstr("DIMO_REGISTRY_CHAIN_ID"), HasSubstr("MAX_BODY_BYTES"),
                      HasSubstr("issuer url is required")));
    environment_["MAX_BODY_BYTES"] = "1000";
    EXPECT_FALSE(load(false).ok());
    deployed(environment_);
    environment_["MAX_BODY_BYTES"] = "lots";
    EXPECT_THAT(std::string(load(false).status().message()),
                AllOf(HasSubstr("MAX_BODY_BYTES"), Not(HasSubstr("PORT"))));
}

TEST_F(ProcessTest, DevelopmentModeFillsInWhatNobodySet) {
    environment_.clear();
    environment_["PORT"] = "";  // as if not set
    environment_["MON_PORT"] = "9999";
    environment_["TOKEN_EXCHANGE_ISSUER_URL"] = "https://real.example";
    const auto loaded = load();
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    EXPECT_EQ(loaded->settings.port, 8080);
    EXPECT_EQ(loaded->settings.mon_port, 9999);
    EXPECT_TRUE(loaded->settings.materializer_enabled);
    EXPECT_EQ(loaded->settings.ducklake_catalog_dsn, "dq-data/catalog.ducklake");
    EXPECT_EQ(loaded->settings.token_exchange_issuer_url, "http://127.0.0.1/dq-development");
    EXPECT_FALSE(load(false).ok());
}

}  // namespace
}  // namespace dq::app
