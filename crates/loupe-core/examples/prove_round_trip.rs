//! Does a format give the same data back when it is read? In a test of your own server: `assert!(proof.verdict.is_lossless())`.
//!
//! `cargo run -p loupe-core --example prove_round_trip`

use bytes::Bytes;
use loupe_core::format::{ParsedCapture, by_id, format_bytes, round_trip};

/// CSV keeps `0.10` as it is (exact); TOON writes `0.1` (equal).
const RESULT: &str =
    r#"{"content": [], "structuredContent": [{"id": 7, "price": 0.10}, {"id": 9, "price": 12}]}"#;

fn main() {
    let result = ParsedCapture::from_result(RESULT);
    for id in ["csv", "toon", "yaml", "markdown-table"] {
        let format = by_id(id).expect("the format is listed");
        let bytes = format_bytes(format, &result).expect("a list of records makes a table");
        match round_trip::prove(format, &result, &Bytes::from(bytes)) {
            Some(proof) => println!("{id}: {}", proof.words()),
            None => println!("{id}: nothing to read back"),
        }
    }
}
