#include <algorithm>
#include <limits>

#include "core/text.h"
#include "query/filters.h"
#include "query/literals.h"

namespace dq::query {
namespace {

constexpr double kEarthRadius = 6'371'000.0;  // metres

// Haversine distance ≤ radius. The square is held at 1, since rounding may pass it for antipodes, where the arc sine
// ends; trigonometric functions refuse infinities, so those are told apart first.
std::string circleCondition(const Circle& circle) {
    const std::string latitude = doubleLiteral(circle.center.latitude),
                      longitude = doubleLiteral(circle.center.longitude);
    return strCat("CASE WHEN isfinite(loc_lat) AND isfinite(loc_lon) THEN ", doubleLiteral(2 * kEarthRadius),
                  " * asin(sqrt(least(1e+00, pow(sin(radians(loc_lat - ", latitude, ") / 2e+00), 2) + cos(radians(",
                  latitude, ")) * cos(radians(loc_lat)) * pow(sin(radians(loc_lon - ", longitude,
                  ") / 2e+00), 2)))) <= ", doubleLiteral(circle.radius_km * 1000.0), " ELSE false END");
}

// Twice the signed area of edge and point is 0 on the edge's line, and its sign tells the side. An edge that holds the
// point counts as NaN, which makes the whole sum NaN and so not odd.
std::string polygonCondition(const std::vector<Point>& ring) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Point low{kInfinity, kInfinity}, high{-kInfinity, -kInfinity};
    std::string edges;
    for (std::size_t i = 0; i < ring.size(); ++i) {
        const Point& a = ring[i];
        const Point& b = ring[(i + 1) % ring.size()];
        strAppend(&edges, i == 0 ? "" : ", ", "{x1: ", doubleLiteral(a.longitude), ", y1: ", doubleLiteral(a.latitude),
                  ", x2: ", doubleLiteral(b.longitude), ", y2: ", doubleLiteral(b.latitude), "}");
        low = {std::min(low.latitude, a.latitude), std::min(low.longitude, a.longitude)};
        high = {std::max(high.latitude, a.latitude), std::max(high.longitude, a.longitude)};
    }
    return strCat(
        "CASE WHEN loc_lat > ", doubleLiteral(low.latitude), " AND loc_lat < ", doubleLiteral(high.latitude),
        " AND loc_lon > ", doubleLiteral(low.longitude), " AND loc_lon < ", doubleLiteral(high.longitude),
        " THEN list_sum(list_transform('[", edges,
        "]'::STRUCT(x1 DOUBLE, y1 DOUBLE, x2 DOUBLE, y2 DOUBLE)[], lambda e: CASE"
        " WHEN (e.x2 - e.x1) * (loc_lat - e.y1) = (e.y2 - e.y1) * (loc_lon - e.x1)"
        " AND (loc_lon - e.x1) * (loc_lon - e.x2) <= 0 AND (loc_lat - e.y1) * (loc_lat - e.y2) <= 0 THEN 'NaN'::DOUBLE"
        " WHEN (e.y1 > loc_lat) <> (e.y2 > loc_lat)"
        " AND ((e.x2 - e.x1) * (loc_lat - e.y1) > (e.y2 - e.y1) * (loc_lon - e.x1)) = (e.y2 > e.y1)"
        " THEN 1e+00 ELSE 0e+00 END)) % 2e+00 = 1e+00 ELSE false END");
}

}  // namespace

std::optional<std::string> locationCondition(const LocationFilter& filter) {
    if (filter.circle) return circleCondition(*filter.circle);
    if (!filter.polygon.empty()) return polygonCondition(filter.polygon);
    return std::nullopt;
}

}  // namespace dq::query
