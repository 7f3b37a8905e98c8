//! Reading texts as data, beside counting their tokens, for layouts of 20 MB. Both are printed as a ratio, which does not
//! depend on the machine; below 2 is wanted. `cargo bench --bench readers`.

use std::hint::black_box;
use std::time::Instant;

use mcp_loupe::reader::{TextBlock, read};
use mcp_loupe::token;

/// Writes the line with this number.
type Line = fn(usize) -> String;

const BYTES: usize = 20_000_000;

fn repeated(line: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(BYTES + 1_000);
    for at in 0.. {
        text.push_str(&line(at));
        if text.len() >= BYTES {
            break;
        }
    }
    text
}

fn main() {
    let shapes: [(&str, Line); 7] = [
        ("listing", |at| format!("[FILE] report-{at}.md        {}.21 KB\n", at % 977)),
        ("records", |at| format!("Commit: {at:040x}\nAuthor: Ann {at}\nMessage: Change number {at}\n\n")),
        ("grep", |at| format!("src/a{}.rs:{at}:    let value = compute({at});\n", at % 89)),
        ("labels in lines", |at| format!("PID: {at}, Command: [kworker/{}], CPU: 0.{}\n", at % 97, at % 10)),
        ("columns", |at| format!("-rw-r--r--  1 root root {:5} Nov 24 02:{:02} file-{at}.md\n", at % 99_991, at % 60)),
        ("prose", |at| format!("The weather in town {at} is mild, with rain until the evening and wind from the west.\n")),
        ("distinct labels", |at| format!("label {at}: value {at}\n")),
    ];
    println!("time of reading over that of counting with both encodings");
    for (name, line) in shapes {
        let text = repeated(line);
        let blocks = [TextBlock { block: 0, text: &text }];
        let start = Instant::now();
        let found = black_box(read(black_box(&blocks)));
        let reading = start.elapsed();
        let start = Instant::now();
        black_box(token::count(black_box(&text)));
        let counting = start.elapsed();
        let ratio = reading.as_secs_f64() / counting.as_secs_f64().max(1e-9);
        println!("  {name:16} {:12} {ratio:.2}", found.map_or("no data", |found| found.reader.id));
    }
}
