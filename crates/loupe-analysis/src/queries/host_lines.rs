//! One host's text in rows, with what a limit took out standing in its place where that is wanted.

use std::ops::Range;
use std::sync::Arc;

use crate::queries::query::{Ctx, Query, Stop, Weigh};
use crate::queries::text::{DisplayLine, display_lines};
use crate::queries::wrap::{Strings, TextRow, wrap};
use loupe_core::cancel::{Cancel, Cancelled};
use loupe_core::capture::{Record, locate_facts};
use loupe_core::format::ParsedCapture;
use loupe_core::host::{Host, HostId, HostView, Span, TextOrigin, ViewContext};
use loupe_core::number::grouped;

/// Whose a range of the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostMark {
    /// Of the result.
    Sent,
    /// Added by the host.
    Added,
    /// Taken out by a limit; the model does not see it.
    Removed,
}

/// A row of a host's text.
#[derive(Clone, Debug, PartialEq)]
pub enum HostLine {
    Text(TextRow),
    /// Something was taken out here: the place in the text, and which of [`HostView::removed`] it is. What was taken out
    /// follows where it is shown.
    Removed {
        at: usize,
        cut: usize,
    },
    /// What the model sees here, folded, and which records or lines that are.
    Kept {
        range: Range<usize>,
        what: String,
    },
}

impl HostLine {
    fn start(&self) -> usize {
        match self {
            Self::Text(row) => row.range.start,
            Self::Removed { at, .. } => *at,
            Self::Kept { range, .. } => range.start,
        }
    }
}

/// One host's text, cut into the rows of a width.
#[derive(Clone, Debug, PartialEq)]
pub struct HostRows {
    pub text: Arc<str>,
    /// In order, over the whole text.
    pub marks: Vec<(Range<usize>, HostMark)>,
    pub rows: Vec<HostLine>,
    pub lines: Vec<DisplayLine>,
    /// What of the text is JSON of the result, in order.
    pub json: Vec<Range<usize>>,
}

impl HostRows {
    fn new(
        subject: &ParsedCapture,
        host: &Host,
        asked: &HostRowsQuery,
        cancel: &Cancel,
    ) -> Result<Self, Cancelled> {
        let (columns, with_cuts) = (usize::from(asked.columns), asked.with_cuts);
        let view = host.view(subject, &ViewContext::new(&subject.capture));
        let marked = Marked::of(&view, with_cuts);
        let Marked { text, cuts, .. } = &marked;
        // A line that goes on after a cut begins a row there.
        let mut lines: Vec<DisplayLine> = Vec::new();
        for mut line in display_lines(text) {
            let (first, end) = (
                cuts.partition_point(|cut| *cut <= line.range.start),
                line.range.end,
            );
            for cut in cuts[first..].iter().take_while(|cut| **cut < end) {
                if *cut > line.range.start {
                    let after = DisplayLine {
                        number: None,
                        range: *cut..line.range.end,
                        is_in_string: false,
                    };
                    line.range.end = *cut;
                    lines.push(std::mem::replace(&mut line, after));
                }
            }
            lines.push(line);
        }
        marked.mark_strings(&view, with_cuts, &mut lines);
        let mut rows = Vec::new();
        let mut open = cuts.iter().copied().enumerate().peekable();
        for row in wrap(text, &lines, columns, cancel)? {
            while let Some((cut, at)) = open.next_if(|(_, at)| *at <= row.range.start) {
                rows.push(HostLine::Removed { at, cut });
            }
            rows.push(HostLine::Text(row));
        }
        rows.extend(open.map(|(cut, at)| HostLine::Removed { at, cut }));
        let Marked {
            text, marks, json, ..
        } = marked;
        let mut shown = Self {
            text: text.into(),
            marks,
            rows,
            lines,
            json,
        };
        if asked.folds_kept {
            shown.fold_kept(subject);
        }
        Ok(shown)
    }

