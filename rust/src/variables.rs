//! Variables of a request: shape checked against their declared types before anything runs. What a scalar's text means (is "12x" an
//! integer?) is decided later, at the argument that uses it, so that such an error carries the field's path.
use std::collections::HashMap;

use apollo_compiler::ast::{Type, VariableDefinition};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{Node, Schema};
use serde_json::{Map, Value as Json};

use crate::coerce::literal;
use crate::value::{refuse, shown, Input, Path, Refusal, Step};

#[derive(Clone, Debug)]
pub enum Variable {
    /// As given; lists made of single values, defaults of members filled in, null kept.
    Given(Json),
    Default(Input),
}
pub type Variables = HashMap<String, Variable>;

/// What the reference calls the type of a JSON value; numbers are text until they are coerced.
fn kind_name(value: &Json) -> &'static str {
    match value {
        Json::Null => "nil",
        Json::Bool(_) => "bool",
        Json::Number(_) | Json::String(_) => "string",
        Json::Array(_) => "slice",
        Json::Object(_) => "map",
    }
}

fn number_or_text(value: &Json) -> bool {
    matches!(value, Json::Number(_) | Json::String(_))
}

fn check_scalar(name: &str, built_in: bool, value: Json, path: &Path) -> Result<Json, Refusal> {
    let fits = match name {
        _ if !built_in => true,
        "Boolean" => value.is_boolean(),
        _ => number_or_text(&value),
    };
    if fits {
        return Ok(value);
    }
    refuse(path, format!("cannot use {} as {name}", kind_name(&value)))
}

fn check_object(
    schema: &Schema,
    object: &InputObjectType,
    members: Map<String, Json>,
    path: &mut Path,
) -> Result<Json, Refusal> {
    let mut members = members;
    if let Some(unknown) = members.keys().find(|name| !object.fields.contains_key(name.as_str())) {
        path.push(Step::Name(shown(unknown)));
        return refuse(path, "unknown field");
    }
    let mut checked = Map::new();
    for (name, field) in &object.fields {
        path.push(Step::name(name));
        match members.remove(name.as_str()) {
            Some(value) => {
                checked.insert(name.to_string(), check(schema, &field.ty, value, path)?);
            }
            None if field.default_value.is_none() && field.ty.is_non_null() => {
                return refuse(path, "must be defined");
            }
            None => {}
        }
        path.pop();
    }
    Ok(Json::Object(checked))
}

fn check_list(schema: &Schema, item: &Type, value: Json, path: &mut Path) -> Result<Json, Refusal> {
    let Json::Array(items) = value else {
        return Ok(Json::Array(vec![check(schema, item, value, path)?]));
    };
    let mut checked = Vec::with_capacity(items.len());
    for (index, value) in items.into_iter().enumerate() {
        path.push(Step::Index(index));
        checked.push(check(schema, item, value, path)?);
        path.pop();
    }
    Ok(Json::Array(checked))
}

fn check(schema: &Schema, ty: &Type, value: Json, path: &mut Path) -> Result<Json, Refusal> {
    if value.is_null() {
        return if ty.is_non_null() { refuse(path, "cannot be null") } else { Ok(value) };
    }
    let name = match ty {
        Type::List(item) | Type::NonNullList(item) => return check_list(schema, item, value, path),
        Type::Named(name) | Type::NonNullNamed(name) => name,
    };
    match schema.types.get(name) {
        Some(ExtendedType::Scalar(scalar)) => check_scalar(name, scalar.is_built_in(), value, path),
        Some(ExtendedType::Enum(definition)) => {
            let text = match &value {
                Json::String(text) => text.clone(),
                Json::Number(number) => number.to_string(),
                _ => return refuse(path, "enums must be ints or strings"),
            };
            if definition.values.contains_key(text.as_str()) {
                return Ok(value);
            }
            refuse(path, format!("{} is not a valid {name}", shown(&text)))
        }
        Some(ExtendedType::InputObject(object)) => match value {
            Json::Object(members) => check_object(schema, object, members, path),
            _ => refuse(path, format!("must be a {name}")),
        },
        _ => refuse(path, format!("cannot use {} as {name}", kind_name(&value))),
    }
}

/// Variables of the operation. Unknown ones are ignored, absent ones without default stay absent.
pub fn coerce_variables(
    schema: &Schema,
    definitions: &[Node<VariableDefinition>],
    given: Map<String, Json>,
) -> Result<Variables, Refusal> {
    let mut given = given;
    let mut variables = Variables::new();
    for definition in definitions {
        let mut path = vec![Step::name("variable"), Step::name(&definition.name)];
        let name = definition.name.to_string();
        match (given.remove(name.as_str()), &definition.default_value) {
            (Some(value), _) => {
                let value = check(schema, &definition.ty, value, &mut path)?;
                variables.insert(name, Variable::Given(value));
            }
            (None, Some(default)) => {
                let value = literal(schema, &definition.ty, default, &Variables::new(), &mut path)?;
                variables.insert(name, Variable::Default(value));
            }
            (None, None) if definition.ty.is_non_null() => return refuse(&path, "must be defined"),
            (None, None) => {}
        }
    }
    Ok(variables)
}
