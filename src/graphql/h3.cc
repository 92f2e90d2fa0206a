#include "graphql/h3.h"

#include "dq_rust.h"

namespace dq::graphql {

std::optional<std::pair<double, double>> h3CellCenter(double latitude, double longitude) {
    const rust::CellCenter center = rust::h3_cell_center(latitude, longitude);
    if (!center.found) return std::nullopt;
    return std::pair(center.latitude, center.longitude);
}

}  // namespace dq::graphql
