//! The text pane's view of a format: exact text, display lines, links.

use std::ops::Range;
use std::sync::Arc;

use crate::cancel::{Cancel, Cancelled};
use crate::capture::{Matched, match_facts};
use crate::format::{Format, Sink, Subject, WriteError};
use crate::problem::{Kind, Problem};

/// A line longer than this is shown in pieces: a minified 100 MB line is the normal case.
pub const PIECE_BYTES: usize = 2_048;

/// One row of the text pane: a line, or a piece of a long one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayLine {
    /// From 1; `None` for the second and later pieces of a line.
    pub number: Option<u32>,
    /// Range in the text, without the line end.
    pub range: Range<usize>,
}

/// A format's exact text, ready to be shown.
#[derive(Clone, Debug)]
pub struct TextView {
    pub format: &'static str,
    /// Bytes that are not UTF-8 are shown as U+FFFD; `is_exact` says so.
    pub text: Arc<str>,
    pub is_exact: bool,
    /// Bytes of the exact text.
    pub bytes: u64,
    pub lines: Vec<DisplayLine>,
    /// Facts and records of the payload in this text; empty without a payload.
    pub matched: Matched,
}

/// Gathers the bytes of a format, cancellable.
struct Gather<'a> {
    bytes: Vec<u8>,
    cancel: &'a Cancel,
}

impl Sink for Gather<'_> {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Cancelled> {
        self.cancel.check()?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }
}

/// The exact bytes of a format, or why there are none.
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub fn format_bytes(format: &dyn Format, subject: &Subject, cancel: &Cancel) -> Result<Result<Vec<u8>, Problem>, Cancelled> {
    if let Err(reason) = format.applies(subject) {
        return Ok(Err(Problem::new(Kind::Usage, reason.0).at(format.title())));
    }
    let mut gather = Gather { bytes: Vec::new(), cancel };
    match format.write(subject, &mut gather) {
        Ok(()) => Ok(Ok(gather.bytes)),
        Err(WriteError::Cancelled(cancelled)) => Err(cancelled),
        Err(WriteError::Refused(why)) => Ok(Err(Problem::new(Kind::Usage, why).at(format.title()))),
    }
}

impl TextView {
    pub(super) fn of(format: &dyn Format, subject: &Subject, cancel: &Cancel) -> Result<Result<Self, Problem>, Cancelled> {
        let bytes = match format_bytes(format, subject, cancel)? {
            Ok(bytes) => bytes,
            Err(problem) => return Ok(Err(problem)),
        };
        let len = bytes.len() as u64;
        let (text, is_exact) = match String::from_utf8(bytes) {
            Ok(text) => (text, true),
            Err(bad) => (String::from_utf8_lossy(bad.as_bytes()).into_owned(), false),
        };
        let lines = display_lines(&text);
        let matched = match &subject.payload {
            Some(payload) => match_facts(payload, &text, cancel)?,
            None => Matched::default(),
        };
        Ok(Ok(Self { format: format.id(), text: text.into(), is_exact, bytes: len, lines, matched }))
    }

    /// The display line that holds this byte offset.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.range.start <= offset).saturating_sub(1)
    }
}

/// Cuts a text into lines, and long lines into pieces at character boundaries.
pub fn display_lines(text: &str) -> Vec<DisplayLine> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut number = 0;
    loop {
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        number += 1;
        let mut first = Some(number);
        let mut piece = start;
        while end - piece > PIECE_BYTES {
            let mut cut = piece + PIECE_BYTES;
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            lines.push(DisplayLine { number: first.take(), range: piece..cut });
            piece = cut;
        }
        lines.push(DisplayLine { number: first, range: piece..end });
        if end == text.len() {
            return lines;
        }
        start = end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_at_characters() {
        let text = format!("a\n{}\n", "é".repeat(3_000));
        let lines = display_lines(&text);
        assert_eq!(lines.iter().map(|line| line.number).collect::<Vec<_>>(), [Some(1), Some(2), None, None, Some(3)]);
        let joined: String = lines[1..4].iter().map(|line| &text[line.range.clone()]).collect();
        assert_eq!(joined, "é".repeat(3_000));
    }
}
