//! Which data does a text hold? Most servers return text alone; this reads it as their users' models would.
//!
//! `cargo run -p loupe-core --example read_text`

use loupe_core::format::ParsedCapture;

const RESULT: &str = r###"{"content": [{"type": "text", "text": "## Companies\n\n| ID | Name |\n|---|---|\n| 7 | Ann Ames |\n| 9 | Bob Burr |\n"}]}"###;

fn main() {
    let result = ParsedCapture::from_result(RESULT);
    let data = result.data.expect("the text holds a table");
    println!("{}", data.origin_text());
    println!("{}", data.root().raw_text());
}
