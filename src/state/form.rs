//! The argument form of one tool: fields from its schema, always in step with the JSON text that will be sent.
//!
//! The text is the truth: it is what leaves, byte for byte. Editing a field rewrites the text from the fields (and the
//! members no field knows, as they stood); editing the text reads the fields anew.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::schema_check::CheckProgress;
use loupe_analysis::queries::arguments;
use loupe_core::json::{Doc, Kind, write};

mod complete;
mod schema;
mod value;

pub use complete::{Completion, complete};
pub use schema::{Branch, Choice, FieldKind, FieldSchema, FieldSchemas, Property, SchemaId, plain};
pub use value::{Members, Value, item_schema};

/// How the arguments are edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormMode {
    #[default]
    Form,
    Json,
}

/// The arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    /// The input schema that it was made for.
    schema: Option<Bytes>,
    pub mode: FormMode,
    pub schemas: FieldSchemas,
    /// The values of the fields, which are the properties of the schema, and the members that no field knows.
    pub members: Members,
    /// The arguments as they will be sent.
    pub text: Arc<str>,
    /// Why the text is no JSON object: message, line and column from 1.
    pub syntax: Option<(String, usize, usize)>,
    /// What the schema says against the arguments: JSON Pointer and message.
    pub problems: Vec<(String, String)>,
    /// Why the arguments could not be checked; they can be sent.
    pub unchecked: Option<String>,
    /// Values for `{{name}}` in the text.
    variables: Arc<BTreeMap<String, String>>,
    /// Where the check against the schema is.
    pub(super) progress: CheckProgress,
    /// How often a call was refused for the arguments; before that nobody is blamed for what is not typed yet.
    pub tries: u32,
}

impl Form {
    /// An empty form for a tool's input schema.
    pub fn new(schema: Option<&Bytes>) -> Self {
        let doc = Doc::parse(schema.cloned().unwrap_or_default());
        let schemas = FieldSchemas::read(doc.root());
        let mut form = Self {
            schema: schema.cloned(),
            mode: FormMode::Form,
            members: Members {
                named: vec![Value::Unset; schemas.root().len()],
                others: Vec::new(),
            },
            schemas,
            text: Arc::from("{}"),
            syntax: None,
            problems: Vec::new(),
            unchecked: None,
            variables: Arc::default(),
            progress: CheckProgress::default(),
            tries: 0,
        };
        form.check();
        form
    }

    /// Makes the form anew where the tool has another input schema now; what was typed stays.
    pub(super) fn follow(&mut self, schema: Option<&Bytes>) {
        if self.schema.as_ref() == schema {
            return;
        }
        let mut form = Self {
            mode: self.mode,
            variables: Arc::clone(&self.variables),
            ..Self::new(schema)
        };
        form.set_text(&self.text);
        *self = form;
    }

    /// The properties of the arguments with their values.
    pub fn fields(&self) -> impl Iterator<Item = (&Property, &Value)> {
        self.schemas.root().iter().zip(&self.members.named)
    }

    /// The names of required properties that have no value yet.
    pub fn missing(&self) -> impl Iterator<Item = &str> {
        self.fields()
            .filter(|(property, value)| property.required && **value == Value::Unset)
            .map(|(property, _)| property.name.as_str())
    }

