//! The parts of the tools' schemas that several of them share.

use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaSettings};
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

pub fn result() -> Value {
    text(
        "A saved result: the path of a capture folder or file, or what `call` gave, such as call:1",
    )
}

pub fn nth() -> Value {
    json!({"type": "integer", "minimum": 1, "maximum": 100_000, "description": "Which result of a file that holds several, from 1"})
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

/// An array of these.
pub fn list(about: &str, of: Value) -> Value {
    let mut list = json!({"type": "array", "description": about});
    list["items"] = of;
    list
}

/// The schema of what a tool gives, from its type: every part inline, without what says nothing to a model.
pub fn output<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
        settings.contract = Contract::Serialize;
    });
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    simplify(&mut schema);
    // Of a flattened part.
    schema
        .as_object_mut()
        .map(|root| root.remove("description"));
    schema
}

fn simplify(schema: &mut Value) {
    if let Value::Object(members) = schema {
        for word in ["title", "format", "minimum"] {
            if members.get(word).is_some_and(|value| !value.is_object()) {
                members.remove(word);
            }
        }
        // An absent member is never null.
        if let Some(Value::Array(types)) = members.get_mut("type") {
            types.retain(|kind| kind != "null");
            if let [kind] = types.as_slice() {
                let kind = kind.clone();
                members.insert("type".to_owned(), kind);
            }
        }
        members.values_mut().for_each(simplify);
    } else if let Value::Array(entries) = schema {
        entries.iter_mut().for_each(simplify);
    }
}
