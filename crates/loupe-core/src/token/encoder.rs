//! Counting with one vocabulary: text is split as the encoding says, and the bytes of each word are merged, the lowest
//! rank first.
//!
//! The tables are written by `build.rs`. Long words are taken in windows, so that a run of a million spaces or dashes is
//! slow work at worst and never a failure.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};

use super::hash::{FREE, LONGEST, PLACE_BITS, eight, hash, slot, tag};
use super::words;

/// The tokens of an encoding by their bytes. A token is known by its place in `entries`, which are in the order of the
/// ranks, so that a place says as much as a rank.
pub(super) struct TokenTable {
    /// The length of each token in one byte, then its bytes.
    entries: &'static [u8],
    /// Places, at the slot that the hash of the token says or at the next free one; the hash's lowest bits above.
    slots: &'static [[u8; 4]],
    /// The places of pairs of bytes.
    pairs: &'static [[u8; 4]],
    /// By character, and by the bytes before and after the end of one: the bytes of a character are merged first where
    /// its number is lower than those of both its ends.
    wholes: &'static [u8; 0x1_0000],
    joints: &'static [u8; 0x1_0000],
}

/// What stands for the place of bytes that are no token.
const NO_TOKEN: u32 = FREE;

/// A word up to this length, in bytes, is searched for its lowest rank after each merge.
const SHORT_BYTES: usize = 1 << INDEX_BITS;

/// Bits of a key that hold the number of its symbol.
const INDEX_BITS: u32 = 10;

/// So many keys stand in a block, of which the lowest one is known.
const BLOCK: usize = 16;

/// The key of a symbol that is not merged with the next one.
const LAST: i32 = i32::MAX;

/// The symbols of a short word, before and while they are merged.
#[derive(Default)]
pub(super) struct Symbols {
    /// The rank of each and the next one together, and its number in the lowest bits. So the first of equals is lowest.
    keys: Vec<i32>,
    /// The lowest key of each block of them.
    lowest: Vec<i32>,
    /// The byte each begins at; the word's end after the last.
    starts: Vec<u16>,
    next: Vec<u16>,
    before: Vec<u16>,
}

fn is_run(word: &[u8]) -> bool {
    word[1..] == word[..word.len() - 1]
}

