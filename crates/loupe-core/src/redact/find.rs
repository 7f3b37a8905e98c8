//! One search for all known values: in a text as it is, as it reads once its escapes are undone, and encoded: in
//! Base64, Base32 and hexadecimal.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use super::view::{self, View};
use crate::cancel::Cancelled;

/// A shorter value counts only where no letter or digit is next to it.
const LEAST_INSIDE: usize = 12;

/// A value to look for.
pub(super) struct Wanted {
    pub text: String,
    /// What it is called where it is hidden.
    pub kind: String,
    /// The text is the middle of a value in Base64 or Base32: what stands around it holds the rest of it.
    pub(crate) is_middle: bool,
}

/// See the module.
pub(super) struct Finder {
    search: AhoCorasick,
    wanted: Vec<Wanted>,
}

impl Finder {
    /// # Errors
    /// More than can be searched for (gigabytes of values): then nothing may be written.
    pub(super) fn new(wanted: impl Iterator<Item = Wanted>) -> Result<Self, Cancelled> {
        let wanted: Vec<Wanted> = wanted.filter(|wanted| !wanted.text.is_empty()).collect();
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(wanted.iter().map(|wanted| &wanted.text))
            .map_err(|_| Cancelled)?;
        Ok(Self { search, wanted })
    }

    /// The kind of a text that is a known value as a whole.
    pub(super) fn whole(&self, text: &str) -> Option<&str> {
        let found = self
            .search
            .find(text)
            .filter(|found| found.range() == (0..text.len()))?;
        let wanted = &self.wanted[found.pattern().as_usize()];
        (!wanted.is_middle).then_some(wanted.kind.as_str())
    }

    /// Every known value in a text, as byte ranges with their kinds. Ranges may overlap.
    pub(super) fn find(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let mut found = Vec::new();
        self.find_in(text.as_bytes(), |range| range, &mut found);
        // Escaped twice too: Markdown within JSON that is in a text.
        for view in view::all(text.as_bytes()) {
            self.find_in(&view.bytes, |range| view.range(range), &mut found);
            for inner in view::all(&view.bytes) {
                self.find_in(
                    &inner.bytes,
                    |range| view.range(inner.range(range)),
                    &mut found,
                );
            }
        }
        found
    }

    fn find_in<'a>(
        &'a self,
        bytes: &[u8],
        place: impl Fn(Range<usize>) -> Range<usize>,
        found: &mut Vec<(Range<usize>, &'a str)>,
    ) {
        // Up to where an encoded run was hidden: it is looked along once, however often it holds a value.
        let mut done = 0;
        for hit in self.search.find_iter(bytes) {
            let wanted = &self.wanted[hit.pattern().as_usize()];
            let mut range = hit.range();
            if wanted.is_middle {
                if range.start < done {
                    continue;
                }
                range = run(bytes, range, done);
                done = range.end;
            } else if hit.len() < LEAST_INSIDE && !View::is_alone(bytes, &range) {
                continue;
            }
            found.push((place(range), wanted.kind.as_str()));
        }
    }
}

/// The run of Base64 or Base32 around a part of it, from `floor` on.
fn run(bytes: &[u8], part: Range<usize>, floor: usize) -> Range<usize> {
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(byte);
    let before = bytes[floor..part.start]
        .iter()
        .rev()
        .take_while(|byte| is_digit(byte))
        .count();
    let after = bytes[part.end..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    let end = part.end + after;
    let padding = bytes[end..]
        .iter()
        .take(6)
        .take_while(|byte| **byte == b'=')
        .count();
    part.start - before..end + padding
}
