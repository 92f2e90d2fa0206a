//! Selection sets: their complexity, counted without expanding anything, and the fields they select, fragments and equal response
//! keys merged.
use std::collections::{HashMap, HashSet};

use apollo_compiler::collections::IndexMap;
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ast, ExecutableDocument, Name, Node, Schema};

use crate::variables::{Variable, Variables};
use serde_json::Value as Json;

/// Counts selections: a field is 1 plus its children, each fragment use counts its content, @skip and @include do not matter.
pub struct Counter<'a> {
    document: &'a ExecutableDocument,
    /// Fields of type `__Schema` count nothing, as in the reference.
    skip_schema: bool,
    fragments: HashMap<&'a Name, u64>,
}

impl<'a> Counter<'a> {
    pub fn new(document: &'a ExecutableDocument, skip_schema: bool) -> Self {
        Counter { document, skip_schema, fragments: HashMap::new() }
    }

    /// Fragments are counted once and remembered: linear in the document, however often they multiply.
    pub fn count(&mut self, set: &'a SelectionSet) -> u64 {
        let mut total: u64 = 0;
        for selection in &set.selections {
            let cost = match selection {
                Selection::Field(field) if self.skip_schema && field.ty().inner_named_type() == "__Schema" => 0,
                Selection::Field(field) => self.count(&field.selection_set).saturating_add(1),
                Selection::InlineFragment(inline) => self.count(&inline.selection_set),
                Selection::FragmentSpread(spread) => self.fragment(&spread.fragment_name),
            };
            total = total.saturating_add(cost);
        }
        total
    }

    fn fragment(&mut self, name: &Name) -> u64 {
        if let Some(known) = self.fragments.get(name) {
            return *known;
        }
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else { return 0 };
        let cost = self.count(&fragment.selection_set);
        self.fragments.insert(name, cost);
        cost
    }
}

/// Selected fields by response key, in the order of the first appearance.
pub type Groups<'a> = IndexMap<Name, Vec<&'a Node<Field>>>;

pub struct Collector<'a> {
    pub schema: &'a Schema,
    pub document: &'a ExecutableDocument,
    pub variables: &'a Variables,
}

impl<'a> Collector<'a> {
    pub fn collect(&self, object: &str, sets: impl Iterator<Item = &'a SelectionSet>) -> Groups<'a> {
        let mut groups = Groups::default();
        let mut visited = HashSet::new();
        for set in sets {
            self.walk(object, set, &mut visited, &mut groups);
        }
        groups
    }

    fn walk(&self, object: &str, set: &'a SelectionSet, visited: &mut HashSet<&'a Name>, groups: &mut Groups<'a>) {
        for selection in &set.selections {
            if !self.is_selected(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => groups.entry(field.response_key().clone()).or_default().push(field),
                Selection::InlineFragment(inline) => {
                    if inline.type_condition.as_ref().is_none_or(|condition| self.applies(condition, object)) {
                        self.walk(object, &inline.selection_set, visited, groups);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let Some(fragment) = self.document.fragments.get(&spread.fragment_name) else { continue };
                    if visited.insert(&spread.fragment_name) && self.applies(fragment.type_condition(), object) {
                        self.walk(object, &fragment.selection_set, visited, groups);
                    }
                }
            }
        }
    }

    fn applies(&self, condition: &Name, object: &str) -> bool {
        match self.schema.types.get(condition) {
            Some(ExtendedType::Interface(_) | ExtendedType::Union(_)) => self.schema.is_subtype(condition, object),
            _ => condition == object,
        }
    }

    fn is_selected(&self, directives: &ast::DirectiveList) -> bool {
        let condition = |name: &str| -> Option<bool> {
            match &**directives.get(name)?.specified_argument_by_name("if")? {
                ast::Value::Boolean(flag) => Some(*flag),
                ast::Value::Variable(variable) => match self.variables.get(variable.as_str())? {
                    Variable::Given(Json::Bool(flag)) => Some(*flag),
                    Variable::Default(crate::value::Input::Bool(flag)) => Some(*flag),
                    _ => None,
                },
                _ => None,
            }
        };
        !condition("skip").unwrap_or(false) && condition("include").unwrap_or(true)
    }
}
