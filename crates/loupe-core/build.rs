//! Writes the vocabularies of OpenAI's encodings: the length of each token in one byte, then its bytes, in the order of
//! the ranks. What else counting needs is made of them when one is read.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    // The number of ranks in front of the special tokens; tiktoken-rs does not say it.
    for (name, tokenizer, ranks) in [
        ("o200k_base", tiktoken_rs::o200k_base(), 199_998),
        ("cl100k_base", tiktoken_rs::cl100k_base(), 100_256),
    ] {
        let tokenizer = tokenizer.expect("the vocabulary is in the crate");
        let mut entries = Vec::new();
        for rank in 0..ranks {
            let bytes = tokenizer
                .decode_bytes(&[rank])
                .expect("every rank has its bytes");
            entries.push(u8::try_from(bytes.len()).expect("no token is longer"));
            entries.extend(bytes);
        }
        std::fs::write(folder.join(name), entries).expect("OUT_DIR can be written");
    }
}
