//! Counting with one vocabulary: text is split as the encoding says, and each word is counted.
//!
//! The splitting patterns hold no back-tracking and the counting is linear, so that a run of a million spaces or
//! dashes is slow work at worst and never a failure.

use std::iter::{empty, once};
use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use bpe_openai::byte_pair_encoding::BytePairEncoding;
use serde::Deserialize;
use serde::de::value::{self, BorrowedBytesDeserializer, MapDeserializer, SeqAccessDeserializer, SeqDeserializer};
use serde::de::{DeserializeSeed, IntoDeserializer, SeqAccess};

/// What a table is made of, as `build.rs` writes it.
#[derive(Deserialize)]
struct Parts<'a> {
    /// The bytes of all tokens, one after another.
    tokens: &'a [u8],
    lengths: Vec<u32>,
    /// The two tokens that each is merged from; itself twice where it is not.
    splits: Vec<(u32, u32)>,
    longest: &'a [u8],
    /// Stands for the two automata that counting does not look at.
    small: &'a [u8],
    prefixes: Vec<u32>,
}

/// Hands the fields of [`BytePairEncoding`] over in their order.
struct Fields<'a> {
    parts: Parts<'a>,
    given: u8,
}

impl<'de> SeqAccess<'de> for Fields<'de> {
    type Error = value::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, value::Error> {
        let Parts { tokens, lengths, splits, longest, small, prefixes } = &self.parts;
        let pair = |&(left, right): &(u32, u32)| SeqDeserializer::new([left, right].into_iter());
        self.given += 1;
        let field = match self.given {
            1 => seed.deserialize(SeqDeserializer::new(tokens.iter().copied())),
            2 => {
                let ends = lengths.iter().scan(0, |end, length| {
                    *end += length;
                    Some(*end)
                });
                seed.deserialize(SeqDeserializer::new(once(0).chain(ends)))
            }
            // Tokens by their hash, which only other ways to encode look up.
            3 => seed.deserialize(MapDeserializer::new(empty::<(u32, u32)>())),
            4 => seed.deserialize(SeqDeserializer::new(splits.iter().map(pair))),
            5 => {
                let merged = (0..).zip(splits).filter(|&(token, split)| *split != (token, token));
                seed.deserialize(MapDeserializer::new(merged.map(|(token, split)| (pair(split), token))))
            }
            6 => seed.deserialize(BorrowedBytesDeserializer::new(longest)),
            7 | 8 => seed.deserialize(BorrowedBytesDeserializer::new(small)),
            9 => seed.deserialize(SeqDeserializer::new(prefixes.iter().copied())),
            // The factor of the hash.
            10 => seed.deserialize(1_u64.into_deserializer()),
            _ => return Ok(None),
        };
        field.map(Some)
    }
}

/// Good for counting and for [`BytePairEncoding::encode_via_backtracking`], and for no other way to encode.
fn table(bytes: &[u8]) -> BytePairEncoding {
    let parts = match rmp_serde::from_slice(bytes) {
        Ok(parts) => parts,
        Err(error) => unreachable!("build.rs wrote another table: {error}"),
    };
    match BytePairEncoding::deserialize(SeqAccessDeserializer::new(Fields { parts, given: 0 })) {
        Ok(table) => table,
        Err(error) => unreachable!("`bpe` has other fields: {error}"),
    }
}

/// The patterns are those of `bpe-openai`. Of the one in the middle the last character is looked at, not taken.
fn tokenizer(bytes: &[u8], first: &str) -> Tokenizer {
    match Tokenizer::new_lookahead(table(bytes), &[(first, false), (r"\s+\s", true), (r"\s+", false)], false) {
        Ok(tokenizer) => tokenizer,
        Err(error) => unreachable!("a pattern that is known: {error}"),
    }
}

pub(super) fn o200k_base() -> &'static Tokenizer {
    static O200K_BASE: LazyLock<Tokenizer> = LazyLock::new(|| {
        let pattern = [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+$",
        ];
        tokenizer(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")), &pattern.join("|"))
    });
    &O200K_BASE
}

