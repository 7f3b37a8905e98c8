//! The argument form of one tool: fields from its schema, always in step with the JSON text that will be sent.
//!
//! The text is the truth: it is what leaves, byte for byte. Editing a field rewrites the text from the fields (and the
//! members no field knows, as they stood); editing the text reads the fields anew.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::analysis::arguments;
use crate::analysis::arguments::ArgumentCheck;
use crate::json::{Doc, Kind, Node, write};

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
    String {
        multiline: bool,
    },
    /// Limits as the schema spells them.
    Number {
        integer: bool,
        minimum: Option<String>,
        maximum: Option<String>,
    },
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
    /// Members that no field knows: key and value as JSON, from the last text that was an object.
    pub(crate) others: Vec<(String, String)>,
    /// Why the text is no JSON object: message, line and column from 1.
    pub syntax: Option<(String, usize, usize)>,
    /// What the schema says against the arguments as a whole: JSON Pointer and message.
    pub problems: Vec<(String, String)>,
    /// Why the arguments could not be checked; they can be sent.
    pub unchecked: Option<String>,
    /// Values for `{{name}}` in the text.
    variables: Arc<BTreeMap<String, String>>,
    /// How often a call was refused for the arguments; before that nobody is blamed for what is not typed yet.
    pub tries: u32,
}

impl Form {
    /// An empty form for a tool's input schema.
    pub fn new(schema: Option<&Bytes>) -> Self {
        let doc = Doc::parse(schema.cloned().unwrap_or_default());
        let mut form = Self {
            mode: FormMode::Form,
            fields: fields(&doc),
            text: Arc::from("{}"),
            others: Vec::new(),
            syntax: None,
            problems: Vec::new(),
            unchecked: None,
            variables: Arc::default(),
            tries: 0,
        };
        form.check(schema);
        form
    }

    /// The text as it is sent: with the value of each variable that is known in place of its `{{name}}`.
    pub fn sent(&self) -> Cow<'_, str> {
        let mut sent = Cow::Borrowed(&*self.text);
        for (name, value) in &*self.variables {
            let mark = format!("{{{{{name}}}}}");
            if sent.contains(&mark) {
                // Where the text is JSON, a mark can only stand in a string.
                let quoted = write::string(value);
                sent = Cow::Owned(sent.replace(&mark, &quoted[1..quoted.len() - 1]));
            }
        }
        sent
    }

    /// Other variables, from here on.
    pub(super) fn use_variables(&mut self, variables: Arc<BTreeMap<String, String>>, schema: Option<&Bytes>) {
        self.variables = variables;
        self.check(schema);
    }

    /// Changes one field, and the text with it.
    pub fn set_field(&mut self, index: usize, value: Value, schema: Option<&Bytes>) {
        let Some(field) = self.fields.get_mut(index) else { return };
        field.value = value;
        self.text = self.written().into();
        self.check(schema);
    }

    /// Changes the text, and the fields with it.
    pub fn set_text(&mut self, text: &str, schema: Option<&Bytes>) {
        self.text = text.into();
        let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
        if let Some(root) = doc.root().filter(|root| doc.is_json() && root.kind() == Kind::Object) {
            for field in &mut self.fields {
                field.value = root.get(&field.name).map_or(Value::Unset, |node| read(node, &field.kind));
            }
            let fields = &self.fields;
            let is_other = |key: &str| !fields.iter().any(|field| field.name == key);
            let others = root.children().map(|member| (member.key().unwrap_or_default(), member));
            let others = others.filter(|(key, _)| is_other(key));
            self.others = others.map(|(key, member)| (write::string(&key), member.raw_text().into_owned())).collect();
        }
        self.check(schema);
    }

    /// What is said against a field, where it is time to say it.
    pub fn problem_of<'a>(&self, field: &'a Field) -> Option<&'a str> {
        let is_untouched = field.required && field.value == Value::Unset && self.tries == 0;
        field.problem.as_deref().filter(|_| !is_untouched)
    }

    /// Whether it may be sent without saying "anyway".
    pub fn is_valid(&self) -> bool {
        self.syntax.is_none() && self.problems.is_empty()
    }

    fn check(&mut self, schema: Option<&Bytes>) {
        self.syntax = None;
        let mut checked = ArgumentCheck::default();
        match arguments::check(schema, &self.sent()) {
            Ok(found) => checked = found,
            Err(syntax) => self.syntax = Some(syntax),
        }
        (self.problems, self.unchecked) = (checked.problems, checked.unchecked);
        for field in &mut self.fields {
            let pointer = format!("/{}", field.name.replace('~', "~0").replace('/', "~1"));
            let below = format!("{pointer}/");
            field.problem = self
                .problems
                .iter()
                .find(|(at, _)| *at == pointer || at.starts_with(&below))
                .map(|(_, message)| message.clone())
                .or_else(|| unfinished(&field.value));
        }
    }

    /// The arguments from the fields, and the members that no field knows.
    fn written(&self) -> String {
        let mut members: Vec<(String, String)> =
            self.fields.iter().filter_map(|field| Some((write::string(&field.name), json(&field.value)?))).collect();
        members.extend(self.others.iter().cloned());
        let members: Vec<_> = members.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
        format!("{{{}}}", members.join(","))
    }
}

