//! What can be at a place of the arguments, by the tool's schema.

use std::ops::Range;

use super::{FieldKind, FieldSchemas, SchemaId, item_schema};
use loupe_core::json::{decode_string, write};

/// A longer text is not looked through at each key.
const MOST: usize = 64 << 10;
/// A union within a union, and so on: no deeper.
const MAX_UNIONS: usize = 8;

/// What can be written at the caret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The bytes of the text that a choice takes the place of.
    pub range: Range<usize>,
    /// In the schema's order.
    pub choices: Vec<String>,
    /// Whether some of it is typed.
    pub is_begun: bool,
}

/// An array or object that is open at the caret.
struct Open {
    /// The schemas that its value may have.
    schemas: Vec<SchemaId>,
    is_object: bool,
    keys: Vec<String>,
    /// Position of the item that stands here.
    at: usize,
    place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Key,
    Colon,
    Value,
    /// Behind a value.
    Comma,
}

/// What can be written at a byte of the text, which need not be whole JSON; `None` where the schema says nothing of it.
pub fn complete(schemas: &FieldSchemas, text: &str, caret: usize) -> Option<Completion> {
    let before = text.get(..caret).filter(|before| before.len() <= MOST)?;
    let bytes = before.as_bytes();
    let mut open: Vec<Open> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'{' | b'[' => {
                let is_object = bytes[at] == b'{';
                let place = if is_object { Place::Key } else { Place::Value };
                open.push(Open {
                    schemas: value_schemas(schemas, &open),
                    is_object,
                    keys: Vec::new(),
                    at: 0,
                    place,
                });
                at += 1;
            }
            b'}' | b']' => {
                open.pop();
                if let Some(around) = open.last_mut() {
                    around.place = Place::Comma;
                }
                at += 1;
            }
            b':' | b',' => {
                let around = open.last_mut()?;
                around.at += usize::from(bytes[at] == b',');
                around.place = if bytes[at] == b',' && around.is_object {
                    Place::Key
                } else {
                    Place::Value
                };
                at += 1;
            }
            b'"' => {
                let Some(end) = string_end(bytes, at + 1) else {
                    return at_place(schemas, &open, text, start..caret);
                };
                let around = open.last_mut()?;
                if around.place == Place::Key {
                    around
                        .keys
                        .push(decode_string(&bytes[at + 1..end]).into_owned());
                    around.place = Place::Colon;
                } else {
                    around.place = Place::Comma;
                }
                at = end + 1;
            }
            byte if byte.is_ascii_whitespace() => at += 1,
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || b",:]}[{\"".contains(byte);
                at += bytes[at..]
                    .iter()
                    .position(ends)
                    .unwrap_or(bytes.len() - at)
                    .max(1);
                if at == bytes.len() {
                    return at_place(schemas, &open, text, start..caret);
                }
                open.last_mut()?.place = Place::Comma;
            }
        }
    }
    at_place(schemas, &open, text, caret..caret)
}

/// Where a string ends that begins before `at`: its closing quote.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// The schemas of the value that stands here, one for each branch.
fn value_schemas(schemas: &FieldSchemas, open: &[Open]) -> Vec<SchemaId> {
    let here: Vec<SchemaId> = match open.last() {
        None => schemas.whole().into_iter().collect(),
        Some(around) => around
            .schemas
            .iter()
            .filter_map(|id| inside(&schemas.get(*id).kind, around))
            .collect(),
    };
    let mut flat = Vec::new();
    here.into_iter()
        .for_each(|id| flatten(schemas, id, MAX_UNIONS, &mut flat));
    flat
}

fn inside(kind: &FieldKind, around: &Open) -> Option<SchemaId> {
    match kind {
        FieldKind::Object { properties, others } => {
            let key = around.keys.last()?;
            properties
                .iter()
                .find(|property| property.name == *key)
                .map(|property| property.schema)
                .or(*others)
        }
        kind => item_schema(kind, around.at),
    }
}

fn flatten(schemas: &FieldSchemas, id: SchemaId, depth: usize, into: &mut Vec<SchemaId>) {
    match &schemas.get(id).kind {
        FieldKind::Union(branches) if depth > 0 => {
            branches
                .iter()
                .for_each(|branch| flatten(schemas, branch.schema, depth - 1, into));
        }
        _ => into.push(id),
    }
}

