//! The tokenizer the user names: one that is always counted, one more that is built in, a file of theirs, or the
//! estimate for Claude. What it says is a [`Count`], which tells a number from a range.

use std::sync::Arc;

use super::file::TokenizerFile;
use super::{Encoding, Tokens, encoder, pieces};
use crate::number::grouped;
use crate::problem::Problem;

/// A count as people read it: `1,234`, or `≈1,100–1,950` where it is an estimate.
pub fn format_count(count: Count) -> String {
    match count {
        Count::Exact(tokens) => grouped(tokens),
        Count::Estimate { low, high } => format!("≈{}–{}", grouped(low), grouped(high)),
    }
}

/// How many tokens a text has. An estimate is never a single number, and never mixed with exact counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    Exact(u64),
    /// Both ends are part of it.
    Estimate {
        low: u64,
        high: u64,
    },
}

impl Count {
    pub fn is_exact(self) -> bool {
        matches!(self, Count::Exact(_))
    }

    /// The lowest it can be; the number itself where it is exact.
    pub fn low(self) -> u64 {
        match self {
            Count::Exact(tokens) => tokens,
            Count::Estimate { low, .. } => low,
        }
    }

    /// The highest it can be; the number itself where it is exact.
    pub fn high(self) -> u64 {
        match self {
            Count::Exact(tokens) => tokens,
            Count::Estimate { high, .. } => high,
        }
    }

    /// The sum; an estimate as soon as one of the two is.
    #[must_use]
    pub fn plus(self, other: Count) -> Count {
        match (self, other) {
            (Count::Exact(left), Count::Exact(right)) => Count::Exact(left + right),
            _ => Count::Estimate {
                low: self.low() + other.low(),
                high: self.high() + other.high(),
            },
        }
    }

    /// What is estimated from exact `o200k_base` tokens for Claude: 1.10 to 1.95 times as many, rounded outwards. The
    /// definitions of 20 public servers took 1.56 to 1.94 times as many (`count_tokens` of claude-opus-5, November 2026);
    /// answers were not measured.
    pub fn claude(o200k_base: u64) -> Count {
        let wide = u128::from(o200k_base);
        let fit = |tokens: u128| u64::try_from(tokens).unwrap_or(u64::MAX);
        Count::Estimate {
            low: fit(wide * 110 / 100),
            high: fit((wide * 195).div_ceil(100)),
        }
    }
}

/// What counts.
#[derive(Clone, Debug)]
pub enum Tokenizer {
    /// One of those that are always counted.
    Encoding(Encoding),
    /// `p50k_base`, of older models: built in, counted where it is named.
    P50kBase,
    /// A file of the user's.
    File(Arc<TokenizerFile>),
    /// A range for Claude, whose tokenizer is not public.
    Claude,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Tokenizer::Encoding(Encoding::O200kBase)
    }
}

/// The same tokenizer: files by their digest.
impl PartialEq for Tokenizer {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Tokenizer::Encoding(left), Tokenizer::Encoding(right)) => left == right,
            (Tokenizer::File(left), Tokenizer::File(right)) => left.sha256 == right.sha256,
            (Tokenizer::P50kBase, Tokenizer::P50kBase) | (Tokenizer::Claude, Tokenizer::Claude) => {
                true
            }
            _ => false,
        }
    }
}

impl Eq for Tokenizer {}

impl std::hash::Hash for Tokenizer {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Tokenizer::Encoding(encoding) => encoding.hash(state),
            Tokenizer::File(file) => file.sha256.hash(state),
            Tokenizer::P50kBase | Tokenizer::Claude => {}
        }
    }
}

impl Tokenizer {
    /// Every name that is no file, an alias included.
    pub const NAMES: &'static [&'static str] = &[
        "o200k_base",
        "cl100k_base",
        "p50k_base",
        "o200k_harmony",
        "claude",
    ];

    /// The tokenizer with this name; `None` where it can only be a file.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            // The two differ in special tokens alone, and those count as plain text.
            "o200k_harmony" => Some(Tokenizer::Encoding(Encoding::O200kBase)),
            "p50k_base" => Some(Tokenizer::P50kBase),
            "claude" => Some(Tokenizer::Claude),
            _ => Encoding::parse(name).map(Tokenizer::Encoding),
        }
    }

    /// The name next to every number, and the member of `tokens` in JSON: a file's name for a file.
    pub fn name(&self) -> &str {
        match self {
            Tokenizer::Encoding(encoding) => encoding.name(),
            Tokenizer::P50kBase => "p50k_base",
            Tokenizer::File(file) => &file.name,
            Tokenizer::Claude => "claude",
        }
    }

    /// The encoding, where it is one that is always counted.
    pub fn encoding(&self) -> Option<Encoding> {
        match self {
            Tokenizer::Encoding(encoding) => Some(*encoding),
            _ => None,
        }
    }

    /// The encoding of what is counted in those alone (the tree, the definitions): its own, else `o200k_base`.
    pub fn nearest_encoding(&self) -> Encoding {
        self.encoding().unwrap_or(Encoding::O200kBase)
    }

    /// The file, where it is one.
    pub fn file(&self) -> Option<&TokenizerFile> {
        match self {
            Tokenizer::File(file) => Some(file),
            _ => None,
        }
    }

    pub fn is_exact(&self) -> bool {
        !matches!(self, Tokenizer::Claude)
    }

    /// How its numbers come about, in a sentence for people.
    pub fn how(&self) -> String {
        match self {
            Tokenizer::Encoding(encoding) => format!("exact, counted here with {}", encoding.name()),
            Tokenizer::P50kBase => "exact, counted here with p50k_base".to_owned(),
            Tokenizer::File(file) => {
                format!("counted here with {} ({}, SHA-256 {})", file.name, file.kind.title(), file.sha256)
            }
            Tokenizer::Claude => "an estimate: Claude's tokenizer is not public. From 1.10 to 1.95 times the exact count of \
                 o200k_base; measured at most 1.94 times for the definitions of 20 public servers (2026), not for answers, and a text may lie outside"
                .to_owned(),
        }
    }

    /// The count that follows from what is always counted; `None` where the text itself is needed.
    pub fn from_tokens(&self, tokens: Tokens) -> Option<Count> {
        match self {
            Tokenizer::Encoding(encoding) => Some(Count::Exact(tokens.get(*encoding))),
            Tokenizer::Claude => Some(Count::claude(tokens.o200k_base)),
            Tokenizer::P50kBase | Tokenizer::File(_) => None,
        }
    }

    /// Counts a text; special tokens in it are plain text.
    ///
    /// # Errors
    /// A problem of the user's tokenizer file with this text.
    pub fn count(&self, text: &str) -> Result<Count, Problem> {
        match self {
            Tokenizer::Encoding(encoding) => Ok(Count::Exact(count_encoding(*encoding, text))),
            Tokenizer::Claude => Ok(Count::claude(count_encoding(Encoding::O200kBase, text))),
            Tokenizer::P50kBase => {
                let mut tokens = 0;
                pieces(text, |piece| tokens += encoder::P50K_BASE.count(piece));
                Ok(Count::Exact(tokens))
            }
            Tokenizer::File(file) => file.count(text).map(Count::Exact),
        }
    }
}

fn count_encoding(encoding: Encoding, text: &str) -> u64 {
    let mut tokens = 0;
    pieces(text, |piece| tokens += encoding.encoder().count(piece));
    tokens
}
