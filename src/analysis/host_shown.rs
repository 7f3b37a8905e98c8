//! One host's text in rows, with what a limit took out standing in its place where that is wanted.

use crate::analysis::query::{Ctx, Query, Stop, Weigh};
use std::ops::Range;
use std::sync::Arc;

use crate::analysis::text::{DisplayLine, display_lines};
use crate::analysis::wrap::{TextRow, wrap};
use crate::cancel::{Cancel, Cancelled};
use crate::format::Subject;
use crate::host::{Host, HostId, HostView, TextOrigin, ViewContext};

/// Whose a range of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMark {
    /// Of the answer.
    Sent,
    /// Added by the host.
    Added,
    /// Taken out by a limit; the model does not see it.
    Removed,
}

/// One host's text, cut into the rows of a width.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRows {
    pub text: Arc<str>,
    /// In order, over the whole text.
    pub marks: Vec<(Range<usize>, HostMark)>,
    pub rows: Vec<TextRow>,
    pub lines: Vec<DisplayLine>,
}

impl HostRows {
    pub(super) fn of(
        subject: &Subject,
        host: &Host,
        columns: usize,
        with_cuts: bool,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let view = host.view(subject, &ViewContext::of(&subject.capture));
        let (text, marks) = marked(&view, with_cuts);
        let lines = display_lines(&text);
        let rows = wrap(&text, &lines, columns, cancel)?;
        Ok(Self { text: text.into(), marks, rows, lines })
    }

    /// The marks that touch a range.
    pub fn marks_in(&self, range: &Range<usize>) -> impl Iterator<Item = &(Range<usize>, HostMark)> {
        let first = self.marks.partition_point(|(mark, _)| mark.end <= range.start);
        let end = range.end;
        self.marks[first..].iter().take_while(move |(mark, _)| mark.start < end)
    }

    /// The row that holds this byte offset.
    pub fn row_at(&self, offset: usize) -> usize {
        self.rows.partition_point(|row| row.range.start <= offset).saturating_sub(1)
    }

    /// Where the removed parts begin.
    pub fn cuts(&self) -> impl Iterator<Item = usize> {
        self.marks.iter().filter(|(_, mark)| *mark == HostMark::Removed).map(|(range, _)| range.start)
    }
}

/// The text that [`HostRows`] cuts into rows.
pub(super) fn text(subject: &Subject, host: &Host, with_cuts: bool) -> String {
    marked(&host.view(subject, &ViewContext::of(&subject.capture)), with_cuts).0
}

/// The text with its marks; what was taken out is in it where `with_cuts`.
fn marked(view: &HostView, with_cuts: bool) -> (String, Vec<(Range<usize>, HostMark)>) {
    let mut text = String::new();
    let mut marks: Vec<(Range<usize>, HostMark)> = Vec::new();
    let mut push = |piece: &str, mark: HostMark| {
        if piece.is_empty() {
            return;
        }
        let start = text.len();
        text.push_str(piece);
        match marks.last_mut() {
            Some((range, last)) if *last == mark && range.end == start => range.end = text.len(),
            _ => marks.push((start..text.len(), mark)),
        }
    };
    let mut at = 0;
    let mut full = 0;
    for span in view.spans.iter() {
        let range = span.range();
        // The line end between two parts is nobody's.
        push(view.text.get(at..range.start).unwrap_or_default(), HostMark::Sent);
        at = range.end;
        if let Some(from) = span.full() {
            let removed = view.full.get(full..from).unwrap_or_default();
            if with_cuts && removed != "\n" {
                push(removed, HostMark::Removed);
            }
            full = full.max(from + range.len());
        }
        let mark = if span.origin == TextOrigin::Host { HostMark::Added } else { HostMark::Sent };
        push(view.text.get(range).unwrap_or_default(), mark);
    }
    push(view.text.get(at..).unwrap_or_default(), HostMark::Sent);
    if with_cuts && !view.limit.bites.is_empty() {
        push(view.full.get(full..).unwrap_or_default(), HostMark::Removed);
    }
    (text, marks)
}

/// The text that one host's model is shown in rows of so many columns, with what a limit took out or without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostRowsQuery {
    pub host: HostId,
    pub columns: u16,
    pub with_cuts: bool,
}

impl Query for HostRowsQuery {
    type Out = Arc<HostRows>;
    const IS_PASSING: bool = true;

    fn is_about_hosts(&self) -> bool {
        true
    }

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        let (subject, host, columns) = (cx.subject()?, cx.host(self.host)?, usize::from(self.columns));
        Ok(Arc::new(HostRows::of(subject, host, columns, self.with_cuts, cx.cancel)?))
    }
}

impl Weigh for HostRows {
    fn weight(&self) -> usize {
        self.text.len() + size_of_val(self.rows.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::tests::subject;
    use crate::host::Hosts;

    #[test]
    fn what_is_cut_stands_where_it_was() {
        let long = "x".repeat(30_000);
        let subject = subject(&format!(r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#));
        let hosts = Hosts::built_in();
        let host = hosts.get("cline").unwrap();
        let cancel = Cancel::new();
        let with = HostRows::of(&subject, host, 80, true, &cancel).unwrap();
        let without = HostRows::of(&subject, host, 80, false, &cancel).unwrap();
        let view = host.view(&subject, &ViewContext::of(&subject.capture));
        assert_eq!(*without.text, *view.text);
        assert_eq!(without.cuts().count(), 0);
        assert_eq!(with.cuts().count(), 1);
        let answer: String =
            with.marks.iter().filter(|(_, mark)| *mark != HostMark::Added).map(|(range, _)| &with.text[range.clone()]).collect();
        assert_eq!(answer, *view.full);
        assert_eq!(with.marks.iter().map(|(range, _)| range.len()).sum::<usize>(), with.text.len());
    }
}
