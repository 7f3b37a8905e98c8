//! A text cut into the rows of a pane that is so many columns wide.

use std::ops::Range;

use super::special;
use super::text::DisplayLine;
use crate::cancel::{Cancel, Cancelled};

/// One row of the text pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextRow {
    /// From 1; `None` where the row continues a line.
    pub number: Option<u32>,
    /// The display line it is of.
    pub line: u32,
    /// Range in the text, without the line end.
    pub range: Range<usize>,
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
        _ => special::name(char).map_or(1, |name| name.len()),
    }
}

/// Cuts display lines into rows of at most `columns`, at a space where one is near; 0 columns cut nothing.
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub fn wrap(text: &str, lines: &[DisplayLine], columns: usize, cancel: &Cancel) -> Result<Vec<TextRow>, Cancelled> {
    let mut rows = Vec::with_capacity(lines.len());
    for (line, display) in (0..).zip(lines) {
        if line % 1_024 == 0 {
            cancel.check()?;
        }
        let source = &text[display.range.clone()];
        if columns == 0 || (source.len() <= columns && source.bytes().all(|byte| (0x20..0x7f).contains(&byte))) {
            rows.push(TextRow { number: display.number, line, range: display.range.clone() });
            continue;
        }
        let mut number = display.number;
        let mut start = 0;
        let mut width = 0;
        let mut space = None;
        for (at, char) in source.char_indices() {
            let needs = columns_of(char);
            if width + needs > columns && at > start {
                let cut = space.filter(|&cut| cut > start && at - cut < columns / 3).unwrap_or(at);
                let range = display.range.start + start..display.range.start + cut;
                rows.push(TextRow { number: number.take(), line, range });
                width = source[cut..at].chars().map(columns_of).sum();
                start = cut;
                space = None;
            }
            width += needs;
            if matches!(char, ' ' | ',') {
                space = Some(at + 1);
            }
        }
        rows.push(TextRow { number: number.take(), line, range: display.range.start + start..display.range.end });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::display_lines;

    #[test]
    fn rows_hold_every_byte_and_break_at_spaces() {
        let text = "aaaa bbbb cccc dddd\n\nüüüüüüüüüüüüüüüüüüüüüüü";
        let lines = display_lines(text);
        let found = wrap(text, &lines, 12, &Cancel::new()).unwrap();
        let texts: Vec<_> = found.iter().map(|row| &text[row.range.clone()]).collect();
        assert_eq!(texts[..3], ["aaaa bbbb ", "cccc dddd", ""]);
        assert_eq!(texts.concat(), text.replace('\n', ""));
        assert_eq!(found.iter().map(|row| row.number).collect::<Vec<_>>(), [Some(1), None, Some(2), Some(3), None]);
        assert_eq!(found.iter().map(|row| row.line).collect::<Vec<_>>(), [0, 0, 1, 2, 2]);
        assert_eq!(wrap(text, &lines, 0, &Cancel::new()).unwrap().len(), 3);
    }
}
