#include "api/graphql_api_testing.h"

#include <absl/strings/str_replace.h>

#include "core/text.h"

namespace dq::api {

query::TestLake* GraphqlApiTest::lake_ = nullptr;
query::Reader* GraphqlApiTest::reader_ = nullptr;

namespace {

using query::at;
using query::fixRow;
using query::numberRow;
using query::SignalRow;
using query::textRow;

SignalRow of(int number, SignalRow row) {
    row.subject = vehicle(number);
    return row;
}

query::EventRow event(int number, std::string name, Micros timestamp, std::uint64_t duration, std::string metadata) {
    query::EventRow row;
    row.name = std::move(name);
    row.timestamp = timestamp;
    row.duration_ns = duration;
    row.metadata = std::move(metadata);
    row.subject = vehicle(number);
    return row;
}

}  // namespace

void GraphqlApiTest::SetUpTestSuite() {
    lake_ = query::TestLake::open({}).release();
    std::vector<SignalRow> rows = {of(1, numberRow("speed", kNoon, 50.5)),
                                   of(1, textRow("powertrainType", kNoon, "ICE")),
                                   of(1, fixRow(kNoon, 40.7, -74.0, 1.5)),
                                   of(1, numberRow("ofNoDefinition", kNoon, 1)),
                                   of(3, numberRow("speed", at(0, 0, 1), 5, "a", kSourceA)),
                                   of(3, numberRow("speed", at(0, 0, 2), std::nullopt, "a", kSourceA)),
                                   of(5, numberRow("ofNoDefinition", at(0, 0), 1)),
                                   of(6, numberRow("speed", at(0, 0, 10), 10)),
                                   of(6, numberRow("speed", at(0, 0, 50), 30)),
                                   of(6, numberRow("speed", at(0, 1, 10), 50)),
                                   of(6, fixRow(at(0, 0, 20), 1, 2, 0.5)),
                                   of(6, fixRow(at(0, 1, 40), 5, 6, 0.8)),
                                   of(7, fixRow(at(0, 0, 5), 0, 0))};
    for (int day = 0; day < 5; ++day) rows.push_back(of(4, numberRow("speed", at(24 * day, 30), day)));
    lake_->add(rows);
    lake_->add(std::vector<query::EventRow>{event(6, "behavior.harshBraking", at(0, 0, 30), 1'500, R"({"a":"<b>"})"),
                                            event(6, "behavior.harshCornering", at(0, 0, 40), 0, "")});
    lake_->recompute();
    reader_ = new query::Reader(lake_->lake(), {}, lake_->metrics());
}

void GraphqlApiTest::TearDownTestSuite() {
    delete reader_;
    delete lake_;
    reader_ = nullptr;
    lake_ = nullptr;
}

std::string GraphqlApiTest::ask(const std::string& query, const std::optional<auth::Claims>& claims,
                                const std::string& variables) {
    graphql::Request request;
    request.query = query;
    request.variables_json = variables;
    return api_.execute(request, claims, Cancel::root()).body;
}

std::string GraphqlApiTest::ask(int number, std::string query, const std::string& variables, vss::Privileges held) {
    return ask(about(number, std::move(query)), claimsOf(vehicle(number), held), variables);
}

std::string about(int number, std::string query) {
    return absl::StrReplaceAll(query, {{"%", strCat("\"", vehicle(number), "\"")}});
}

}  // namespace dq::api