pub(super) fn cl100k_base() -> &'static Tokenizer {
    static CL100K_BASE: LazyLock<Tokenizer> = LazyLock::new(|| {
        let pattern =
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+$";
        tokenizer(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")), pattern)
    });
    &CL100K_BASE
}

/// A longer word is taken in windows of this size, so that its cost grows with its length.
const WINDOW_BYTES: usize = 32 << 10;

/// The last tokens of a window may come out otherwise once more text follows: they are found anew in the next one.
const UNSURE_TOKENS: usize = 16;

/// Tokens of a text that is taken as a whole.
pub(super) fn count(tokenizer: &Tokenizer, text: &str) -> u64 {
    let mut tokens = 0;
    for word in tokenizer.split(text) {
        tokens += if word.len() <= WINDOW_BYTES {
            tokenizer.bpe.count(word.as_bytes()) as u64
        } else {
            long_word(&tokenizer.bpe, word.as_bytes(), WINDOW_BYTES).len() as u64
        };
    }
    tokens
}

/// The tokens of one word, in order.
pub(super) fn word_tokens(bpe: &BytePairEncoding, word: &str) -> Vec<u32> {
    if word.len() <= WINDOW_BYTES {
        return bpe.encode_via_backtracking(word.as_bytes());
    }
    long_word(bpe, word.as_bytes(), WINDOW_BYTES)
}

/// A sequence of tokens is the encoding of its text exactly if every two neighbours are the encoding of theirs. So
/// windows may be put together where the tokens on both sides of the joint pass that test; where they do not, the word
/// is taken as a whole.
pub(super) fn long_word(bpe: &BytePairEncoding, word: &[u8], window: usize) -> Vec<u32> {
    let mut all: Vec<u32> = Vec::with_capacity(word.len() / 4);
    let mut at = 0;
    while at < word.len() {
        let end = word.len().min(at + window);
        let tokens = bpe.encode_via_backtracking(&word[at..end]);
        let sure = if end == word.len() { tokens.len() } else { tokens.len().saturating_sub(UNSURE_TOKENS) };
        let joins = match (all.last(), tokens.first()) {
            (Some(&left), Some(&right)) => are_neighbours(bpe, left, right),
            _ => true,
        };
        if sure == 0 || !joins {
            return bpe.encode_via_backtracking(word);
        }
        at += tokens[..sure].iter().map(|&token| bpe.token_len(token)).sum::<usize>();
        all.extend_from_slice(&tokens[..sure]);
    }
    all
}

fn are_neighbours(bpe: &BytePairEncoding, left: u32, right: u32) -> bool {
    let both = [bpe.token_bytes(left), bpe.token_bytes(right)].concat();
    bpe.encode_via_backtracking(&both) == [left, right]
}

/// `p50k_base`, which `bpe-openai` does not bring: the vocabulary is the one inside `tiktoken-rs`, the splitting
/// pattern says the same without look-ahead. `None` would mean that the vocabulary of the crate has changed.
pub(super) fn p50k_base() -> Option<&'static Tokenizer> {
    static P50K_BASE: LazyLock<Option<Tokenizer>> = LazyLock::new(|| {
        let reference = tiktoken_rs::p50k_base().ok()?;
        // 50256 is the special token; the others stand in the order of their merges.
        let vocabulary: Option<Vec<Vec<u8>>> =
            (0..=50_280).filter(|rank| *rank != 50_256).map(|rank| reference.decode_bytes(&[rank]).ok()).collect();
        let bpe = BytePairEncoding::from_dictionary(vocabulary?, None);
        // The second pattern's last character is looked at, not taken.
        let patterns =
            [(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+$", false), (r"\s+\s", true), (r"\s+", false)];
        Tokenizer::new_lookahead(bpe, &patterns, false).ok()
    });
    P50K_BASE.as_ref()
}
