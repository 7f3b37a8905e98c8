//! Counts a text that comes in pieces of bytes, without keeping it.

use super::{PIECE_BYTES, Tokens, safe_cut};

/// What a text measures. Bytes that are not UTF-8 count as U+FFFD, as they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub bytes: u64,
    /// Unicode scalar values.
    pub chars: u64,
    /// UTF-16 code units, the length JavaScript sees.
    pub utf16: u64,
    pub tokens: Tokens,
}

impl Counts {
    /// Both sums.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            chars: self.chars + other.chars,
            utf16: self.utf16 + other.utf16,
            tokens: self.tokens.plus(other.tokens),
        }
    }

    /// Of a text.
    pub fn new(text: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(text) {
            return Self::of_text(text);
        }
        let mut counter = Counter::new();
        counter.push(text);
        counter.finish()
    }

    /// Of a text, which is not copied.
    pub fn of_text(text: &str) -> Self {
        let chars = text.chars().count() as u64;
        // Characters of four bytes are two units of UTF-16.
        let pairs = text.bytes().filter(|byte| *byte >= 0xf0).count() as u64;
        Self {
            bytes: text.len() as u64,
            chars,
            utf16: chars + pairs,
            tokens: super::count(text),
        }
    }
}

/// Takes a text in pieces, cut anywhere; the counts equal those of the whole.
#[derive(Debug)]
pub struct Counter {
    counts: Counts,
    /// The beginning of a character whose rest has not come.
    partial: Vec<u8>,
    /// Text that is not counted yet.
    pending: String,
    /// Length of `pending` at which a cut is looked for again.
    look_at: usize,
    /// Bytes of `pending` in which there is none.
    searched: usize,
}

impl Default for Counter {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            partial: Vec::new(),
            pending: String::new(),
            look_at: PIECE_BYTES,
            searched: 0,
        }
    }
}

impl Counter {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, bytes: &[u8]) {
        self.counts.bytes += bytes.len() as u64;
        let joined;
        let bytes = if self.partial.is_empty() {
            bytes
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(bytes);
            joined = whole;
            &joined
        };
        let mut seen = 0;
        for chunk in bytes.utf8_chunks() {
            self.take(chunk.valid());
            seen += chunk.valid().len() + chunk.invalid().len();
            if chunk.invalid().is_empty() {
                continue;
            }
            // Only at the very end may the sequence be incomplete rather than wrong.
            let is_incomplete = seen == bytes.len()
                && std::str::from_utf8(chunk.invalid())
                    .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none());
            if is_incomplete {
                self.partial = chunk.invalid().to_vec();
            } else {
                self.take("\u{fffd}");
            }
        }
    }

    fn take(&mut self, text: &str) {
        for char in text.chars() {
            self.counts.chars += 1;
            self.counts.utf16 += char.len_utf16() as u64;
        }
        self.pending.push_str(text);
        while self.pending.len() >= self.look_at {
            let end = self.pending.floor_char_boundary(self.look_at);
            if let Some(cut) = safe_cut(&self.pending[..end], self.searched) {
                self.counts.tokens.add(&self.pending[..cut]);
                self.pending.drain(..cut);
                (self.look_at, self.searched) = (PIECE_BYTES, 0);
            } else {
                (self.look_at, self.searched) = (self.look_at * 2, end);
            }
        }
    }

    /// The counts of everything pushed.
    pub fn finish(mut self) -> Counts {
        if !self.partial.is_empty() {
            self.take("\u{fffd}");
        }
        self.counts.tokens.add(&self.pending);
        self.counts
    }
}