impl TokenTable {
    #[cfg(test)]
    pub(super) fn tokens(&self) -> impl Iterator<Item = &'static [u8]> {
        let mut rest = self.entries;
        std::iter::from_fn(move || {
            let (&length, after) = rest.split_first()?;
            let (token, after) = after.split_at(usize::from(length));
            rest = after;
            Some(token)
        })
    }

    /// The place of a token that has this hash.
    #[inline(always)]
    fn find(&self, text: &[u8], from: usize, to: usize, hash: u64) -> u32 {
        let length = to - from;
        let mut slot = slot(hash, self.slots.len());
        loop {
            let held = u32::from_le_bytes(self.slots[slot]);
            if held == FREE {
                return NO_TOKEN;
            }
            let place = held & ((1 << PLACE_BITS) - 1);
            let at = place as usize + 1;
            if held - place == tag(hash)
                && usize::from(self.entries[at - 1]) == length
                && if length <= 8 {
                    eight(self.entries, at, length) == eight(text, from, length)
                } else {
                    self.entries[at..at + length] == text[from..to]
                }
            {
                return place;
            }
            slot += 1;
            if slot == self.slots.len() {
                slot = 0;
            }
        }
    }

    #[inline(always)]
    fn place(&self, text: &[u8], from: usize, to: usize) -> u32 {
        if to - from > LONGEST {
            return NO_TOKEN;
        }
        self.find(text, from, to, hash(text, from, to - from))
    }

    /// Where the symbol ends that merging begins with: a character whose bytes are merged first, or one byte.
    #[inline(always)]
    fn symbol(&self, word: &[u8], at: usize) -> usize {
        let (code, end) = match word[at..] {
            [0..0x80, ..] => return at + 1,
            [a @ 0xc0..0xe0, b, ..] => (u32::from(a & 0x1f) << 6 | u32::from(b & 0x3f), at + 2),
            [a @ 0xe0..0xf0, b, c, ..] => (
                u32::from(a & 0xf) << 12 | u32::from(b & 0x3f) << 6 | u32::from(c & 0x3f),
                at + 3,
            ),
            _ => return at + 1,
        };
        let level = self.wholes[code as usize];
        let is_whole = |at: usize| {
            at == 0
                || at == word.len()
                || level < self.joints[usize::from(word[at - 1]) << 8 | usize::from(word[at])]
        };
        if level < 255 && is_whole(at) && is_whole(end) {
            end
        } else {
            at + 1
        }
    }

    /// Merges the first bytes of a text, no more than `SHORT_BYTES`; the number of their tokens.
    fn merge_short(&self, text: &[u8], length: usize, symbols: &mut Symbols) -> usize {
        let Symbols {
            keys,
            lowest,
            starts,
            next,
            before,
        } = symbols;
        starts.clear();
        let mut at = 0;
        while at < length {
            starts.push(at as u16);
            at = self.symbol(&text[..length], at);
        }
        starts.push(length as u16);
        let count = starts.len() - 1;
        next.clear();
        next.extend(1..=count as u16);
        before.clear();
        before.extend((0..=count as u16).map(|index| index.saturating_sub(1)));
        let key = |index: usize, place: u32| match place {
            NO_TOKEN => LAST,
            place => (place << INDEX_BITS) as i32 | index as i32,
        };
        keys.clear();
        for (index, ends) in starts.windows(3).enumerate() {
            let (from, to) = (usize::from(ends[0]), usize::from(ends[2]));
            let place = match text[from..to] {
                [a, b] => u32::from_le_bytes(self.pairs[usize::from(a) << 8 | usize::from(b)]),
                _ => self.place(text, from, to),
            };
            keys.push(key(index, place));
        }
        keys.resize(count.next_multiple_of(BLOCK), LAST);
        let lowest_of = |keys: &[i32]| keys.iter().fold(LAST, |low, key| low.min(*key));
        lowest.clear();
        lowest.extend(keys.chunks(BLOCK).map(lowest_of));
        let mut tokens = count;
        loop {
            let found = lowest_of(lowest);
            if found == LAST {
                return tokens;
            }
            let left = found as usize % SHORT_BYTES;
            let right = usize::from(next[left]);
            let after = usize::from(next[right]);
            next[left] = after as u16;
            before[after] = left as u16;
            tokens -= 1;
            keys[right] = LAST;
            keys[left] = LAST;
            if let Some(end) = next.get(after) {
                let to = starts[usize::from(*end)];
                keys[left] = key(left, self.place(text, starts[left].into(), to.into()));
            }
            let ahead = usize::from(before[left]);
            if left > 0 {
                let (from, to) = (starts[ahead], starts[after]);
                keys[ahead] = key(ahead, self.place(text, from.into(), to.into()));
            }
            let mut last = usize::MAX;
            for block in [ahead, left, right].map(|index| index / BLOCK) {
                if block != last {
                    lowest[block] = lowest_of(&keys[block * BLOCK..][..BLOCK]);
                    last = block;
                }
            }
        }
    }

    /// The places where the tokens of a word begin, and its end.
    pub(super) fn merge(&self, word: &[u8], symbols: &mut Symbols, starts: &mut Vec<usize>) {
        // Every token comes out of its own bytes, so that they need no merging.
        if self.place(word, 0, word.len()) == NO_TOKEN {
            self.merge_bytes(word, symbols, starts);
        } else {
            starts.clear();
            starts.extend([0, word.len()]);
        }
    }

    /// Like [`Self::merge`], without a look at the whole word.
    pub(super) fn merge_bytes(&self, word: &[u8], symbols: &mut Symbols, starts: &mut Vec<usize>) {
        starts.clear();
        if is_run(word) {
            starts.push(0);
            for (length, times) in self.merge_run(word[0], word.len()) {
                let last = starts[starts.len() - 1];
                starts.extend((1..=times).map(|time| last + time * length));
            }
        } else if word.len() > SHORT_BYTES {
            self.merge_long(word, starts);
        } else {
            self.merge_short(word, word.len(), symbols);
            let mut at = 0;
            while usize::from(symbols.starts[at]) < word.len() {
                starts.push(symbols.starts[at].into());
                at = symbols.next[at].into();
            }
            starts.push(word.len());
        }
    }

    /// Merges a word of one byte only, however long: the lengths of its tokens in order, each with how often it comes.
    fn merge_run(&self, byte: u8, length: usize) -> Vec<(usize, usize)> {
        let run = [byte; LONGEST];
        let rank = |length: usize| match length {
            ..=LONGEST => self.place(&run, 0, length),
            _ => NO_TOKEN,
        };
        let mut tokens = vec![(1, length)];
        loop {
            // The lowest rank; the first of equals. Two of the same length, or the last of them and the next.
            let pairs = (0..tokens.len()).flat_map(|at| {
                let (one, times) = tokens[at];
                let same = if times > 1 { one } else { LONGEST };
                let next = tokens.get(at + 1).map_or(LONGEST, |next| next.0);
                [(rank(one + same), at, false), (rank(one + next), at, true)]
            });
            let lowest = pairs.min_by_key(|pair| pair.0);
            let Some((lowest, at, is_last)) = lowest.filter(|pair| pair.0 != NO_TOKEN) else {
                return tokens;
            };
            let (one, times) = tokens[at];
            if is_last {
                let next = tokens[at + 1];
                tokens.splice(
                    at..at + 2,
                    [(one, times - 1), (one + next.0, 1), (next.0, next.1 - 1)],
                );
            } else {
                // All pairs at once, where none that comes of it is merged with what is beside it first.
                let before = if at > 0 { tokens[at - 1].0 } else { LONGEST };
                let is_next = [before + 2 * one, 3 * one, 4 * one]
                    .into_iter()
                    .all(|length| rank(length) > lowest);
                let pairs = if is_next { times / 2 } else { 1 };
                tokens.splice(at..at + 1, [(2 * one, pairs), (one, times - 2 * pairs)]);
            }
            tokens.retain(|token| token.1 > 0);
            // Neighbours that are alike count as one.
            tokens.dedup_by(|next, token| {
                let is_same = next.0 == token.0;
                token.1 += if is_same { next.1 } else { 0 };
                is_same
            });
        }
    }

    /// Merges a word of any length, the lowest rank out of a heap.
    pub(super) fn merge_long(&self, word: &[u8], starts: &mut Vec<usize>) {
        // By the byte a part begins at: where the next one does, or 0 where none begins any more; and the one before.
        let mut next: Vec<usize> = (1..=word.len()).collect();
        let mut before: Vec<usize> = (0..word.len()).map(|at| at.saturating_sub(1)).collect();
        let mut heap: BinaryHeap<_> = (0..word.len() - 1)
            .map(|at| Reverse((self.place(word, at, at + 2), at, at + 2)))
            .collect();
        while let Some(Reverse((place, at, end))) = heap.pop() {
            if place == NO_TOKEN {
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
                heap.push(Reverse((self.place(word, at, after), at, after)));
            }
            if at > 0 {
                heap.push(Reverse((
                    self.place(word, before[at], end),
                    before[at],
                    end,
                )));
            }
        }
        let mut at = 0;
        while at < word.len() {
            starts.push(at);
            at = next[at];
        }
        starts.push(at);
    }

    /// Like [`Self::merge`], in windows of about this size: a sequence of tokens is the encoding of its text exactly if
    /// every two neighbours are the encoding of theirs. So windows may be put together where the tokens on both sides of
    /// the joint pass that test. Where they do not, more before and after it is taken at once.
    pub(super) fn merge_in_windows(
        &self,
        word: &[u8],
        least: usize,
        symbols: &mut Symbols,
        starts: &mut Vec<usize>,
    ) {
        let (mut part, mut both) = (Vec::new(), Vec::new());
        let mut joins = |from: usize, at: usize, to: usize, symbols: &mut Symbols| {
            self.merge(&word[from..to], symbols, &mut both);
            both.len() == 3 && both[1] == at - from
        };
        starts.clear();
        let (mut at, mut window) = (0, least);
        // Up to here the windows stay large.
        let mut hard = 0;
        while at < word.len() {
            let rest = &word[at..];
            let end = rest.len().min(window);
            self.merge(&rest[..end], symbols, &mut part);
            let mut sure = part.len() - 1;
            if end < rest.len() {
                sure = sure.saturating_sub(UNSURE_TOKENS);
            }
            let last = starts.last().copied();
            if sure == 0 || last.is_some_and(|last| !joins(last, at, at + part[1], symbols)) {
                hard = hard.max(at + window);
                let back = at.saturating_sub(window);
                while starts.last().is_some_and(|start| *start >= back) {
                    at = starts.pop().unwrap_or(0);
                }
                window *= 4;
                continue;
            }
            let mut times = 1;
            if window == least {
                // What comes again right after itself has the same tokens again.
                let again = (1..=sure).rev().find(|tokens| {
                    let length = part[*tokens];
                    rest[length..].starts_with(&rest[..length])
                        && joins(
                            at + part[tokens - 1],
                            at + length,
                            at + length + part[1],
                            symbols,
                        )
                });
                if let Some(tokens) = again {
                    let alike = rest.iter().zip(&rest[part[tokens]..]);
                    (sure, times) = (
                        tokens,
                        alike.take_while(|(a, b)| a == b).count() / part[tokens],
                    );
                }
            }
            for _ in 0..times {
                starts.extend(part[..sure].iter().map(|start| at + start));
                at += part[sure];
            }
            if at >= hard {
                window = least;
            }
        }
        starts.push(at);
    }
}

