// Small output objects shared by resolvers.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "graphql/executor.h"
#include "graphql/value.h"
#include "query/types.h"

namespace dq::api {

// latitude, longitude, hdop.
std::shared_ptr<const graphql::Object> locationObject(const query::Location& location);
// The location moved to the centre of its H3 cell (resolution 6), hdop kept; nullptr when it has no cell.
std::shared_ptr<const graphql::Object> approximateLocationObject(const query::Location& location);

// An object whose fields are computed by a function.
std::shared_ptr<const graphql::Object> makeObject(std::function<graphql::Resolved(const graphql::Field&)> resolve);
// A list of `size` objects made on demand.
std::shared_ptr<const graphql::ObjectList> makeList(
    std::size_t size, std::function<std::shared_ptr<const graphql::Object>(std::size_t)> at);

}  // namespace dq::api
