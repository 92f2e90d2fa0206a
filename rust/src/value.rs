//! Coerced input values, and their flat form for C++.
use crate::ffi::{PathStep, PlanValue, ValueKind};

#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Strings and enum values.
    Text(String),
    List(Vec<Input>),
    /// Members in schema order, absent ones left out.
    Object(Vec<(String, Input)>),
    /// Value of a custom scalar, unchecked: C++ knows the scalars.
    Custom(String, Box<Input>),
}

/// A refused value: path below the argument's field, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    pub path: Path,
    pub message: String,
}

/// Path of the value at hand; a stack that callers push to and pop from.
pub type Path = Vec<Step>;

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Name(String),
    Index(usize),
}

impl Step {
    pub fn name(name: &str) -> Step {
        Step::Name(name.to_owned())
    }
}

pub fn flat_path(path: Path) -> Vec<PathStep> {
    path.into_iter()
        .map(|step| match step {
            Step::Name(name) => PathStep { is_index: false, index: 0, name },
            Step::Index(index) => PathStep { is_index: true, index, name: String::new() },
        })
        .collect()
}

/// Start of a caller's text for an error message.
pub fn shown(text: &str) -> String {
    text.chars().take(100).collect()
}

pub fn refuse<T>(path: &Path, message: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { path: path.clone(), message: message.into() })
}

/// One variable may be used by every field of a request: the copies are bounded together.
pub const MAX_VALUES: usize = 200_000;
pub const MAX_TEXT: usize = 16 * 1024 * 1024;

#[derive(Default)]
pub struct FlatValues {
    pub values: Vec<PlanValue>,
    text_bytes: usize,
}

impl FlatValues {
    pub fn too_large(&self) -> bool {
        self.values.len() > MAX_VALUES || self.text_bytes > MAX_TEXT
    }

    fn add(&mut self, name: &str, kind: ValueKind) -> &mut PlanValue {
        self.values.push(PlanValue {
            kind,
            name: name.to_owned(),
            text: String::new(),
            integer: 0,
            number: 0.0,
            size: 0,
        });
        self.values.last_mut().expect("just pushed")
    }

    /// Appends a value and everything in it; stops early once the bounds are passed.
    pub fn push(&mut self, name: &str, value: &Input) {
        if self.too_large() {
            return;
        }
        match value {
            Input::Null => {
                self.add(name, ValueKind::Null);
            }
            Input::Bool(flag) => self.add(name, ValueKind::Bool).integer = i64::from(*flag),
            Input::Int(number) => self.add(name, ValueKind::Int).integer = *number,
            Input::Float(number) => self.add(name, ValueKind::Float).number = *number,
            Input::Text(text) => {
                self.text_bytes += text.len();
                if !self.too_large() {
                    self.add(name, ValueKind::Text).text = text.clone();
                }
            }
            Input::List(items) => {
                self.add(name, ValueKind::List).size = items.len() as u32;
                items.iter().for_each(|item| self.push("", item));
            }
            Input::Object(members) => {
                self.add(name, ValueKind::Object).size = members.len() as u32;
                members.iter().for_each(|(member, item)| self.push(member, item));
            }
            Input::Custom(scalar, item) => {
                self.add(name, ValueKind::Custom).text = scalar.clone();
                self.push("", item);
            }
        }
    }
}
