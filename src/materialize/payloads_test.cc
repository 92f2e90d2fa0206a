// Payload objects through a whole pass: what is decoded, dropped, counted, and when the pass waits.
#include "materialize/payloads.h"

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "blob/problem.h"
#include "core/log.h"
#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A store whose answers the test writes.
class ScriptedStore final : public blob::Store {
  public:
    absl::StatusOr<std::string> get(std::string_view key, std::uint64_t limit, const Cancel&,
                                    blob::GetGuard::Admit admit) const override {
        ++gets;
        const int now = ++in_flight;
        for (int most = greatest.load(); now > most && !greatest.compare_exchange_weak(most, now);) {}
        absl::StatusOr<std::string> answer = blob::makeProblem(blob::Problem::kMissing, "no such object");
        {
            std::lock_guard lock(mutex);
            if (auto found = objects.find(std::string(key)); found != objects.end()) answer = found->second;
        }
        if (answer.ok() && answer->size() > limit) answer = blob::makeProblem(blob::Problem::kOversize, "too large");
        if (answer.ok() && admit && !admit(answer->size())) answer = absl::CancelledError("no room");
        --in_flight;
        return answer;
    }
    absl::Status put(std::string_view, std::string_view) const override { return absl::UnimplementedError(""); }
    absl::StatusOr<std::string> presign(std::string_view, std::int64_t) const override {
        return absl::UnimplementedError("");
    }
    mutable std::atomic<int> gets{0}, in_flight{0}, greatest{0};
    mutable std::mutex mutex;
    std::map<std::string, absl::StatusOr<std::string>> objects;
};

std::string speed(double value) {
    return strCat(R"({"signals":[{"name":"speed","timestamp":"2026-10-20T00:00:00Z","value":)", value, "}]}");
}

class PayloadsTest : public MaterializeTest {
  protected:
    cloudevent::Row blobRow(const std::string& id, const std::string& key, const std::string& type = "dimo.status") {
        cloudevent::Row row = lake::payloadRow(1, type, id, kStart, "");
        row.data.reset();
        row.data_index_key = key;
        return row;
    }
    void bootWith(blob::Sealer sealer = {}, std::size_t slice_bytes = 64u << 20) {
        MaterializerOptions options;
        options.payloads = {store_, std::move(sealer), slice_bytes};
        boot(options);
    }
    std::shared_ptr<ScriptedStore> store_ = std::make_shared<ScriptedStore>();
};
INSTANTIATE_TEST_SUITE_P(Catalogs, PayloadsTest, testing::Values(lake::CatalogKind::kFile), lake::catalogName);

TEST_P(PayloadsTest, Acceptance21_ABlobRowDecodes) {
    store_->objects["cloudevent/blobs/blob-1.json"] = speed(55);
    bootWith();
    append({blobRow("b1", "cloudevent/blobs/blob-1.json")});
    EXPECT_EQ(drain(), 1);
    EXPECT_THAT(lake_->rows("SELECT cloud_event_id, value_number FROM lake.signals"), ElementsAre("b1|55.0"));
    EXPECT_EQ(metric("dq_materializer_phase_seconds_count{phase=\"resolve_blobs\"}"), 1);
}

TEST_P(PayloadsTest, Acceptance20_PermanentProblemsCostTheirRowOnly) {
    const blob::Sealer key(std::string(32, 'k'));
    store_->objects["cloudevent/blobs/good"] = speed(1);
    store_->objects["cloudevent/blobs/big"] = blob::makeProblem(blob::Problem::kOversize, "64 MiB");
    store_->objects["cloudevent/blobs/sealed"] = *key.seal(speed(2), "cloudevent/blobs/sealed");
    bootWith();
    append({blobRow("good", "cloudevent/blobs/good"), blobRow("big", "cloudevent/blobs/big"),
            blobRow("sealed", "cloudevent/blobs/sealed"), blobRow("gone", "cloudevent/blobs/gone"),
            blobRow("elsewhere", "other/prefix"), blobRow("escape", "cloudevent/blobs/../../x")});
    EXPECT_EQ(drain(), 6);
    EXPECT_THAT(lake_->rows("SELECT cloud_event_id FROM lake.signals"), ElementsAre("good"));
    EXPECT_EQ(metric(R"(dq_materializer_blob_poison_total{reason="oversize"})"), 1);
    EXPECT_EQ(metric(R"(dq_materializer_blob_poison_total{reason="sealed_no_key"})"), 1);
    EXPECT_EQ(metric("dq_materializer_blob_missing_total"), 1);
    EXPECT_EQ(metric("dq_blob_prefix_anomaly_total"), 2);
    EXPECT_EQ(metric("dq_materializer_pass_errors_total"), 0);
    // Dropped rows have no age; rows of a wrong prefix stay, with an empty payload.
    EXPECT_EQ(metric("dq_materializer_event_age_seconds_count"), 3);
}

TEST_P(PayloadsTest, Acceptance20_SealedObjectsOpenWithTheKeyAndGarbageIsPoison) {
    const blob::Sealer key(std::string(32, 'k'));
    store_->objects["cloudevent/blobs/sealed"] = *key.seal(speed(2), "cloudevent/blobs/sealed");
    store_->objects["cloudevent/blobs/garbage"] = "DBE1 and then garbage, long enough to be one";
    bootWith(key);
    append({blobRow("sealed", "cloudevent/blobs/sealed"), blobRow("garbage", "cloudevent/blobs/garbage")});
    EXPECT_EQ(drain(), 2);
    EXPECT_THAT(lake_->rows("SELECT value_number FROM lake.signals"), ElementsAre("2.0"));
    EXPECT_EQ(metric(R"(dq_materializer_blob_poison_total{reason="decrypt"})"), 1);
}

