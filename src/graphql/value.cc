#include "graphql/value.h"

#include "graphql/executor.h"

namespace dq::graphql {

namespace {

const Value* find(const Members& members, std::string_view name) {
    for (const auto& [key, value] : members) {
        if (key == name) return &value;
    }
    return nullptr;
}

}  // namespace

const Value* Value::member(std::string_view name) const {
    const Members* object = members();
    return object == nullptr ? nullptr : find(*object, name);
}

const Value* Field::argument(std::string_view name) const { return find(arguments, name); }

const AppliedDirective* FieldDefinition::directive(std::string_view directive_name) const {
    for (const AppliedDirective& applied : directives) {
        if (applied.name == directive_name) return &applied;
    }
    return nullptr;
}

}  // namespace dq::graphql
