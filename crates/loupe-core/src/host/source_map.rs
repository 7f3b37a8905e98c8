//! A text that knows where each of its ranges comes from.

use std::ops::Range;

/// Where a range of a host's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextOrigin {
    /// A block of `content`, by its position.
    Block(u32),
    /// `structuredContent`.
    Structured,
    /// The JSON of the result around its blocks and `structuredContent`.
    Envelope,
    /// Added by the host.
    Host,
}

impl TextOrigin {
    /// Of the block at this position.
    pub fn block(index: usize) -> Self {
        Self::Block(small(index))
    }
}

/// A range of a text with one origin. There is one for every block, value or escape in every host's text, so it is small:
/// no text that is read has 4 GiB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    start: u32,
    end: u32,
    pub origin: TextOrigin,
    from: u32,
    full: u32,
}

const NONE: u32 = u32::MAX;

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(NONE)
}

fn given(number: u32) -> Option<usize> {
    (number != NONE).then_some(number as usize)
}

impl Span {
    fn new(
        range: Range<usize>,
        origin: TextOrigin,
        from: Option<usize>,
        full: Option<usize>,
    ) -> Self {
        let or_none = |number: Option<usize>| number.map_or(NONE, small);
        Self {
            start: small(range.start),
            end: small(range.end),
            origin,
            from: or_none(from),
            full: or_none(full),
        }
    }

    /// Bytes of the text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Where it begins in the block's own text, where it is a copy of it.
    pub fn from(&self) -> Option<usize> {
        given(self.from)
    }

    /// Where it begins in the text before any limit; `None` for what a limit put in.
    pub fn full(&self) -> Option<usize> {
        given(self.full)
    }

    /// The part of it that is in `range`, which now begins at 0.
    pub fn slice(&self, range: &Range<usize>) -> Self {
        let own = self.range();
        let cut = own.start.max(range.start)..own.end.min(range.end);
        let skipped = cut.start - own.start;
        let skip = |from: Option<usize>| from.map(|from| from + skipped);
        Self::new(
            cut.start - range.start..cut.end - range.start,
            self.origin,
            skip(self.from()),
            skip(self.full()),
        )
    }

    fn continues(&self, next: &Span) -> bool {
        let fits = |here: Option<usize>, there: Option<usize>| match (here, there) {
            (Some(here), Some(there)) => here + self.range().len() == there,
            (None, None) => true,
            _ => false,
        };
        self.origin == next.origin
            && self.end == next.start
            && fits(self.from(), next.from())
            && fits(self.full(), next.full())
    }
}

/// A text with the origin of every byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceMapped {
    text: String,
    spans: Vec<Span>,
}

impl SourceMapped {
    pub fn new(text: &str, origin: TextOrigin, from: Option<usize>) -> Self {
        let mut traced = Self::default();
        traced.push(text, origin, from);
        traced
    }

