//! Input schemas as tables: one table makes both the JSON Schema that is declared and the check that is made.

use serde_json::{Map, Value, json};

use loupe_core::json::{Kind, Node};

/// One argument of a tool.
#[derive(Debug)]
pub(crate) struct SchemaField {
    pub name: &'static str,
    pub takes: SchemaTakes,
    pub required: bool,
    pub about: &'static str,
}

/// What an argument takes.
#[derive(Debug)]
pub(crate) enum SchemaTakes {
    /// A string of at least this many characters.
    Text(u64),
    Flag,
    Integer,
    Number,
    /// −1 to 500, 50 if unset. The originals disagree on `number` and `integer`.
    PageSize(&'static str),
    /// One of these, the first if unset.
    Choice(&'static [&'static str]),
    /// An integer between two others.
    Between(i64, i64),
    /// A list of strings, at least one.
    Texts,
}

impl SchemaField {
    pub const fn required(name: &'static str, takes: SchemaTakes, about: &'static str) -> Self {
        Self {
            name,
            takes,
            required: true,
            about,
        }
    }

    pub const fn optional(name: &'static str, takes: SchemaTakes, about: &'static str) -> Self {
        Self {
            name,
            takes,
            required: false,
            about,
        }
    }

    fn schema(&self) -> Value {
        let mut schema = match self.takes {
            SchemaTakes::Text(0) => json!({"type": "string"}),
            SchemaTakes::Text(min) => json!({"type": "string", "minLength": min}),
            SchemaTakes::Flag => json!({"type": "boolean"}),
            SchemaTakes::Integer => json!({"type": "integer"}),
            SchemaTakes::Number => json!({"type": "number"}),
            SchemaTakes::PageSize(kind) => {
                json!({"type": kind, "minimum": -1, "maximum": 500, "default": 50})
            }
            SchemaTakes::Choice(values) => {
                json!({"type": "string", "enum": values, "default": values.first()})
            }
            SchemaTakes::Between(min, max) => {
                json!({"type": "integer", "minimum": min, "maximum": max})
            }
            SchemaTakes::Texts => {
                json!({"type": "array", "items": {"type": "string"}, "minItems": 1})
            }
        };
        if !self.about.is_empty() {
            schema["description"] = self.about.into();
        }
        schema
    }

    /// What is wrong with a value, or nothing.
    fn fault(&self, value: Node<'_>) -> Option<String> {
        let name = self.name;
        let (expected, fits) = match self.takes {
            SchemaTakes::Text(_) | SchemaTakes::Choice(_) => {
                ("string", value.kind() == Kind::String)
            }
            SchemaTakes::Texts => ("array", value.kind() == Kind::Array),
            SchemaTakes::Flag => ("boolean", value.kind() == Kind::Bool),
            SchemaTakes::Number | SchemaTakes::PageSize("number") => {
                ("number", value.kind() == Kind::Number)
            }
            SchemaTakes::Integer | SchemaTakes::PageSize(_) | SchemaTakes::Between(..) => {
                ("integer", integer(value).is_some())
            }
        };
        if !fits {
            return Some(format!(
                "{name} must be of type {expected}, received {}",
                value.kind().name()
            ));
        }
        match self.takes {
            SchemaTakes::Texts if value.is_empty() => Some(format!("{name} cannot be empty")),
            SchemaTakes::Texts if value.children().any(|item| item.kind() != Kind::String) => {
                Some(format!("{name} must hold strings only"))
            }
            SchemaTakes::Text(min) if (value.as_str()?.chars().count() as u64) < min => {
                Some(format!("{name} cannot be empty"))
            }
            SchemaTakes::Choice(values) if !values.contains(&&*value.as_str()?) => {
                Some(format!("{name} must be one of {}", values.join(", ")))
            }
            SchemaTakes::PageSize(_) => Self::outside(name, value, -1, 500),
            SchemaTakes::Between(min, max) => Self::outside(name, value, min, max),
            _ => None,
        }
    }

    fn outside(name: &str, value: Node<'_>, min: i64, max: i64) -> Option<String> {
        let number = value.as_f64()?;
        if number < min as f64 {
            Some(format!("{name} cannot be less than {min}"))
        } else if number > max as f64 {
            Some(format!("{name} cannot exceed {max}"))
        } else {
            None
        }
    }
}

/// A whole number, however it is spelled: `5`, `5.0`, `5e0`.
fn integer(value: Node<'_>) -> Option<i64> {
    value.as_i64().or_else(|| {
        value
            .as_f64()
            .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
            .map(|number| number as i64)
    })
}

/// The input schema of a tool. A closed one says its dialect and forbids unknown keys.
pub fn schema(fields: &[SchemaField], closed: bool) -> Value {
    let properties: Map<_, _> = fields
        .iter()
        .map(|field| (field.name.to_owned(), field.schema()))
        .collect();
    let required: Vec<_> = fields
        .iter()
        .filter(|field| field.required)
        .map(|field| field.name)
        .collect();
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    if closed {
        schema["additionalProperties"] = false.into();
        schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    }
    schema
}