/// The choices at the place that the text has come to; `typed` is what is there already.
fn at_place(
    schemas: &FieldSchemas,
    open: &[Open],
    text: &str,
    typed: Range<usize>,
) -> Option<Completion> {
    let around = open.last()?;
    let begun = &text[typed.clone()];
    let mut choices: Vec<String> = Vec::new();
    match around.place {
        Place::Key => {
            let kinds = around.schemas.iter().map(|id| &schemas.get(*id).kind);
            for property in kinds
                .filter_map(properties)
                .flatten()
                .filter(|property| !around.keys.contains(&property.name))
            {
                choices.push(write::string(&property.name));
            }
        }
        Place::Value => {
            for id in value_schemas(schemas, open) {
                let schema = schemas.get(id);
                match &schema.kind {
                    FieldKind::Enum(all) => {
                        choices.extend(all.iter().map(|choice| choice.json.clone()))
                    }
                    FieldKind::Boolean => choices.extend(["true".to_owned(), "false".to_owned()]),
                    _ => choices.extend(schema.default.iter().chain(&schema.example).cloned()),
                }
                choices.extend(schema.nullable.then(|| "null".to_owned()));
            }
        }
        Place::Colon | Place::Comma => return None,
    }
    choices.retain(|choice| choice.starts_with(begun) && choice.as_str() != begun);
    let mut seen = std::collections::HashSet::new();
    choices.retain(|choice| seen.insert(choice.clone()));
    // The rest of a string that is being edited goes with it.
    let rest = &text[typed.end..];
    let line = rest.lines().next().unwrap_or_default();
    let end = match begun.starts_with('"') {
        true => line
            .find(['"', ',', ':', '}', ']'])
            .filter(|at| line[*at..].starts_with('"'))
            .map_or(0, |at| at + 1),
        false => 0,
    };
    if around.place == Place::Key && !rest[end..].trim_start().starts_with(':') {
        choices.iter_mut().for_each(|choice| choice.push_str(": "));
    }
    let range = typed.start..typed.end + end;
    (!choices.is_empty()).then_some(Completion {
        range,
        choices,
        is_begun: !begun.is_empty(),
    })
}

fn properties(kind: &FieldKind) -> Option<&[super::Property]> {
    if let FieldKind::Object { properties, .. } = kind {
        Some(properties)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use loupe_core::json::Doc;

    const SCHEMA: &str = r#"{"type":"object","properties":{
        "format":{"enum":["json","markdown",7]},"active":{"type":["boolean","null"]},"na\"me":{"type":"string","default":"x"},
        "items":{"type":"array","items":{"type":"object","properties":{"unit":{"enum":["kg","g"]},"price":{"type":"number"}}}},
        "by":{"oneOf":[{"type":"object","properties":{"id":{"type":"integer"}}},{"type":"object","properties":{"email":{"type":"string"}}}]}}}"#;

    /// The choices at the `|` of a text, and the text once the first is taken.
    fn at(text: &str) -> (Vec<String>, String) {
        let doc = Doc::parse(Bytes::from_static(SCHEMA.as_bytes()));
        let schemas = FieldSchemas::read(doc.root());
        let caret = text.find('|').unwrap();
        let mut text = text.replacen('|', "", 1);
        let Some(found) = complete(&schemas, &text, caret) else {
            return (Vec::new(), text);
        };
        text.replace_range(found.range, &found.choices[0]);
        (found.choices, text)
    }

    #[test]
    fn keys_are_those_that_are_not_there_yet() {
        let keys = at(r#"{"format": "json", |}"#).0;
        assert_eq!(
            keys,
            [
                r#""active": "#,
                r#""na\"me": "#,
                r#""items": "#,
                r#""by": "#
            ]
        );
        assert_eq!(
            at(r#"{"ac|}"#),
            (vec![r#""active": "#.into()], r#"{"active": }"#.into())
        );
        assert_eq!(at(r#"{"ac|xx": true}"#).1, r#"{"active": true}"#);
        assert_eq!(
            at(r#"{"items": [{"unit": "kg"}, {"p|}]}"#).1,
            r#"{"items": [{"unit": "kg"}, {"price": }]}"#
        );
        assert_eq!(
            at(r#"{"by": {|}}"#).0,
            [r#""id": "#, r#""email": "#],
            "of every branch"
        );
    }

    #[test]
    fn values_are_those_of_the_schema() {
        assert_eq!(
            at(r#"{"format": |}"#).0,
            [r#""json""#, r#""markdown""#, "7"]
        );
        assert_eq!(
            at(r#"{"format": "mark|down"}"#).1,
            r#"{"format": "markdown"}"#
        );
        assert_eq!(
            at(r#"{"format": "j|, "active": null}"#).1,
            r#"{"format": "json", "active": null}"#
        );
        assert_eq!(
            at(r#"{"active": t|}"#),
            (vec!["true".into()], r#"{"active": true}"#.into())
        );
        assert_eq!(at(r#"{"active": |}"#).0, ["true", "false", "null"]);
        assert_eq!(at(r#"{"na\"me": |}"#).0, [r#""x""#]);
        assert_eq!(at(r#"{"items": [{"unit": "|"}]}"#).0, [r#""kg""#, r#""g""#]);
    }

    #[test]
    fn where_the_schema_says_nothing_there_is_nothing() {
        for text in [
            "|",
            r#"{"format" |}"#,
            r#"{"format": "json" |}"#,
            r#"{"no": |}"#,
            "]|",
            r#"{"items": [|]}"#,
            "{}|",
        ] {
            assert_eq!(at(text).0, [""; 0], "{text}");
        }
    }
}
