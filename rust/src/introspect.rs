//! Root fields `__schema` and `__type`, executed whole by apollo-compiler.
use std::collections::HashMap;

use apollo_compiler::executable::{Operation, Selection, SelectionSet};
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{introspection, ExecutableDocument, Name};

use crate::collect::{Counter, Groups};
use crate::schema::Model;
use crate::value::Input;
use crate::variables::{Variable, Variables};
use serde_json::Value as Json;

/// Fields of type `__Schema` have no complexity, so their size is bounded here. The query of graphql-js selects about 250.
pub const MAX_SELECTIONS: u64 = 500;

/// Only strings and booleans are of use to introspection fields.
fn variable_values(variables: &Variables) -> JsonMap {
    let mut values = JsonMap::new();
    for (name, variable) in variables {
        let value = match variable {
            Variable::Given(Json::String(text)) | Variable::Default(Input::Text(text)) => {
                JsonValue::String(text.as_str().into())
            }
            Variable::Given(Json::Number(number)) => JsonValue::String(number.to_string().into()),
            Variable::Given(Json::Bool(flag)) | Variable::Default(Input::Bool(flag)) => JsonValue::Bool(*flag),
            Variable::Given(Json::Null) | Variable::Default(Input::Null) => JsonValue::Null,
            _ => continue,
        };
        values.insert(name.as_str(), value);
    }
    values
}

/// JSON text of each introspection field among `groups`, by response key.
pub fn execute(
    model: &Model,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    groups: &Groups<'_>,
    variables: &Variables,
) -> Result<HashMap<Name, String>, String> {
    let mut alone =
        Operation { selection_set: SelectionSet::new(operation.object_type().clone()), ..operation.clone() };
    for field in groups.values().flatten().filter(|field| field.name == "__schema" || field.name == "__type") {
        alone.selection_set.selections.push(Selection::Field((*field).clone()));
    }
    if alone.selection_set.selections.is_empty() {
        return Ok(HashMap::new());
    }
    if Counter::new(document, false).count(&alone.selection_set) > MAX_SELECTIONS {
        return Err(format!("introspection selects more than {MAX_SELECTIONS} fields"));
    }
    introspection::check_max_depth(document, &alone).map_err(|error| error.message().to_string())?;
    let values = Valid::assume_valid(variable_values(variables));
    let answer = introspection::partial_execute(&model.schema, &model.implementers, document, &alone, &values)
        .map_err(|error| error.message().to_string())?;
    if let Some(error) = answer.errors.into_iter().next() {
        return Err(error.message);
    }
    let mut results = HashMap::new();
    for (key, value) in answer.data.unwrap_or_default() {
        let name = Name::new(key.as_str()).map_err(|error| error.to_string())?;
        results.insert(name, serde_json::to_string(&value).map_err(|error| error.to_string())?);
    }
    Ok(results)
}
