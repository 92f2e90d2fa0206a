#include "materialize/materializer_testing.h"

#include "materialize/rollup_truth_testing.h"

namespace dq::materialize {
std::string MaterializeTest::rollupDifference() {
    std::string out;
    const auto compare = [&](const std::string& table, const std::string& truth) {
        for (const auto& [from, minus] :
             {std::pair{strCat("FROM lake.", table), truth}, std::pair{truth, strCat("FROM lake.", table)}}) {
            for (const std::string& row : lake_->rows(strCat("(", from, ") EXCEPT ALL (", minus, ")"))) {
                out += strCat(table, ": ", from == truth ? "missing " : "wrong ", row, "\n");
            }
        }
    };
    compare("signals_latest", kLatestSignals);
    compare("events_latest", kLatestEvents);
    return out;
}

}  // namespace dq::materialize
