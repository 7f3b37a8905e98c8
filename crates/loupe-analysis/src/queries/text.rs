//! The text pane's view of a format: exact text, display lines, links.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::queries::links::Links;
use crate::queries::query::{Ctx, Query, Stop, Weigh, format_of};
use loupe_core::capture::{FactMatches, FactState, locate_facts};
use loupe_core::format::{Format, ParsedCapture, Syntax, format_bytes};
use loupe_core::layout::line_end;
use loupe_core::problem::Problem;

/// A line longer than this is shown in pieces: a minified 100 MB line is the normal case.
pub const PIECE_BYTES: usize = 2_048;

/// A line, or a piece of a long one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DisplayLine {
    /// From 1; `None` for the second and later pieces of a line.
    pub number: Option<u32>,
    /// Range in the text, without the line end.
    pub range: Range<usize>,
    /// Whether it begins inside a JSON string; only of meaning in JSON.
    pub is_in_string: bool,
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
    /// Number of lines, as an editor counts them.
    pub line_count: u32,
    /// "LF", "CRLF" or "one line".
    pub line_ends: &'static str,
    pub syntax: Syntax,
    /// Where the text says something else than the data, in order.
    pub differs: Vec<Range<usize>>,
    /// The extra text of the text content.
    pub only_here: Vec<Range<usize>>,
    pub links: Links,
    /// Facts and records of the data in this text; empty without data.
    pub matched: Arc<FactMatches>,
}

impl Ctx<'_> {
    /// The text of a format. What is about a place in it writes it anew: keeping it would cost more than writing it.
    ///
    /// # Errors
    /// Cancelled, or why there is no such text.
    pub fn text(&self, format: &str) -> Result<Arc<str>, Stop> {
        self.check()?;
        Ok(shown_text(format_of(format)?, self.subject()?)?.0)
    }
}

/// The text of a format as it is shown, whether that is exactly what it is, and how many bytes that has. The one text of an
/// answer is shared with it.
///
/// # Errors
/// There is no such text.
pub(super) fn shown_text(
    format: &dyn Format,
    subject: &ParsedCapture,
) -> Result<(Arc<str>, bool, usize), Problem> {
    let mut texts = subject
        .response
        .text_blocks()
        .filter_map(|block| block.text.as_ref());
    if let (Some(text), None) = (
        texts.next().filter(|_| format.id() == "content"),
        texts.next(),
    ) {
        return Ok((Arc::clone(text), true, text.len()));
    }
    let bytes = format_bytes(format, subject)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok((
        Arc::from(&*text),
        matches!(text, Cow::Borrowed(_)),
        bytes.len(),
    ))
}

impl TextView {
    pub(super) fn of(format: &dyn Format, subject: &ParsedCapture) -> Result<Self, Problem> {
        let (text, is_exact, bytes) = shown_text(format, subject)?;
        let is_content = format.id() == "content";
        let matched = match &subject.data {
            // What was read from this text is known to be there, and where.
            Some(data) if is_content && !data.is_structured() => Arc::new(FactMatches {
                records: data.records_in_text(&subject.response, &text),
                ..FactMatches::default()
            }),
            Some(_) if is_content => subject.facts_in_text(),
            Some(data) => Arc::new(locate_facts(data, &text)),
            None => Arc::default(),
        };
        let mut view = Self::new(
            format.id(),
            text,
            is_exact,
            bytes,
            format.syntax(subject),
            matched,
        );
        if is_content && subject.data.is_some() {
            view.only_here = subject
                .extra()
                .pieces
                .iter()
                .map(|piece| piece.range.clone())
                .collect();
        }
        Ok(view)
    }

    /// A text by itself, with nothing it is compared to.
    pub fn plain(format: &'static str, text: &str) -> Self {
        Self::new(
            format,
            text.into(),
            true,
            text.len(),
            Syntax::Plain,
            Arc::default(),
        )
    }

    /// A text by itself, in the colours of its kind.
    pub(super) fn with_syntax(format: &'static str, text: &str, syntax: Syntax) -> Self {
        Self::new(
            format,
            text.into(),
            true,
            text.len(),
            syntax,
            Arc::default(),
        )
    }

