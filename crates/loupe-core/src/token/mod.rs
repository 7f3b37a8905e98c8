//! Token counts, exact and offline. Text of special tokens counts as plain text, since a tool's answer is data.
//!
//! Counting is done piece by piece, so that it can be streamed; `safe_cut` says where a text may be
//! cut without changing the count. [`Tokens`] are the two encodings that are always counted; a [`Tokenizer`] is one
//! that the user names: one of them, a further one, a file, or an estimate.

mod class;
pub mod claude;
mod counter;
mod encoder;
mod file;
mod hash;
mod image;
mod subtree;
mod tokenizer;
mod words;

pub use counter::{Counter, Counts};
pub use file::{FileKind, MAX_FILE_BYTES, TokenizerFile};
pub use image::image_tokens;
pub use subtree::{Role, each_start, each_token, subtrees};
pub use tokenizer::{Count, Tokenizer, format_count};

/// An encoding that is always counted.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::IntoStaticStr,
    strum::EnumString,
    strum::VariantArray,
)]
pub enum Encoding {
    #[default]
    #[strum(serialize = "o200k_base")]
    O200kBase,
    #[strum(serialize = "cl100k_base")]
    Cl100kBase,
}

impl Encoding {
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn parse(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    fn encoder(self) -> &'static encoder::Encoder {
        match self {
            Encoding::O200kBase => &encoder::O200K_BASE,
            Encoding::Cl100kBase => &encoder::CL100K_BASE,
        }
    }
}

/// Exact counts of one text in every encoding that is always counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    pub o200k_base: u64,
    pub cl100k_base: u64,
}

impl Tokens {
    pub fn get(self, encoding: Encoding) -> u64 {
        match encoding {
            Encoding::O200kBase => self.o200k_base,
            Encoding::Cl100kBase => self.cl100k_base,
        }
    }

    /// Both sums.
    #[must_use]
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            o200k_base: self.o200k_base + other.o200k_base,
            cl100k_base: self.cl100k_base + other.cl100k_base,
        }
    }

    /// What is left without the others; none where those are more.
    #[must_use]
    pub fn less(self, other: Tokens) -> Tokens {
        Tokens {
            o200k_base: self.o200k_base.saturating_sub(other.o200k_base),
            cl100k_base: self.cl100k_base.saturating_sub(other.cl100k_base),
        }
    }

    fn add(&mut self, text: &str) {
        self.o200k_base += encoder::O200K_BASE.count(text);
        self.cl100k_base += encoder::CL100K_BASE.count(text);
    }
}

/// Text is counted in pieces of about this size.
const PIECE_BYTES: usize = 64 << 10;

/// Counts a text.
pub fn count(text: &str) -> Tokens {
    let mut tokens = Tokens::default();
    pieces(text, |piece| tokens.add(piece));
    tokens
}

/// Has the system read the tables in; call it off the UI thread before the first count is needed.
pub fn warm_up() {
    for &encoding in Encoding::ALL {
        encoding.encoder().count("Warm up.");
    }
}

/// Hands out the text in pieces that are tokenised independently.
fn pieces<'a>(text: &'a str, mut take: impl FnMut(&'a str)) {
    let mut rest = text;
    let mut window = PIECE_BYTES;
    // Before this place there is none to cut at.
    let mut searched = 0;
    while rest.len() > window {
        let end = rest.floor_char_boundary(window);
        match safe_cut(&rest[..end], searched) {
            Some(cut) => {
                let (piece, tail) = rest.split_at(cut);
                take(piece);
                rest = tail;
                (window, searched) = (PIECE_BYTES, 0);
            }
            None => (window, searched) = (window * 2, end),
        }
    }
    take(rest)
}

/// A text that is counted in parts has none shorter than this but the last.
const PART_BYTES: usize = 64 << 10;

/// Where a long text can be cut into parts of 64 to 256 KB that are counted apart; longer ones where it has no such place.
/// What stands before a place says whether it is cut there, so that texts that have much in common, wherever it is in
/// them, have most of their parts in common.
pub fn cuts(text: &str) -> impl Iterator<Item = usize> {
    let is_marked = |at: usize| {
        let before = text.as_bytes()[..at]
            .last_chunk()
            .map_or(0, |eight| u64::from_le_bytes(*eight));
        before.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 55 == 0
    };
    let mut from = 0;
    std::iter::from_fn(move || {
        let is_cut =
            |at: &usize| is_cut(text, *at) && (is_marked(*at) || at - from >= 4 * PART_BYTES);
        from = (from + PART_BYTES..text.len()).find(is_cut)?;
        Some(from)
    })
}

/// The last place in `text`, not before `from`, where every built-in encoding always begins a new pre-token, whatever
/// stands around it: between a letter or digit and an ASCII character that is neither and no apostrophe. No alternative of their patterns spans
/// such a pair (`'s` is why the apostrophe is left out), none looks behind, and `\s+$` cannot match before it.
fn safe_cut(text: &str, from: usize) -> Option<usize> {
    (from.max(1)..text.len()).rev().find(|at| {
        #[cfg(test)]
        SEARCHED.set(SEARCHED.get() + 1);
        is_cut(text, *at)
    })
}

/// Whether `at`, which is not 0, is such a place.
fn is_cut(text: &str, at: usize) -> bool {
    let (before, byte) = (text.as_bytes()[at - 1], text.as_bytes()[at]);
    byte.is_ascii()
        && !byte.is_ascii_alphanumeric()
        && byte != b'\''
        && (before.is_ascii_alphanumeric()
            || (!before.is_ascii() && text[..at].chars().next_back().is_some_and(is_ideograph)))
}

/// Letters of scripts that run on without spaces; each is in `\p{Lo}`.
fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{4e00}'..='\u{9fef}' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
thread_local! {
    /// Bytes that were searched for a place to cut at, on this thread.
    static SEARCHED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
fn searched() -> usize {
    SEARCHED.get()
}

#[cfg(test)]
mod tests;
