// Input values (arguments, variables) and output values of the executor. graphql/ knows no table.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/time.h"

namespace dq::graphql {

// A coerced argument value. Enum values are strings. Object members keep schema order; absent members are absent.
struct Value;
struct Member;
using List = std::vector<Value>;
using Members = std::vector<Member>;
struct Value {
    std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Members> data;
    bool isNull() const { return std::holds_alternative<std::monostate>(data); }
    const bool* boolean() const { return std::get_if<bool>(&data); }
    const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
    const double* number() const { return std::get_if<double>(&data); }
    const std::string* string() const { return std::get_if<std::string>(&data); }
    const List* list() const { return std::get_if<List>(&data); }
    const Members* members() const { return std::get_if<Members>(&data); }
    // Member of an object; nullptr when this is no object, or the member is absent.
    const Value* member(std::string_view name) const;
};
// No std::pair: clang 14 cannot complete one that holds a Value while it completes Value.
struct Member {
    std::string first;
    Value second;
};

// An error at a field. `code` and `reason` become extensions when not empty.
struct FieldError {
    std::string message, code, reason;
};

struct NullValue {};
struct TimeValue {  // scalar Time; the zero instant is null
    Micros micros;
};
struct RawJson {  // scalar JSON: stored bytes inlined, compacted; invalid or empty → null
    std::string text;
};
class Object;
class ObjectList;
struct StringListValue {
    std::vector<std::string> items;
};
// What a resolver gives for one field. Doubles that are NaN or infinite become null plus an error.
using Resolved =
    std::variant<NullValue, bool, std::int64_t, std::uint64_t, double, std::string, TimeValue, RawJson, StringListValue,
                 std::shared_ptr<const Object>, std::shared_ptr<const ObjectList>, FieldError>;

struct Field;
// A source of field values. Fields are asked lazily, in selection order, possibly several times under aliases.
class Object {
  public:
    virtual ~Object() = default;
    virtual Resolved resolve(const Field& field) const = 0;
};
class ObjectList {
  public:
    virtual ~ObjectList() = default;
    virtual std::size_t size() const = 0;
    virtual std::shared_ptr<const Object> at(std::size_t index) const = 0;
};

}  // namespace dq::graphql