    /// Folds the middle of what is kept before the first cut and after the last, where it is long.
    fn fold_kept(&mut self, subject: &ParsedCapture) {
        let (Some(first), Some(last)) = (self.cuts().next(), self.cuts().last()) else {
            return;
        };
        let is_sent = |row: &HostLine| match row {
            HostLine::Text(row) => self
                .marks_in(&row.range)
                .all(|(_, mark)| *mark == HostMark::Sent),
            HostLine::Removed { .. } | HostLine::Kept { .. } => false,
        };
        let before = self.rows[..first]
            .iter()
            .rposition(|row| !is_sent(row))
            .map_or(0, |at| at + 1)..first;
        let after = last + 1
            ..self.rows[last + 1..]
                .iter()
                .position(|row| !is_sent(row))
                .map_or(self.rows.len(), |at| last + 1 + at);
        let middle = |rows: Range<usize>, head: usize, tail: usize| {
            (rows.len() > 2 * (head + tail)).then(|| rows.start + head..rows.end - tail)
        };
        let folded = [middle(after, NEAR, FAR), middle(before, FAR, NEAR)];
        if folded.iter().all(Option::is_none) {
            return;
        }
        let records = subject
            .data
            .as_ref()
            .map(|data| locate_facts(data, &self.text).records)
            .unwrap_or_default();
        let places: Vec<Option<Range<usize>>> = records.iter().map(place_of).collect();
        let ends: Vec<usize> = memchr::memchr_iter(b'\n', self.text.as_bytes()).collect();
        // From the end, so that positions stay.
        for rows in folded.into_iter().flatten() {
            let end = self
                .rows
                .get(rows.end)
                .map_or(self.text.len(), HostLine::start);
            let range = self.rows[rows.start].start()..end;
            let what = records_in(&places, &range)
                .unwrap_or_else(|| lines_in(&ends, self.text.len(), &range));
            self.rows.splice(rows, [HostLine::Kept { range, what }]);
        }
    }

    /// The marks that touch a range.
    pub fn marks_in(
        &self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = &(Range<usize>, HostMark)> {
        let first = self
            .marks
            .partition_point(|(mark, _)| mark.end <= range.start);
        let end = range.end;
        self.marks[first..]
            .iter()
            .take_while(move |(mark, _)| mark.start < end)
    }

    /// The row that holds this byte offset.
    pub fn row_at(&self, offset: usize) -> usize {
        self.rows
            .partition_point(|row| row.start() <= offset)
            .saturating_sub(1)
    }

    /// The rows at which something was taken out.
    pub fn cuts(&self) -> impl Iterator<Item = usize> {
        self.rows
            .iter()
            .enumerate()
            .filter(|(_, row)| matches!(row, HostLine::Removed { .. }))
            .map(|(at, _)| at)
    }
}

/// So many rows of what is kept stand near a cut, and at the other end, where the middle is folded.
const NEAR: usize = 5;
const FAR: usize = 9;

/// From the first to the last place of a record.
fn place_of(record: &Record) -> Option<Range<usize>> {
    Some(record.places.first()?.start..record.places.last()?.end)
}

/// The text that [`HostRows`] cuts into rows.
pub(super) fn text(subject: &ParsedCapture, host: &Host, with_cuts: bool) -> String {
    Marked::of(
        &host.view(subject, &ViewContext::new(&subject.capture)),
        with_cuts,
    )
    .text
}

/// Whether what a host shows of a part of the result is JSON as it is, and not in a string of other JSON.
fn is_json(view: &HostView, origin: TextOrigin) -> bool {
    let first = view.full_spans.iter().find(|span| span.origin == origin);
    let text = first
        .and_then(|span| view.full.get(span.range()))
        .unwrap_or_default()
        .trim_start();
    matches!(origin, TextOrigin::Structured | TextOrigin::Block(_))
        && text.starts_with(['{', '['])
        && !text.bytes().take(64).any(|byte| byte == b'\\')
}

/// A host's text, and where the texts of the result's blocks are in it.
pub(crate) struct HostPlaces {
    pub text: String,
    copies: Vec<BlockCopy>,
}

/// A stretch of a block's own text within a host's.
struct BlockCopy {
    block: TextOrigin,
    /// Where it begins in the block.
    from: usize,
    range: Range<usize>,
}

impl HostPlaces {
    /// What the host's model is shown, with what a limit took out where `with_cuts`.
    pub fn new(subject: &ParsedCapture, host: &Host, with_cuts: bool) -> Self {
        let Marked { text, copies, .. } = Marked::of(
            &host.view(subject, &ViewContext::new(&subject.capture)),
            with_cuts,
        );
        Self { text, copies }
    }

