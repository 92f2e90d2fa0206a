//! Document text → validated document, or the errors that GraphQL clients expect. Bounds hold before anything is expanded.
use apollo_compiler::ast::{self, Definition};
use apollo_compiler::parser::Parser;
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::validation::{DiagnosticData, DiagnosticList, Valid, WithErrors};
use apollo_compiler::ExecutableDocument;

use crate::ffi::{PlanError, PlanStatus};
use crate::schema::Model;
use crate::suggest::{close_names, did_you_mean};

/// Tokens, white space and commas included.
const MAX_TOKENS: usize = 100_000;
/// Nesting of selections, values and types.
const MAX_NESTING: usize = 64;
/// Validation looks variables up one by one.
const MAX_VARIABLES: usize = 500;
const MAX_ERRORS: usize = 50;
const MAX_MESSAGE: usize = 1000;

pub struct Failure {
    pub status: PlanStatus,
    pub errors: Vec<PlanError>,
}

impl Failure {
    pub fn one(status: PlanStatus, message: impl Into<String>) -> Failure {
        let error = PlanError { message: message.into(), line: 0, column: 0, path: Vec::new() };
        Failure { status, errors: vec![error] }
    }
}

/// Nothing but white space, commas, comments and a byte order mark.
fn is_blank(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').lines().all(|line| {
        let line = line.trim_start_matches([' ', '\t', ',', '\r']);
        line.is_empty() || line.starts_with('#')
    })
}

/// An integer literal that only apollo-compiler, whose Int has 32 bits, refuses.
fn is_wide_integer(error: &DiagnosticData) -> bool {
    if error.unstable_error_name() != Some("IntCoercionError") {
        return false;
    }
    let message = error.unstable_compat_message().unwrap_or_default();
    message.rsplit(": ").next().is_some_and(|number| number.parse::<i64>().is_ok())
}

/// The two quoted words of a message that starts with `start`.
fn quoted<'a>(message: &'a str, start: &str, middle: &str) -> Option<(&'a str, &'a str)> {
    let (first, rest) = message.strip_prefix(start)?.split_once('"')?;
    let (second, _) = rest.strip_prefix(middle)?.split_once('"')?;
    Some((first, second))
}

fn suggestion(model: &Model, message: &str) -> String {
    if let Some((field, parent)) = quoted(message, "Cannot query field \"", " on type \"") {
        if let Some(ExtendedType::Object(object)) = model.schema.types.get(parent) {
            return did_you_mean("", &close_names(field, object.fields.keys().map(|name| name.as_str())));
        }
    }
    if let Some((value, definition)) = quoted(message, "Value \"", " does not exist in \"") {
        if let Some(ExtendedType::Enum(known)) = model.schema.types.get(definition) {
            let names = close_names(value, known.values.keys().map(|name| name.as_str()));
            return did_you_mean("the enum value ", &names);
        }
    }
    String::new()
}

fn describe(model: &Model, diagnostics: &DiagnosticList) -> Vec<PlanError> {
    let accepted = diagnostics.iter().filter(|diagnostic| !is_wide_integer(diagnostic.error)).take(MAX_ERRORS);
    accepted
        .map(|diagnostic| {
            let message = match diagnostic.error.unstable_compat_message() {
                Some(text) => text.clone() + &suggestion(model, &text),
                None => diagnostic.error.to_string(),
            };
            let start = diagnostic.line_column_range().map(|range| range.start);
            PlanError {
                message: message.chars().take(MAX_MESSAGE).collect(),
                line: start.map_or(0, |at| at.line as u32),
                column: start.map_or(0, |at| at.column as u32),
                path: Vec::new(),
            }
        })
        .collect()
}

fn parse(model: &Model, text: &str) -> Result<ast::Document, Failure> {
    if is_blank(text) {
        return Err(Failure::one(PlanStatus::Invalid, "no operation provided"));
    }
    let parsed = Parser::new().recursion_limit(MAX_NESTING).token_limit(MAX_TOKENS).parse_ast(text, "query");
    let document = parsed.map_err(|WithErrors { errors, .. }| {
        let mut errors = describe(model, &errors);
        errors.truncate(1);
        Failure { status: PlanStatus::ParseFailed, errors }
    })?;
    let mut operations = 0;
    for definition in &document.definitions {
        match definition {
            Definition::OperationDefinition(operation) if operation.variables.len() > MAX_VARIABLES => {
                let message = format!("an operation may have at most {MAX_VARIABLES} variables");
                return Err(Failure::one(PlanStatus::Invalid, message));
            }
            Definition::OperationDefinition(_) => operations += 1,
            Definition::FragmentDefinition(_) => {}
            _ => {
                let message = "a request holds operations and fragments only";
                return Err(Failure::one(PlanStatus::ParseFailed, message));
            }
        }
    }
    if operations == 0 {
        return Err(Failure::one(PlanStatus::Invalid, "no operation provided"));
    }
    Ok(document)
}

pub fn load(model: &Model, text: &str) -> Result<Valid<ExecutableDocument>, Failure> {
    let document = parse(model, text)?;
    match document.to_executable_validate(&model.schema) {
        Ok(valid) => Ok(valid),
        Err(WithErrors { partial, errors }) => {
            let errors = describe(model, &errors);
            if errors.is_empty() {
                // Only 64-bit integers were refused.
                return Ok(Valid::assume_valid(partial));
            }
            Err(Failure { status: PlanStatus::Invalid, errors })
        }
    }
}
