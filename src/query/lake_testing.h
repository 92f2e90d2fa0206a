// A lake in a temp folder for tests: the decoded tables of lake.md §3, filled by rows given as values.
//
// The suite runs for every Mode: catalog in a DuckDB file or in PostgreSQL (a database of its own in the server that
// DQ_TEST_POSTGRES_DSN names; skipped without it), and with rows of the append-only tables inlined in the catalog or
// not.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lake/lake.h"
#include "query/reader.h"

namespace dq::query {

struct Mode {
    lake::CatalogKind kind = lake::CatalogKind::kFile;
    bool inlining = false;
};
std::string modeName(const Mode& mode);
// Names the runs of a suite.
struct ModeName {
    std::string operator()(const testing::TestParamInfo<Mode>& run) const { return modeName(run.param); }
};
std::vector<Mode> modes();
std::vector<Mode> plainModes();  // without inlining
// The reason not to run in this mode here; empty = run.
std::string skipReason(const Mode& mode);

// 2026-06-01T00:00:00Z, the day of most fixtures, and an instant on it.
inline constexpr Micros kDay = 1'780'272'000LL * kMicrosPerSecond;
constexpr Micros at(int hour, int minute, int second = 0, std::int64_t micros = 0) {
    return kDay + ((hour * 60LL + minute) * 60 + second) * kMicrosPerSecond + micros;
}
inline const std::string kSubject = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:1";
inline const std::string kCoordinatesName = "currentLocationCoordinates";

// nullopt = NULL.
struct SignalRow {
    std::string name;
    Micros timestamp = 0;
    std::optional<double> number = 0.0;
    std::optional<std::string> text = "";
    std::optional<double> lat = 0.0, lon = 0.0, hdop = 0.0, heading = 0.0;
    std::optional<std::string> id = "a", source = "s1", producer = "p";
    std::string subject = kSubject;
};
SignalRow numberRow(std::string name, Micros timestamp, std::optional<double> number, std::string id = "a",
                    std::string source = "s1");
SignalRow textRow(std::string name, Micros timestamp, std::optional<std::string> text);
SignalRow fixRow(Micros timestamp, double lat, double lon, double hdop = 0, double heading = 0, std::string id = "a",
                 std::string source = "s1");

struct EventRow {
    std::string name;
    Micros timestamp = 0;
    std::optional<std::string> source = "s1";
    std::string id = "a";
    std::optional<std::uint64_t> duration_ns = 0;
    std::optional<std::string> metadata = "";
    std::optional<std::vector<std::string>> tags = std::vector<std::string>{};
    std::string subject = kSubject;
};

class TestLake {
  public:
    // Never null; a failure ends the program.
    static std::unique_ptr<TestLake> open(Mode mode);
    ~TestLake();

    lake::Lake& lake() { return lakes_->reader(); }
    Metrics& metrics() { return *metrics_; }
    const std::string& folder() const { return folder_; }

    // Empties the tables and starts the metrics anew, for the next test.
    void clear();
    void run(const std::string& sql);
    // First column of the first row, as text.
    std::string value(const std::string& sql);
    void add(const std::vector<SignalRow>& rows);
    void add(const std::vector<EventRow>& rows);
    // signals_latest and events_latest as a full recompute of the base rows below `bound` would leave them.
    void recompute(std::optional<Micros> bound = std::nullopt);
    // One row of lake.ingest_progress, in place of any other of the key; nullopt removes it.
    void setProgress(const std::string& key, const std::optional<std::string>& cursor);

  private:
    TestLake() = default;
    void createTables();
    void runAll(const std::vector<std::string>& statements);
    std::string folder_, database_;
    std::unique_ptr<Metrics> metrics_ = std::make_unique<Metrics>();
    std::unique_ptr<lake::Lakes> lakes_;
};

// A fixture with an empty lake and a reader over it. The lake of a mode serves one test after another, since making one
// costs more than most tests; a test that breaks tables or files spoils it.
class LakeTest : public testing::TestWithParam<Mode> {
  protected:
    void SetUp() override;
    void TearDown() override;
    void spoil() { spoilt_ = true; }
    Reader makeReader(ReaderOptions options = {}) { return Reader(lake_->lake(), options, lake_->metrics()); }
    // One answer of a session of its own; a failure is a failure of the test.
    std::vector<SignalBucket> signals(const SignalsQuestion& question);
    std::vector<LatestSignal> latest(std::optional<std::string> source = std::nullopt, ReaderOptions options = {},
                                     const std::string& subject = kSubject);
    std::vector<Event> events(const EventsQuestion& question);
    std::vector<EventSummary> summaries(const std::string& subject = kSubject);
    std::unique_ptr<TestLake> lake_;

  private:
    bool spoilt_ = false;
};

// The row of a name; a failure of the test and an empty row when there is none.
LatestSignal rowOf(const std::vector<LatestSignal>& rows, const std::string& name);

}  // namespace dq::query
