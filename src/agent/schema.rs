//! The parts of the tools' schemas that several of them share.

use serde_json::{Map, Value, json};

use super::AgentOptions;
use super::tool_call::{LIMIT, MOST};

/// An object with these properties and no others.
pub fn object(
    properties: impl IntoIterator<Item = (&'static str, Value)>,
    required: &[&str],
) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub fn text(about: &str) -> Value {
    json!({"type": "string", "minLength": 1, "description": about})
}

pub fn answer() -> Value {
    text(
        "A saved answer: the path of a capture folder or file, or what `call` gave, such as call:1",
    )
}

pub fn nth() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 100_000, "description": "Which answer of a file that holds several, from 1"})
}

/// What one model reads.
pub fn sent_as() -> Value {
    text("What one model reads: text, data, both, or a host's id; left out, what most hosts show")
}

/// `limit` and `cursor`.
pub fn page(entries: &str) -> [(&'static str, Value); 2] {
    let about = format!("How many {entries} come at once");
    [
        (
            "limit",
            json!({"type": "integer", "minimum": 1, "maximum": MOST, "default": LIMIT, "description": about}),
        ),
        (
            "cursor",
            text("The nextCursor of the page before; left out for the first"),
        ),
    ]
}

/// The servers that may be reached.
pub fn source(options: &AgentOptions, about: &str) -> Value {
    let names: Vec<_> = options
        .sources
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    json!({"type": "string", "enum": names, "description": about})
}

pub fn arguments(about: &str) -> Value {
    json!({"type": "object", "description": about})
}

/// Of an answer.
pub fn list(about: &str, of: Value) -> Value {
    let mut list = json!({"type": "array", "description": about});
    list["items"] = of;
    list
}

/// Of an answer: an object of which these members are always there.
pub fn output(
    properties: impl IntoIterator<Item = (&'static str, Value)>,
    required: &[&str],
) -> Value {
    let properties: Map<String, Value> = properties
        .into_iter()
        .map(|(name, schema)| (name.to_owned(), schema))
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

pub fn string() -> Value {
    json!({"type": "string"})
}

pub fn described(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

pub fn integer(about: &str) -> Value {
    json!({"type": "integer", "description": about})
}

/// `inAll` and `nextCursor`.
pub fn paged(entries: &str) -> [(&'static str, Value); 2] {
    [
        ("inAll", integer(&format!("{entries} in all"))),
        (
            "nextCursor",
            described("Leads to the next page; absent on the last"),
        ),
    ]
}
