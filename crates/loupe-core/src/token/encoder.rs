//! Counting with one vocabulary: text is split as the encoding says, and the bytes of each word are merged, the lowest
//! rank first.
//!
//! The splitting patterns hold no back-tracking and long words are taken in windows, so that a run of a million spaces or
//! dashes is slow work at worst and never a failure.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::util::pool::Pool;
use regex_automata::{Anchored, Input, MatchKind};

/// The tokens of an encoding by their bytes.
pub(super) struct TokenTable {
    /// The length of each token in one byte, then its bytes; in the order of the ranks.
    entries: Cow<'static, [u8]>,
    /// Where in `entries` each begins.
    starts: Vec<u32>,
    /// Ranks at the place that the hash of the bytes says, or at the next free one; the hash's highest bits above.
    slots: Vec<u32>,
    /// Bytes of the longest token.
    longest: usize,
}

/// Bits of a slot that hold the rank.
const RANK_BITS: u32 = 18;

/// What a free slot holds; no rank is as high as its lower bits.
const FREE: u32 = u32::MAX;

/// The rank of bytes that are no token.
const NO_RANK: u32 = u32::MAX;

/// A word up to this length is searched for its lowest rank from end to end after each merge.
const SHORT_BYTES: usize = 128;

/// Where a part of a word begins, and the rank of it and the next one together. The last one stands for the word's end.
type Part = (usize, u32);

impl TokenTable {
    pub(super) fn new(entries: Cow<'static, [u8]>) -> Self {
        let (mut starts, mut longest, mut at) = (Vec::new(), 0, 0);
        while let Some(&length) = entries.get(at as usize) {
            starts.push(at);
            longest = longest.max(usize::from(length));
            at += 1 + u32::from(length);
        }
        assert!(starts.len() < 1 << RANK_BITS, "ranks of {RANK_BITS} bits");
        let mut table = Self {
            entries,
            slots: vec![FREE; (starts.len() * 5 / 4).next_power_of_two()],
            starts,
            longest,
        };
        for rank in (0..).take(table.starts.len()) {
            let (mut slot, tag) = table.place(table.token(rank));
            while table.slots[slot] != FREE {
                slot = table.after(slot);
            }
            table.slots[slot] = tag << RANK_BITS | rank;
        }
        table
    }

    #[cfg(test)]
    pub(super) fn tokens(&self) -> impl Iterator<Item = &[u8]> {
        (0..).take(self.starts.len()).map(|rank| self.token(rank))
    }

    /// The bytes of a token.
    fn token(&self, rank: u32) -> &[u8] {
        let at = self.starts[rank as usize] as usize;
        &self.entries[at + 1..][..usize::from(self.entries[at])]
    }

    /// The slot that bytes are looked for in first, and what is above their rank.
    fn place(&self, bytes: &[u8]) -> (usize, u32) {
        let mut hash = bytes.len() as u64;
        for chunk in bytes.chunks(8) {
            let eight = chunk
                .iter()
                .rev()
                .fold(0, |eight, byte| eight << 8 | u64::from(*byte));
            hash = (hash ^ eight).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 32;
        }
        (
            hash as usize & (self.slots.len() - 1),
            (hash >> (32 + RANK_BITS)) as u32,
        )
    }

    fn after(&self, slot: usize) -> usize {
        (slot + 1) & (self.slots.len() - 1)
    }

    /// `NO_RANK` where the bytes are no token.
    fn rank(&self, bytes: &[u8]) -> u32 {
        if bytes.len() > self.longest {
            return NO_RANK;
        }
        let (mut slot, tag) = self.place(bytes);
        loop {
            let held = self.slots[slot];
            if held == FREE {
                return NO_RANK;
            }
            let rank = held & ((1 << RANK_BITS) - 1);
            if held >> RANK_BITS == tag && self.token(rank) == bytes {
                return rank;
            }
            slot = self.after(slot);
        }
    }

    /// Splits a word into its tokens: `parts` are their beginnings, and the word's end.
    pub(super) fn merge(&self, word: &[u8], parts: &mut Vec<Part>) {
        // Every token comes out of its own bytes, so that they need no merging.
        if self.rank(word) == NO_RANK {
            self.merge_bytes(word, parts);
        } else {
            parts.clear();
            parts.extend([(0, NO_RANK), (word.len(), NO_RANK)]);
        }
    }

