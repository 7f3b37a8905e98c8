//! A text cut into the rows of a pane that is so many columns wide.

use std::ops::Range;
use std::sync::Arc;

use crate::queries::invisible_chars;
use crate::queries::query::{Ctx, Query, Stop};
use crate::queries::text::{DisplayLine, display_lines};
use loupe_core::cancel::{Cancel, Cancelled};

/// One row of the text pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// From 1; `None` where the row continues a line.
    pub number: Option<u32>,
    /// The display line it is of.
    pub line: u32,
    /// Range in the text, without the line end.
    pub range: Range<usize>,
    /// Whether it begins inside a JSON string; only of meaning in JSON.
    pub is_in_string: bool,
}

/// Whether a place of JSON is inside a string, char by char.
#[derive(Clone, Copy, Default)]
pub(super) struct Strings {
    pub is_inside: bool,
    is_escaped: bool,
}

impl Strings {
    /// Where a line begins, or a piece of one that goes on in a string.
    fn at(text: &str, start: usize, is_inside: bool) -> Self {
        let before = text[..start]
            .bytes()
            .rev()
            .take_while(|byte| *byte == b'\\')
            .count();
        Self {
            is_inside,
            is_escaped: is_inside && before % 2 == 1,
        }
    }

    /// A string never goes over a line end.
    pub(crate) fn pass_all(&mut self, text: &str) {
        for char in text.chars() {
            if char == '\n' {
                *self = Self::default()
            } else {
                self.pass(char)
            }
        }
    }

    fn pass(&mut self, char: char) {
        let is_quote = char == '"' && !self.is_escaped;
        self.is_escaped = self.is_inside && char == '\\' && !self.is_escaped;
        self.is_inside ^= is_quote;
    }
}

/// How wide a character is drawn, in columns.
fn columns_of(char: char) -> usize {
    match u32::from(char) {
        0x20..0x7f => 1,
        0x09 => 4,
        0xfe0e | 0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe4f
        | 0xff00..=0xff60
        | 0x1f000..=0x1faff => 2,
        _ => invisible_chars::name(char).map_or(1, |name| name.len()),
    }
}

/// Cuts display lines into rows of at most `columns`, at a space where one is near; 0 columns cut nothing.
///
/// # Errors
/// [`Cancelled`] if the caller cancelled.
pub fn wrap(
    text: &str,
    lines: &[DisplayLine],
    columns: usize,
    cancel: &Cancel,
) -> Result<Vec<TextRow>, Cancelled> {
    let mut rows = Vec::with_capacity(lines.len());
    for (line, display) in (0..).zip(lines) {
        if line % 1_024 == 0 {
            cancel.check()?;
        }
        let source = &text[display.range.clone()];
        if columns == 0
            || (source.len() <= columns && source.bytes().all(|byte| (0x20..0x7f).contains(&byte)))
        {
            let is_in_string = display.is_in_string;
            rows.push(TextRow {
                number: display.number,
                line,
                range: display.range.clone(),
                is_in_string,
            });
            continue;
        }
        let mut number = display.number;
        let mut start = 0;
        let mut width = 0;
        let mut space: Option<(usize, Strings)> = None;
        let mut strings = Strings::at(text, display.range.start, display.is_in_string);
        let mut is_in_string = display.is_in_string;
        for (at, char) in source.char_indices() {
            let needs = columns_of(char);
            if width + needs > columns && at > start {
                let (cut, there) = space
                    .filter(|&(cut, _)| cut > start && at - cut < columns / 3)
                    .unwrap_or((at, strings));
                let range = display.range.start + start..display.range.start + cut;
                rows.push(TextRow {
                    number: number.take(),
                    line,
                    range,
                    is_in_string,
                });
                is_in_string = there.is_inside;
                width = source[cut..at].chars().map(columns_of).sum();
                start = cut;
                space = None;
            }
            width += needs;
            strings.pass(char);
            if matches!(char, ' ' | ',') {
                space = Some((at + 1, strings));
            }
        }
        let range = display.range.start + start..display.range.end;
        rows.push(TextRow {
            number: number.take(),
            line,
            range,
            is_in_string,
        });
    }
    Ok(rows)
}

/// The text of a format, by its id, cut into rows of so many columns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextRowsQuery {
    pub format: &'static str,
    pub columns: u16,
}

impl Query for TextRowsQuery {
    type Out = Arc<[TextRow]>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let text = cx.text(self.format)?;
        Ok(wrap(
            &text,
            &display_lines(&text),
            usize::from(self.columns),
            cx.cancel,
        )?
        .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_every_byte_and_break_at_spaces() {
        let text = "aaaa bbbb cccc dddd\n\nüüüüüüüüüüüüüüüüüüüüüüü";
        let lines = display_lines(text);
        let found = wrap(text, &lines, 12, &Cancel::new()).unwrap();
        let texts: Vec<_> = found.iter().map(|row| &text[row.range.clone()]).collect();
        assert_eq!(texts[..3], ["aaaa bbbb ", "cccc dddd", ""]);
        assert_eq!(texts.concat(), text.replace('\n', ""));
        assert_eq!(
            found.iter().map(|row| row.number).collect::<Vec<_>>(),
            [Some(1), None, Some(2), Some(3), None]
        );
        assert_eq!(
            found.iter().map(|row| row.line).collect::<Vec<_>>(),
            [0, 0, 1, 2, 2]
        );
        assert_eq!(wrap(text, &lines, 0, &Cancel::new()).unwrap().len(), 3);
    }

    #[test]
    fn a_row_knows_whether_it_begins_inside_a_string() {
        let text = r#"{"a":"one two \" three","b":12345678}"#;
        let rows = wrap(text, &display_lines(text), 8, &Cancel::new()).unwrap();
        let told: Vec<_> = rows
            .iter()
            .map(|row| (&text[row.range.clone()], row.is_in_string))
            .collect();
        assert_eq!(told[0], ("{\"a\":\"on", false));
        for (text, is_in_string) in &told[1..] {
            let quotes = |text: &str| text.replace("\\\"", "").matches('"').count() % 2 == 1;
            let before: String = told
                .iter()
                .take_while(|(other, _)| other.as_ptr() != text.as_ptr())
                .map(|(text, _)| *text)
                .collect();
            assert_eq!(quotes(&before), *is_in_string, "{text}");
        }
    }
}
