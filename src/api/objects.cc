#include "api/objects.h"

#include "graphql/h3.h"

namespace dq::api {
namespace {

using graphql::Field;
using graphql::Object;
using graphql::ObjectList;
using graphql::Resolved;

class LocationObject final : public Object {
  public:
    explicit LocationObject(const query::Location& location) : location_(location) {}
    Resolved resolve(const Field& field) const override {
        const std::string& name = field.definition->name;
        if (name == "latitude") return location_.latitude;
        if (name == "longitude") return location_.longitude;
        return location_.hdop;
    }

  private:
    query::Location location_;
};

class FunctionObject final : public Object {
  public:
    explicit FunctionObject(std::function<Resolved(const Field&)> resolve) : resolve_(std::move(resolve)) {}
    Resolved resolve(const Field& field) const override { return resolve_(field); }

  private:
    std::function<Resolved(const Field&)> resolve_;
};

class FunctionList final : public ObjectList {
  public:
    FunctionList(std::size_t size, std::function<std::shared_ptr<const Object>(std::size_t)> at)
        : size_(size), at_(std::move(at)) {}
    std::size_t size() const override { return size_; }
    std::shared_ptr<const Object> at(std::size_t index) const override { return at_(index); }

  private:
    std::size_t size_;
    std::function<std::shared_ptr<const Object>(std::size_t)> at_;
};

}  // namespace

std::shared_ptr<const Object> locationObject(const query::Location& location) {
    return std::make_shared<LocationObject>(location);
}

std::shared_ptr<const Object> approximateLocationObject(const query::Location& location) {
    const auto center = graphql::h3CellCenter(location.latitude, location.longitude);
    if (!center) return nullptr;
    query::Location coarse = location;
    coarse.latitude = center->first;
    coarse.longitude = center->second;
    return locationObject(coarse);
}

std::shared_ptr<const Object> makeObject(std::function<Resolved(const Field&)> resolve) {
    return std::make_shared<FunctionObject>(std::move(resolve));
}

std::shared_ptr<const ObjectList> makeList(std::size_t size,
                                           std::function<std::shared_ptr<const Object>(std::size_t)> at) {
    return std::make_shared<FunctionList>(size, std::move(at));
}

}  // namespace dq::api