/// How many tokens a word has that is no token.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Its bytes, or as many as fit in of a longer one, of which all bytes are equal.
    word: [u64; 2],
    length: u32,
    tokens: u32,
}

/// Words that are remembered.
const KNOWN_WORDS: usize = 4096;

/// What merging works with, and the words it knows.
#[derive(Default)]
struct Scratch {
    symbols: Symbols,
    starts: Vec<usize>,
    known: Vec<Known>,
}

/// What splits a text into words, and these into tokens.
pub(super) struct Encoder {
    /// Where the word ends that begins at a place.
    word_end: fn(&str, usize) -> usize,
    pub(super) table: TokenTable,
    /// What no thread uses now.
    kept: Mutex<Vec<Scratch>>,
}

impl Encoder {
    /// Hands out where each word begins and ends.
    fn each_word(&self, text: &str, mut take: impl FnMut(usize, usize)) {
        let mut at = 0;
        while at < text.len() {
            let end = (self.word_end)(text, at);
            take(at, end);
            at = end;
        }
    }

    /// Tokens of a text that is taken as a whole.
    pub(super) fn count(&self, text: &str) -> u64 {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = kept().pop().unwrap_or_default();
        scratch.known.resize(KNOWN_WORDS, Known::default());
        let mut tokens = 0;
        self.each_word(text, |from, to| {
            tokens += self.count_word(&text.as_bytes()[from..], to - from, &mut scratch);
        });
        kept().push(scratch);
        tokens
    }

