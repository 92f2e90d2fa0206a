#include "graphql/plan.h"

#include "core/status.h"
#include "dq_rust.h"

namespace dq::graphql {

namespace {

// Numbers of rust/src/plan.rs for fields that no type declares.
constexpr std::uint32_t kTypename = UINT32_MAX;
constexpr std::uint32_t kSchema = UINT32_MAX - 1;
constexpr std::uint32_t kType = UINT32_MAX - 2;

FieldDefinition metaField(std::string name, std::string type, bool non_null) {
    FieldDefinition definition;
    definition.name = std::move(name);
    definition.named_type = type;
    definition.type = non_null ? type + "!" : std::move(type);
    definition.non_null = non_null;
    return definition;
}

FieldDefinition convert(const rust::FieldDef& from) {
    FieldDefinition to;
    to.parent_type = std::string(from.parent_type);
    to.name = std::string(from.name);
    to.type = std::string(from.ty);
    to.named_type = std::string(from.named_type);
    to.agg_type = std::string(from.agg_type);
    to.non_null = from.non_null;
    to.is_list = from.is_list;
    to.item_non_null = from.item_non_null;
    for (const rust::DirectiveUse& use : from.directives) {
        AppliedDirective applied{std::string(use.name), {}};
        for (const auto& item : use.list) applied.list.emplace_back(item);
        to.directives.push_back(std::move(applied));
    }
    return to;
}

// Reads the flat vectors in their common pre-order.
class Builder {
  public:
    Builder(const SchemaTable& table, const ScalarCheck& check, const rust::Plan& plan)
        : table_(table), check_(check), plan_(plan) {}

    RootField root() {
        std::string introspection(plan_.nodes[node_].json);
        return {field(), std::move(introspection)};
    }

  private:
    Field field() {
        const rust::PlanNode& node = plan_.nodes[node_++];
        Field field;
        field.definition = &table_.at(node.definition);
        field.response_key = std::string(node.key);
        errors_ = &field.argument_errors;
        field.arguments.reserve(node.arguments);
        for (std::uint32_t i = 0; i < node.arguments; ++i) field.arguments.push_back(member());
        for (std::uint32_t i = 0; i < node.argument_errors; ++i) addError(plan_.argument_errors[error_++]);
        field.selections.reserve(node.children);
        for (std::uint32_t i = 0; i < node.children; ++i) field.selections.push_back(this->field());
        return field;
    }

    void addError(const rust::ArgumentError& error) {
        if (!errors_->empty()) return;
        std::vector<std::string> path;
        for (const rust::PathStep& step : error.path) {
            path.push_back(step.is_index ? std::to_string(step.index) : std::string(step.name));
        }
        errors_->emplace_back(std::move(path), std::string(error.message));
    }

    Member member() {
        std::string name(plan_.values[value_].name);
        path_.push_back(name);
        Value value = this->value();
        path_.pop_back();
        return {std::move(name), std::move(value)};
    }

    Value value() {
        const rust::PlanValue& flat = plan_.values[value_++];
        switch (flat.kind) {
            case rust::ValueKind::Bool: return {flat.integer != 0};
            case rust::ValueKind::Int: return {flat.integer};
            case rust::ValueKind::Float: return {flat.number};
            case rust::ValueKind::Text: return {std::string(flat.text)};
            case rust::ValueKind::List: return {list(flat.size)};
            case rust::ValueKind::Object: return {object(flat.size)};
            case rust::ValueKind::Custom: return custom(std::string(flat.text));
            default: return {};
        }
    }

    List list(std::uint32_t size) {
        List items;
        items.reserve(size);
        for (std::uint32_t i = 0; i < size; ++i) {
            path_.push_back(std::to_string(i));
            items.push_back(value());
            path_.pop_back();
        }
        return items;
    }

    Members object(std::uint32_t size) {
        Members members;
        members.reserve(size);
        for (std::uint32_t i = 0; i < size; ++i) members.push_back(member());
        return members;
    }

    Value custom(const std::string& scalar) {
        Value inner = value();
        if (check_ && errors_->empty()) {
            if (auto refusal = check_(scalar, inner)) errors_->emplace_back(path_, std::move(*refusal));
        }
        return inner;
    }

    const SchemaTable& table_;
    const ScalarCheck& check_;
    const rust::Plan& plan_;
    std::size_t node_ = 0, value_ = 0, error_ = 0;
    std::vector<std::string> path_;  // of the argument value being read
    std::vector<std::pair<std::vector<std::string>, std::string>>* errors_ = nullptr;
};

}  // namespace

SchemaTable::SchemaTable()
    : typename_(metaField("__typename", "String", true)),
      schema_(metaField("__schema", "__Schema", false)),
      type_(metaField("__type", "__Type", false)) {
    for (const rust::FieldDef& field : rust::schema_fields()) fields_.push_back(convert(field));
    DQ_CHECK(!fields_.empty(), "the embedded GraphQL schema is valid");
}

std::span<const FieldDefinition> SchemaTable::fieldsOf(std::string_view type) const {
    const auto is_of = [&](const FieldDefinition& field) { return field.parent_type == type; };
    const auto first = std::find_if(fields_.begin(), fields_.end(), is_of);
    const auto last = std::find_if_not(first, fields_.end(), is_of);
    return {first, last};
}

const FieldDefinition& SchemaTable::at(std::uint32_t index) const {
    switch (index) {
        case kTypename: return typename_;
        case kSchema: return schema_;
        case kType: return type_;
        default: DQ_CHECK(index < fields_.size(), "plans use known fields"); return fields_[index];
    }
}

std::vector<RootField> buildRoots(const SchemaTable& table, const ScalarCheck& check, const rust::Plan& plan) {
    Builder builder(table, check, plan);
    std::vector<RootField> roots;
    roots.reserve(plan.roots);
    for (std::uint32_t i = 0; i < plan.roots; ++i) roots.push_back(builder.root());
    return roots;
}

}  // namespace dq::graphql
