// Maintenance drops a table of inlined rows that the decoder's engine instance still knows of: the loop goes on by
// itself.
//
// raw_events created while small inserts are inlined, and laid out after that, has one table of inlined rows for each
// schema version. A flush drops the older one, and no schema version tells other transactions of it.
#include "core/status.h"
#include "core/text.h"
#include "race_testing.h"

namespace dq::race {
namespace {

using InlinedTest = RaceTest;
INSTANTIATE_TEST_SUITE_P(Catalogs, InlinedTest, testing::Values(lake::CatalogKind::kFile, lake::CatalogKind::kPostgres),
                         lake::catalogName);

Status flushInlined(engine::Connection& connection) {
    DQ_ASSIGN_OR_RETURN(auto transaction, engine::Transaction::begin(connection));
    DQ_RETURN_IF_ERROR(connection.execute("CALL ducklake_flush_inlined_data('lake')").status());
    return transaction.commit();
}

TEST_P(InlinedTest, LoopOutlivesADroppedTableOfInlinedRows) {
    lake::Lake& outside = this->outside();
    auto options = materializerOptions(random_);
    options.poll_interval = 5'000;
    Metrics metrics;
    materialize::Materializer decoder(lake_->writer(), decodeOptions(clock_), options, metrics, clock_);
    const Status prepared = decoder.prepare(Cancel::root());
    ASSERT_TRUE(prepared.ok()) << prepared;
    lake_->run("CALL lake.set_option('data_inlining_row_limit', 100)");
    Feeder feeder(outside, sent_, random_());
    feeder.prepare();
    const Cancel decoding = Cancel::root(), nothing = Cancel::root();
    nothing.cancel();
    for (int i = 0; i < 5; ++i) feeder.run(nothing);  // a bundle each
    const auto drained = decoder.drain(decoding);
    ASSERT_TRUE(drained.ok()) << drained.status();
    feeder.run(nothing);  // not decoded yet when its rows move from the catalog to a file

    {
        // A transaction older than the flush looks at the table after it.
        auto old = outside.acquire();
        ASSERT_TRUE(old.ok()) << old.status();
        auto transaction = engine::Transaction::begin(**old);
        ASSERT_TRUE(transaction.ok());
        ASSERT_TRUE(numberOf(**old, "SELECT id::BIGINT FROM ducklake_current_snapshot('lake') t(id)").ok());
        auto connection = outside.acquire();
        ASSERT_TRUE(connection.ok()) << connection.status();
        const Status flushed = flushInlined(**connection);
        EXPECT_TRUE(flushed.ok()) << flushed;
        ignore(numberOf(**old, "SELECT count(*) FROM lake.raw_events").status(), "whether it can is not the question");
    }
    std::thread loop([&] { EXPECT_TRUE(decoder.run(decoding).ok()); });
    feeder.run(nothing);
    waitForRest(outside, feeder.lastSnapshot(), 60 * kMicrosPerSecond);
    decoding.cancel();
    loop.join();
    std::printf("%g failed passes\n", metricOf(metrics, "dq_materializer_pass_errors_total"));
}

}  // namespace
}  // namespace dq::race