/// Why a value typed as JSON is none.
fn unfinished(value: &Value) -> Option<String> {
    match value {
        Value::Json(text) if !text.trim().is_empty() => {
            let doc = Doc::parse(Bytes::copy_from_slice(text.as_bytes()));
            (!doc.is_json()).then(|| "not a JSON value".to_owned())
        }
        Value::Items(items) => items.iter().find_map(unfinished),
        _ => None,
    }
}

/// The value as JSON text; `None` where it is unset.
fn json(value: &Value) -> Option<String> {
    match value {
        Value::Unset => None,
        Value::Null => Some("null".into()),
        Value::Text(text) => Some(write::string(text)),
        Value::Json(text) => Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned),
        Value::Items(items) => Some(format!("[{}]", items.iter().filter_map(json).collect::<Vec<_>>().join(","))),
    }
}

fn read(node: Node<'_>, kind: &FieldKind) -> Value {
    match (kind, node.kind()) {
        (_, Kind::Null) => Value::Null,
        (FieldKind::String { .. }, Kind::String) => Value::Text(node.as_str().unwrap_or_default().into_owned()),
        (FieldKind::Array(item), Kind::Array) => Value::Items(node.children().map(|child| read(child, item)).collect()),
        _ => Value::Json(node.raw_text().into_owned()),
    }
}

fn fields(schema: &Doc) -> Vec<Field> {
    let Some(root) = schema.root() else { return Vec::new() };
    let required: Vec<String> = root
        .get("required")
        .map(|names| names.children().filter_map(|name| Some(name.as_str()?.into_owned())).collect())
        .unwrap_or_default();
    let Some(properties) = root.get("properties") else { return Vec::new() };
    properties
        .children()
        .map(|property| {
            let name = property.key().unwrap_or_default().into_owned();
            let (kind, nullable) = kind(property, &name);
            Field {
                kind,
                nullable,
                required: required.contains(&name),
                default: property.get("default").map(|node| node.raw_text().into_owned()),
                description: property.get("description").and_then(|node| node.as_str().map(|text| text.into_owned())),
                value: Value::Unset,
                problem: None,
                name,
            }
        })
        .collect()
}

/// The control for a property, and whether null is allowed.
fn kind(property: Node<'_>, name: &str) -> (FieldKind, bool) {
    if let Some(choices) = property.get("enum").filter(|choices| choices.kind() == Kind::Array) {
        let nullable = choices.children().any(Node::is_null);
        let choices =
            choices.children().filter(|choice| !choice.is_null()).map(|choice| choice.raw_text().into_owned()).collect();
        return (FieldKind::Enum(choices), nullable);
    }
    let types: Vec<String> = match property.get("type") {
        Some(node) if node.kind() == Kind::Array => {
            node.children().filter_map(|name| Some(name.as_str()?.into_owned())).collect()
        }
        Some(node) => node.as_str().map(|name| name.into_owned()).into_iter().collect(),
        None => Vec::new(),
    };
    let mut nullable = types.iter().any(|name| name == "null");
    let named: Vec<&str> = types.iter().map(String::as_str).filter(|name| *name != "null").collect();
    let text = |member: &str| property.get(member).and_then(|node| node.as_number().map(str::to_owned));
    let kind = match named[..] {
        ["string"] => FieldKind::String { multiline: is_multiline(property, name) },
        ["boolean"] => FieldKind::Boolean,
        ["integer"] => FieldKind::Number { integer: true, minimum: text("minimum"), maximum: text("maximum") },
        ["number"] => FieldKind::Number { integer: false, minimum: text("minimum"), maximum: text("maximum") },
        ["array"] => match property.get("items").map(|items| kind(items, name).0) {
            Some(item @ (FieldKind::String { .. } | FieldKind::Number { .. } | FieldKind::Boolean | FieldKind::Enum(_))) => {
                FieldKind::Array(Box::new(item))
            }
            _ => FieldKind::Json,
        },
        // `anyOf: [T, null]`, as generators write an optional T.
        [] => {
            let Some(branches) = property.get("anyOf").or_else(|| property.get("oneOf")) else { return (FieldKind::Json, false) };
            let is_null = |branch: &Node<'_>| branch.get("type").and_then(|node| node.as_str()).as_deref() == Some("null");
            nullable = branches.children().any(|branch| is_null(&branch));
            let mut others = branches.children().filter(|branch| !is_null(branch));
            match (others.next(), others.next()) {
                (Some(only), None) => return (kind(only, name).0, nullable),
                _ => FieldKind::Json,
            }
        }
        _ => FieldKind::Json,
    };
    (kind, nullable)
}