    /// Like [`Self::merge`], without a look at the whole word.
    pub(super) fn merge_bytes(&self, word: &[u8], parts: &mut Vec<Part>) {
        parts.clear();
        if word.len() <= SHORT_BYTES {
            self.merge_short(word, parts);
        } else {
            self.merge_long(word, parts);
        }
    }

    fn merge_short(&self, word: &[u8], parts: &mut Vec<Part>) {
        let pairs = word
            .windows(2)
            .map(|pair| self.rank(pair))
            .chain([NO_RANK; 2]);
        parts.extend((0..=word.len()).zip(pairs));
        // The first of equals.
        while let Some((at, &(_, rank))) = parts.iter().enumerate().min_by_key(|(_, part)| part.1) {
            if rank == NO_RANK {
                return;
            }
            parts.remove(at + 1);
            for at in [Some(at), at.checked_sub(1)].into_iter().flatten() {
                parts[at].1 = parts
                    .get(at + 2)
                    .map_or(NO_RANK, |end| self.rank(&word[parts[at].0..end.0]));
            }
        }
    }

    fn merge_long(&self, word: &[u8], parts: &mut Vec<Part>) {
        // By the byte a part begins at: where the next one does, or 0 where none begins any more; and the one before.
        let mut next: Vec<usize> = (1..=word.len()).collect();
        let mut before: Vec<usize> = (0..word.len()).map(|at| at.saturating_sub(1)).collect();
        let mut heap: BinaryHeap<_> = (0..word.len() - 1)
            .map(|at| Reverse((self.rank(&word[at..at + 2]), at, at + 2)))
            .collect();
        while let Some(Reverse((rank, at, end))) = heap.pop() {
            if rank == NO_RANK {
                break;
            }
            let middle = next[at];
            // What was merged otherwise since is out of date.
            if middle == 0 || middle >= end || next[middle] != end {
                continue;
            }
            (next[at], next[middle]) = (end, 0);
            if let Some(&after) = next.get(end) {
                before[end] = at;
                heap.push(Reverse((self.rank(&word[at..after]), at, after)));
            }
            if at > 0 {
                heap.push(Reverse((
                    self.rank(&word[before[at]..end]),
                    before[at],
                    end,
                )));
            }
        }
        let mut at = 0;
        while at < word.len() {
            parts.push((at, NO_RANK));
            at = next[at];
        }
        parts.push((at, NO_RANK));
    }

    /// Like [`Self::merge`], in windows of this size: a sequence of tokens is the encoding of its text exactly if every
    /// two neighbours are the encoding of theirs. So windows may be put together where the tokens on both sides of the
    /// joint pass that test; where they do not, the word is taken as a whole.
    pub(super) fn merge_in_windows(&self, word: &[u8], window: usize, parts: &mut Vec<Part>) {
        let (mut starts, mut both) = (Vec::with_capacity(word.len() / 4), Vec::new());
        let mut at = 0;
        while at < word.len() {
            let end = word.len().min(at + window);
            self.merge(&word[at..end], parts);
            let tokens = parts.len() - 1;
            let sure = if end == word.len() {
                tokens
            } else {
                tokens.saturating_sub(UNSURE_TOKENS)
            };
            let joins = starts.last().is_none_or(|&(left, _)| {
                self.merge(&word[left..at + parts[1].0], &mut both);
                both.len() == 3 && both[1].0 == at - left
            });
            if sure == 0 || !joins {
                return self.merge(word, parts);
            }
            starts.extend(
                parts[..sure]
                    .iter()
                    .map(|&(start, _)| (at + start, NO_RANK)),
            );
            at += parts[sure].0;
        }
        starts.push((at, NO_RANK));
        *parts = starts;
    }
}

/// What splits a text into words, and these into tokens.
pub(super) struct Encoder {
    /// Only looks for the end of the word that a text begins with: it needs no way back, half the memory and time.
    pattern: DFA,
    /// What it made of the pattern so far.
    caches: Pool<Option<Cache>, fn() -> Option<Cache>>,
    pub(super) table: TokenTable,
}