    /// Nothing yet, with room for these texts and so many bytes between each two.
    pub fn with_room<'t>(
        texts: impl Iterator<Item = &'t SourceMapped> + Clone,
        between: usize,
    ) -> Self {
        let bytes = texts.clone().map(|text| text.len() + between).sum();
        let spans = texts.map(|text| text.spans.len() + 1).sum();
        Self {
            text: String::with_capacity(bytes),
            spans: Vec::with_capacity(spans),
        }
    }

    /// Nothing yet, with room for so many bytes.
    pub(crate) fn with_bytes(bytes: usize) -> Self {
        Self {
            text: String::with_capacity(bytes),
            spans: Vec::new(),
        }
    }

    /// A text that the host wrote.
    pub fn host(text: &str) -> Self {
        Self::new(text, TextOrigin::Host, None)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    pub fn push(&mut self, text: &str, origin: TextOrigin, from: Option<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.span(Span::new(start..self.text.len(), origin, from, None));
    }

    /// The text, to be written on; [`Self::own`] says whose that is.
    pub(crate) fn text_mut(&mut self) -> &mut String {
        &mut self.text
    }

    /// What was written from `start` on has this origin.
    pub fn own(&mut self, start: usize, origin: TextOrigin) {
        self.span(Span::new(start..self.text.len(), origin, None, None));
    }

    pub(crate) fn push_host(&mut self, text: &str) {
        self.push(text, TextOrigin::Host, None);
    }

    /// Text that is nobody's: the line end that is shown between two parts.
    pub(crate) fn push_unowned(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn span(&mut self, span: Span) {
        if span.range().is_empty() {
            return;
        }
        // Most texts have one: the room for more would be the larger part of many small blocks.
        if self.spans.capacity() == 0 {
            self.spans.reserve_exact(1);
        }
        match self.spans.last_mut() {
            Some(last) if last.continues(&span) => last.end = span.end,
            _ => self.spans.push(span),
        }
    }

    pub fn append(&mut self, other: &SourceMapped) {
        let shift = self.text.len();
        self.text.push_str(&other.text);
        for span in &other.spans {
            let range = span.range();
            self.span(Span {
                start: small(range.start + shift),
                end: small(range.end + shift),
                ..span.clone()
            });
        }
    }

    /// A range of it; both ends are character boundaries.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let first = self
            .spans
            .partition_point(|span| span.range().end <= range.start);
        let inside = self.spans[first..]
            .iter()
            .take_while(|span| span.range().start < range.end);
        let spans = inside.map(|span| span.slice(&range)).collect();
        Self {
            text: self.text[range].to_owned(),
            spans,
        }
    }

    /// The texts with `between` between each two.
    pub fn join<'t>(
        texts: impl IntoIterator<Item = &'t SourceMapped, IntoIter: Clone>,
        between: &str,
    ) -> Self {
        let texts = texts.into_iter();
        let mut joined = Self::with_room(texts.clone(), between.len());
        for (position, text) in texts.enumerate() {
            if position > 0 {
                joined.push_host(between);
            }
            joined.append(text);
        }
        joined
    }

    /// Every occurrence of the first text of each pair becomes the second, which keeps the origin.
    pub fn replace(self, pairs: &[[String; 2]]) -> Self {
        pairs
            .iter()
            .fold(self, |traced, [what, with]| traced.replace_one(what, with))
    }

    fn replace_one(self, what: &str, with: &str) -> Self {
        if what.is_empty() || !self.text.contains(what) {
            return self;
        }
        let mut done = Self::default();
        let mut rest = 0;
        for (at, _) in self.text.match_indices(what) {
            done.append(&self.slice(rest..at));
            let origin = self.origin_at(at);
            done.push(with, origin, None);
            rest = at + what.len();
        }
        done.append(&self.slice(rest..self.text.len()));
        done
    }

    fn origin_at(&self, at: usize) -> TextOrigin {
        let index = self.spans.partition_point(|span| span.range().end <= at);
        self.spans
            .get(index)
            .map_or(TextOrigin::Host, |span| span.origin)
    }

    /// Gives the whole text this origin.
    pub(crate) fn set_origin(&mut self, origin: TextOrigin) {
        *self = Self::new(&self.text, origin, None);
    }

    /// Remembers that this is the text before any limit, beginning at `start` of the whole.
    pub(crate) fn set_full(&mut self, start: usize) {
        for span in &mut self.spans {
            span.full = small(start + span.range().start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_and_replacements_keep_origins() {
        let mut text = SourceMapped::host("<a>");
        text.push("one < two", TextOrigin::Block(3), Some(0));
        let replaced = text.clone().replace(&[["<".into(), "&lt;".into()]]);
        assert_eq!(replaced.text(), "&lt;a>one &lt; two");
        assert_eq!(replaced.spans().last().unwrap().from(), Some(5));
        text.set_full(10);
        let slice = text.slice(5..8);
        assert_eq!(slice.text(), "e <");
        assert_eq!(
            slice.spans(),
            [Span::new(0..3, TextOrigin::Block(3), Some(2), Some(15))]
        );
        let joined = SourceMapped::join(&[text.slice(3..5), text.slice(5..7)], "");
        assert_eq!(joined.spans().len(), 1);
    }
}
