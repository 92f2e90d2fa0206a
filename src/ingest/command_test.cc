#include "ingest/command.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "core/status.h"
#include "core/text.h"
#include "ingest/existing_rows.h"
#include "ingest/http_events.h"
#include "ingest/ingest_testing.h"
#include "lake/tables.h"

namespace dq::ingest {
namespace {

using testing::gzipped;
using ::testing::HasSubstr;
using testing::statusEvent;
using testing::TempFolder;

class IngestCommandTest : public ::testing::Test {
  protected:
    int run(const IngestCommand& command) {
        out_.str("");
        err_.str("");
        return runIngest(command, config(), out_, err_);
    }
    lake::LakeConfig config() {
        lake::LakeConfig config;
        config.catalog_dsn = folder_.path("catalog.ducklake");
        config.data_path = folder_.path("data");
        const char* extensions = std::getenv("DUCKDB_EXTENSION_DIR");
        config.extension_directory = extensions == nullptr ? DQ_SOURCE_DIR "/.deps/extensions" : extensions;
        return config;
    }
    // First column of the first row of a query over the lake, as text.
    std::string ask(const std::string& sql) {
        auto lakes = lake::Lakes::open(config(), true);
        EXPECT_TRUE(lakes.ok()) << lakes.status();
        if (!lakes.ok()) return "";
        auto connection = (*lakes)->writer().acquire();
        auto result = (*connection)->query(strCat("SELECT CAST((", sql, ") AS VARCHAR)"));
        EXPECT_TRUE(result.ok()) << result.status();
        if (!result.ok()) return "";
        auto chunk = result->next();
        return std::string((*chunk)->strings(0)[0]);
    }
    std::string lines(int count, std::string_view prefix = "e") {
        std::string text;
        for (int i = 0; i < count; ++i) text += statusEvent(strCat(prefix, i)) + "\n";
        return text;
    }

    TempFolder folder_;
    std::ostringstream out_, err_;
};

TEST_F(IngestCommandTest, FilesIntoAFileCatalog) {
    IngestCommand command{
        .inputs = {folder_.write("a.ndjson", lines(30)), folder_.write("b.gz", gzipped(lines(20, "f")))}};
    command.settings.sink.max_rows = 20;
    EXPECT_EQ(run(command), 0) << err_.str();
    EXPECT_THAT(out_.str(), HasSubstr(R"({"read":50,"written":50,"bundles":3,"externalized":0,"rejected":0,)"));
    EXPECT_EQ(err_.str(), "");
    EXPECT_EQ(ask("SELECT count(*) || ' ' || count(DISTINCT id) FROM lake.raw_events"), "50 50");
    EXPECT_EQ(
        ask("SELECT DISTINCT subject || '|' || \"time\" || '|' || type || '|' || source || '|' || producer || '|' || "
            "data_content_type || '|' || data_version || '|' || extras FROM lake.raw_events"),
        strCat(testing::kVehicle, "|2026-06-08 10:00:00.123+00|dimo.status|", testing::kSource, "|", testing::kDevice,
               "|application/json||{}"));
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events WHERE data LIKE '{\"signals\"%' AND data_base64 IS NULL AND "
                  "data_index_key IS NULL"
                  " AND voids_id IS NULL"),
              "50");
    // The summary names the snapshot that holds the last bundle, and each bundle is one snapshot.
    const std::string head = ask("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')");
    EXPECT_THAT(out_.str(), HasSubstr(strCat("\"last_snapshot\":", head, "}")));
    EXPECT_EQ(run(command), 0);
    EXPECT_EQ(ask("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')"), std::to_string(std::stoi(head) + 3));
}

TEST_F(IngestCommandTest, Acceptance32_ExitStatusTwoWithDeadLettersAndStrict) {
    IngestCommand command{
        .inputs = {folder_.write("a", statusEvent("a") + "\n" + statusEvent("b") + "\nnonsense\n" + statusEvent("c"))},
        .dead_letter = folder_.path("dead")};
    EXPECT_EQ(run(command), 2);
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events"), "3");
    EXPECT_THAT(folder_.read("dead"), HasSubstr("\"line\":3,"));
    EXPECT_THAT(folder_.read("dead"), HasSubstr("\"raw\":\"nonsense\""));
    EXPECT_THAT(out_.str(), HasSubstr("\"rejected\":1,"));
    command.strict = true;
    EXPECT_EQ(run(command), 2);
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events"), "3");
}

