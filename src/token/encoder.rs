//! Counting with one vocabulary: text is split as the encoding says, each word is counted, and both can be left.
//!
//! The splitting patterns hold no back-tracking and the counting is linear, so that a run of a million spaces or
//! dashes is slow work at worst and never a failure. Uses `cancel`.

use std::sync::LazyLock;

use bpe_openai::Tokenizer;
use bpe_openai::appendable_encoder::AppendableEncoder;
use bpe_openai::byte_pair_encoding::BytePairEncoding;

use crate::cancel::{Cancel, Cancelled};

/// A longer word is counted byte by byte, so that the asker can look away in the middle of it.
const LONG_WORD_BYTES: usize = 32 << 10;

/// Tokens of a text that is taken as a whole.
///
/// # Errors
/// [`Cancelled`] when the asker looked away.
pub(super) fn count(tokenizer: &Tokenizer, text: &str, cancel: &Cancel) -> Result<u64, Cancelled> {
    let mut tokens = 0;
    for word in tokenizer.split(text) {
        tokens += if word.len() <= LONG_WORD_BYTES {
            tokenizer.bpe.count(word.as_bytes()) as u64
        } else {
            count_long(&tokenizer.bpe, word.as_bytes(), cancel)?
        };
    }
    Ok(tokens)
}

fn count_long(bpe: &BytePairEncoding, word: &[u8], cancel: &Cancel) -> Result<u64, Cancelled> {
    let mut encoder = AppendableEncoder::new(bpe);
    for piece in word.chunks(LONG_WORD_BYTES) {
        cancel.check()?;
        encoder.extend(piece.iter().copied());
    }
    Ok(encoder.token_count() as u64)
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
