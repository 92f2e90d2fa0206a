// What one operation promises about the lake it reads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/api_testing.h"
#include "api/graphql_api.h"
#include "api/resolvers.h"
#include "core/log.h"
#include "core/text.h"
#include "query/lake_testing.h"

namespace dq::api {
namespace {

using query::at;
using query::kSubject;
using query::numberRow;
using testing::HasSubstr;
using testing::Not;

class OperationTest : public testing::Test {
  protected:
    std::string document() const {
        return strCat(
            "{signalsLatest(subject: \"", kSubject, "\"){speed{value}} signals(subject: \"", kSubject,
            R"(", interval: "1h", from: "2026-06-01T00:00:00Z", to: "2026-06-02T00:00:00Z"){speed(agg: MAX)}})");
    }
    // Runs one operation; `between` runs after its first field.
    std::string answer(const std::function<void()>& between) {
        const std::optional<auth::Claims> claims = claimsOf(kSubject);
        const Cancel cancel = Cancel::root();
        Operation operation(reader_, claims, systemClock(), cancel);
        graphql::Hooks hooks;
        hooks.resolve_roots = [&](std::span<const graphql::Field* const> fields) {
            std::vector<graphql::Resolved> values;
            for (const graphql::Field* field : fields) {
                values.push_back(operation.resolve(*field));
                if (field == fields.front()) between();
            }
            return values;
        };
        graphql::Request request;
        request.query = document();
        return executor_.execute(request, hooks).body;
    }

    const std::unique_ptr<query::TestLake> lake_ = query::TestLake::open({});
    query::Reader reader_{lake_->lake(), {}, lake_->metrics()};
    graphql::Executor executor_{{}};
};

TEST_F(OperationTest, AWriteBetweenTwoFieldsIsNotSeen) {
    lake_->add({numberRow("speed", at(1, 0), 10)});
    lake_->recompute();
    const std::string before = R"({"data":{"signalsLatest":{"speed":{"value":10}},"signals":[{"speed":10}]}})";
    EXPECT_EQ(answer([&] {
                  lake_->add({numberRow("speed", at(1, 5), 99)});
                  lake_->recompute();
              }),
              before);
    EXPECT_EQ(answer([] {}), R"({"data":{"signalsLatest":{"speed":{"value":99}},"signals":[{"speed":99}]}})");
}

TEST_F(OperationTest, AFailedReadTellsCallersNothingOfItsCause) {
    lake_->run("DROP TABLE lake.signals_latest");
    Metrics metrics;
    GraphqlApi api(reader_, metrics);
    graphql::Request request;
    request.query = strCat("{signalsLatest(subject: \"", kSubject, "\"){speed{value}}}");
    LogCapture capture;
    EXPECT_EQ(api.execute(request, claimsOf(kSubject), Cancel::root()).body,
              R"({"errors":[{"message":"failed to query db","path":["signalsLatest"],)"
              R"("extensions":{"code":"INTERNAL_SERVER_ERROR","reason":"Internal Server Error"}}],"data":{)"
              R"("signalsLatest":null}})");
    EXPECT_THAT(capture.text(), HasSubstr("signals_latest"));
    EXPECT_THAT(capture.text(), Not(HasSubstr(kSubject)));
}

}  // namespace
}  // namespace dq::api
