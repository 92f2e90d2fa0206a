//! Arguments of a field: literals, defaults and variables become typed values. Int is 64-bit. Literals are strict (validation has seen
//! them); variables also give numbers as text and text as numbers.
use apollo_compiler::ast::{Type, Value};
use apollo_compiler::executable::Field;
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::Schema;
use serde_json::{Map, Value as Json};

use crate::value::{refuse, shown, Input, Path, Refusal, Step};
use crate::variables::{Variable, Variables};

fn integer(text: &str, path: &Path) -> Result<Input, Refusal> {
    use std::num::IntErrorKind::{NegOverflow, PosOverflow};
    let why = match text.parse::<i64>() {
        Ok(number) => return Ok(Input::Int(number)),
        Err(error) if matches!(error.kind(), PosOverflow | NegOverflow) => "value out of range",
        Err(_) => "invalid syntax",
    };
    refuse(path, format!("strconv.ParseInt: parsing {:?}: {why}", shown(text)))
}

fn float(text: &str, path: &Path) -> Result<Input, Refusal> {
    let why = match text.parse::<f64>() {
        // An infinity that was not spelled out is an overflow.
        Ok(number) if number.is_infinite() && text.contains(|c: char| c.is_ascii_digit()) => "value out of range",
        Ok(number) => return Ok(Input::Float(number)),
        Err(_) => "invalid syntax",
    };
    refuse(path, format!("strconv.ParseFloat: parsing {:?}: {why}", shown(text)))
}

fn named(schema: &Schema, name: &str, text: String, path: &Path) -> Result<Input, Refusal> {
    match name {
        "Int" => integer(&text, path),
        "Float" => float(&text, path),
        _ => match schema.types.get(name) {
            Some(ExtendedType::Scalar(scalar)) if !scalar.is_built_in() => {
                Ok(Input::Custom(name.to_owned(), Box::new(Input::Text(text))))
            }
            _ => Ok(Input::Text(text)),
        },
    }
}

/// Untyped JSON, as a custom scalar takes it.
fn untyped_json(value: &Json) -> Input {
    match value {
        Json::Null => Input::Null,
        Json::Bool(flag) => Input::Bool(*flag),
        Json::Number(number) => match number.as_str().parse::<i64>() {
            Ok(integer) => Input::Int(integer),
            Err(_) => Input::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Input::Text(text.clone()),
        Json::Array(items) => Input::List(items.iter().map(untyped_json).collect()),
        Json::Object(members) => {
            Input::Object(members.iter().map(|(name, item)| (name.clone(), untyped_json(item))).collect())
        }
    }
}

fn untyped_variable(variables: &Variables, name: &str) -> Input {
    match variables.get(name) {
        Some(Variable::Given(value)) => untyped_json(value),
        Some(Variable::Default(value)) => value.clone(),
        None => Input::Null,
    }
}

fn untyped_literal(value: &Value, variables: &Variables) -> Input {
    match value {
        Value::Null => Input::Null,
        Value::Enum(name) => Input::Text(name.to_string()),
        Value::Variable(name) => untyped_variable(variables, name),
        Value::String(text) => Input::Text(text.clone()),
        Value::Float(number) => Input::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        Value::Int(number) => match number.as_str().parse::<i64>() {
            Ok(integer) => Input::Int(integer),
            Err(_) => Input::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        },
        Value::Boolean(flag) => Input::Bool(*flag),
        Value::List(items) => Input::List(items.iter().map(|item| untyped_literal(item, variables)).collect()),
        Value::Object(members) => Input::Object(
            members.iter().map(|(name, item)| (name.to_string(), untyped_literal(item, variables))).collect(),
        ),
    }
}

/// A custom scalar takes any value; the one custom scalar is checked by C++.
fn is_custom(schema: &Schema, name: &str) -> bool {
    matches!(schema.types.get(name), Some(ExtendedType::Scalar(scalar)) if !scalar.is_built_in())
}

fn members_of<'a, T>(
    schema: &Schema,
    object: &InputObjectType,
    path: &mut Path,
    given: impl Fn(&str) -> Option<T>,
    mut convert: impl FnMut(&Type, T, &mut Path) -> Result<Input, Refusal>,
) -> Result<Input, Refusal>
where
    T: 'a,
{
    let mut members = Vec::new();
    for (name, field) in &object.fields {
        path.push(Step::name(name));
        if let Some(value) = given(name) {
            members.push((name.to_string(), convert(&field.ty, value, path)?));
        } else if let Some(default) = &field.default_value {
            members.push((name.to_string(), literal(schema, &field.ty, default, &Variables::new(), path)?));
        } else if field.ty.is_non_null() {
            return refuse(path, "must be defined");
        }
        path.pop();
    }
    Ok(Input::Object(members))
}

