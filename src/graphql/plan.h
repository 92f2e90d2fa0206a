// The flat plan of rust/ turned into fields, and the table of field definitions they point into.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphql/executor.h"

namespace dq::rust {
struct Plan;
}

namespace dq::graphql {

// Field definitions of the schema. Immutable; fields point into it.
class SchemaTable {
  public:
    SchemaTable();
    SchemaTable(const SchemaTable&) = delete;
    SchemaTable& operator=(const SchemaTable&) = delete;

    std::span<const FieldDefinition> fieldsOf(std::string_view type) const;
    // By the number the plan uses.
    const FieldDefinition& at(std::uint32_t index) const;
    bool isTypename(const FieldDefinition& definition) const { return &definition == &typename_; }
    bool isIntrospection(const FieldDefinition& definition) const {
        return &definition == &schema_ || &definition == &type_;
    }

  private:
    std::vector<FieldDefinition> fields_;
    FieldDefinition typename_, schema_, type_;  // fields that no type declares
};

struct RootField {
    Field field;
    std::string introspection;  // JSON of __schema and __type, "" when introspection is off
};

// `check` sees every custom scalar; the first error of a field's arguments is kept.
std::vector<RootField> buildRoots(const SchemaTable& table, const ScalarCheck& check, const rust::Plan& plan);

}  // namespace dq::graphql
