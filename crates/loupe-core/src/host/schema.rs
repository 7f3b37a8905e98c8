//! What a host makes of a tool's input schema before its model gets it, by the words of its rule.
//!
//! The words are those that `hosts.toml` uses: `as-sent`, and after it, parted by commas, `keys sorted`,
//! `KEY removed`, `additionalProperties false`, `additionalProperties false when absent`; or `reduced (KEY, … removed)`
//! and `reduced (KEY, …)`. What is said in other words cannot be written, and the schema is counted as sent.

use serde_json::{Map, Value};

/// Members of a schema whose own members are names and not words of the language.
const NAMES: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];
/// Members of a schema that are data, and hold no schemas.
const DATA: [&str; 4] = ["default", "const", "enum", "examples"];
/// A schema that is deeper is left as it is: rules are applied by recursion.
const MAX_DEPTH: usize = 64;

/// One thing that is done to a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Change<'a> {
    Sort,
    /// Everywhere.
    Remove(Vec<&'a str>),
    /// At the top: the others go.
    Keep(Vec<&'a str>),
    /// `additionalProperties` is false at the top; with `true` only where it is absent.
    Closed(bool),
}

/// The changes a rule names; `None` where its words are not known.
fn changes(rule: &str) -> Option<Vec<Change<'_>>> {
    if let Some(inside) = rule
        .strip_prefix("reduced (")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return Some(vec![match inside.strip_suffix(" removed") {
            Some(keys) => Change::Remove(keys.split(", ").collect()),
            None => Change::Keep(inside.split(", ").collect()),
        }]);
    }
    let mut words = rule.split(", ");
    if words.next() != Some("as-sent") {
        return None;
    }
    words
        .map(|word| match word {
            "keys sorted" => Some(Change::Sort),
            "additionalProperties false" => Some(Change::Closed(false)),
            "additionalProperties false when absent" => Some(Change::Closed(true)),
            // Only a further mode of the host changes it.
            "strict when asked" => Some(Change::Remove(Vec::new())),
            _ => word
                .strip_suffix(" removed")
                .filter(|key| !key.contains(' '))
                .map(|key| Change::Remove(vec![key])),
        })
        .collect()
}

/// A schema as the model gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub text: String,
    /// Whether the rule could be applied; else the text is the schema as sent.
    pub is_known: bool,
}

/// The schema `sent` by a rule; `None` is a rule that nobody verified.
pub(super) fn show_schema(rule: Option<&str>, sent: &str) -> Shown {
    let as_sent = |is_known| Shown {
        text: sent.to_owned(),
        is_known,
    };
    let Some(changes) = rule.and_then(changes) else {
        return as_sent(false);
    };
    if changes
        .iter()
        .all(|change| matches!(change, Change::Remove(keys) if keys.is_empty()))
    {
        return as_sent(true);
    }
    // Numbers of a schema are small; one that is not JSON stays what it is.
    let Ok(Value::Object(mut schema)) = serde_json::from_str::<Value>(sent) else {
        return as_sent(false);
    };
    for change in &changes {
        match change {
            Change::Sort => schema = sort_keys(schema, 0),
            Change::Remove(keys) => remove(&mut schema, keys, 0),
            Change::Keep(keys) => schema.retain(|key, _| keys.contains(&key.as_str())),
            Change::Closed(only_absent) => {
                if !(*only_absent && schema.contains_key("additionalProperties")) {
                    schema.insert("additionalProperties".to_owned(), Value::Bool(false));
                }
            }
        }
    }
    serde_json::to_string(&schema).map_or_else(
        |_| as_sent(false),
        |text| Shown {
            text,
            is_known: true,
        },
    )
}

