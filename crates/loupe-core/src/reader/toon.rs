//! TOON. The crate that reads it does not say where values stand: they are the tokens that are in no head, in order.

use std::ops::Range;

use serde_json::Value;

use super::build::Builder;
use super::{Certainty, Reader, TextBlock, TextData};
use crate::layout::{Line, lines};

pub(super) static TOON: Reader = Reader::new("toon", "TOON", Certainty::Language, read);

pub(super) fn read(block: TextBlock<'_>) -> Option<TextData> {
    // A list with its length is what tells TOON from YAML.
    let text = block.text.trim_end();
    let is_toon = text.lines().take(200).any(|line| {
        line.split_once('[').is_some_and(|(_, rest)| {
            rest.starts_with(|char: char| char.is_ascii_digit())
                && rest.contains("]")
                && rest.contains(':')
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
    let mut scan = Scan::default();
    for line in lines(text) {
        scan.line(&line, &mut builder);
    }
    let mut places = scan.values.into_iter();
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
                steps.extend(
                    members
                        .iter()
                        .rev()
                        .map(|(key, value)| Step::Value(Some(key), value)),
                );
            }
            Value::String(text) => {
                builder.text(text, places.next()?);
            }
            other => {
                let text = other.to_string();
                builder.leaf(&text, places.next()?);
            }
        }
    }
    // A value without a place would have another's.
    if places.next().is_some() {
        return None;
    }
    builder.done()
}

/// Finds the labels and the values of a text line by line: `key: value`, `- key[2]: a,b`, `[2]{a,b}:`, `1,Ann`.
#[derive(Default)]
struct Scan {
    values: Vec<Range<usize>>,
    /// Of the open table: indent of its head, delimiter, and whether its rows begin with a key.
    table: Option<(usize, char, bool)>,
}

impl Scan {
    fn line(&mut self, line: &Line<'_>, builder: &mut Builder) {
        let text = line.text.trim_end();
        if line.is_blank() || text[line.indent..].starts_with('#') {
            return;
        }
        if self.table.is_some_and(|(indent, ..)| line.indent <= indent) {
            self.table = None;
        }
        let mut at = line.indent;
        if self.table.is_none() {
            at = text.len() - text[at..].trim_start_matches("- ").len();
        }
        let head = match self.table {
            Some((_, _, false)) => None,
            _ => Head::parse(&text[at..]),
        };
        let Some(head) = head else {
            if &text[at..] != "-" {
                self.push_values(
                    &text[at..],
                    line.at + at,
                    self.table.map(|(_, delimiter, _)| delimiter),
                );
            }
            return;
        };
        let place = |range: &Range<usize>| line.at + at + range.start..line.at + at + range.end;
        builder.label(place(&head.key));
        if !head.marks.is_empty() {
            builder.mark_layout(place(&head.marks));
        }
        head.fields
            .iter()
            .for_each(|field| builder.label(place(field)));
        let delimiter = match self.table {
            Some((_, delimiter, _)) => Some(delimiter),
            None => head.delimiter,
        };
        if !head.fields.is_empty() {
            self.table = Some((line.indent, head.delimiter.unwrap_or(','), head.is_keyed));
        }
        let rest = text[at + head.length..].trim_start();
        if !rest.is_empty() {
            self.push_values(rest, line.at + text.len() - rest.len(), delimiter);
        }
    }

    /// The values of a text that begins at `base`: one, or those between delimiters outside of quotes.
    fn push_values(&mut self, text: &str, base: usize, delimiter: Option<char>) {
        let mut push = |start: usize, end: usize| {
            let part = &text[start..end];
            let start = base + start + part.len() - part.trim_start().len();
            let part = part.trim();
            if !matches!(part, "[]" | "{}") {
                self.values.push(start..start + part.len());
            }
        };
        let Some(delimiter) = delimiter else {
            return push(0, text.len());
        };
        let (mut start, mut is_quoted, mut is_escaped) = (0, false, false);
        for (at, char) in text.char_indices() {
            match char {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = is_quoted,
                '"' => is_quoted = !is_quoted,
                _ if char == delimiter && !is_quoted => {
                    push(start, at);
                    start = at + char.len_utf8();
                }
                _ => {}
            }
        }
        push(start, text.len());
    }
}

/// What begins a line: `key:`, `key[2]:`, `[2|]{a|b}:`. Places from the beginning of the line's content on.
struct Head {
    key: Range<usize>,
    /// The brackets and what is in them.
    marks: Range<usize>,
    fields: Vec<Range<usize>>,
    delimiter: Option<char>,
    /// Whether each row begins with a key: `[2:]{a}:`.
    is_keyed: bool,
    length: usize,
}

impl Head {
    fn parse(text: &str) -> Option<Self> {
        let key = token(text, |char| {
            matches!(char, ':' | '[' | '{' | ',' | '|' | '\t')
        });
        let mut end = key;
        let (mut delimiter, mut is_keyed, mut fields) = (None, false, Vec::new());
        if text[end..].starts_with('[') {
            let close = end + text[end..].find(']')?;
            let inner = &text[end + 1..close];
            is_keyed = inner.contains(':');
            delimiter = Some(
                [',', '|', '\t']
                    .into_iter()
                    .find(|mark| inner.contains(*mark))
                    .unwrap_or(','),
            );
            end = close + 1;
            if text[end..].starts_with('{') {
                end = push_fields(text, end, delimiter?, &mut fields)?;
            }
        }
        let length = end + 1;
        let is_head = text[end..].starts_with(':')
            && (length == text.len() || text[length..].starts_with(' '));
        let key = if text.starts_with('"') {
            1..key - 1
        } else {
            0..text[..key].trim_end().len()
        };
        is_head.then(|| Self {
            marks: key.end.max(key.start)..end,
            key,
            fields,
            delimiter,
            is_keyed,
            length,
        })
    }
}

/// The end of a key or a field: of its quotes, or before a character that ends it.
fn token(text: &str, ends: impl Fn(char) -> bool) -> usize {
    let Some(inner) = text.strip_prefix('"') else {
        return text.find(ends).unwrap_or(text.len());
    };
    let mut is_escaped = false;
    let close = inner.find(|char: char| {
        let is_close = char == '"' && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        is_close
    });
    close.map_or(text.len(), |close| close + 2)
}

/// Adds the names in `{id,by{name}}`, which begins at `start`, and gives its end.
fn push_fields(
    text: &str,
    start: usize,
    delimiter: char,
    fields: &mut Vec<Range<usize>>,
) -> Option<usize> {
    let (mut at, mut depth) = (start, 0);
    loop {
        match text[at..].chars().next()? {
            '{' => depth += 1,
            '}' => depth -= 1,
            char if char == delimiter || char == ' ' => {}
            _ => {
                let length = token(&text[at..], |char| {
                    char == delimiter || matches!(char, '{' | '}')
                });
                let is_quoted = usize::from(text[at..].starts_with('"'));
                fields.push(at + is_quoted..at + length.saturating_sub(is_quoted));
                at += length;
                continue;
            }
        }
        at += 1;
        if depth == 0 {
            return Some(at);
        }
    }
}