TEST_P(PayloadsTest, Acceptance20_ATransientProblemFailsThePassAndNothingIsCounted) {
    store_->objects["cloudevent/blobs/a"] = blob::makeProblem(blob::Problem::kTransient, "connection reset by peer");
    bootWith();
    append({blobRow("a", "cloudevent/blobs/a")});
    const std::string before = cursor();
    const auto failed = materializer_->pass(Cancel::root());
    ASSERT_FALSE(failed.ok());
    EXPECT_THAT(std::string(failed.status().message()), HasSubstr("connection reset by peer"));
    EXPECT_EQ(cursor(), before);
    EXPECT_EQ(metric("dq_materializer_blob_missing_total"), 0);
    store_->objects["cloudevent/blobs/a"] = speed(7);
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(count("signals"), 1);
}

// The engine has no part in it: readers of the same instance are left alone, however long it takes.
TEST_P(PayloadsTest, AnObjectStoreThatIsAwayNeverRestartsTheEngine) {
    store_->objects["cloudevent/blobs/a"] = blob::makeProblem(blob::Problem::kTransient, "503");
    MaterializerOptions options;
    options.payloads.store = store_;
    options.poll_interval = 1'000;
    boot(options);
    append({blobRow("a", "cloudevent/blobs/a")});
    const LogCapture log;
    const Cancel cancel = Cancel::root();
    std::jthread loop([&] { EXPECT_TRUE(materializer_->run(cancel).ok()); });
    while (metric("dq_materializer_pass_errors_total") < 8) std::this_thread::yield();
    {
        std::lock_guard lock(store_->mutex);
        store_->objects["cloudevent/blobs/a"] = speed(7);
    }
    while (materializer_->cursor() == 0) std::this_thread::yield();
    cancel.cancel();
    loop.join();
    EXPECT_EQ(log.text().find("fresh engine"), std::string::npos);
    EXPECT_EQ(count("signals"), 1);
}

TEST_P(PayloadsTest, Acceptance36_NothingIsFetchedForRowsThatRoutingIgnores) {
    decode_.chain_id = 137;
    decode_.vehicle_address_hex = "ba5738a18d83d41847dffbdc6101d37c69c9b0cf";
    bootWith();
    cloudevent::Row foreign = blobRow("f", "cloudevent/blobs/none");
    foreign.subject.replace(11, 3, "999");
    append({blobRow("p", "cloudevent/blobs/none", "dimo.fingerprint"), foreign});
    EXPECT_EQ(drain(), 2);
    EXPECT_EQ(store_->gets, 0);
    EXPECT_EQ(metric("dq_materializer_blob_missing_total"), 0);
}

TEST_P(PayloadsTest, DeniedIsMissingOnlyAfterTenMinutesAndBesideObjectsThatCanBeRead) {
    store_->objects["cloudevent/blobs/a"] = blob::makeProblem(blob::Problem::kDenied, "403");
    bootWith();
    append({blobRow("a", "cloudevent/blobs/a"), blobRow("b", "cloudevent/blobs/b")});
    store_->objects["cloudevent/blobs/b"] = store_->objects["cloudevent/blobs/a"];
    EXPECT_FALSE(materializer_->pass(Cancel::root()).ok());
    clock_.advance(700 * kMicrosPerSecond);
    EXPECT_FALSE(materializer_->pass(Cancel::root()).ok());  // nothing could be read: the credentials may be bad
    store_->objects["cloudevent/blobs/b"] = speed(1);
    EXPECT_FALSE(materializer_->pass(Cancel::root()).ok());
    EXPECT_EQ(drain(), 2);
    EXPECT_EQ(count("signals"), 1);
    EXPECT_EQ(metric("dq_materializer_blob_missing_total"), 1);
}

TEST_P(PayloadsTest, ManyObjectsKeepTheirOrderAndTheirBounds) {
    std::vector<cloudevent::Row> rows;
    for (int i = 0; i < 100; ++i) {
        const std::string key = strCat("cloudevent/blobs/", i);
        store_->objects[key] = speed(i);
        cloudevent::Row row = blobRow(strCat("b", i), key);
        rows.push_back(row);
    }
    bootWith({}, 200);  // room for two at a time
    append(rows);
    EXPECT_EQ(drain(), 100);
    EXPECT_EQ(lake_->number("SELECT count(*) FROM lake.signals WHERE 'b' || value_number::INTEGER = cloud_event_id"),
              100);
    EXPECT_LE(store_->greatest, blob::kMaxInFlight);
    EXPECT_GE(store_->gets, 100);
}

TEST_P(PayloadsTest, AnEmptyObjectIsAnEmptyPayload) {
    store_->objects["cloudevent/blobs/empty"] = std::string();
    bootWith();
    append({blobRow("e", "cloudevent/blobs/empty")});
    EXPECT_EQ(drain(), 1);
    EXPECT_EQ(count("signals"), 0);
}

}  // namespace
}  // namespace dq::materialize
