// Centre of the H3 cell of resolution 6 that holds a point: the approximate location of a vehicle (queries.md §10).
#pragma once
#include <optional>
#include <utility>

namespace dq::graphql {

// (latitude, longitude) in degrees; nothing for input that is not finite. Threads: any.
std::optional<std::pair<double, double>> h3CellCenter(double latitude, double longitude);

}  // namespace dq::graphql
