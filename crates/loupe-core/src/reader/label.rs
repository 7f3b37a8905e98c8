//! Labels and the values next to them: `**Status:** open`, `- name = x`, `📅 Due → today`.

use std::borrow::Cow;
use std::ops::Range;

use super::build::{Builder, Cell, Record, Value, first_of};
use crate::layout::{Line, strip_marks};

/// The most words of a label.
const WORDS: usize = 6;
/// The most bytes of a label.
const BYTES: usize = 60;

/// A label with its value, as they are in one line.
pub(super) struct LabelledValue<'a> {
    pub label: &'a str,
    /// Empty where nothing is next to the label.
    pub value: Cell<'a>,
    /// Where the label stands.
    pub(crate) label_at: Range<usize>,
    /// Whether emphasis marks the label.
    pub is_markdown: bool,
}

/// A line that is a label and a value, whatever marks a list item or emphasis puts around them.
pub(super) fn labelled<'a>(line: &Line<'a>) -> Option<LabelledValue<'a>> {
    let body = line.item().unwrap_or(line.body()).trim_end();
    // A branch of a drawn tree, a line of a drawn box, or one that begins with code.
    if body.starts_with(['├', '└', '│', '┃', '║']) || body.starts_with("```") {
        return None;
    }
    let (label, value) = split(body)?;
    let name = plain(label);
    // What is bold is Markdown: it has its escapes, and a number may be a label.
    let is_markdown = body.starts_with("**") || body.starts_with("__");
    let is_label = !name.is_empty()
        && name.len() <= BYTES
        && name.split_whitespace().count() <= WORDS
        && (name.starts_with(|char: char| char.is_alphabetic() || matches!(char, '_' | '$' | '@'))
            || (is_markdown && name.bytes().all(|byte| byte.is_ascii_digit())))
        && !name.strip_suffix('?').unwrap_or(name).contains([
            '(', '{', '[', '<', ';', ':', '"', '\'', '`', '|', ',', '?', '!', '\\', '~',
        ])
        && !name.ends_with(" http")
        && !matches!(name, "http" | "https" | "file");
    if !is_label {
        return None;
    }
    // `**Time:** 1 ms | **Rows:** 3` has two labels, and no one value.
    if is_markdown && (value.contains(":**") || value.contains("**:")) {
        return None;
    }
    let value = strip_marks(value.trim());
    let quoted = ['"', '\''].iter().find_map(|quote| {
        value
            .strip_prefix(*quote)?
            .strip_suffix(*quote)
            .filter(|inner| !inner.contains(*quote))
    });
    let (value, is_quoted) = (quoted.unwrap_or(value), quoted.is_some());
    let at = if value.is_empty() {
        line.range().end..line.range().end
    } else {
        line.place_of(value)
    };
    Some(LabelledValue {
        label: name,
        value: Cell {
            text: if is_markdown {
                unescaped(value)
            } else {
                Cow::Borrowed(value)
            },
            at,
            is_quoted,
        },
        label_at: line.place_of(name),
        is_markdown,
    })
}

/// As [`labelled`], where something is next to the label.
pub(super) fn filled<'a>(line: &Line<'a>) -> Option<LabelledValue<'a>> {
    labelled(line).filter(|labelled| !labelled.value.text.is_empty())
}

/// The label of a line, and where the value next to it stands.
pub fn label_and_value<'a>(line: &Line<'a>) -> Option<(&'a str, Range<usize>)> {
    filled(line).map(|filled| (filled.label, filled.value.at))
}

impl<'a> LabelledValue<'a> {
    /// Makes it a member of a record.
    pub(super) fn push_to(self, record: &mut Record<'a>, builder: &mut Builder) {
        builder.label(self.label_at);
        record.push((self.label.into(), Value::Cell(self.value)));
    }
}

