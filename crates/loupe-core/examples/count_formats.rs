//! What does each format of a result cost, and what does it keep?
//!
//! `cargo run -p loupe-core --example count_formats`

use loupe_core::format::ledger::Row;
use loupe_core::format::{FORMATS, ParsedCapture};

const RESULT: &str = r#"{
  "content": [{"type": "text", "text": "2 companies found."}],
  "structuredContent": {"items": [{"id": 7, "name": "Ann Ames"}, {"id": 9, "name": "Bob Burr"}]}
}"#;

fn main() {
    let result = ParsedCapture::from_result(RESULT);
    for format in FORMATS {
        let row = Row::measure(*format, &result);
        match &row.why {
            Some(why) => println!("{:<16} {why}", row.format),
            None => println!(
                "{:<16} {:>4} tokens of o200k_base, {}",
                row.format,
                row.tokens.o200k_base,
                row.claim().name()
            ),
        }
    }
}