    /// Where a place of a block's text stands, as far as its beginning is shown.
    pub(crate) fn of_block(&self, block: usize, place: Range<usize>) -> Option<Range<usize>> {
        let origin = TextOrigin::block(block);
        let copy = self.copies.iter().find(|copy| {
            copy.block == origin && (copy.from..copy.from + copy.range.len()).contains(&place.start)
        })?;
        let start = copy.range.start + (place.start - copy.from);
        Some(start..(start + place.len()).min(copy.range.end))
    }
}

/// A text with its marks; what was taken out is in it where `with_cuts`.
struct Marked {
    text: String,
    copies: Vec<BlockCopy>,
    marks: Vec<(Range<usize>, HostMark)>,
    /// Where each of [`HostView::removed`] stands, or stood.
    cuts: Vec<usize>,
    json: Vec<Range<usize>>,
}

impl Marked {
    fn of(view: &HostView, with_cuts: bool) -> Self {
        let mut marked = Self {
            text: String::new(),
            copies: Vec::new(),
            marks: Vec::new(),
            cuts: Vec::new(),
            json: Vec::new(),
        };
        let mut removed = view.removed.iter().peekable();
        let mut at = 0;
        for span in view.spans.iter() {
            let range = span.range();
            // The line end between two parts is nobody's.
            marked.push(
                view.text.get(at..range.start).unwrap_or_default(),
                HostMark::Sent,
            );
            at = range.end;
            if let Some(from) = span.full() {
                while let Some(cut) = removed.next_if(|cut| cut.start < from) {
                    marked.cut(view, cut.clone(), with_cuts);
                }
            }
            let mark = if span.origin == TextOrigin::Host {
                HostMark::Added
            } else {
                HostMark::Sent
            };
            let start = marked.text.len();
            marked.push(view.text.get(range.clone()).unwrap_or_default(), mark);
            marked.copy(span, start);
            if is_json(view, span.origin) {
                marked.json.push(start..marked.text.len());
            }
            // What follows a kept text directly was taken out before whatever a limit put in its place.
            if let Some(end) = span.full().map(|from| from + range.len()) {
                while let Some(cut) = removed.next_if(|cut| cut.start <= end) {
                    marked.cut(view, cut.clone(), with_cuts);
                }
            }
        }
        marked.push(view.text.get(at..).unwrap_or_default(), HostMark::Sent);
        for cut in removed {
            marked.cut(view, cut.clone(), with_cuts);
        }
        marked
    }

    /// Notes which lines begin inside a JSON string: what is folded or added in between changes nothing of that.
    fn mark_strings(&self, view: &HostView, with_cuts: bool, lines: &mut [DisplayLine]) {
        let mut folded = self
            .cuts
            .iter()
            .zip(view.removed.iter())
            .filter(|_| !with_cuts)
            .peekable();
        let mut marks = self.marks.iter().peekable();
        let mut strings = Strings::default();
        let mut at = 0;
        for line in lines {
            loop {
                while let Some((_, cut)) = folded.next_if(|(place, _)| **place <= at) {
                    strings.pass_all(view.full.get(cut.clone()).unwrap_or_default());
                }
                let Some((mark, kind)) = marks.peek().filter(|_| at < line.range.start) else {
                    break;
                };
                let next = folded.peek().map_or(usize::MAX, |(place, _)| **place);
                let end = mark.end.min(line.range.start).min(next);
                if *kind != HostMark::Added {
                    strings.pass_all(&self.text[at..end]);
                }
                at = end;
                if at == mark.end {
                    marks.next();
                }
            }
            line.is_in_string = strings.is_inside;
        }
    }

    fn cut(&mut self, view: &HostView, cut: Range<usize>, with_cuts: bool) {
        self.cuts.push(self.text.len());
        if with_cuts {
            let start = self.text.len();
            self.push(
                view.full.get(cut.clone()).unwrap_or_default(),
                HostMark::Removed,
            );
            let first = view
                .full_spans
                .partition_point(|span| span.range().end <= cut.start);
            for span in view.full_spans[first..]
                .iter()
                .take_while(|span| span.range().start < cut.end)
            {
                let span = span.slice(&cut);
                self.copy(&span, start + span.range().start);
            }
        }
    }

    /// Notes that a span stands from `start` on, where it is a block's own text.
    fn copy(&mut self, span: &Span, start: usize) {
        if let (TextOrigin::Block(_), Some(from)) = (span.origin, span.from()) {
            self.copies.push(BlockCopy {
                block: span.origin,
                from,
                range: start..start + span.range().len(),
            });
        }
    }

    fn push(&mut self, piece: &str, mark: HostMark) {
        if piece.is_empty() {
            return;
        }
        let start = self.text.len();
        self.text.push_str(piece);
        match self.marks.last_mut() {
            Some((range, last)) if *last == mark && range.end == start => {
                range.end = self.text.len()
            }
            _ => self.marks.push((start..self.text.len(), mark)),
        }
    }
}

/// The text that one host's model is shown in rows of so many columns, with what a limit took out or without.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostRowsQuery {
    pub host: HostId,
    pub columns: u16,
    pub with_cuts: bool,
    /// Whether what is kept is folded where it is long.
    pub folds_kept: bool,
}

