//! A stretch of a text in half the bytes of a range: a large answer has one for each of its values.

use std::num::NonZeroU32;
use std::ops::Range;

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
        Self { start: offset(range.start), past: NonZeroU32::MIN.saturating_add(offset(range.end)) }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.past.get() as usize - 1
    }
}
