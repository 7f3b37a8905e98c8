//! Splits a text into the words of an encoding, as its pattern says, but without one: where the word ends that begins at
//! a place. Each function stands below the pattern that it follows; the first alternative that fits is taken.

use super::class::{BLANK, LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, UPPER};

/// The number of the block of each 256 characters.
static BLOCKS: &[u8; 0x1100] = include_bytes!(concat!(env!("OUT_DIR"), "/blocks"));
static CLASSES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/classes"));

/// `\p{L}`
const ANY_LETTER: u8 = LOWER | UPPER | LETTER;

/// The class of the character at a place, and where it ends; no class at the text's end.
#[inline(always)]
fn class_at(text: &str, at: usize) -> (u8, usize) {
    match text.as_bytes().get(at) {
        None => (0, at),
        Some(byte) if byte.is_ascii() => (CLASSES[usize::from(*byte)], at + 1),
        Some(_) => wide_class_at(text, at),
    }
}

fn wide_class_at(text: &str, at: usize) -> (u8, usize) {
    let char = text[at..].chars().next().unwrap_or_default();
    let block = usize::from(BLOCKS[char as usize / 256]);
    let class = CLASSES[block * 256 + char as usize % 256];
    (class, at + char.len_utf8())
}

/// Where the characters of these classes end.
#[inline(always)]
fn run(text: &str, mut at: usize, classes: u8) -> usize {
    if classes & LOWER != 0 {
        at = lower_run(text.as_bytes(), at);
    }
    loop {
        let (class, next) = class_at(text, at);
        if class & classes == 0 {
            return at;
        }
        at = next;
    }
}

/// Where the small letters of ASCII end, or some place before it; eight at a step.
#[inline(always)]
fn lower_run(text: &[u8], mut at: usize) -> usize {
    const EACH: u64 = 0x0101_0101_0101_0101;
    while let Some(eight) = text.get(at..).and_then(<[u8]>::first_chunk) {
        let eight = u64::from_le_bytes(*eight);
        // The highest bit of each byte: whether it is from `a` on, whether it is beyond `z`.
        let seven = eight & (EACH * 0x7f);
        let (from, beyond) = (
            seven + EACH * (0x80 - b'a' as u64),
            seven + EACH * (0x7f - b'z' as u64),
        );
        let others = (!from | beyond | eight) & (EACH * 0x80);
        if others != 0 {
            return at + (others.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    at
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
#[inline(always)]
fn contraction(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'\'') {
        return at;
    }
    let lower = |at: usize| bytes.get(at).map_or(0, u8::to_ascii_lowercase);
    match [lower(at + 1), lower(at + 2)] {
        [b's' | b't' | b'm' | b'd', _] => at + 2,
        // `ſ`, which is an `s` for whoever ignores case.
        [b'r' | b'v', b'e'] | [b'l', b'l'] | [0xc5, 0xbf] => at + 3,
        _ => at,
    }
}

/// `\p{N}{1,3}`
#[inline(always)]
fn numbers(text: &str, mut at: usize) -> usize {
    for _ in 0..3 {
        let (class, next) = class_at(text, at);
        if class != NUMBER {
            break;
        }
        at = next;
    }
    at
}

/// ` ?[^\s\p{L}\p{N}]+`, and nothing where there are none.
#[inline(always)]
fn others(text: &str, at: usize) -> usize {
    let from = at + usize::from(text.as_bytes()[at] == b' ');
    let end = run(text, from, OTHER | MARK);
    if end == from { at } else { end }
}

/// `\s*[\r\n]+|\s+(?!\S)|\s+`, the first only where lines are told apart.
fn blanks(text: &str, at: usize, lines: bool) -> usize {
    let (mut end, mut last, mut line) = (at, at, at);
    loop {
        let (class, next) = class_at(text, end);
        if class & (BLANK | NEWLINE) == 0 {
            break;
        }
        if class == NEWLINE && lines {
            line = next;
        }
        (last, end) = (end, next);
    }
    if line > at {
        line
    } else if end == text.len() || last == at {
        end
    } else {
        last
    }
}

/// ```text
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
/// \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n/]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
pub(super) fn o200k_base(text: &str, at: usize) -> usize {
    let (first, next) = class_at(text, at);
    if first == NUMBER {
        return numbers(text, at);
    }
    if first != NEWLINE {
        let from = if first & ANY_LETTER != 0 { at } else { next };
        let (end, is_small) = cased(text, from);
        // A mark is what small letters are as well: without any behind it, it is not what stands before the capitals.
        if first == MARK && !is_small {
            return contraction(text, next);
        }
        if end > from {
            return contraction(text, end);
        }
    }
    let end = others(text, at);
    if end == at {
        return blanks(text, at, true);
    }
    let after = text.as_bytes()[end..].iter();
    end + after
        .take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/'))
        .count()
}

/// The end of capitals with small letters after them, of which there are some; where there are none, of the capitals.
/// What is neither is both.
#[inline(always)]
fn cased(text: &str, at: usize) -> (usize, bool) {
    let (mut end, mut both) = (at, at);
    loop {
        let (class, next) = class_at(text, end);
        if class == LOWER {
            return (run(text, next, LOWER | LETTER | MARK), true);
        }
        if class & (UPPER | LETTER | MARK) == 0 {
            break;
        }
        if class != UPPER {
            both = next;
        }
        end = next;
    }
    if both > at {
        (both, true)
    } else {
        (end, false)
    }
}

/// ```text
/// (?i:'s|'t|'re|'ve|'m|'ll|'d)
/// [^\r\n\p{L}\p{N}]?\p{L}+
/// \p{N}{1,3}
///  ?[^\s\p{L}\p{N}]+[\r\n]*
/// \s*[\r\n]+
/// \s+(?!\S)
/// \s+
/// ```
pub(super) fn cl100k_base(text: &str, at: usize) -> usize {
    let end = contraction(text, at);
    if end > at {
        return end;
    }
    let (first, next) = class_at(text, at);
    if first == NUMBER {
        return numbers(text, at);
    }
    if first != NEWLINE {
        let from = if first & ANY_LETTER != 0 { at } else { next };
        let end = run(text, from, ANY_LETTER);
        if end > from {
            return end;
        }
    }
    let end = others(text, at);
    if end == at {
        return blanks(text, at, true);
    }
    run(text, end, NEWLINE)
}

/// ```text
/// '(?:[sdmt]|ll|ve|re)
///  ?\p{L}+
///  ?\p{N}+
///  ?[^\s\p{L}\p{N}]+
/// \s+(?!\S)
/// \s+
/// ```
pub(super) fn p50k_base(text: &str, at: usize) -> usize {
    let end = contraction(text, at);
    let is_small = |byte: &u8| byte.is_ascii_lowercase();
    if end > at && text.as_bytes()[at + 1..end].iter().all(is_small) {
        return end;
    }
    let from = at + usize::from(text.as_bytes()[at] == b' ');
    for classes in [ANY_LETTER, NUMBER, OTHER | MARK] {
        let end = run(text, from, classes);
        if end > from {
            return end;
        }
    }
    blanks(text, at, false)
}