/// Texts that people write in paragraphs get more than one line.
fn is_multiline(property: Node<'_>, name: &str) -> bool {
    const NAMES: &[&str] = &["body", "content", "description", "message", "note", "notes", "prompt", "text", "about_me", "about"];
    property.get("maxLength").and_then(Node::as_i64).is_some_and(|limit| limit >= 500)
        || NAMES.contains(&name.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = r#"{"type":"object","required":["id"],"properties":{
        "id":{"type":"integer","minimum":-1,"maximum":500,"default":50},
        "term":{"type":["string","null"]},"tags":{"type":"array","items":{"type":"string"}},
        "mode":{"enum":["json","markdown"]},"flag":{"anyOf":[{"type":"boolean"},{"type":"null"}]},"more":{"type":"object"}}}"#;

    fn form() -> (Form, Bytes) {
        let schema = Bytes::from_static(SCHEMA.as_bytes());
        (Form::new(Some(&schema)), schema)
    }

    #[test]
    fn what_is_half_typed_costs_nothing_else() {
        let (mut form, schema) = form();
        form.set_text(r#"{"id":5,"beyond":{"a":[1.10]}}"#, Some(&schema));
        form.set_field(0, Value::Json("-".into()), Some(&schema));
        assert!(form.syntax.is_some() && form.fields[0].problem.is_some());
        form.set_field(0, Value::Json("-1".into()), Some(&schema));
        assert_eq!(&*form.text, r#"{"id":-1,"beyond":{"a":[1.10]}}"#);
        assert!(form.syntax.is_none());
    }

    #[test]
    fn fields_come_from_the_schema() {
        let (form, _) = form();
        let kinds: Vec<_> = form.fields.iter().map(|field| (&field.kind, field.nullable, field.required)).collect();
        assert_eq!(
            kinds,
            [
                (&FieldKind::Number { integer: true, minimum: Some("-1".into()), maximum: Some("500".into()) }, false, true),
                (&FieldKind::String { multiline: false }, true, false),
                (&FieldKind::Array(Box::new(FieldKind::String { multiline: false })), false, false),
                (&FieldKind::Enum(vec!["\"json\"".into(), "\"markdown\"".into()]), false, false),
                (&FieldKind::Boolean, true, false),
                (&FieldKind::Json, false, false),
            ]
        );
        assert_eq!(form.fields[0].default.as_deref(), Some("50"));
    }

    #[test]
    fn unset_null_and_empty_differ_and_spelling_stays() {
        let (mut form, schema) = form();
        form.set_field(0, Value::Json("1e3".into()), Some(&schema));
        assert_eq!(&*form.text, r#"{"id":1e3}"#);
        form.set_field(1, Value::Text(String::new()), Some(&schema));
        assert_eq!(&*form.text, r#"{"id":1e3,"term":""}"#);
        form.set_field(1, Value::Null, Some(&schema));
        form.set_field(2, Value::Items(vec![Value::Text("a".into())]), Some(&schema));
        assert_eq!(&*form.text, r#"{"id":1e3,"term":null,"tags":["a"]}"#);
    }

    #[test]
    fn text_and_fields_stay_in_step() {
        let (mut form, schema) = form();
        form.set_text(r#"{ "other": 1.10, "id": 7, "term": "x" }"#, Some(&schema));
        assert_eq!(form.fields[0].value, Value::Json("7".into()));
        assert_eq!(form.fields[1].value, Value::Text("x".into()));
        form.set_field(1, Value::Unset, Some(&schema));
        assert_eq!(&*form.text, r#"{"id":7,"other":1.10}"#);
    }

    #[test]
    fn what_breaks_the_schema_stands_at_the_field() {
        let (mut form, schema) = form();
        assert!(form.fields[0].problem.is_some(), "required and unset: {:?}", form.problems);
        assert_eq!(form.problem_of(&form.fields[0]), None);
        form.tries = 1;
        assert!(form.problem_of(&form.fields[0]).is_some());
        form.set_field(0, Value::Json("501".into()), Some(&schema));
        assert!(form.fields[0].problem.is_some() && !form.is_valid());
        form.set_field(0, Value::Json("5".into()), Some(&schema));
        assert!(form.is_valid(), "{:?}", form.problems);
        // What cannot be checked can be sent.
        let unchecked = Form::new(Some(&Bytes::from_static(b"null")));
        assert!(unchecked.is_valid() && unchecked.unchecked.is_some_and(|why| why.contains("null")));
        form.set_text("{\n  \"id\": }", Some(&schema));
        assert_eq!(form.syntax.as_ref().map(|(_, line, column)| (*line, *column)), Some((2, 9)));
        assert_eq!(form.fields[0].value, Value::Json("5".into()), "kept while the text is unfinished");
    }
}
