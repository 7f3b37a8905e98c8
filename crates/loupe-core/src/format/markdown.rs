//! What the Markdown formats share: how a value is in a line, the envelope as a list, and both read back.

use std::borrow::Cow;

use super::out::Pieces;
use super::rows::{RowSet, cell_text};
/// Undoes [`escape`].
pub(super) use crate::reader::unescaped as unescape;

/// A value in a cell or line: nothing of it may end the cell, begin HTML or read as an escape.
pub(super) fn escape(text: &str) -> Cow<'_, str> {
    if !text
        .bytes()
        .any(|byte| matches!(byte, b'&' | b'<' | b'\\' | b'|' | b'\n' | b'\r'))
    {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '\\' => out.push_str("\\\\"),
            '|' => out.push_str("\\|"),
            '\n' => out.push_str("<br>"),
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push_str("<br>");
            }
            char => out.push(char),
        }
    }
    Cow::Owned(out)
}

/// The envelope as `- **key**: value` lines and an empty line; nothing where there is none.
pub(super) fn push_envelope(rows: RowSet<'_>, out: &mut Pieces<'_>) {
    let envelope = rows.envelope();
    let mut lines = String::new();
    for node in &envelope {
        push_item(
            &mut lines,
            &node.key().unwrap_or_default(),
            Some(&cell_text(Some(*node))),
        );
    }
    if !envelope.is_empty() {
        lines.push('\n');
    }
    out.push(&lines);
}

/// One `- **key**: value` line; without a value its children follow.
pub(super) fn push_item(line: &mut String, key: &str, value: Option<&str>) {
    line.push_str("- **");
    line.push_str(&escape(key));
    line.push_str("**:");
    if let Some(value) = value {
        line.push(' ');
        line.push_str(&escape(value));
    }
    line.push('\n');
}

/// Key and value of such a line, escapes undone; `None` for any other line.
pub(super) fn read_item(line: &str) -> Option<(Cow<'_, str>, Option<&str>)> {
    let rest = line.strip_prefix("- **")?;
    // The first end of a key that a value or the line's end follows: a key that holds one reads back wrongly.
    let (at, _) = rest
        .match_indices("**:")
        .find(|(at, _)| rest[at + 3..].is_empty() || rest[at + 3..].starts_with(' '))?;
    Some((unescape(&rest[..at]), rest[at + 3..].strip_prefix(' ')))
}

/// The lines of a text with their numbers, from 1; what follows the last LF is none if it is empty.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    text.strip_suffix('\n')
        .unwrap_or(text)
        .split('\n')
        .enumerate()
        .map(|(at, line)| (at + 1, line))
        .filter(|_| !text.is_empty())
}

/// Reads [`push_envelope`] back, with the empty line after it, if the text begins with one.
pub(super) fn read_envelope<'t>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = (usize, &'t str)>>,
) -> Vec<(Cow<'t, str>, Cow<'t, str>)> {
    let mut envelope = Vec::new();
    while let Some((_, line)) = lines.peek()
        && let Some((key, value)) = read_item(line)
    {
        envelope.push((key, unescape(value.unwrap_or_default())));
        lines.next();
    }
    if !envelope.is_empty() {
        lines.next_if(|(_, line)| line.is_empty());
    }
    envelope
}
