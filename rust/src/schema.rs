//! The schema, parsed once, and the table of its field definitions that C++ keeps.
use std::collections::HashMap;
use std::panic::catch_unwind;
use std::sync::OnceLock;

use apollo_compiler::ast::{Type, Value};
use apollo_compiler::collections::HashMap as ApolloMap;
use apollo_compiler::schema::{ExtendedType, FieldDefinition, Implementers};
use apollo_compiler::validation::Valid;
use apollo_compiler::{Name, Schema};

use crate::ffi::{DirectiveUse, FieldDef};

const SCHEMA_TEXT: &str = include_str!("../../data/schema.graphql");

pub struct Model {
    pub schema: Valid<Schema>,
    pub implementers: ApolloMap<Name, Implementers>,
    /// First index of a type's fields in the table.
    first_field: HashMap<String, u32>,
}

impl Model {
    fn load() -> Model {
        // The only Rust in the process is this crate; a panic message could quote a caller's text, so none is printed.
        std::panic::set_hook(Box::new(|_| {}));
        let schema = Schema::parse_and_validate(SCHEMA_TEXT, "schema.graphql").expect("the embedded schema is valid");
        let implementers = schema.implementers_map();
        let mut first_field = HashMap::new();
        let mut next = 0;
        for (name, fields) in object_types(&schema) {
            first_field.insert(name.to_string(), next);
            next += fields.len() as u32;
        }
        Model { schema, implementers, first_field }
    }

    /// Index of a field in the table; None for meta fields.
    pub fn field_index(&self, parent: &str, field: &str) -> Option<u32> {
        let Some(ExtendedType::Object(object)) = self.schema.types.get(parent) else { return None };
        Some(self.first_field.get(parent)? + object.fields.get_index_of(field)? as u32)
    }
}

pub fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(Model::load)
}

type Fields = apollo_compiler::collections::IndexMap<Name, apollo_compiler::schema::Component<FieldDefinition>>;

fn object_types(schema: &Schema) -> impl Iterator<Item = (&Name, &Fields)> {
    schema.types.iter().filter_map(|(name, definition)| match definition {
        ExtendedType::Object(object) if !name.starts_with("__") => Some((name, &object.fields)),
        _ => None,
    })
}

fn enum_list(value: &Value) -> Option<Vec<String>> {
    let Value::List(items) = value else { return None };
    items.iter().map(|item| item.as_enum().map(|name| name.to_string())).collect()
}

fn describe(parent: &Name, field: &FieldDefinition) -> FieldDef {
    let (is_list, item_non_null) = match &field.ty {
        Type::List(item) | Type::NonNullList(item) => (true, item.is_non_null()),
        _ => (false, false),
    };
    let agg = field.arguments.iter().find(|argument| argument.name == "agg");
    FieldDef {
        parent_type: parent.to_string(),
        name: field.name.to_string(),
        ty: field.ty.to_string(),
        named_type: field.ty.inner_named_type().to_string(),
        agg_type: agg.map(|argument| argument.ty.inner_named_type().to_string()).unwrap_or_default(),
        non_null: field.ty.is_non_null(),
        is_list,
        item_non_null,
        directives: field
            .directives
            .iter()
            .map(|directive| DirectiveUse {
                name: directive.name.to_string(),
                list: directive.arguments.iter().find_map(|argument| enum_list(&argument.value)).unwrap_or_default(),
            })
            .collect(),
    }
}

/// All fields of all object types; empty when the embedded schema is broken.
pub fn schema_fields() -> Vec<FieldDef> {
    catch_unwind(|| {
        object_types(&model().schema)
            .flat_map(|(name, fields)| fields.values().map(move |field| describe(name, field)))
            .collect()
    })
    .unwrap_or_default()
}
