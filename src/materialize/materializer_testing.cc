#include "materialize/materializer_testing.h"

namespace dq::materialize {
namespace {

// An independent reading of rollups.md §2 and §3: windows where the recompute groups.
constexpr char kSignals[] = R"(
    WITH d AS (SELECT * FROM lake.signals QUALIFY row_number() OVER (PARTITION BY subject, name, "timestamp" ORDER BY
    cloud_event_id, source, producer, value_number, value_string) = 1),
    v AS (SELECT *, count(*) OVER k AS n, min("timestamp") OVER k AS f FROM d WINDOW k AS (PARTITION BY subject, name)
    QUALIFY row_number() OVER (PARTITION BY subject, name ORDER BY "timestamp" DESC) = 1),
    l AS (SELECT * FROM lake.signals WHERE (loc_lat != 0 OR loc_lon != 0) AND "timestamp" > TIMESTAMPTZ 'epoch'
          QUALIFY row_number() OVER (PARTITION BY subject, name ORDER BY "timestamp" DESC, cloud_event_id, source,
          producer) = 1)
    SELECT v.subject, v.subject_bucket, v.name, v."timestamp", v.value_number, v.value_string, coalesce(l.loc_lat, 0),
    coalesce(l.loc_lon, 0), coalesce(l.loc_hdop, 0),
           coalesce(l.loc_heading, 0), coalesce(l."timestamp", TIMESTAMPTZ 'epoch'), v.n, v.f, v."timestamp"
    FROM v LEFT JOIN l ON l.subject = v.subject AND l.name = v.name)";
constexpr char kEvents[] = R"(
    SELECT subject, subject_bucket, name, count(*), min("timestamp"), max("timestamp")
    FROM (SELECT DISTINCT subject, subject_bucket, name, "timestamp", source FROM lake.events) GROUP BY subject,
    subject_bucket, name)";

}  // namespace

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
    compare("signals_latest", kSignals);
    compare("events_latest", kEvents);
    return out;
}

}  // namespace dq::materialize
