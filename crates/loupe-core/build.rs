//! Writes what counting with OpenAI's encodings needs, so that nothing has to be made of it when a program starts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use regex_syntax::hir::{Class, HirKind};

#[path = "src/token/class.rs"]
mod class;
#[path = "src/token/hash.rs"]
mod hash;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/token/class.rs");
    println!("cargo::rerun-if-changed=src/token/hash.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    // The number of ranks in front of the special tokens; tiktoken-rs does not say it. In p50k_base one is among them.
    for (name, tokenizer, ranks) in [
        ("o200k_base", tiktoken_rs::o200k_base(), 199_998),
        ("cl100k_base", tiktoken_rs::cl100k_base(), 100_256),
        ("p50k_base", tiktoken_rs::p50k_base(), 50_281),
    ] {
        let tokenizer = tokenizer.expect("the vocabulary is in the crate");
        let tokens = (0..ranks)
            .filter(|rank| (name, *rank) != ("p50k_base", 50_256))
            .map(|rank| tokenizer.decode_bytes(&[rank]))
            .collect::<Result<Vec<_>, _>>()
            .expect("every rank has its bytes");
        write_tables(&folder.join(name), &tokens);
    }
    let (blocks, classes) = classes();
    write(&folder.join("blocks"), &blocks);
    write(&folder.join("classes"), &classes);
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("OUT_DIR can be written");
}

/// Beside the tokens themselves: where each is, by its hash; where pairs of bytes are; which characters are whole.
fn write_tables(path: &Path, tokens: &[Vec<u8>]) {
    // The length of each token in one byte, then its bytes, in the order of the ranks. So places are in that order too.
    let mut entries = Vec::new();
    let mut places = HashMap::new();
    for token in tokens {
        places.insert(token.as_slice(), u32::try_from(entries.len()).expect("few"));
        assert!(token.len() <= hash::LONGEST);
        entries.push(token.len() as u8);
        entries.extend(token);
    }
    assert!(entries.len() < 1 << hash::PLACE_BITS);
    let mut slots = vec![hash::FREE; tokens.len() * 8 / 5];
    for token in tokens {
        let hash = hash::hash(token, 0, token.len());
        let mut slot = hash::slot(hash, slots.len());
        while slots[slot] != hash::FREE {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = hash::tag(hash) | places[token.as_slice()];
    }
    let place = |bytes: &[u8]| places.get(bytes).copied().unwrap_or(hash::FREE);
    let pairs = (0..=u16::MAX).map(|pair| place(&pair.to_be_bytes()));
    let words = |words: &mut dyn Iterator<Item = u32>| -> Vec<u8> {
        words.flat_map(u32::to_le_bytes).collect()
    };
    write(
        &path.with_extension("slots"),
        &words(&mut slots.into_iter()),
    );
    write(
        &path.with_extension("pairs"),
        &words(&mut pairs.into_iter()),
    );
    let (wholes, joints) = wholes(tokens, place);
    write(&path.with_extension("wholes"), &wholes);
    write(&path.with_extension("joints"), &joints);
    write(path, &entries);
}

/// For each character of two or three bytes the highest rank that merging its bytes takes. For each pair of bytes with the
/// end of a character between them, the first one times 256: the lowest rank of a token that goes across it and
/// has but a part of the character before or of the one after. Of ranks (places) no more than the highest eight bits.
/// So a character's bytes are merged first where its number is lower than those of both of its ends.
fn wholes(tokens: &[Vec<u8>], place: impl Fn(&[u8]) -> u32) -> (Vec<u8>, Vec<u8>) {
    let level = |place: u32| (place >> (hash::PLACE_BITS - 8)).min(255) as u8;
    let is_inner = |byte: u8| (0x80..0xc0).contains(&byte);
    let mut joints = vec![255; 0x1_0000];
    for token in tokens {
        for at in 1..token.len() {
            let (left, right) = token.split_at(at);
            let begins_within = left.iter().all(|byte| is_inner(*byte));
            let whole = match right[0] {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 0,
            };
            let ends_within = right.len() < whole && right[1..].iter().all(|byte| is_inner(*byte));
            if !is_inner(right[0]) && (begins_within || ends_within) {
                let joint = &mut joints[usize::from(left[at - 1]) << 8 | usize::from(right[0])];
                *joint = level(place(token)).min(*joint);
            }
        }
    }
    let mut wholes = vec![255; 0x1_0000];
    for char in '\u{80}'..='\u{ffff}' {
        let mut buffer = [0; 4];
        let bytes = char.encode_utf8(&mut buffer).as_bytes();
        let first = match bytes {
            [a, b, c] => place(&[*a, *b]).min(place(&[*b, *c])),
            _ => 0,
        };
        wholes[char as usize] = level(first.max(place(bytes)));
    }
    (wholes, joints)
}

/// What splitting tells characters apart by, in blocks of 256 characters of which each is there once; the number of the
/// block of each 256 characters, and the blocks.
fn classes() -> (Vec<u8>, Vec<u8>) {
    let mut all = vec![class::OTHER; 0x11_0000];
    for (pattern, class) in [
        (r"\p{Ll}", class::LOWER),
        (r"[\p{Lu}\p{Lt}]", class::UPPER),
        (r"[\p{Lm}\p{Lo}]", class::LETTER),
        (r"\p{M}", class::MARK),
        (r"\p{N}", class::NUMBER),
        (r"\s", class::BLANK),
        (r"[\r\n]", class::NEWLINE),
    ] {
        let parsed = regex_syntax::parse(pattern).expect("a pattern that is known");
        match parsed.kind() {
            HirKind::Class(Class::Unicode(ranges)) => {
                for range in ranges.ranges() {
                    all[range.start() as usize..=range.end() as usize].fill(class);
                }
            }
            kind => unreachable!("{pattern} is {kind:?}"),
        }
    }
    let (mut blocks, mut classes) = (Vec::new(), Vec::<u8>::new());
    for block in all.chunks(256) {
        let known = classes.chunks(256).position(|known| known == block);
        blocks.push(known.unwrap_or(classes.len() / 256) as u8);
        if known.is_none() {
            classes.extend(block);
        }
    }
    assert!(
        classes.len() <= 256 * 256,
        "a block has a number of one byte"
    );
    (blocks, classes)
}
