// Filters of questions as SQL conditions. Each returns nullopt when the filter sets no condition.
//
// One rule for all (queries.md §4.6): leafs are AND-ed; with alternatives that set a condition the result is (leafs) OR
// alternative OR …, and an object without leafs adds nothing on the left. A comparison with NULL is never true.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/value.h"
#include "query/types.h"

namespace dq::query {

// Numbers stand in the text. NaN equals itself and is above every other number, as in the engine.
std::optional<std::string> floatCondition(const FloatFilter& filter, std::string_view column);
// Texts are bound. starts_with is a plain prefix.
std::optional<std::string> textCondition(const TextFilter& filter, std::string_view column,
                                         std::vector<engine::Value>& binds);
// Tags are bound. An empty list satisfies the "not" forms, NULL satisfies nothing.
std::optional<std::string> listCondition(const ListFilter& filter, std::string_view column,
                                         std::vector<engine::Value>& binds);

// Geofence over the columns loc_lat and loc_lon of a fix; nullopt without circle and polygon.
//
// Circle: great-circle distance on a sphere of 6 371 000 m, boundary included. Polygon: plane with x = longitude, y =
// latitude, even-odd, ring closed by itself, every point of an edge outside. Its edges are one list literal and one
// pass over that list, so the plan stays small for polygons of any length; a bounding box before it spares most rows
// the pass.
std::optional<std::string> locationCondition(const LocationFilter& filter);

}  // namespace dq::query