    /// Tokens of the first bytes of a text.
    #[inline]
    fn count_word(&self, text: &[u8], length: usize, scratch: &mut Scratch) -> u64 {
        let hash = hash(text, 0, length);
        if length == 1 || length <= LONGEST && self.table.find(text, 0, length, hash) != NO_TOKEN {
            return 1;
        }
        let is_run = length > 16 && is_run(&text[..length]);
        if length > 16 && !is_run {
            if length <= SHORT_BYTES {
                return self.table.merge_short(text, length, &mut scratch.symbols) as u64;
            }
            self.merge(&text[..length], &mut scratch.symbols, &mut scratch.starts);
            return scratch.starts.len() as u64 - 1;
        }
        let rest = length.saturating_sub(8);
        let word = [
            eight(text, 0, length),
            if rest > 0 { eight(text, 8, rest) } else { 0 },
        ];
        let known = &mut scratch.known[hash as usize % KNOWN_WORDS];
        if (known.length, known.word) != (length as u32, word) {
            let tokens = if is_run {
                let tokens = self.table.merge_run(text[0], length);
                tokens.iter().map(|token| token.1).sum()
            } else {
                self.table.merge_short(text, length, &mut scratch.symbols)
            };
            *known = Known {
                word,
                length: length as u32,
                tokens: tokens as u32,
            };
        }
        known.tokens.into()
    }

    /// Hands out the bytes of each token of a text that is taken as a whole, in order.
    pub(super) fn each_token<'a>(&self, text: &'a str, mut take: impl FnMut(&'a [u8])) {
        let (mut symbols, mut starts) = (Symbols::default(), Vec::new());
        self.each_word(text, |from, to| {
            let word = &text.as_bytes()[from..to];
            self.merge(word, &mut symbols, &mut starts);
            for ends in starts.windows(2) {
                take(&word[ends[0]..ends[1]]);
            }
        });
    }

    fn merge(&self, word: &[u8], symbols: &mut Symbols, starts: &mut Vec<usize>) {
        if word.len() <= SHORT_BYTES || is_run(word) {
            self.table.merge(word, symbols, starts);
        } else {
            self.table
                .merge_in_windows(word, WINDOW_BYTES, symbols, starts);
        }
    }
}

/// A longer word than is merged at once is taken in windows of this size, so that its cost grows with its length.
const WINDOW_BYTES: usize = 512;

/// The last tokens of a window may come out otherwise once more text follows: they are found anew in the next one.
const UNSURE_TOKENS: usize = 6;

/// An encoding: what splits it, and its tables as `build.rs` wrote them.
macro_rules! encoder {
    ($name:ident) => {
        Encoder {
            word_end: words::$name,
            table: TokenTable {
                entries: table!($name, ""),
                slots: table!($name, ".slots").as_chunks().0,
                pairs: table!($name, ".pairs").as_chunks().0,
                wholes: table!($name, ".wholes"),
                joints: table!($name, ".joints"),
            },
            kept: Mutex::new(Vec::new()),
        }
    };
}

macro_rules! table {
    ($name:ident, $kind:literal) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($name), $kind))
    };
}

pub(super) static O200K_BASE: Encoder = encoder!(o200k_base);
pub(super) static CL100K_BASE: Encoder = encoder!(cl100k_base);
pub(super) static P50K_BASE: Encoder = encoder!(p50k_base);