/// Takes keys out of a schema and those inside it; a property that is called like one stays.
fn remove(schema: &mut Map<String, Value>, keys: &[&str], depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    schema.retain(|key, _| !keys.contains(&key.as_str()));
    for (key, value) in schema {
        if DATA.contains(&key.as_str()) {
            continue;
        }
        match value {
            Value::Object(named) if NAMES.contains(&key.as_str()) => {
                named
                    .values_mut()
                    .filter_map(Value::as_object_mut)
                    .for_each(|inner| remove(inner, keys, depth + 1));
            }
            Value::Object(inner) => remove(inner, keys, depth + 1),
            Value::Array(list) => list
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(|inner| remove(inner, keys, depth + 1)),
            _ => {}
        }
    }
}

fn sort_keys(object: Map<String, Value>, depth: usize) -> Map<String, Value> {
    if depth > MAX_DEPTH {
        return object;
    }
    let mut members: Vec<(String, Value)> = object.into_iter().collect();
    members.sort_by(|(left, _), (right, _)| left.cmp(right));
    let inner = |value| match value {
        Value::Object(object) => Value::Object(sort_keys(object, depth + 1)),
        Value::Array(list) => Value::Array(
            list.into_iter()
                .map(|item| match item {
                    Value::Object(object) => Value::Object(sort_keys(object, depth + 1)),
                    other => other,
                })
                .collect(),
        ),
        other => other,
    };
    members
        .into_iter()
        .map(|(key, value)| (key, inner(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Hosts;

    const SCHEMA: &str = r##"{"$schema":"x","type":"object","title":"T","properties":{"title":{"type":"string","title":"Title","examples":["a"],"default":{"title":1}}},"required":["title"]}"##;

    fn text(rule: &str) -> String {
        show_schema(Some(rule), SCHEMA).text
    }

    #[test]
    fn rules_are_applied() {
        assert_eq!(text("as-sent"), SCHEMA);
        assert_eq!(text("as-sent, strict when asked"), SCHEMA);
        assert_eq!(
            text("reduced (title, examples, $schema removed)"),
            r#"{"type":"object","properties":{"title":{"type":"string","default":{"title":1}}},"required":["title"]}"#
        );
        assert!(text("as-sent, $schema removed").starts_with(r#"{"type":"object","title":"T""#));
        assert!(
            text("reduced (type, properties, required)")
                .starts_with(r#"{"type":"object","properties":{"title":{"type""#)
        );
        assert!(
            text("as-sent, keys sorted")
                .starts_with(r#"{"$schema":"x","properties":{"title":{"default""#)
        );
        assert!(
            text("as-sent, additionalProperties false when absent")
                .ends_with(r#""additionalProperties":false}"#)
        );
        let open = r#"{"additionalProperties":true}"#;
        assert_eq!(
            show_schema(
                Some("as-sent, additionalProperties false when absent"),
                open
            )
            .text,
            open
        );
        assert_eq!(
            show_schema(Some("as-sent, additionalProperties false"), open).text,
            r#"{"additionalProperties":false}"#
        );
    }

    #[test]
    fn what_is_not_understood_is_as_sent_and_says_so() {
        for rule in [
            Some("adapted to the provider"),
            Some("as-sent, in verse"),
            None,
        ] {
            assert_eq!(
                show_schema(rule, SCHEMA),
                Shown {
                    text: SCHEMA.to_owned(),
                    is_known: false
                }
            );
        }
        assert!(!show_schema(Some("as-sent, keys sorted"), "no JSON").is_known);
    }

    #[test]
    fn the_rules_that_come_with_loupe_are_understood_or_known_not_to_be() {
        let hosts = Hosts::built_in();
        let rules = hosts
            .iter()
            .filter_map(|host| host.definition.input_schema.as_deref());
        let open: std::collections::BTreeSet<&str> =
            rules.filter(|rule| changes(rule).is_none()).collect();
        let known = [
            "adapted to the provider",
            "as-sent plus a boolean wait_for_previous",
            "not verified",
            "rebuilt from a Pydantic model",
        ];
        assert_eq!(open.into_iter().collect::<Vec<_>>(), known);
    }
}