TEST_F(IngestCommandTest, Acceptance33_SkipExistingProbesTheLake) {
    IngestCommand command{.inputs = {folder_.write("a", lines(25))}, .skip_existing = true};
    EXPECT_EQ(run(command), 0);
    EXPECT_EQ(run(command), 0);
    EXPECT_THAT(out_.str(), HasSubstr("\"written\":0,\"bundles\":0"));
    EXPECT_THAT(out_.str(), HasSubstr("\"existing\":25"));
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events"), "25");
    // Two rows small enough to lie inlined in the catalog are found as well.
    command.inputs = {folder_.write("b", lines(2, "inlined"))};
    EXPECT_EQ(run(command), 0);
    EXPECT_EQ(run(command), 0);
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events"), "27");
    command.skip_existing = false;
    EXPECT_EQ(run(command), 0);
    EXPECT_EQ(ask("SELECT count(*) FROM lake.raw_events"), "29");
}

TEST_F(IngestCommandTest, Acceptance01_LargePayloadStaysInlineAndIsSaid) {
    std::string event = statusEvent("big");
    event.replace(event.find("\"value\":1"), 9, "\"value\":\"" + std::string(1'100'000, 'x') + "\"");
    EXPECT_EQ(run({.inputs = {folder_.write("a", event)}}), 0);
    EXPECT_THAT(out_.str(), HasSubstr("\"externalized\":0"));
    EXPECT_THAT(out_.str(), HasSubstr("\"oversized_inline\":1"));
    EXPECT_THAT(err_.str(), HasSubstr("1 payloads over DOCUMENT_SIZE_THRESHOLD were stored inline"));
    EXPECT_EQ(ask("SELECT length(data) > 1100000 FROM lake.raw_events"), "true");
}

TEST_F(IngestCommandTest, WrongUseIsStatusOneBeforeTheLakeIsTouched) {
    const std::string input = folder_.write("a", lines(1));
    for (const IngestCommand& command :
         {IngestCommand{}, IngestCommand{.inputs = {"-", "-"}}, IngestCommand{.inputs = {input}, .profile = "x"},
          IngestCommand{.inputs = {input}, .source = "0x12"},
          IngestCommand{.inputs = {input}, .source = std::string(testing::kSource), .trust_source = true},
          IngestCommand{.inputs = {input}, .skip_existing = true, .to_url = "http://127.0.0.1:1"}}) {
        EXPECT_EQ(run(command), 1);
        EXPECT_THAT(err_.str(), ::testing::StartsWith("dq ingest: "));
        EXPECT_EQ(out_.str(), "");
    }
    EXPECT_EQ(run({.inputs = {input}, .profile = "attestation"}), 1);
    EXPECT_THAT(err_.str(), HasSubstr("secp256k1"));
    EXPECT_NE(::access(folder_.path("catalog.ducklake").c_str(), F_OK), 0);
    EXPECT_EQ(run({.inputs = {folder_.path("absent")}}), 1);
    EXPECT_EQ(run({.inputs = {input}, .dead_letter = folder_.path("no/dead")}), 1);
}