    /// The text as it is sent: with the value of each variable that is known instead of its `{{name}}`.
    pub fn resolved_text(&self) -> Cow<'_, str> {
        let mut sent = Cow::Borrowed(&*self.text);
        for (name, value) in &*self.variables {
            let mark = format!("{{{{{name}}}}}");
            if sent.contains(&mark) {
                // Where the text is JSON, a mark can only are in a string.
                let quoted = write::string(value);
                sent = Cow::Owned(sent.replace(&mark, &quoted[1..quoted.len() - 1]));
            }
        }
        sent
    }

    /// Other variables, from here on.
    pub(super) fn use_variables(&mut self, variables: Arc<BTreeMap<String, String>>) {
        self.variables = variables;
        self.check();
    }

    /// Changes one field, and the text with it.
    pub fn set_field(&mut self, index: usize, value: Value) {
        let Some(field) = self.members.named.get_mut(index) else {
            return;
        };
        *field = value;
        self.text = self.written().into();
        self.check();
    }

    /// Puts a text into the field at a JSON Pointer; `false` where there is none any more.
    pub fn fill(&mut self, pointer: &str, text: String) -> bool {
        let Some(field) = self
            .members
            .at_mut(pointer, &self.schemas, self.schemas.root(), None)
        else {
            return false;
        };
        *field = Value::Text(text);
        self.text = self.written().into();
        self.check();
        true
    }

    /// Changes the text, and the fields with it.
    pub fn set_text(&mut self, text: &str) {
        self.text = text.into();
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        if let Some(root) = doc
            .root()
            .filter(|root| doc.is_json() && root.kind() == Kind::Object)
        {
            self.members = Members::read(root, &self.schemas, self.schemas.root(), None);
        }
        self.check();
    }

    /// The arguments that the schema's required members begin with, spread over lines, for who writes JSON.
    pub fn skeleton(&self) -> String {
        let first = |property: &Property| match property.required {
            true => Value::first(&self.schemas, property.schema),
            false => Value::Unset,
        };
        let members = Members {
            named: self.schemas.root().iter().map(first).collect(),
            others: Vec::new(),
        };
        let text = members.json(&self.schemas, self.schemas.root(), None);
        let value: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        value
            .and_then(|value| serde_json::to_string_pretty(&value).ok())
            .unwrap_or(text)
    }

    /// Changes how the arguments are edited. JSON is spread over lines, and begins with what the schema requires.
    pub fn set_mode(&mut self, mode: FormMode) {
        self.mode = mode;
        if mode != FormMode::Json {
            return;
        }
        if self.text.trim() == "{}" {
            self.set_text(&self.skeleton());
        } else if let Some(text) = pretty(&self.text) {
            self.set_text(&text);
        }
    }

    /// What is said against the value at a place, where it is time to say it; of a value that shows no places of its own, also
    /// what is said about them.
    pub fn problem_at(&self, pointer: &str, value: &Value, is_whole: bool) -> Option<&str> {
        if *value == Value::Unset && self.tries == 0 {
            return None;
        }
        let is_about = |at: &str| {
            at == pointer
                || (is_whole
                    && at
                        .strip_prefix(pointer)
                        .is_some_and(|rest| rest.starts_with('/')))
        };
        let problem = self
            .problems
            .iter()
            .find(|(at, _)| is_about(at))
            .map(|(_, message)| message.as_str());
        problem.or_else(|| {
            (matches!(value, Value::Json(_)) && value.is_unfinished()).then_some("not a JSON value")
        })
    }

    /// What there is to say that no field has not been touched for.
    pub fn has_problem(&self) -> bool {
        let is_untouched = |pointer: &str| {
            self.tries == 0
                && self.fields().any(|(property, value)| {
                    *value == Value::Unset && pointer == pointer_of("", &property.name)
                })
        };
        self.problems
            .iter()
            .any(|(pointer, _)| !is_untouched(pointer))
            || self.members.is_unfinished()
    }

    /// Whether the text as it is has been checked.
    pub fn is_checked(&self) -> bool {
        self.progress.is_done()
    }

    /// The input schema that it was made for.
    pub fn schema(&self) -> Option<&Bytes> {
        self.schema.as_ref()
    }

    /// Looks whether the text is JSON, and wants it checked against the schema.
    fn check(&mut self) {
        self.syntax = arguments::object(&self.resolved_text()).err();
        if self.syntax.is_some() {
            (self.problems, self.unchecked) = (Vec::new(), None);
        } else {
            self.progress.want();
        }
    }

    /// The form as it is once the check that it wants is made.
    #[cfg(test)]
    pub(super) fn checked(&self) -> Self {
        let mut form = self.clone();
        if let Ok(checked) = arguments::check(self.schema(), &self.resolved_text()) {
            (form.problems, form.unchecked) = (checked.problems, checked.unchecked);
        }
        form
    }

    /// The arguments from the fields, and the members that no field knows.
    fn written(&self) -> String {
        self.members.json(&self.schemas, self.schemas.root(), None)
    }
}

/// Longer arguments are shown as they are.
const PRETTY_BYTES: usize = 256 << 10;

/// JSON on one line, spread over lines; `None` where it is no JSON, long, or spread already.
fn pretty(text: &str) -> Option<String> {
    if text.len() > PRETTY_BYTES || text.contains('\n') {
        return None;
    }
    let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
    doc.root()
        .filter(|_| doc.is_json())
        .map(loupe_core::format::pretty)
}

/// The JSON Pointer of a member.
pub fn pointer_of(parent: &str, name: &str) -> String {
    format!("{parent}/{}", name.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
