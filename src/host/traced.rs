//! A text that knows where each of its ranges comes from.

use std::ops::Range;

/// Where a range of a host's text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A block of `content`, by its position.
    Block(usize),
    /// `structuredContent`.
    Structured,
    /// The JSON of the result around its blocks and `structuredContent`.
    Envelope,
    /// Added by the host.
    Host,
}

/// A range of a text with one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// Bytes of the text.
    pub range: Range<usize>,
    pub origin: Origin,
    /// Where it begins in the block's own text, where it is a copy of it.
    pub from: Option<usize>,
    /// Where it begins in the text before any limit; `None` for what a limit put in.
    pub full: Option<usize>,
}

impl Span {
    fn slice(&self, range: Range<usize>) -> Self {
        let skipped = range.start - self.range.start;
        Self {
            origin: self.origin,
            from: self.from.map(|from| from + skipped),
            full: self.full.map(|full| full + skipped),
            range,
        }
    }

    fn continues(&self, next: &Span) -> bool {
        let fits = |here: Option<usize>, there: Option<usize>| match (here, there) {
            (Some(here), Some(there)) => here + self.range.len() == there,
            (None, None) => true,
            _ => false,
        };
        self.origin == next.origin
            && self.range.end == next.range.start
            && fits(self.from, next.from)
            && fits(self.full, next.full)
    }
}

/// A text with the origin of every byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traced {
    text: String,
    spans: Vec<Span>,
}

impl Traced {
    pub fn of(text: &str, origin: Origin, from: Option<usize>) -> Self {
        let mut traced = Self::default();
        traced.push(text, origin, from);
        traced
    }

    /// A text that the host wrote.
    pub fn host(text: &str) -> Self {
        Self::of(text, Origin::Host, None)
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

    pub fn push(&mut self, text: &str, origin: Origin, from: Option<usize>) {
        let start = self.text.len();
        self.text.push_str(text);
        self.span(Span { range: start..self.text.len(), origin, from, full: None });
    }

    pub fn push_host(&mut self, text: &str) {
        self.push(text, Origin::Host, None);
    }

    /// Text that is nobody's: the line end that is shown between two parts.
    pub fn push_unowned(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn span(&mut self, span: Span) {
        if span.range.is_empty() {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.continues(&span) => last.range.end = span.range.end,
            _ => self.spans.push(span),
        }
    }

    pub fn append(&mut self, other: &Traced) {
        let shift = self.text.len();
        self.text.push_str(&other.text);
        for span in &other.spans {
            let range = span.range.start + shift..span.range.end + shift;
            self.span(Span { range, ..span.clone() });
        }
    }

    /// A range of it; both ends are character boundaries.
    pub fn slice(&self, range: Range<usize>) -> Self {
        let mut spans = Vec::new();
        let first = self.spans.partition_point(|span| span.range.end <= range.start);
        for span in self.spans[first..].iter().take_while(|span| span.range.start < range.end) {
            let cut = span.range.start.max(range.start)..span.range.end.min(range.end);
            let mut piece = span.slice(cut);
            piece.range = piece.range.start - range.start..piece.range.end - range.start;
            spans.push(piece);
        }
        Self { text: self.text[range].to_owned(), spans }
    }

    /// The texts with `between` between each two.
    pub fn join<'t>(texts: impl IntoIterator<Item = &'t Traced>, between: &str) -> Self {
        let mut joined = Self::default();
        for (position, text) in texts.into_iter().enumerate() {
            if position > 0 {
                joined.push_host(between);
            }
            joined.append(text);
        }
        joined
    }

    /// Every occurrence of the first text of each pair becomes the second, which keeps the origin.
    pub fn replace(self, pairs: &[[String; 2]]) -> Self {
        pairs.iter().fold(self, |traced, [what, with]| traced.replace_one(what, with))
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

    fn origin_at(&self, at: usize) -> Origin {
        let index = self.spans.partition_point(|span| span.range.end <= at);
        self.spans.get(index).map_or(Origin::Host, |span| span.origin)
    }

    /// Gives the whole text this origin.
    pub fn set_origin(&mut self, origin: Origin) {
        *self = Self::of(&self.text, origin, None);
    }

    /// Remembers that this is the text before any limit, beginning at `start` of the whole.
    pub fn set_full(&mut self, start: usize) {
        for span in &mut self.spans {
            span.full = Some(start + span.range.start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_and_replacements_keep_origins() {
        let mut text = Traced::host("<a>");
        text.push("one < two", Origin::Block(3), Some(0));
        let replaced = text.clone().replace(&[["<".into(), "&lt;".into()]]);
        assert_eq!(replaced.text(), "&lt;a>one &lt; two");
        assert_eq!(replaced.spans().last().unwrap().from, Some(5));
        text.set_full(10);
        let slice = text.slice(5..8);
        assert_eq!(slice.text(), "e <");
        assert_eq!(slice.spans(), [Span { range: 0..3, origin: Origin::Block(3), from: Some(2), full: Some(15) }]);
        let joined = Traced::join(&[text.slice(3..5), text.slice(5..7)], "");
        assert_eq!(joined.spans().len(), 1);
    }
}
