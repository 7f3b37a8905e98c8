//! Reading texts as data, beside counting their tokens, for layouts of 20 MB, and of half of that: what is linear has the
//! same ratio. It does not depend on the machine; below 2 is wanted. `cargo bench --bench readers`.

mod common;

use std::hint::black_box;
use std::time::{Duration, Instant};

use loupe_core::reader::{READERS, TextBlock, read, read_by};
use loupe_core::token;

const BYTES: usize = 20_000_000;

const SHAPES: [(&str, common::Piece); 22] = [
    ("prose", |at| {
        const WORDS: [&str; 7] = [
            "rain",
            "The wind",
            "comes",
            "from the west, and",
            "until",
            "evening",
            "it is mild.",
        ];
        (0..9 + at % 5)
            .map(|word| WORDS[(at * 31 + word * word * 7) % 7])
            .collect::<Vec<_>>()
            .join(" ")
            + "\n"
    }),
    ("listing", |at| {
        format!("[FILE] report-{at}.md        {}.21 KB\n", at % 977)
    }),
    ("records", |at| {
        format!("Commit: {at:040x}\nAuthor: Ann {at}\nMessage: Change number {at}\n\n")
    }),
    ("nested labels", |at| {
        format!("- **name**: Ann {at}\n- **address**:\n  - **city**: Oslo\n  - **zip**: {at}\n\n")
    }),
    ("headings", |at| {
        format!("## Task {at}\n\n- **Status**: open\n- Owner: Ann {at}\n\n")
    }),
    ("grep", |at| {
        format!("src/a{}.rs:{at}:    let value = compute({at});\n", at % 89)
    }),
    ("log", |at| {
        format!(
            "time=2026-11-24T05:00:01Z level=info msg=\"request {at}\" ms={}\n",
            at % 977
        )
    }),
    ("labels in lines", |at| {
        format!(
            "PID: {at}, Command: [kworker/{}], CPU: 0.{}\n",
            at % 97,
            at % 10
        )
    }),
    ("columns", |at| {
        format!(
            "-rw-r--r--  1 root root {:5} Nov 24 02:{:02} file-{at}.md\n",
            at % 99_991,
            at % 60
        )
    }),
    ("distinct labels", |at| format!("label {at}: value {at}\n")),
    ("distinct fields", |at| format!("field{at}=value {at}\n")),
    ("list", |at| {
        format!(
            "- #{at} Crash on start, opened 2026-11-02, {} comments\n",
            at % 50
        )
    }),
    ("JSON lines", |at| {
        format!("{{\"id\":{at},\"name\":\"Ann {at}\",\"open\":true}}\n")
    }),
    ("table", |at| {
        let head = if at == 0 {
            "| id | name | note |\n|---|---|---|\n"
        } else {
            ""
        };
        format!("{head}| {at} | Ann {at} | a \\| b |\n")
    }),
    ("CSV", |at| {
        format!(
            "{}{at},Ann {at},\"a, b\"\n",
            if at == 0 { "id,name,note\n" } else { "" }
        )
    }),
    ("YAML", |at| {
        format!("- id: {at}\n  name: \"Ann {at}\"\n  tags: [a, b]\n")
    }),
    ("one long line", |at| format!("word{at} ")),
    ("colons", |_| ": ".to_owned()),
    ("brackets", |_| "[{".to_owned()),
    ("backticks", |_| "```\n`".to_owned()),
    ("pipes", |_| "| ".to_owned()),
    ("deeper and deeper", |at| {
        format!("{}- a:\n", " ".repeat(at % 2_000))
    }),
];

fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = black_box(work());
    (start.elapsed(), done)
}

fn main() {
    let only = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    token::warm_up();
    println!(
        "time of reading over that of counting with both encodings, of half and of all; the slowest reader"
    );
    for (name, piece) in SHAPES
        .into_iter()
        .filter(|(name, _)| only.as_ref().is_none_or(|only| only == name))
    {
        let mut ratios = Vec::new();
        let mut by = "no data";
        for bytes in [BYTES / 2, BYTES] {
            let text = common::repeated(piece, bytes);
            let blocks = [TextBlock {
                block: 0,
                text: &text,
                whole: None,
            }];
            let (reading, found) = timed(|| read(black_box(&blocks)));
            let (counting, _) = timed(|| token::count(black_box(&text)));
            ratios.push(reading.as_secs_f64() / counting.as_secs_f64().max(1e-9));
            by = found.map_or("no data", |found| found.reader.id);
        }
        let text = common::repeated(piece, BYTES / 10);
        let blocks = [TextBlock {
            block: 0,
            text: &text,
            whole: None,
        }];
        let slowest = READERS
            .iter()
            .map(|reader| (timed(|| read_by(reader, &blocks)).0, reader.id))
            .max();
        let (slowest, reader) = slowest.unwrap_or_default();
        println!(
            "  {name:18} {by:16} {:6.2} {:6.2}   {reader} {} ms for a tenth",
            ratios[0],
            ratios[1],
            slowest.as_millis()
        );
    }
}
