//! TOON. The crate that reads it does not say where values stand: each is looked for from the one before it on.

use serde_json::Value;

use super::build::Builder;
use super::{Certainty, Reader, TextBlock, TextData, first_block, json};

pub(super) static TOON: Reader =
    Reader { id: "toon", title: "TOON", certainty: Certainty::Language, read: |blocks| first_block(blocks, read) };

/// How far ahead a value is looked for, in bytes.
const AHEAD: usize = 4_096;

pub(super) fn read(block: TextBlock<'_>) -> Option<TextData> {
    // A list with its length is what tells TOON from YAML.
    let text = block.text.trim_end();
    let is_toon = text.lines().take(200).any(|line| {
        line.split_once('[').is_some_and(|(_, rest)| {
            rest.starts_with(|char: char| char.is_ascii_digit()) && rest.contains("]") && rest.contains(':')
        })
    });
    if !is_toon {
        return None;
    }
    let value: Value = toon_format::decode_default(text).ok()?;
    if !value.is_object() && !value.is_array() {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut from = 0;
    let mut place = |leaf: &str| {
        let mut end = text.len().min(from + AHEAD + leaf.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        // A value that is not found as it is written has no place of its own.
        let Some(found) = text[from..end].find(leaf) else { return from..from };
        let at = from + found;
        from = at + leaf.len();
        at..from
    };
    // An explicit stack: depth is data.
    enum Step<'a> {
        Value(Option<&'a str>, &'a Value),
        Close(char),
    }
    let mut steps = vec![Step::Value(None, &value)];
    while let Some(step) = steps.pop() {
        let (key, value) = match step {
            Step::Close(bracket) => {
                builder.close(bracket);
                continue;
            }
            Step::Value(key, value) => (key, value),
        };
        if let Some(key) = key {
            builder.key(key);
        }
        match value {
            Value::Array(values) => {
                builder.open('[');
                steps.push(Step::Close(']'));
                steps.extend(values.iter().rev().map(|value| Step::Value(None, value)));
            }
            Value::Object(members) => {
                builder.open('{');
                steps.push(Step::Close('}'));
                steps.extend(members.iter().rev().map(|(key, value)| Step::Value(Some(key), value)));
            }
            Value::String(text) => {
                let at = place(text);
                builder.text(text, at);
            }
            other => {
                let text = other.to_string();
                let at = place(&text);
                builder.leaf(&text, at);
            }
        }
    }
    builder.cover(0..text.len());
    let mut data = builder.done(0)?;
    data.records = json::records(&data.doc);
    Some(data)
}
