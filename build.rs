//! Writes the tables by which OpenAI's encodings are counted, without the half of them that counting never looks at:
//! 24 MB of the program and of its memory, which would be loaded at each start.

use std::collections::HashMap;
use std::path::PathBuf;

use bpe_openai::byte_pair_encoding::BytePairEncoding;
use serde_bytes::ByteBuf;

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
    // The automata of an encoding that knows single bytes alone.
    let small = fields(&BytePairEncoding::from_dictionary((0..=u8::MAX).map(|byte| vec![byte]), None));
    for (name, tokenizer) in [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())] {
        let mut fields = fields(&tokenizer.bpe);
        fields.6 = small.6.clone();
        fields.7 = small.7.clone();
        let bytes = rmp_serde::to_vec(&fields).expect("fields are serialised");
        std::fs::write(folder.join(name), bytes).expect("OUT_DIR can be written");
    }
}
