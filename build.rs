//! Writes the vocabularies of OpenAI's encodings: the length of each token in one byte, then its bytes, in the order of
//! the ranks. What else counting needs is made of them when one is read.

use std::path::PathBuf;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets OUT_DIR"));
    for (name, tokenizer) in [("o200k_base", bpe_openai::o200k_base()), ("cl100k_base", bpe_openai::cl100k_base())] {
        let mut entries = Vec::new();
        for rank in (0..).take(tokenizer.bpe.num_tokens()) {
            let bytes = tokenizer.bpe.token_bytes(rank);
            entries.push(u8::try_from(bytes.len()).expect("no token is longer"));
            entries.extend(bytes);
        }
        std::fs::write(folder.join(name), entries).expect("OUT_DIR can be written");
    }
}
