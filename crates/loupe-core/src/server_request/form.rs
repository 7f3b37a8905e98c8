//! The fields of an elicitation's form, read from its flat schema in every spelling of the revisions.
//!
//! A value is kept as the JSON text that goes out. What a schema says that cannot be read becomes a field typed as JSON,
//! never a missing one.

use crate::json::{Doc, Kind, Node, write};

/// One thing to fill in.
#[derive(Clone, Debug, PartialEq)]
pub struct ElicitationField {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub kind: ElicitationKind,
    pub required: bool,
    /// As JSON text.
    pub default: Option<String>,
    /// It asks for what nobody should keep.
    pub is_secret: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationKind {
    /// `format` is email, uri, date, date-time or whatever the server says.
    Text {
        format: Option<String>,
        multiline: bool,
    },
    /// Limits as they are spelt.
    Number {
        integer: bool,
        minimum: Option<String>,
        maximum: Option<String>,
    },
    Boolean,
    One(Vec<Choice>),
    /// Any number of them, within limits.
    Many {
        choices: Vec<Choice>,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// Nothing that the specification allows; typed as JSON.
    Json,
}

/// What may be chosen: the value as JSON text, and what people are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub value: String,
    pub title: String,
}

/// The fields of a `requestedSchema`, in order.
pub fn fields(schema: Node<'_>) -> Vec<ElicitationField> {
    let required: Vec<String> = schema
        .get("required")
        .map(|names| {
            names
                .children()
                .filter_map(|name| Some(name.as_str()?.into_owned()))
                .collect()
        })
        .unwrap_or_default();
    let Some(properties) = schema
        .get("properties")
        .filter(|properties| properties.kind() == Kind::Object)
    else {
        return Vec::new();
    };
    properties
        .children()
        .map(|property| {
            let text = |name: &str| {
                property
                    .get(name)
                    .and_then(Node::as_str)
                    .map(|text| text.into_owned())
            };
            let name = property.key().unwrap_or_default().into_owned();
            let (title, description, format) = (text("title"), text("description"), text("format"));
            let is_secret = super::secret::is_asked(
                &name,
                title.as_deref(),
                description.as_deref(),
                format.as_deref(),
            );
            ElicitationField {
                kind: kind(property, format),
                required: required.contains(&name),
                default: property
                    .get("default")
                    .map(|node| node.raw_text().into_owned()),
                name,
                title,
                description,
                is_secret,
            }
        })
        .collect()
}

fn kind(property: Node<'_>, format: Option<String>) -> ElicitationKind {
    if let Some(choices) = choices(property) {
        return ElicitationKind::One(choices);
    }
    let number = |name: &str| {
        property
            .get(name)
            .and_then(|node| node.as_number().map(str::to_owned))
    };
    let count = |name: &str| {
        property
            .get(name)
            .and_then(Node::as_i64)
            .and_then(|count| u64::try_from(count).ok())
    };
    match property.get("type").and_then(Node::as_str).as_deref() {
        Some("string") => ElicitationKind::Text {
            multiline: count("maxLength").is_some_and(|limit| limit >= 500),
            format,
        },
        Some("integer") => ElicitationKind::Number {
            integer: true,
            minimum: number("minimum"),
            maximum: number("maximum"),
        },
        Some("number") => ElicitationKind::Number {
            integer: false,
            minimum: number("minimum"),
            maximum: number("maximum"),
        },
        Some("boolean") => ElicitationKind::Boolean,
        Some("array") => match property.get("items").and_then(choices) {
            Some(choices) => ElicitationKind::Many {
                choices,
                min: count("minItems"),
                max: count("maxItems"),
            },
            None => ElicitationKind::Json,
        },
        _ => ElicitationKind::Json,
    }
}

/// `enum` with or without `enumNames`, or `oneOf` / `anyOf` of constants with titles.
fn choices(node: Node<'_>) -> Option<Vec<Choice>> {
    let list = |name: &str| node.get(name).filter(|list| list.kind() == Kind::Array);
    if let Some(values) = list("enum") {
        let names: Vec<String> = list("enumNames")
            .map(|names| {
                names
                    .children()
                    .map(|name| name.as_str().unwrap_or_default().into_owned())
                    .collect()
            })
            .unwrap_or_default();
        let choice = |(at, value): (usize, Node<'_>)| Choice {
            value: value.raw_text().into_owned(),
            title: names
                .get(at)
                .filter(|name| !name.is_empty())
                .cloned()
                .unwrap_or_else(|| plain(value)),
        };
        return Some(values.children().enumerate().map(choice).collect());
    }
    let options = list("oneOf").or_else(|| list("anyOf"))?;
    options
        .children()
        .map(|option| {
            let value = option.get("const")?;
            let title = option
                .get("title")
                .and_then(Node::as_str)
                .map(|title| title.into_owned());
            Some(Choice {
                value: value.raw_text().into_owned(),
                title: title.unwrap_or_else(|| plain(value)),
            })
        })
        .collect()
}

fn plain(value: Node<'_>) -> String {
    value
        .as_str()
        .map_or_else(|| value.raw_text().into_owned(), |text| text.into_owned())
}

/// The content of a form: `given` (a JSON object), and the defaults of what it leaves out.
pub fn content(fields: &[ElicitationField], given: &str) -> String {
    let doc = Doc::parse(bytes::Bytes::copy_from_slice(given.as_bytes()));
    let root = doc.root().filter(|root| root.kind() == Kind::Object);
    let mut members: Vec<String> = Vec::new();
    for field in fields {
        let value = root
            .and_then(|root| root.get(&field.name))
            .map(|node| node.raw_text().into_owned());
        if let Some(value) = value.or_else(|| field.default.clone()) {
            members.push(format!("{}:{value}", write::string(&field.name)));
        }
    }
    // What the schema does not know was said by the user, and is checked like the rest.
    for member in root.map(Node::children).into_iter().flatten() {
        let key = member.key().unwrap_or_default();
        if !fields.iter().any(|field| field.name == key) {
            members.push(format!("{}:{}", write::string(&key), member.raw_text()));
        }
    }
    format!("{{{}}}", members.join(","))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const SCHEMA: &str = r#"{"type":"object","required":["name"],"properties":{
        "name":{"type":"string","title":"Name","default":"A\u0042"},
        "mail":{"type":"string","format":"email"},
        "age":{"type":"integer","minimum":0,"maximum":1e2,"default":7},
        "size":{"type":"number"},
        "ok":{"type":"boolean","default":true},
        "one":{"type":"string","enum":["a","b"]},
        "old":{"type":"string","enum":["a","b"],"enumNames":["First","Second"]},
        "titled":{"type":"string","oneOf":[{"const":"x","title":"The X"}]},
        "many":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["p","q"]}},
        "manyTitled":{"type":"array","items":{"anyOf":[{"const":"p","title":"P!"}]}},
        "odd":{"type":"object"}, "apiToken":{"type":"string"}, "none":7}}"#;

    fn read() -> Vec<ElicitationField> {
        let doc = Doc::parse(Bytes::from_static(SCHEMA.as_bytes()));
        fields(doc.root().unwrap())
    }

    #[test]
    fn every_kind_of_field_is_read() {
        let fields = read();
        let choice = |value: &str, title: &str| Choice {
            value: value.into(),
            title: title.into(),
        };
        let kinds: Vec<_> = fields.iter().map(|field| field.kind.clone()).collect();
        assert_eq!(
            kinds,
            [
                ElicitationKind::Text {
                    format: None,
                    multiline: false
                },
                ElicitationKind::Text {
                    format: Some("email".into()),
                    multiline: false
                },
                ElicitationKind::Number {
                    integer: true,
                    minimum: Some("0".into()),
                    maximum: Some("1e2".into())
                },
                ElicitationKind::Number {
                    integer: false,
                    minimum: None,
                    maximum: None
                },
                ElicitationKind::Boolean,
                ElicitationKind::One(vec![choice("\"a\"", "a"), choice("\"b\"", "b")]),
                ElicitationKind::One(vec![choice("\"a\"", "First"), choice("\"b\"", "Second")]),
                ElicitationKind::One(vec![choice("\"x\"", "The X")]),
                ElicitationKind::Many {
                    choices: vec![choice("\"p\"", "p"), choice("\"q\"", "q")],
                    min: Some(1),
                    max: Some(2)
                },
                ElicitationKind::Many {
                    choices: vec![choice("\"p\"", "P!")],
                    min: None,
                    max: None
                },
                ElicitationKind::Json,
                ElicitationKind::Text {
                    format: None,
                    multiline: false
                },
                ElicitationKind::Json,
            ]
        );
        assert!(fields[0].required && !fields[1].required);
        assert_eq!(
            fields
                .iter()
                .filter(|field| field.is_secret)
                .map(|field| field.name.as_str())
                .collect::<Vec<_>>(),
            ["apiToken"]
        );
    }

    #[test]
    fn defaults_fill_what_is_left_out() {
        let fields = read();
        assert_eq!(
            content(&fields, "{}"),
            r#"{"name":"A\u0042","age":7,"ok":true}"#
        );
        assert_eq!(
            content(&fields, r#"{"size":1.10,"age":8,"more":[]}"#),
            r#"{"name":"A\u0042","age":8,"size":1.10,"ok":true,"more":[]}"#
        );
    }
}
