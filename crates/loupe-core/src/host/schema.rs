//! What a host makes of a tool's input schema before its model gets it, by the words of its rule.
//!
//! The words are those that `hosts.toml` uses: `as-sent`, and after it, parted by commas, `keys sorted`, `KEY removed`,
//! `KEY removed at the top`, `additionalProperties false`, `additionalProperties false when absent`; or
//! `reduced (KEY, … removed)`, `reduced (KEY, …)` for what stays at the top, `kept (KEY, …)` for what stays everywhere, where
//! `const` is an `enum` of one. What
//! is said in other words cannot be written, and the schema is counted as sent.

use std::collections::BTreeSet;

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
    /// At the top.
    RemoveAtTop(&'a str),
    /// At the top: the others go.
    Keep(Vec<&'a str>),
    /// Everywhere: the others go.
    KeepAll(Vec<&'a str>),
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
    if let Some(inside) = rule
        .strip_prefix("kept (")
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return Some(vec![Change::KeepAll(inside.split(", ").collect())]);
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
            _ if word.ends_with(" removed at the top") => word
                .strip_suffix(" removed at the top")
                .filter(|key| !key.contains(' '))
                .map(Change::RemoveAtTop),
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
    /// The keywords that are taken out somewhere, in order.
    pub dropped: Vec<String>,
    /// Whether the descriptions in it are left out, since it is too large with them.
    pub is_undescribed: bool,
}

/// Members that say nothing a call needs.
const SILENT: [&str; 4] = ["$schema", "$id", "$comment", "title"];

/// The schema `sent` by a rule; `None` is a rule that nobody verified. One that is larger than `max` bytes loses the
/// descriptions in it.
pub(super) fn show_schema(rule: Option<&str>, max: Option<usize>, sent: &str) -> Shown {
    let as_sent = |is_known| Shown {
        text: sent.to_owned(),
        is_known,
        dropped: Vec::new(),
        is_undescribed: false,
    };
    let Some(changes) = rule.and_then(changes) else {
        return as_sent(false);
    };
    if max.is_none_or(|max| sent.len() <= max)
        && changes
            .iter()
            .all(|change| matches!(change, Change::Remove(keys) if keys.is_empty()))
    {
        return as_sent(true);
    }
    // Numbers of a schema are small; one that is not JSON stays what it is.
    let Ok(Value::Object(mut schema)) = serde_json::from_str::<Value>(sent) else {
        return as_sent(false);
    };
    let mut gone = BTreeSet::new();
    for change in &changes {
        match change {
            Change::Sort => schema = sort_keys(schema, 0),
            Change::Remove(keys) => retain(&mut schema, &|key| !keys.contains(&key), &mut gone, 0),
            Change::RemoveAtTop(key) => retain_at_top(&mut schema, &|own| own != *key, &mut gone),
            Change::KeepAll(keys) => {
                if keys.contains(&"enum") && !keys.contains(&"const") {
                    const_as_enum(&mut schema, 0);
                }
                retain(&mut schema, &|key| keys.contains(&key), &mut gone, 0);
            }
            Change::Keep(keys) => retain_at_top(&mut schema, &|own| keys.contains(&own), &mut gone),
            Change::Closed(only_absent) => {
                let key = "additionalProperties";
                if !(*only_absent && schema.contains_key(key)) {
                    let old = schema.insert(key.to_owned(), Value::Bool(false));
                    if old.is_some_and(|old| old != Value::Bool(false)) {
                        gone.insert(key.to_owned());
                    }
                }
            }
        }
    }
    let Ok(mut text) = serde_json::to_string(&schema) else {
        return as_sent(false);
    };
    let mut descriptions = BTreeSet::new();
    let is_over = max.is_some_and(|max| text.len() > max);
    if is_over {
        retain(
            &mut schema,
            &|key| key != "description",
            &mut descriptions,
            0,
        );
    }
    let is_undescribed = !descriptions.is_empty();
    if is_undescribed {
        let Ok(shorter) = serde_json::to_string(&schema) else {
            return as_sent(false);
        };
        text = shorter;
    }
    gone.retain(|key| !SILENT.contains(&key.as_str()));
    Shown {
        text,
        is_known: true,
        dropped: gone.into_iter().collect(),
        is_undescribed,
    }
}

/// The schemas right inside of one: those under a name, those in a list, those alone.
fn inner(schema: &Map<String, Value>) -> impl Iterator<Item = &Map<String, Value>> {
    schema
        .iter()
        .filter(|(key, _)| !DATA.contains(&key.as_str()))
        .flat_map(|(key, value)| match value {
            Value::Object(named) if NAMES.contains(&key.as_str()) => {
                named.values().filter_map(Value::as_object).collect()
            }
            Value::Object(one) => vec![one],
            Value::Array(list) => list.iter().filter_map(Value::as_object).collect(),
            _ => Vec::new(),
        })
}

/// Whether a schema has keywords that hosts are known to take out or to change somewhere.
pub(super) fn has_more_than_basics(sent: &str) -> bool {
    const BASICS: [&str; 7] = [
        "type",
        "properties",
        "required",
        "description",
        "items",
        "enum",
        "additionalProperties",
    ];
    fn find(schema: &Map<String, Value>, depth: usize) -> bool {
        let is_basic = |(key, value): (&String, &Value)| {
            SILENT.contains(&key.as_str())
                || (BASICS.contains(&key.as_str()) && !(key == "type" && value.is_array()))
        };
        depth > MAX_DEPTH
            || !schema.iter().all(is_basic)
            || inner(schema).any(|schema| find(schema, depth + 1))
    }
    let root = serde_json::from_str::<Value>(sent).ok();
    root.as_ref()
        .and_then(Value::as_object)
        .is_none_or(|root| find(root, 0))
}

/// A `$ref` that leads nowhere within its own schema, if there is one.
pub fn dangling(sent: &str) -> Option<String> {
    fn find<'s>(root: &Value, schema: &'s Map<String, Value>, depth: usize) -> Option<&'s str> {
        if depth > MAX_DEPTH {
            return None;
        }
        // One that leads out of the schema may have a target there, and one with escapes is rare.
        let is_lost = |to: &&str| {
            to.strip_prefix('#').is_some_and(|pointer| {
                pointer.starts_with('/')
                    && !pointer.contains('%')
                    && root.pointer(pointer).is_none()
            })
        };
        let own = schema.get("$ref").and_then(Value::as_str).filter(is_lost);
        own.or_else(|| inner(schema).find_map(|schema| find(root, schema, depth + 1)))
    }
    if !sent.contains("$ref") {
        return None;
    }
    let root: Value = serde_json::from_str(sent).ok()?;
    find(&root, root.as_object()?, 0).map(str::to_owned)
}

