// A GraphQL surface over a small real lake, for this folder's tests.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "api/api_testing.h"
#include "api/graphql_api.h"
#include "query/lake_testing.h"

namespace dq::api {

// 2026-11-29T12:00:00Z
inline constexpr Micros kNoon = 1'795'953'600LL * kMicrosPerSecond;
inline constexpr char kSourceA[] = "0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA";
inline constexpr char kDidA[] = "did:ethr:137:0x9c94c395cbcbde662235e0a9d3bb87ad708561ba";

// One lake for all tests of the suite, which do not write to it. Vehicles:
//   1 at noon: speed 50.5, powertrainType ICE, a fix at (40.7, -74) hdop 1.5, and a name of no definition
//   2 nothing      5 only the name of no definition
//   3 on 1 June: speed 5 at 1 s and NULL at 2 s, source A      4 on 1 June: speed of five days, one a day
//   6 on 1 June: speed 10, 30 in the first minute, 50 in the second; a fix in each; two events
//   7 on 1 June: only (0,0)
class GraphqlApiTest : public testing::Test {
  protected:
    static void SetUpTestSuite();
    static void TearDownTestSuite();

    // Body of the answer to one document.
    std::string ask(const std::string& query, const std::optional<auth::Claims>& claims,
                    const std::string& variables = "{}");
    // As a token with every privilege for that vehicle asks; `%` in the document stands for the vehicle.
    std::string ask(int number, std::string query, const std::string& variables = "{}",
                    vss::Privileges held = kEveryPrivilege);

    static query::TestLake* lake_;
    static query::Reader* reader_;
    Metrics metrics_;
    ManualClock clock_{kNoon + kMicrosPerSecond};
    GraphqlApi api_{*reader_, metrics_, clock_};
};

// Document with each `%` replaced.
std::string about(int number, std::string query);

}  // namespace dq::api
