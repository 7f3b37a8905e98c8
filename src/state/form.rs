//! The argument form of one tool: fields from its schema, always in step with the JSON text that will be sent.
//!
//! The text is the truth: it is what leaves, byte for byte. Editing a field rewrites the text from the fields (and the
//! members no field knows, as they stood); editing the text reads the fields anew.

use std::sync::Arc;

/// How the arguments are edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormMode {
    #[default]
    Form,
    Json,
}

/// What kind of control a field is.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    String { multiline: bool },
    /// Limits as the schema spells them.
    Number { integer: bool, minimum: Option<String>, maximum: Option<String> },
    Boolean,
    /// The choices as JSON text.
    Enum(Vec<String>),
    /// A list of these.
    Array(Box<FieldKind>),
    /// Objects, unions and whatever else: edited as JSON.
    Json,
}

/// The value of a field. Unset, null and empty differ.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Unset,
    Null,
    /// The text of a string field.
    Text(String),
    /// JSON text as typed: numbers, booleans, enum choices, objects. May be unfinished.
    Json(String),
    /// Items of an array field.
    Items(Vec<Value>),
}

/// One property of the input schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub name: String,
    pub kind: FieldKind,
    pub required: bool,
    pub nullable: bool,
    /// The schema's default as JSON text; shown, never sent by itself.
    pub default: Option<String>,
    pub description: Option<String>,
    pub value: Value,
    /// What the schema says against the value, or why it is not JSON.
    pub problem: Option<String>,
}

/// The arguments of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    pub mode: FormMode,
    pub fields: Vec<Field>,
    /// The arguments as they will be sent.
    pub text: Arc<str>,
    /// Why the text is no JSON object: message, line and column from 1.
    pub syntax: Option<(String, usize, usize)>,
    /// What the schema says against the arguments as a whole: JSON Pointer and message.
    pub problems: Vec<(String, String)>,
}