/// Whether the schema of a property is `true` or `false`.
pub(super) fn has_boolean(sent: &str) -> bool {
    fn find(schema: &Map<String, Value>, depth: usize) -> bool {
        let properties = schema.get("properties").and_then(Value::as_object);
        depth <= MAX_DEPTH
            && (properties.is_some_and(|named| named.values().any(Value::is_boolean))
                || inner(schema).any(|schema| find(schema, depth + 1)))
    }
    if !(sent.contains("true") || sent.contains("false")) {
        return false;
    }
    let root = serde_json::from_str::<Value>(sent).ok();
    root.as_ref()
        .and_then(Value::as_object)
        .is_some_and(|root| find(root, 0))
}

/// Writes `const` as an `enum` of one value, which says the same.
fn const_as_enum(schema: &mut Map<String, Value>, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    if let Some(only) = schema.remove("const") {
        schema.insert("enum".to_owned(), Value::Array(vec![only]));
    }
    inner_mut(schema, |schema| const_as_enum(schema, depth + 1));
}

/// The schemas right inside of one, as [`inner`] has them.
fn inner_mut(schema: &mut Map<String, Value>, mut change: impl FnMut(&mut Map<String, Value>)) {
    for (key, value) in schema {
        if DATA.contains(&key.as_str()) {
            continue;
        }
        match value {
            Value::Object(named) if NAMES.contains(&key.as_str()) => named
                .values_mut()
                .filter_map(Value::as_object_mut)
                .for_each(&mut change),
            Value::Object(one) => change(one),
            Value::Array(list) => list
                .iter_mut()
                .filter_map(Value::as_object_mut)
                .for_each(&mut change),
            _ => {}
        }
    }
}

/// Takes keywords out of a schema and those inside it, and notes them; a property that is called like one stays.
fn retain(
    schema: &mut Map<String, Value>,
    stays: &impl Fn(&str) -> bool,
    gone: &mut BTreeSet<String>,
    depth: usize,
) {
    if depth > MAX_DEPTH {
        return;
    }
    retain_at_top(schema, stays, gone);
    inner_mut(schema, |schema| retain(schema, stays, gone, depth + 1));
}