// The lock of a catalog file is one of processes, so another one has to hold it.
TEST_F(IngestCommandTest, HeldCatalogNamesItsHolderAndTheWayOut) {
    ASSERT_EQ(run({.inputs = {folder_.write("a", lines(1))}}), 0);
    const std::string catalog = folder_.path("catalog.ducklake");
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {  // the engine locks with fcntl
        struct flock lock {};
        lock.l_type = F_WRLCK;
        const int descriptor = ::open(catalog.c_str(), O_RDWR);
        if (::fcntl(descriptor, F_SETLK, &lock) != 0 || ::write(ready[1], "x", 1) != 1) ::_exit(1);
        while (true) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_EQ(run({.inputs = {folder_.path("a")}}), 1);
    EXPECT_THAT(err_.str(), HasSubstr(strCat("PID ", child)));
    EXPECT_THAT(err_.str(), HasSubstr("dq ingest --to http://"));
    EXPECT_EQ(out_.str(), "");
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    EXPECT_EQ(run({.inputs = {folder_.path("a")}}), 0);
}

// `--to` against the real endpoint over a real lake, the network left out.
TEST_F(IngestCommandTest, ToSendsToAServingProcess) {
    auto lakes = lake::Lakes::open(config(), true);
    ASSERT_TRUE(lakes.ok()) << lakes.status();
    ASSERT_TRUE(lake::ensureRawEvents((*lakes)->writer(), Cancel::root()).ok());
    Committer committer(lakeAppend((*lakes)->writer()), {});
    Validator validator({});
    EventsEndpoint endpoint({.token = "t0ken"}, validator, committer);
    int posts = 0;
    IngestCommand command{.inputs = {folder_.write("a", lines(2500) + "broken\n")}, .to_url = "http://127.0.0.1:8080/"};
    command.settings.token = "t0ken";
    command.dead_letter = folder_.path("dead");
    command.post = [&](const HttpPost& post, const Cancel& cancel) -> StatusOr<HttpReply> {
        ++posts;
        EXPECT_EQ(post.url, "http://127.0.0.1:8080/v1/events");
        const std::string authorization = "Bearer " + post.bearer_token;
        const PostResponse response = endpoint.handle(
            {.content_type = post.content_type, .authorization = authorization, .body = post.body}, cancel);
        return HttpReply{response.status, response.retry_after_seconds, response.body};
    };
    EXPECT_EQ(run(command), 2) << err_.str();
    EXPECT_EQ(posts, 3);
    EXPECT_THAT(out_.str(), HasSubstr("\"written\":2500,\"bundles\":3,"));
    EXPECT_THAT(folder_.read("dead"), HasSubstr("\"line\":2501,"));
    command.settings.token = "wrong";
    EXPECT_EQ(run(command), 1);
    EXPECT_THAT(err_.str(), HasSubstr("INGEST_TOKEN"));
    EXPECT_EQ(err_.str().find("t0ken"), std::string::npos);
}

TEST_F(IngestCommandTest, InterruptedRunSaysSoAndEndsWithStatusOne) {
    const auto sink = lakeSink([](std::span<const Row>, const Cancel&) -> StatusOr<std::int64_t> { return 1; }, {}, {});
    const IngestCommand command{.inputs = {folder_.write("a", lines(3))}};
    command.cancel.cancel();
    EXPECT_EQ(runIngest(command, *sink, out_, err_), 1);
    EXPECT_THAT(err_.str(), HasSubstr("interrupted"));
    EXPECT_THAT(out_.str(), HasSubstr("\"written\":0,"));
}

TEST(ExistingRows, ProbesAreRunsOfDaysWithLiteralBounds) {
    std::vector<Row> rows(4);
    rows[0].type = rows[1].type = rows[3].type = "dimo.status";
    rows[2].type = "it's";
    rows[0].time = 1 * kMicrosPerDay + 5;
    rows[1].time = 2 * kMicrosPerDay;
    rows[2].time = 2 * kMicrosPerDay;
    rows[3].time = 9 * kMicrosPerDay;
    const auto ranges = probeRanges(rows);
    ASSERT_EQ(ranges.size(), 3u);
    EXPECT_EQ(ranges[0].type, "dimo.status");
    EXPECT_EQ(ranges[0].from, 1 * kMicrosPerDay);
    EXPECT_EQ(ranges[0].until, 3 * kMicrosPerDay);
    EXPECT_EQ(ranges[1].from, 9 * kMicrosPerDay);
    EXPECT_EQ(probeSql(ranges[2]).text,
              "SELECT DISTINCT p.row\n"
              "FROM temp.main.ingest_probe p\n"
              "JOIN lake.raw_events r\n"
              "  ON r.subject = p.subject AND r.\"time\" = p.\"time\" AND r.source = p.source AND r.id = p.id\n"
              "WHERE p.type = 'it''s' AND p.\"time\" >= TIMESTAMPTZ '1970-01-03 00:00:00.000000+00' AND p.\"time\" < "
              "TIMESTAMPTZ "
              "'1970-01-04 00:00:00.000000+00'\n"
              "  AND r.type = 'it''s' AND r.\"time\" >= TIMESTAMPTZ '1970-01-03 00:00:00.000000+00' AND r.\"time\" < "
              "TIMESTAMPTZ "
              "'1970-01-04 00:00:00.000000+00'");
}

TEST(IngestSettings, DefaultsAndEveryFaultInOneMessage) {
    std::map<std::string, std::string> values;
    const SettingLookup lookup = [&](const std::string& name) -> std::optional<std::string> {
        return values.contains(name) ? std::optional(values[name]) : std::nullopt;
    };
    EXPECT_EQ(readIngestSettings(lookup)->sink.max_rows, 100'000u);
    values = {{"SINK_MAX_ROWS_PER_FLUSH", "5"},
              {"SINK_MAX_AGE", "10s"},
              {"FINGERPRINT_VALIDATION", "False"},
              {"INGEST_TOKEN", "x"}};
    const auto settings = readIngestSettings(lookup).value();
    EXPECT_EQ(settings.sink.max_rows, 5u);
    EXPECT_EQ(settings.sink.max_age_micros, 10 * kMicrosPerSecond);
    EXPECT_FALSE(settings.fingerprint_validation);
    EXPECT_EQ(settings.token, "x");
    values = {{"SINK_MAX_ROWS_PER_FLUSH", "0"},
              {"MAX_BODY_BYTES", "-1"},
              {"SINK_MAX_AGE", "10"},
              {"FINGERPRINT_VALIDATION", "yes"},
              {"INGEST_TOKEN", "a b"}};
    const std::string message(readIngestSettings(lookup).status().message());
    for (const auto& [name, value] : values) EXPECT_THAT(message, HasSubstr(name));
    EXPECT_EQ(message.find("a b"), std::string::npos);
}

}  // namespace
}  // namespace dq::ingest
