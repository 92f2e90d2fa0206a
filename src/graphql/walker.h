// Walks the selections of a plan over resolved values and writes `data` as text: no tree of the answer ever exists.
#pragma once
#include <string>
#include <string_view>

#include "graphql/errors.h"
#include "graphql/executor.h"
#include "graphql/plan.h"

namespace dq::graphql {

// One walk of one request. A value that turns out null where the schema forbids it removes what was written for its
// nearest nullable ancestor; the other fields of that ancestor are still asked, so that all errors are told.
class Walker {
  public:
    Walker(const SchemaTable& table, const Hooks& hooks, std::string& out, ErrorList& errors)
        : table_(table), hooks_(hooks), out_(out), errors_(errors) {}

    // Why the field may not be resolved: bad arguments first, then the guard. Records the error and returns false.
    bool admit(const Field& field);
    // Writes `"key":` and the value. False when null must travel to the parent; the text is then unfinished.
    bool writeRoot(const Field& field, bool admitted, const Resolved& value);
    void writeTypename(const Field& field, std::string_view type);
    void writeRaw(const Field& field, std::string_view json);
    void enter(const Field& field) { path_.push_back(pathKey(field.response_key)); }
    void leave() { path_.pop_back(); }
    void fail(const FieldError& error) { errors_.add(error, path_); }

  private:
    void writeKey(const Field& field);
    bool writeMember(const Field& field, const Object& parent, std::string_view parent_type);
    bool finish(const Field& field, std::size_t start, bool written);
    bool writeValue(const Field& field, const Resolved& value);
    bool writeObject(const Field& field, const Object& object);
    bool writeList(const Field& field, const ObjectList& list);
    bool writeItem(const Field& field, const ObjectList& list, std::size_t index);
    bool writeStrings(const StringListValue& list);
    bool writeNull(bool allowed);

    const SchemaTable& table_;
    const Hooks& hooks_;
    std::string& out_;
    ErrorList& errors_;
    Path path_;
};

}  // namespace dq::graphql
