//! YAML, where the text as a whole is a mapping or a sequence, or several of them between `---`: a list.

use std::collections::HashSet;

use saphyr_parser::{Event, Parser, ScalarStyle};

use super::build::{Builder, is_number};
use super::{Certainty, Reader, TextBlock, TextData};

pub(super) static YAML: Reader = Reader::new("yaml", "YAML", Certainty::Language, read);

/// The deepest nesting.
const DEEP: usize = 128;
/// The longest key, in bytes: a sentence with a colon is no key.
const KEY: usize = 80;

pub(super) fn read(block: TextBlock<'_>) -> Option<TextData> {
    let first = below_comments(block.text);
    if !(first.contains(':') || first.starts_with("- "))
        || first.starts_with(['|', '<', '>', '*', '`'])
    {
        return None;
    }
    // Labels and plain values alone, without a quote, a list or a line that is set in, are read as such.
    if !first.starts_with("- ")
        && !["\n ", "\n- ", ": \"", ": '", ": [", ": {"]
            .iter()
            .any(|mark| block.text.contains(mark))
    {
        return None;
    }
    let mut builder = Builder::new(&block);
    let mut places = Places {
        text: block.text,
        chars: 0,
        bytes: 0,
    };
    // Whether each open container is a mapping that awaits a key; `None` for a sequence.
    let mut open: Vec<Option<bool>> = Vec::new();
    // The keys of the open mappings: one that comes twice is no YAML.
    let mut keys: Vec<HashSet<String>> = Vec::new();
    let (mut documents, mut roots, mut is_quoted, mut is_nested) = (0, 0, false, false);
    for event in Parser::new_from_str(block.text) {
        let (event, span) = event.ok()?;
        match event {
            Event::Scalar(value, style, 0, None) => {
                let mut at = places.byte(span.start.index())..places.byte(span.end.index());
                at.end = at.start + scalar_length(&block.text[at.clone()], style);
                // A document without anything in it.
                if open.is_empty() && at.is_empty() && documents > 1 {
                    continue;
                }
                match open.last_mut()? {
                    Some(key @ true) => {
                        let quotes = usize::from(style != ScalarStyle::Plain);
                        if value.len() > KEY
                            || value.contains(['\n', '(', ')', '{', '}', ';'])
                            || is_counted(&value)
                        {
                            return None;
                        }
                        if !keys.last_mut()?.insert(value.to_string()) {
                            return None;
                        }
                        *key = false;
                        builder.label(at.start + quotes..at.end - quotes.min(at.len()));
                        builder.key(&value);
                        continue;
                    }
                    Some(key) => *key = true,
                    None => {}
                }
                is_quoted |= style != ScalarStyle::Plain;
                if style == ScalarStyle::Plain {
                    // A plain text over several lines is a paragraph.
                    if block.text[at.clone()].contains('\n') {
                        return None;
                    }
                    match &*value {
                        "" | "~" | "null" | "Null" | "NULL" => builder.leaf("null", at),
                        "true" | "True" | "TRUE" => builder.leaf("true", at),
                        "false" | "False" | "FALSE" => builder.leaf("false", at),
                        number if is_number(number) => builder.leaf(number, at),
                        text => builder.text(text, at),
                    }
                } else {
                    let before = block.text[..at.start].trim_end();
                    let header = before
                        .trim_end_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
                    if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded)
                        && header.ends_with(['|', '>'])
                    {
                        builder.mark_layout(header.len()..before.len());
                    }
                    builder.text(&value, at);
                }
            }
            Event::SequenceStart(0, None) | Event::MappingStart(0, None) => {
                match open.last_mut() {
                    Some(Some(true)) => return None,
                    Some(Some(key)) => *key = true,
                    _ => {}
                }
                if open.len() == DEEP {
                    return None;
                }
                is_nested |= !open.is_empty();
                roots += usize::from(open.is_empty());
                keys.push(HashSet::new());
                let is_mapping = matches!(event, Event::MappingStart(..));
                builder.open(if is_mapping { '{' } else { '[' });
                open.push(is_mapping.then_some(true));
            }
            Event::SequenceEnd => {
                open.pop();
                keys.pop();
                builder.close(']');
            }
            Event::MappingEnd => {
                open.pop();
                keys.pop();
                builder.close('}');
            }
            Event::DocumentStart(_) => {
                documents += 1;
                is_nested |= documents > 1;
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            // Tags, anchors and aliases have no place in JSON.
            _ => return None,
        }
    }
    // Labels and plain values alone are read as such.
    if !is_nested && !is_quoted {
        return None;
    }
    if roots > 1 {
        builder.wrap_in_list();
    }
    builder.done()
}

/// The length of a scalar without the comment that its span may take in after its quotes.
fn scalar_length(span: &str, style: ScalarStyle) -> usize {
    let is_double = style == ScalarStyle::DoubleQuoted;
    if !is_double && style != ScalarStyle::SingleQuoted {
        return span.trim_end().len();
    }
    let bytes = span.as_bytes();
    let quote = if is_double { b'"' } else { b'\'' };
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'\\' if is_double => 2,
            byte if *byte != quote => 1,
            _ if !is_double && bytes.get(at + 1) == Some(&quote) => 2,
            _ => return at + 1,
        };
    }
    span.len()
}

/// A text without the comments that it begins with.
fn below_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while rest.starts_with('#') {
        rest = rest
            .split_once('\n')
            .map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

/// `tags[2]`: a list of TOON.
fn is_counted(key: &str) -> bool {
    let count = key.strip_suffix(']').and_then(|key| key.rsplit_once('['));
    count.is_some_and(|(name, count)| {
        !name.ends_with(' ') && !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Bytes of characters that are asked for from the beginning to the end.
struct Places<'a> {
    text: &'a str,
    chars: usize,
    bytes: usize,
}

impl Places<'_> {
    fn byte(&mut self, char: usize) -> usize {
        if char < self.chars {
            (self.chars, self.bytes) = (0, 0);
        }
        let rest = &self.text[self.bytes..];
        self.bytes += rest
            .char_indices()
            .nth(char - self.chars)
            .map_or(rest.len(), |(at, _)| at);
        self.chars = char;
        self.bytes
    }
}