impl Encoder {
    /// The last character of what the pattern in the middle finds is looked at, not taken.
    fn new(entries: Cow<'static, [u8]>, first: &str) -> Self {
        let leftmost = DFA::config().match_kind(MatchKind::LeftmostFirst);
        match DFA::builder()
            .configure(leftmost)
            .build_many(&[first, r"\s+\s", r"\s+"])
        {
            Ok(pattern) => Self {
                pattern,
                caches: Pool::new(|| None),
                table: TokenTable::new(entries),
            },
            Err(error) => unreachable!("a pattern that is known: {error}"),
        }
    }

    fn split<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        let mut rest = text;
        let mut cache = self.caches.get();
        std::iter::from_fn(move || {
            let cache = cache.get_or_insert_with(|| self.pattern.create_cache());
            let found = match self
                .pattern
                .try_search_fwd(cache, &Input::new(rest).anchored(Anchored::Yes))
            {
                Ok(found) => found?,
                Err(error) => unreachable!("no byte stops it, and it never gives up: {error}"),
            };
            let mut word = &rest[..found.offset()];
            if found.pattern().as_usize() == 1 {
                word = word
                    .char_indices()
                    .next_back()
                    .map_or(word, |(last, _)| &word[..last]);
            }
            rest = &rest[word.len()..];
            Some(word)
        })
    }

    /// Tokens of a text that is taken as a whole.
    pub(super) fn count(&self, text: &str) -> u64 {
        let mut tokens = 0;
        let mut parts = Vec::new();
        for word in self.split(text) {
            self.merge(word, &mut parts);
            tokens += parts.len() as u64 - 1;
        }
        tokens
    }

    /// Hands out the bytes of each token of a text that is taken as a whole, in order.
    pub(super) fn each_token<'a>(&'a self, text: &'a str, mut take: impl FnMut(&'a [u8])) {
        let mut parts = Vec::new();
        for word in self.split(text) {
            self.merge(word, &mut parts);
            for ends in parts.windows(2) {
                take(&word.as_bytes()[ends[0].0..ends[1].0]);
            }
        }
    }

    fn merge(&self, word: &str, parts: &mut Vec<Part>) {
        if word.len() <= WINDOW_BYTES {
            self.table.merge(word.as_bytes(), parts);
        } else {
            self.table
                .merge_in_windows(word.as_bytes(), WINDOW_BYTES, parts);
        }
    }
}

/// A longer word is taken in windows of this size, so that its cost grows with its length.
const WINDOW_BYTES: usize = 32 << 10;

/// The last tokens of a window may come out otherwise once more text follows: they are found anew in the next one.
const UNSURE_TOKENS: usize = 16;

pub(super) fn o200k_base() -> &'static Encoder {
    static O200K_BASE: LazyLock<Encoder> = LazyLock::new(|| {
        let pattern = [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+$",
        ];
        Encoder::new(
            Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base"))),
            &pattern.join("|"),
        )
    });
    &O200K_BASE
}

pub(super) fn cl100k_base() -> &'static Encoder {
    static CL100K_BASE: LazyLock<Encoder> = LazyLock::new(|| {
        let pattern = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$";
        Encoder::new(
            Cow::Borrowed(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base"))),
            pattern,
        )
    });
    &CL100K_BASE
}

/// `p50k_base`: the vocabulary is the one inside `tiktoken-rs`, the splitting pattern says the same without look-ahead.
/// `None` would mean that the vocabulary of the crate has changed.
pub(super) fn p50k_base() -> Option<&'static Encoder> {
    static P50K_BASE: LazyLock<Option<Encoder>> = LazyLock::new(|| {
        let reference = tiktoken_rs::p50k_base().ok()?;
        let mut entries = Vec::new();
        // 50256 is the special token; the others are in the order of their merges.
        for rank in (0..=50_280).filter(|rank| *rank != 50_256) {
            let bytes = reference.decode_bytes(&[rank]).ok()?;
            entries.push(u8::try_from(bytes.len()).ok()?);
            entries.extend(bytes);
        }
        let pattern = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$";
        Some(Encoder::new(Cow::Owned(entries), pattern))
    });
    P50K_BASE.as_ref()
}
