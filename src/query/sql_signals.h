// One statement for one `signals` question, whatever the number of its requests (queries.md §4).
//
// Dedup key 1 and pruning as in sql_readings.h: bucket, source and names at the scan, time bounds as literals. Files
// read: those of the subject's bucket in the days of [from, to).
//
// Shape: the readings are grouped once by (bucket, name). Every aggregate that some request wants is one column, shared
// by all requests and names that want the same; a request with a filter gets columns of its own under FILTER (its
// condition on the winner). So a hundred plain requests cost at most sixteen columns. TOP and UNIQUE come from a second
// grouping of the same readings by value.
#pragma once
#include <array>
#include <vector>

#include "engine/value.h"
#include "query/types.h"

namespace dq::query {

// Where the answer of one request stands in the statement's columns; -1 = no such column.
struct RequestColumns {
    int rows = -1;                             // BIGINT: rows that the request keeps; -1: every row of the group
    std::array<int, 4> value{-1, -1, -1, -1};  // DOUBLE; text requests: value[0], VARCHAR
};

struct SignalsStatement {
    // Rows (bucket number from `from` on, name, columns …) ascending by bucket, then name.
    engine::Sql sql;
    std::vector<RequestColumns> floats, strings, locations;  // as the question's lists
};

// The question must hold at least one request, from ≤ to, interval ≥ 1.
SignalsStatement signalsSql(const SignalsQuestion& question);

}  // namespace dq::query