/// Takes in the lines after a labelled item or a bold label that its value goes on in, as the paragraph of Markdown that
/// it is; says how many they are. `first` is the first label of the record: what stands before it again is a title, and a
/// sentence after the last label is one of its own.
pub(super) fn take_continuation(
    labelled: &mut LabelledValue<'_>,
    first: Option<&str>,
    text: &str,
    line: &Line<'_>,
    after: &[Line<'_>],
) -> usize {
    let begins_paragraph = labelled.is_markdown || line.item().is_some();
    if !begins_paragraph || labelled.value.text.is_empty() || labelled.value.is_quoted {
        return 0;
    }
    let mut end = line.range().end;
    let goes_on = |next: &&Line<'_>| {
        let body = next.body();
        let is_next_line = text[end..next.at].matches('\n').count() == 1;
        end = next.range().end;
        let begins = body.starts_with(['|', '>', '#', '<']) || body.starts_with("**");
        is_next_line
            && !next.is_blank()
            && !begins
            && next.fence().is_none()
            && next.item().is_none()
            && next.rule().is_none()
            && self::labelled(next).is_none()
    };
    let lines: Vec<&Line<'_>> = after.iter().take_while(goes_on).collect();
    let is_sentence =
        |line: &&Line<'_>| line.indent == 0 && line.text.starts_with(char::is_uppercase);
    let is_apart = match after.get(lines.len()).and_then(self::labelled) {
        Some(next) => next.label == first.unwrap_or(labelled.label),
        None => lines.first().is_some_and(is_sentence),
    };
    if is_apart {
        return 0;
    }
    for line in &lines {
        let part = line.body();
        let value = labelled.value.text.to_mut();
        value.push('\n');
        value.push_str(&if labelled.is_markdown {
            unescaped(part)
        } else {
            Cow::Borrowed(part)
        });
        labelled.value.at.end = line.place_of(part).end;
    }
    lines.len()
}

const MARKS: [&str; 5] = [": ", " = ", " → ", " -> ", ":\t"];

/// Splits at the mark between label and value.
fn split(body: &str) -> Option<(&str, &str)> {
    // `**Label:** value` and `**Label**: value`.
    if let Some(rest) = body.strip_prefix("**").or_else(|| body.strip_prefix("__")) {
        let mark = &body[..2];
        let end = rest.find(mark)?;
        let (inner, after) = (&rest[..end], &rest[end + 2..]);
        if let Some(label) = inner.trim_end().strip_suffix(':') {
            return Some((label, after));
        }
        let after = after
            .trim_start()
            .strip_prefix(':')
            .or_else(|| after.trim_start().strip_prefix('='))?;
        return Some((inner, after));
    }
    let (at, length) = first_of(body, &MARKS)
        .map(|(at, mark)| (at, MARKS[mark].len()))
        .or_else(|| body.strip_suffix(':').map(|label| (label.len(), 1)))
        .or_else(|| tight(body))?;
    Some((&body[..at], &body[at + length..]))
}

/// `name=value` and `name:value`, where the name is one word.
fn tight(body: &str) -> Option<(usize, usize)> {
    let at = body.find(['=', ':'])?;
    let is_word = body[..at]
        .chars()
        .all(|char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.'));
    (is_word
        && at > 0
        && !body[at..].starts_with("://")
        && !body[..at].bytes().all(|byte| byte.is_ascii_digit()))
    .then_some((at, 1))
}

/// A label without the emphasis, quotes and pictograms around it. Any other sign is part of it: `-price` is no `price`.
fn plain(label: &str) -> &str {
    let mut name = label
        .trim_start_matches("> ")
        .trim_matches(is_pictogram)
        .trim_matches(['*', '`', ' ', '\t']);
    for (open, close) in [('"', '"'), ('\'', '\''), ('[', ']')] {
        name = name
            .strip_prefix(open)
            .and_then(|inner| inner.strip_suffix(close))
            .unwrap_or(name);
    }
    name
}

/// Whether a character is white space or a picture that says nothing of what follows it: no arrow, no sign of
/// mathematics, and no cross.
fn is_pictogram(char: char) -> bool {
    match char {
        '❌' | '❎' | '✖' | '✗' | '✘' | '✕' | '⛔' | '🚫' | '👎' | '🛑' | '☐' | '☒' => {
            false
        }
        '•' | '▪' | '◦' | '·' | '–' | '—' | '■' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' => {
            true
        }
        '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}' => true,
        _ => char.is_whitespace(),
    }
}

/// A text of Markdown without the backslashes before punctuation, with its entities as what they are and its breaks as
/// line ends.
pub fn unescaped(text: &str) -> Cow<'_, str> {
    const WRITTEN: [(&str, char); 6] = [
        ("&amp;", '&'),
        ("&lt;", '<'),
        ("&gt;", '>'),
        ("&quot;", '"'),
        ("<br>", '\n'),
        ("<br/>", '\n'),
    ];
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find(['&', '<', '\\']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let escaped = rest[1..]
            .chars()
            .next()
            .filter(|next| rest.starts_with('\\') && next.is_ascii_punctuation());
        let known = WRITTEN
            .into_iter()
            .find(|(written, _)| rest.starts_with(written));
        let (length, char) = match (escaped, known) {
            (Some(next), _) => (2, next),
            (None, Some((written, char))) => (written.len(), char),
            (None, None) => (1, char::from(rest.as_bytes()[0])),
        };
        out.push(char);
        rest = &rest[length..];
    }
    if rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}