/// One thing that is wrong with the arguments.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub field: String,
    pub message: String,
}

/// The arguments of one call.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a>(pub Option<Node<'a>>);

impl<'a> Args<'a> {
    fn get(self, name: &str) -> Option<Node<'a>> {
        self.0?.get(name)
    }

    pub fn text(self, name: &str) -> Option<String> {
        Some(self.get(name)?.as_str()?.into_owned())
    }

    /// The strings of a list.
    pub fn texts(self, name: &str) -> Option<Vec<String>> {
        Some(
            self.get(name)?
                .children()
                .filter_map(Node::as_str)
                .map(std::borrow::Cow::into_owned)
                .collect(),
        )
    }

    pub fn flag(self, name: &str) -> Option<bool> {
        self.get(name)?.as_bool()
    }

    pub fn integer(self, name: &str) -> Option<i64> {
        integer(self.get(name)?)
    }

    pub fn number(self, name: &str) -> Option<f64> {
        self.get(name)?.as_f64()
    }

    /// Everything that breaks the fields, in their order, then unknown keys where these are not allowed.
    pub fn check(self, fields: &[SchemaField], closed: bool) -> Vec<Violation> {
        let mut violations = Vec::new();
        let mut add = |field: &str, message| {
            violations.push(Violation {
                field: field.to_owned(),
                message,
            })
        };
        for field in fields {
            match self.get(field.name) {
                Some(value) => {
                    if let Some(message) = field.fault(value) {
                        add(field.name, message);
                    }
                }
                None if field.required => add(field.name, format!("{} is required", field.name)),
                None => {}
            }
        }
        if closed && let Some(object) = self.0 {
            for key in object.children().filter_map(Node::key) {
                if !fields.iter().any(|field| field.name == key) {
                    add(&key, format!("{key} is not a known parameter"));
                }
            }
        }
        violations
    }
}

#[cfg(test)]
mod tests {
    use loupe_core::json::Doc;

    use super::*;

    const FIELDS: &[SchemaField] = &[
        SchemaField::required("id", SchemaTakes::Integer, "Which one"),
        SchemaField::optional("term", SchemaTakes::Text(1), ""),
        SchemaField::optional("size", SchemaTakes::PageSize("integer"), ""),
        SchemaField::optional("loose", SchemaTakes::PageSize("number"), ""),
        SchemaField::optional("kind", SchemaTakes::Choice(&["json", "markdown"]), ""),
        SchemaField::optional("on", SchemaTakes::Flag, ""),
        SchemaField::optional("type", SchemaTakes::Between(1, 7), ""),
        SchemaField::optional("list", SchemaTakes::Texts, ""),
    ];

    #[test]
    fn the_schema_says_what_is_checked() {
        let schema = schema(&FIELDS[..2], true);
        assert_eq!(
            schema.to_string(),
            r#"{"type":"object","properties":{"id":{"type":"integer","description":"Which one"},"term":{"type":"string","minLength":1}},"required":["id"],"additionalProperties":false,"$schema":"http://json-schema.org/draft-07/schema#"}"#
        );
    }

    #[test]
    fn violations_are_named() {
        let cases = [
            (
                r#"{"id":7,"term":"a","size":-1,"loose":2.5,"kind":"json","on":true,"type":7}"#,
                "",
            ),
            (r#"{"id":7.0,"size":5e2}"#, ""),
            ("{}", "id is required"),
            (
                r#"{"id":"7"}"#,
                "id must be of type integer, received string",
            ),
            (
                r#"{"id":7.5}"#,
                "id must be of type integer, received number",
            ),
            (r#"{"id":1,"term":""}"#, "term cannot be empty"),
            (r#"{"id":1,"size":501}"#, "size cannot exceed 500"),
            (r#"{"id":1,"size":-2}"#, "size cannot be less than -1"),
            (
                r#"{"id":1,"kind":"xml"}"#,
                "kind must be one of json, markdown",
            ),
            (
                r#"{"id":1,"on":null}"#,
                "on must be of type boolean, received null",
            ),
            (r#"{"id":1,"list":["a","b"]}"#, ""),
            (
                r#"{"id":1,"list":"a"}"#,
                "list must be of type array, received string",
            ),
            (r#"{"id":1,"list":[]}"#, "list cannot be empty"),
            (r#"{"id":1,"list":["a",1]}"#, "list must hold strings only"),
            (
                r#"{"id":1,"type":8,"other":1}"#,
                "type cannot exceed 7|other is not a known parameter",
            ),
        ];
        for (arguments, expected) in cases {
            let doc = Doc::parse(arguments.into());
            let violations = Args(doc.root()).check(FIELDS, true);
            let messages: Vec<_> = violations
                .into_iter()
                .map(|violation| violation.message)
                .collect();
            assert_eq!(messages.join("|"), expected, "{arguments}");
        }
        assert_eq!(Args(None).check(FIELDS, false).len(), 1);
    }
}