impl Query for HostRowsQuery {
    type Out = Arc<HostRows>;
    const IS_PASSING: bool = true;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(HostRows::new(
            cx.subject()?,
            cx.host(self.host)?,
            self,
            cx.cancel,
        )?))
    }
}

/// What a limit took out of a host's text, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostRemoved {
    /// One for each of [`HostView::removed`]: "records 10 to 250 and the end of 9", "lines 12 to 400".
    pub what: Vec<String>,
    /// Records that are gone as a whole, and all of them; `None` where the data is no list of records.
    pub records: Option<(u64, u64)>,
}

impl HostRemoved {
    fn new(subject: &ParsedCapture, host: &Host) -> Self {
        let view = host.view(subject, &ViewContext::new(&subject.capture));
        if view.removed.is_empty() {
            return Self::default();
        }
        let matched = subject
            .data
            .as_ref()
            .map(|data| locate_facts(data, &view.full))
            .unwrap_or_default();
        // What has no place cannot be told to be gone.
        let records: Vec<Option<Range<usize>>> = matched.records.iter().map(place_of).collect();
        let is_gone = |place: &&Range<usize>| {
            let at = view.removed.partition_point(|cut| cut.end < place.end);
            view.removed
                .get(at)
                .is_some_and(|cut| cut.start <= place.start)
        };
        let gone = records.iter().flatten().filter(is_gone).count() as u64;
        let lines: Vec<usize> = memchr::memchr_iter(b'\n', view.full.as_bytes()).collect();
        let what = view.removed.iter().enumerate().map(|(at, cut)| {
            let named = if at < NAMED {
                records_in(&records, cut)
            } else {
                None
            };
            named.unwrap_or_else(|| lines_in(&lines, view.full.len(), cut))
        });
        Self {
            what: what.collect(),
            records: (records.len() > 1).then_some((gone, records.len() as u64)),
        }
    }
}

/// So many cuts are named by the records in them, the others by their lines.
const NAMED: usize = 64;

/// The records in a range, counted from 1, those that are in it as a whole first; `None` where there is none.
fn records_in(records: &[Option<Range<usize>>], cut: &Range<usize>) -> Option<String> {
    let mut whole: Vec<Range<usize>> = Vec::new();
    let mut parts = Vec::new();
    for (number, place) in (1..).zip(records) {
        let Some(place) = place
            .as_ref()
            .filter(|place| place.start < cut.end && cut.start < place.end)
        else {
            continue;
        };
        match (place.start < cut.start, place.end > cut.end) {
            (false, false) => match whole.last_mut() {
                Some(run) if run.end == number => run.end += 1,
                _ => whole.push(number..number + 1),
            },
            (true, false) => parts.push(format!("the end of {number}")),
            (false, true) => parts.push(format!("the beginning of {number}")),
            (true, true) => parts.push(format!("a part of {number}")),
        }
    }
    let count: usize = whole.iter().map(ExactSizeIterator::len).sum();
    let run = |run: &Range<usize>| match run.len() {
        1 => run.start.to_string(),
        _ => format!(
            "{} to {}",
            grouped(run.start as u64),
            grouped(run.end as u64 - 1)
        ),
    };
    let mut words: Vec<String> = whole.iter().map(run).collect();
    if let Some(first) = words.first_mut().or(parts.first_mut()) {
        let unit = if count > 1 { "records" } else { "record" };
        *first = match count {
            // "the end of record 9"
            0 => first.replacen("of ", "of record ", 1),
            _ => format!("{unit} {first}"),
        };
    }
    words.extend(parts);
    match words.split_last()? {
        (last, []) => Some(last.clone()),
        (last, before) => Some(format!("{} and {last}", before.join(", "))),
    }
}

/// The lines in a range of a text of so many bytes, counted from 1.
fn lines_in(line_ends: &[usize], bytes: usize, cut: &Range<usize>) -> String {
    let line_of = |at: usize| 1 + line_ends.partition_point(|end| *end < at) as u64;
    let (first, last) = (line_of(cut.start), line_of(cut.end - 1));
    let is_start = |at: usize| at == 0 || line_ends.binary_search(&(at - 1)).is_ok();
    let (begins, ends) = (is_start(cut.start), cut.end == bytes || is_start(cut.end));
    match (first == last, begins, ends) {
        (true, true, true) => format!("line {}", grouped(first)),
        (true, false, true) => format!("the end of line {}", grouped(first)),
        (true, true, false) => format!("the beginning of line {}", grouped(first)),
        (true, false, false) => format!("a part of line {}", grouped(first)),
        (false, true, _) => format!("lines {} to {}", grouped(first), grouped(last)),
        (false, false, _) => {
            let rest = if first + 1 == last {
                "line".to_owned()
            } else {
                format!("lines {} to", grouped(first + 1))
            };
            format!("{rest} {} and the end of {}", grouped(last), grouped(first))
        }
    }
}