    /// Everything about a text that does not depend on the width it is shown in.
    fn new(
        format: &'static str,
        text: Arc<str>,
        is_exact: bool,
        bytes: usize,
        syntax: Syntax,
        matched: Arc<FactMatches>,
    ) -> Self {
        let lines = display_lines(&text);
        let mut differs: Vec<_> = matched
            .facts
            .iter()
            .filter_map(|fact| {
                if fact.state() == FactState::Differs {
                    fact.place()
                } else {
                    None
                }
            })
            .collect();
        differs.sort_by_key(|range| range.start);
        let line_ends = match (text.contains('\n'), text.contains("\r\n")) {
            (_, true) => "CRLF",
            (true, false) => "LF",
            (false, false) => "one line",
        };
        Self {
            format,
            is_exact,
            bytes: bytes as u64,
            line_count: lines.iter().rev().find_map(|line| line.number).unwrap_or(0),
            lines,
            line_ends,
            syntax,
            differs,
            only_here: Vec::new(),
            links: Links::new(&matched),
            matched,
            text,
        }
    }

    /// The display line that holds this byte offset.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines
            .partition_point(|line| line.range.start <= offset)
            .saturating_sub(1)
    }
}

/// Cuts a text into lines, and long lines into pieces at character boundaries.
pub(crate) fn display_lines(text: &str) -> Vec<DisplayLine> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut number = 0;
    loop {
        let end = line_end(text, start);
        number += 1;
        let mut first = Some(number);
        let mut piece = start;
        while end - piece > PIECE_BYTES {
            let cut = text.floor_char_boundary(piece + PIECE_BYTES);
            lines.push(DisplayLine {
                number: first.take(),
                range: piece..cut,
                is_in_string: false,
            });
            piece = cut;
        }
        lines.push(DisplayLine {
            number: first,
            range: piece..end,
            is_in_string: false,
        });
        if end == text.len() {
            mark_strings(text, &mut lines);
            return lines;
        }
        start = end + 1;
    }
}

/// Notes which pieces of long lines begin inside a JSON string. A string never goes over a line end.
fn mark_strings(text: &str, lines: &mut [DisplayLine]) {
    let mut is_open = false;
    let mut is_escaped = false;
    for at in 0..lines.len() {
        if lines[at].number.is_some() {
            (is_open, is_escaped) = (false, false);
        }
        lines[at].is_in_string = is_open;
        let goes_on = lines.get(at + 1).is_some_and(|next| next.number.is_none());
        if !goes_on {
            continue;
        }
        for byte in text[lines[at].range.clone()].bytes() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = is_open,
                b'"' => is_open = !is_open,
                _ => {}
            }
        }
    }
}

/// The exact text of a format, by its id, with its display lines, links and faults.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TextQuery(pub &'static str);

impl Query for TextQuery {
    type Out = Arc<TextView>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(TextView::of(format_of(self.0)?, cx.subject()?)?))
    }
}

impl Weigh for TextView {
    fn weight(&self) -> usize {
        self.text.len() + size_of_val(self.lines.as_slice()) + self.matched.weight()
    }
}

impl Weigh for FactMatches {
    fn weight(&self) -> usize {
        size_of_val(self.facts.as_slice()) + size_of_val(self.records.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_at_characters() {
        let text = format!("a\n{}\n", "é".repeat(3_000));
        let lines = display_lines(&text);
        assert_eq!(
            lines.iter().map(|line| line.number).collect::<Vec<_>>(),
            [Some(1), Some(2), None, None, Some(3)]
        );
        let joined: String = lines[1..4]
            .iter()
            .map(|line| &text[line.range.clone()])
            .collect();
        assert_eq!(joined, "é".repeat(3_000));
    }

    #[test]
    fn pieces_know_whether_they_begin_in_a_string() {
        let text = format!(
            "[\"{}\\\"\",{}]\n\"x",
            "é".repeat(1_500),
            "1,".repeat(1_500)
        );
        let view = TextView::new("json", text.into(), true, 0, Syntax::Json, Arc::default());
        let marks: Vec<_> = view
            .lines
            .iter()
            .map(|line| (line.number.is_some(), line.is_in_string))
            .collect();
        assert_eq!(
            marks,
            [(true, false), (false, true), (false, false), (true, false)]
        );
        assert_eq!((view.line_count, view.line_ends), (2, "LF"));
    }
}
