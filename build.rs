//! Writes what the tables are made of by which OpenAI's encodings are counted: 17 MB, where whole tables are 47 MB.
//! What counting never looks at is left out, and what follows from the rest is made when a table is read.

use std::collections::HashMap;
use std::path::PathBuf;

use bpe_openai::byte_pair_encoding::BytePairEncoding;
use serde_bytes::{ByteBuf, Bytes};

/// `BytePairEncoding` as it is serialised: tokens, where each begins, by hash, splits, pairs, the automaton of longest
/// tokens, those of all tokens forwards and backwards, the next prefix, the factor of the hash.
type Fields =
    (Vec<u8>, Vec<u32>, HashMap<u32, u32>, Vec<(u32, u32)>, HashMap<(u32, u32), u32>, ByteBuf, ByteBuf, ByteBuf, Vec<u32>, u64);

fn fields(encoding: &BytePairEncoding) -> Fields {
    let bytes = rmp_serde::to_vec(encoding).expect("an encoding is serialised");
    rmp_serde::from_slice(&bytes).expect("the fields of `bpe`, whose version Cargo.lock holds")
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    // An automaton of single bytes alone stands for those that counting does not look at.
    let small = fields(&BytePairEncoding::from_dictionary((0..=u8::MAX).map(|byte| vec![byte]), None));
    for (name, tokenizer) in [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())] {
        let (tokens, starts, _, splits, pairs, longest, _, _, prefixes, _) = fields(&tokenizer.bpe);
        let lengths: Vec<u32> = starts.windows(2).map(|ends| ends[1] - ends[0]).collect();
        // As `token::encoder` makes them again.
        let merged = (0..).zip(&splits).filter(|&(token, split)| *split != (token, token));
        assert!(merged.map(|(token, split)| (*split, token)).collect::<HashMap<_, _>>() == pairs, "{name}: pairs");
        let table = (Bytes::new(&tokens), lengths, splits, longest, &small.6, prefixes);
        std::fs::write(folder.join(name), rmp_serde::to_vec(&table).expect("fields are serialised"))
            .expect("OUT_DIR can be written");
    }
}
