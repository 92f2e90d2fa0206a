//! A request becomes a flat plan: parse, validate, choose the operation, coerce variables, check the complexity, and only then expand.
use std::collections::HashMap;
use std::panic::{catch_unwind, AssertUnwindSafe};

use apollo_compiler::executable::{Field, Operation};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Node};
use serde_json::{Map, Value as Json};

use crate::coerce::arguments;
use crate::collect::{Collector, Counter, Groups};
use crate::document::{load, Failure};
use crate::ffi::{ArgumentError, Plan, PlanError, PlanLimits, PlanNode, PlanStatus};
use crate::introspect;
use crate::schema::{model, Model};
use crate::value::{flat_path, shown, FlatValues, Refusal};
use crate::variables::{coerce_variables, Variables};

/// Definition numbers of the fields that no type declares; executor.cc knows them too.
pub const META_TYPENAME: u32 = u32::MAX;
pub const META_SCHEMA: u32 = u32::MAX - 1;
pub const META_TYPE: u32 = u32::MAX - 2;

fn failed(failure: Failure, complexity: i32) -> Plan {
    Plan {
        status: failure.status,
        errors: failure.errors,
        complexity,
        roots: 0,
        nodes: Vec::new(),
        values: Vec::new(),
        argument_errors: Vec::new(),
    }
}

fn bad_variable(refusal: Refusal) -> Failure {
    let error = PlanError { message: refusal.message, line: 0, column: 0, path: flat_path(refusal.path) };
    Failure { status: PlanStatus::Invalid, errors: vec![error] }
}

fn operation<'a>(document: &'a ExecutableDocument, name: &str) -> Result<&'a Node<Operation>, Failure> {
    let wanted = Some(name).filter(|name| !name.is_empty());
    document
        .operations
        .get(wanted)
        .map_err(|_| Failure::one(PlanStatus::Invalid, format!("operation {} not found", shown(name))))
}

fn parse_variables(json: &str) -> Result<Map<String, Json>, Failure> {
    if json.is_empty() {
        return Ok(Map::new());
    }
    match serde_json::from_str(json) {
        Ok(Json::Object(members)) => Ok(members),
        Ok(Json::Null) => Ok(Map::new()),
        _ => Err(Failure::one(PlanStatus::Invalid, "variables could not be decoded")),
    }
}

struct Builder<'a> {
    model: &'a Model,
    collector: Collector<'a>,
    introspection: HashMap<Name, String>,
    nodes: Vec<PlanNode>,
    values: FlatValues,
    argument_errors: Vec<ArgumentError>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, parent: &str, key: &Name, fields: &[&'a Node<Field>]) {
        let field = fields[0];
        let definition = match field.name.as_str() {
            "__typename" => META_TYPENAME,
            "__schema" => META_SCHEMA,
            "__type" => META_TYPE,
            name => self.model.field_index(parent, name).unwrap_or(META_TYPENAME),
        };
        let index = self.nodes.len();
        self.nodes.push(PlanNode {
            key: key.to_string(),
            definition,
            children: 0,
            arguments: 0,
            argument_errors: 0,
            json: self.introspection.remove(key).unwrap_or_default(),
        });
        if definition >= META_TYPE {
            return;
        }
        self.add_arguments(index, field);
        let ty = field.ty().inner_named_type().clone();
        let groups = self.collector.collect(&ty, fields.iter().map(|field| &field.selection_set));
        self.nodes[index].children = groups.len() as u32;
        for (key, fields) in &groups {
            self.add(&ty, key, fields);
        }
    }

    fn add_arguments(&mut self, index: usize, field: &Field) {
        let (arguments, refusal) = arguments(self.collector.schema, field, self.collector.variables);
        self.nodes[index].arguments = arguments.len() as u32;
        arguments.iter().for_each(|(name, value)| self.values.push(name, value));
        if let Some(refusal) = refusal {
            self.nodes[index].argument_errors = 1;
            self.argument_errors.push(ArgumentError { path: flat_path(refusal.path), message: refusal.message });
        }
    }
}

fn build(
    model: &Model,
    document: &Valid<ExecutableDocument>,
    operation: &Operation,
    variables: &Variables,
    introspection: bool,
    complexity: i32,
) -> Result<Plan, Failure> {
    let collector = Collector { schema: &model.schema, document, variables };
    let root = operation.object_type();
    let groups: Groups<'_> = collector.collect(root, std::iter::once(&operation.selection_set));
    let results = if introspection {
        introspect::execute(model, document, operation, &groups, variables)
            .map_err(|message| Failure::one(PlanStatus::Invalid, message))?
    } else {
        HashMap::new()
    };
    let mut builder = Builder {
        model,
        collector,
        introspection: results,
        nodes: Vec::new(),
        values: FlatValues::default(),
        argument_errors: Vec::new(),
    };
    for (key, fields) in &groups {
        builder.add(root, key, fields);
        if builder.values.too_large() {
            return Err(Failure::one(PlanStatus::Invalid, "the arguments of this operation are too large"));
        }
    }
    Ok(Plan {
        status: PlanStatus::Ok,
        errors: Vec::new(),
        complexity,
        roots: groups.len() as u32,
        nodes: builder.nodes,
        values: builder.values.values,
        argument_errors: builder.argument_errors,
    })
}

fn plan(query: &[u8], name: &[u8], variables: &[u8], introspection: bool, limits: &PlanLimits) -> Plan {
    let not_text = || Failure::one(PlanStatus::ParseFailed, "the request is not UTF-8 text");
    let prepared = || -> Result<_, Failure> {
        if query.len() > limits.document_bytes {
            let message = format!("the document is longer than {} bytes", limits.document_bytes);
            return Err(Failure::one(PlanStatus::ParseFailed, message));
        }
        let query = std::str::from_utf8(query).map_err(|_| not_text())?;
        let name = std::str::from_utf8(name).map_err(|_| not_text())?;
        let given = parse_variables(std::str::from_utf8(variables).map_err(|_| not_text())?)?;
        Ok((model(), load(model(), query)?, name, given))
    };
    let (model, document, name, given) = match prepared() {
        Ok(parts) => parts,
        Err(failure) => return failed(failure, -1),
    };
    let operation = match operation(&document, name) {
        Ok(operation) => operation,
        Err(failure) => return failed(failure, -1),
    };
    let variables = match coerce_variables(&model.schema, &operation.variables, given) {
        Ok(variables) => variables,
        Err(refusal) => return failed(bad_variable(refusal), -1),
    };
    let complexity = Counter::new(&document, true).count(&operation.selection_set);
    let shown = i32::try_from(complexity).unwrap_or(i32::MAX);
    if complexity > u64::from(limits.complexity) {
        let limit = limits.complexity;
        let message = format!("operation has complexity {shown}, which exceeds the limit of {limit}");
        return failed(Failure::one(PlanStatus::TooComplex, message), shown);
    }
    build(model, &document, operation, &variables, introspection, shown)
        .unwrap_or_else(|failure| failed(failure, shown))
}

/// See ffi::Plan. Errors are part of the plan; a panic gives PlanStatus::Broken.
pub fn plan_operation(
    query: &[u8],
    operation_name: &[u8],
    variables_json: &[u8],
    introspection: bool,
    limits: PlanLimits,
) -> Plan {
    catch_unwind(AssertUnwindSafe(|| plan(query, operation_name, variables_json, introspection, &limits)))
        .unwrap_or_else(|_| failed(Failure::one(PlanStatus::Broken, "internal system error"), -1))
}