fn retain_at_top(
    schema: &mut Map<String, Value>,
    stays: &impl Fn(&str) -> bool,
    gone: &mut BTreeSet<String>,
) {
    schema.retain(|key, value| {
        let is_kept = stays(key);
        // That nothing else is allowed says nothing that a call needs; what else may be there does.
        let is_silent = key == "additionalProperties" && value.is_boolean();
        if !is_kept && !is_silent && !gone.contains(key) {
            gone.insert(key.clone());
        }
        is_kept
    });
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
        show_schema(Some(rule), None, SCHEMA).text
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
                None,
                open
            )
            .text,
            open
        );
        assert_eq!(
            show_schema(Some("as-sent, additionalProperties false"), None, open).text,
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
            let shown = show_schema(rule, None, SCHEMA);
            assert_eq!((shown.text.as_str(), shown.is_known), (SCHEMA, false));
        }
        assert!(!show_schema(Some("as-sent, keys sorted"), None, "no JSON").is_known);
    }

    #[test]
    fn the_keywords_that_are_dropped_are_named() {
        let sent = r##"{"type":"object","title":"T","anyOf":[{}],"properties":{"format":{"type":"string","format":"date","description":"When"}},"$defs":{"a":{"type":"null"}}}"##;
        let dropped = |rule| show_schema(Some(rule), None, sent).dropped;
        assert!(dropped("as-sent").is_empty());
        assert_eq!(
            dropped("kept (type, description, properties)"),
            ["$defs", "anyOf", "format"]
        );
        assert_eq!(dropped("as-sent, anyOf removed at the top"), ["anyOf"]);
        assert_eq!(
            dropped("reduced (type, properties, required)"),
            ["$defs", "anyOf"]
        );
        // An enum of one value says what a const does.
        let only = r#"{"properties":{"a":{"const":"b"}}}"#;
        let kept = show_schema(Some("kept (properties, enum)"), None, only);
        assert_eq!(kept.text, r#"{"properties":{"a":{"enum":["b"]}}}"#);
        assert!(kept.dropped.is_empty());
        // A title says nothing that a call needs.
        assert!(dropped("as-sent, title removed").is_empty());
        let small = show_schema(Some("as-sent"), Some(60), sent);
        assert!(small.is_undescribed && !small.text.contains("When"));
        assert!(!show_schema(Some("as-sent"), Some(600), sent).is_undescribed);
    }

    #[test]
    fn a_property_that_is_true_or_false_is_found() {
        let of = |property: &str| {
            has_boolean(&format!(
                r#"{{"properties":{{"a":{{"type":"object","properties":{{"b":{property}}}}}}},"additionalProperties":false}}"#
            ))
        };
        assert!(of("true") && of("false"));
        assert!(!of(r#"{"default":true}"#) && !has_boolean(r#"{"items":true}"#));
    }

    #[test]
    fn a_reference_without_a_target_is_found() {
        let of = |reference: &str| {
            dangling(&format!(
                r##"{{"properties":{{"a":{{"items":{{"$ref":"{reference}"}}}}}},"$defs":{{"b":{{}}}}}}"##
            ))
        };
        assert_eq!(of("#/$defs/b"), None);
        assert_eq!(of("#"), None);
        assert_eq!(of("#/$defs/c").as_deref(), Some("#/$defs/c"));
        assert_eq!(of("#/%24defs/b"), None);
        assert_eq!(of("other.json"), None);
        assert_eq!(dangling(r##"{"default":{"$ref":"#/x"}}"##), None);
    }

    #[test]
    fn the_rules_that_come_with_loupe_are_understood_or_known_not_to_be() {
        let hosts = Hosts::built_in();
        let open = hosts.iter().filter(|host| {
            let rule = host.definition.input_schema.as_deref();
            rule.is_some_and(|rule| changes(rule).is_none())
        });
        let open: Vec<&str> = open.map(|host| host.id.as_str()).collect();
        let known = "copilot-cli gemini-cli roo-code goose-openai librechat langchain-mcp-adapters pydantic-ai mcp-use-python llamaindex crewai deepagents-code droid hermes-agent kiro mastra oh-my-pi strands";
        assert_eq!(open.join(" "), known);
    }
}