/// Value of a variable, whose shape has been checked.
fn given_json(schema: &Schema, ty: &Type, value: &Json, path: &mut Path) -> Result<Input, Refusal> {
    if value.is_null() {
        return if ty.is_non_null() { refuse(path, "cannot be null") } else { Ok(Input::Null) };
    }
    let name = match ty {
        Type::List(item) | Type::NonNullList(item) => {
            let Json::Array(items) = value else {
                return Ok(Input::List(vec![given_json(schema, item, value, path)?]));
            };
            let mut list = Vec::with_capacity(items.len());
            for (index, value) in items.iter().enumerate() {
                path.push(Step::Index(index));
                list.push(given_json(schema, item, value, path)?);
                path.pop();
            }
            return Ok(Input::List(list));
        }
        Type::Named(name) | Type::NonNullNamed(name) => name,
    };
    if is_custom(schema, name) {
        return Ok(Input::Custom(name.to_string(), Box::new(untyped_json(value))));
    }
    match (schema.types.get(name), value) {
        (Some(ExtendedType::InputObject(object)), Json::Object(members)) => {
            given_members(schema, object, members, path)
        }
        (_, Json::Bool(flag)) if name == "Boolean" => Ok(Input::Bool(*flag)),
        (_, Json::String(text)) => named(schema, name, text.clone(), path),
        (_, Json::Number(number)) => named(schema, name, number.as_str().to_owned(), path),
        _ => refuse(path, format!("cannot be used as {name}")),
    }
}

fn given_members(
    schema: &Schema,
    object: &InputObjectType,
    members: &Map<String, Json>,
    path: &mut Path,
) -> Result<Input, Refusal> {
    members_of(schema, object, path, |name| members.get(name), |ty, value, path| given_json(schema, ty, value, path))
}

fn literal_list(
    schema: &Schema,
    item: &Type,
    value: &Value,
    variables: &Variables,
    path: &mut Path,
) -> Result<Input, Refusal> {
    let Value::List(items) = value else {
        return Ok(Input::List(vec![literal(schema, item, value, variables, path)?]));
    };
    let mut list = Vec::with_capacity(items.len());
    for (index, value) in items.iter().enumerate() {
        path.push(Step::Index(index));
        list.push(literal(schema, item, value, variables, path)?);
        path.pop();
    }
    Ok(Input::List(list))
}

/// A literal, with the variables in it.
pub fn literal(
    schema: &Schema,
    ty: &Type,
    value: &Value,
    variables: &Variables,
    path: &mut Path,
) -> Result<Input, Refusal> {
    let null = if let Value::Variable(name) = value {
        match variables.get(name.as_str()) {
            Some(Variable::Given(json)) => return given_json(schema, ty, json, path),
            Some(Variable::Default(input)) if *input != Input::Null => return Ok(input.clone()),
            _ => true,
        }
    } else {
        value.is_null()
    };
    if null {
        return if ty.is_non_null() { refuse(path, "cannot be null") } else { Ok(Input::Null) };
    }
    let name = match ty {
        Type::List(item) | Type::NonNullList(item) => return literal_list(schema, item, value, variables, path),
        Type::Named(name) | Type::NonNullNamed(name) => name,
    };
    if is_custom(schema, name) {
        return Ok(Input::Custom(name.to_string(), Box::new(untyped_literal(value, variables))));
    }
    match (schema.types.get(name), value) {
        (Some(ExtendedType::InputObject(object)), Value::Object(members)) => members_of(
            schema,
            object,
            path,
            |name| {
                let (_, value) = members.iter().find(|(member, _)| member == name)?;
                is_given(value, variables).then_some(value)
            },
            |ty, value, path| literal(schema, ty, value, variables, path),
        ),
        (_, Value::Boolean(flag)) => Ok(Input::Bool(*flag)),
        (_, Value::Int(number)) => named(schema, name, number.as_str().to_owned(), path),
        (_, Value::Float(number)) => named(schema, name, number.as_str().to_owned(), path),
        (_, Value::String(text)) => Ok(Input::Text(text.clone())),
        (_, Value::Enum(name)) => Ok(Input::Text(name.to_string())),
        _ => refuse(path, format!("cannot be used as {name}")),
    }
}

/// A variable without value counts as not written.
fn is_given(value: &Value, variables: &Variables) -> bool {
    !matches!(value, Value::Variable(name) if !variables.contains_key(name.as_str()))
}

/// Arguments of a field in schema order, absent ones left out, up to the first that is refused: the field is not run then.
pub fn arguments(schema: &Schema, field: &Field, variables: &Variables) -> (Vec<(String, Input)>, Option<Refusal>) {
    let mut coerced = Vec::with_capacity(field.definition.arguments.len());
    for definition in &field.definition.arguments {
        let mut path = vec![Step::name(&definition.name)];
        let written = field.arguments.iter().find(|argument| argument.name == definition.name);
        let value = match written {
            Some(argument) if is_given(&argument.value, variables) => Some(&argument.value),
            _ => definition.default_value.as_ref(),
        };
        let input = match value {
            Some(value) => literal(schema, &definition.ty, value, variables, &mut path),
            None if definition.ty.is_non_null() => refuse(&path, "must be defined"),
            None => continue,
        };
        match input {
            Ok(input) => coerced.push((definition.name.to_string(), input)),
            Err(refusal) => return (coerced, Some(refusal)),
        }
    }
    (coerced, None)
}