/// What a limit took out of the text that one host's model is shown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostRemovedQuery(pub HostId);

impl Query for HostRemovedQuery {
    type Out = Arc<HostRemoved>;

    fn run(&self, cx: &Ctx<'_>) -> Result<Self::Out, Stop> {
        Ok(Arc::new(HostRemoved::new(cx.subject()?, cx.host(self.0)?)))
    }
}

impl Weigh for HostRemoved {
    fn weight(&self) -> usize {
        self.what.iter().map(String::len).sum()
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
    use loupe_core::host::Hosts;

    #[test]
    fn what_is_cut_stands_where_it_was() {
        let long = "x".repeat(30_000);
        let subject = ParsedCapture::from_result(&format!(
            r#"{{"content":[{{"type":"text","text":"{long}"}}]}}"#
        ));
        let hosts = Hosts::built_in();
        let host = hosts.get("cline").unwrap();
        let cancel = Cancel::new();
        let rows = |with_cuts, folds_kept| {
            HostRows::new(
                &subject,
                host,
                &HostRowsQuery {
                    host: host.id,
                    columns: 80,
                    with_cuts,
                    folds_kept,
                },
                &cancel,
            )
            .unwrap()
        };
        let (with, without, folded) = (rows(true, false), rows(false, false), rows(false, true));
        let view = host.view(&subject, &ViewContext::new(&subject.capture));
        assert_eq!(*without.text, *view.text);
        assert_eq!((without.cuts().count(), with.cuts().count()), (1, 1));
        let answer: String = with
            .marks
            .iter()
            .filter(|(_, mark)| *mark != HostMark::Added)
            .map(|(range, _)| &with.text[range.clone()])
            .collect();
        assert_eq!(answer, *view.full);
        assert_eq!(
            with.marks
                .iter()
                .map(|(range, _)| range.len())
                .sum::<usize>(),
            with.text.len()
        );
        // What is kept is folded, and named.
        let kept = folded.rows.iter().find_map(|row| {
            if let HostLine::Kept { range, what } = row {
                Some((range, what))
            } else {
                None
            }
        });
        let (range, what) = kept.unwrap();
        assert_eq!(what, "a part of line 1");
        let hidden = without
            .rows
            .iter()
            .filter(|row| range.contains(&row.start()))
            .count();
        assert_eq!(folded.rows.len() + hidden, without.rows.len() + 1);
        assert_eq!(folded.text, without.text);
        // The row that says it stands where the text was, before what the host put in its place.
        let cut = without.cuts().next().unwrap();
        let before = without.rows[..cut].iter().map(|row| {
            if let HostLine::Text(row) = row {
                row.range.len()
            } else {
                0
            }
        });
        assert_eq!(before.sum::<usize>(), view.kept[0].end);
        assert_eq!(
            view.removed_bytes() as usize,
            with.text.len() - without.text.len(),
            "one size for one cut"
        );
        assert_eq!(
            HostRemoved::new(&subject, host),
            HostRemoved {
                what: vec!["a part of line 1".into()],
                records: None
            }
        );
    }

    #[test]
    fn what_is_cut_is_named_by_its_records() {
        let records = |ends: &[(usize, usize)]| {
            ends.iter()
                .map(|(start, end)| Some(*start..*end))
                .collect::<Vec<_>>()
        };
        let three = records(&[(0, 10), (11, 20), (21, 30), (31, 40)]);
        let described = |cut: Range<usize>| records_in(&three, &cut);
        assert_eq!(
            described(15..40).as_deref(),
            Some("records 3 to 4 and the end of 2")
        );
        assert_eq!(
            described(11..25).as_deref(),
            Some("record 2 and the beginning of 3")
        );
        assert_eq!(described(12..18).as_deref(), Some("a part of record 2"));
        assert_eq!(
            described(5..15).as_deref(),
            Some("the end of record 1 and the beginning of 2")
        );
        assert_eq!(described(40..50), None);
        // "one\ntwo\nthree\nfour"
        let lines = |cut: Range<usize>| lines_in(&[3, 7, 13], 18, &cut);
        assert_eq!(lines(4..14), "lines 2 to 3");
        assert_eq!(lines(5..14), "line 3 and the end of 2");
        assert_eq!(lines(1..18), "lines 2 to 4 and the end of 1");
        assert_eq!(lines(4..8), "line 2");
        assert_eq!(lines(5..6), "a part of line 2");
    }
}
