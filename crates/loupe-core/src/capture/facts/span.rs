//! A stretch of a text in half the bytes of a range: a large answer has one for each of its values.

use std::num::NonZeroU32;
use std::ops::Range;

use super::canon::is_space;

/// A range of a text below 4 GiB, as are all that are indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    /// One more than the end, so that an `Option` takes no room.
    past: NonZeroU32,
}

impl Span {
    pub(super) fn of(range: &Range<usize>) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX - 1);
        Self {
            start: offset(range.start),
            past: NonZeroU32::MIN.saturating_add(offset(range.end)),
        }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.past.get() as usize - 1
    }
}

/// Marks and quotes around a value, which are no part of it.
pub(super) fn is_ornament(char: char) -> bool {
    is_space(char) || matches!(char, '*' | '_' | '"' | '`' | '\'')
}

/// A range without the ornaments around it.
pub(super) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = &text[range.clone()];
    let start = range.start + inner.len() - inner.trim_start_matches(is_ornament).len();
    start..(start + text[start..range.end].trim_end_matches(is_ornament).len())
}

/// Places as whole lines where they fill them, as they are inside one line; neighbours merged.
pub(super) fn whole_lines(text: &str, places: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    for place in places {
        let mut place = place.clone();
        // Only the text's own line ends count: inside JSON, `\n` parts nothing that could be marked as a line.
        let before = text[..place.start].trim_end_matches([' ', '\t', '>', '-']);
        let after = text[place.end..].trim_start_matches([' ', '\t', '\r', ',']);
        if (before.is_empty() || before.ends_with('\n'))
            && (after.is_empty() || after.starts_with('\n'))
        {
            place = before.len()..text.len() - after.len();
        }
        match out.last_mut() {
            Some(last) if place.start <= last.end + 1 => last.end = last.end.max(place.end),
            _ => out.push(place),
        }
    }
    out
}

/// What is left of ranges without those that are taken, both in order.
pub(super) fn rest_of(ranges: &[Range<usize>], taken: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut free = Vec::new();
    let mut next = 0;
    for range in ranges {
        let mut at = range.start;
        while let Some(taken) = taken.get(next).filter(|taken| taken.start < range.end) {
            if taken.start > at {
                free.push(at..taken.start);
            }
            at = at.max(taken.end);
            next += 1;
        }
        if at < range.end {
            free.push(at..range.end);
        }
    }
    free
}
