//! What a whole report (`show FILE --json`, 28 hosts) takes beside the ledger alone, for answers of many shapes, and by how
//! much when the answer is twice as large; the program as one starts it, time on the clock and memory at most.
//!
//! Goals: six times the ledger; 150 MB and 20 times the size of the file; 2.5 times the time for twice the size.
//! `cargo bench --bench shapes -- 50000` takes other sizes (values of the smaller file).

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

mod common;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
/// The least of so many runs counts.
const RUNS: usize = 3;
/// Values of the smaller answer.
const VALUES: usize = 50_000;

/// What a server would answer with so many values.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: &[Shape] = &[
    ("a flat object", |values| {
        structured(&object(values, |at| format!("\"value {at}\"")))
    }),
    ("an object of objects", |values| {
        structured(&object(values / 3, |at| {
            format!(
                "{{\"name\":\"name {at}\",\"age\":{},\"city\":\"city {}\"}}",
                at % 90,
                at % 1_000
            )
        }))
    }),
    ("a list of numbers", |values| {
        structured(&format!(
            "{{\"a\":[{}]}}",
            list(values, |at| (100_000 + 7 * at).to_string())
        ))
    }),
    ("many blocks", |values| {
        let block = |at| {
            format!(
                "{{\"type\":\"text\",\"text\":\"Block {at}: a line of text with number {}\"}}",
                7 * at
            )
        };
        format!("{{\"content\":[{}]}}", list(values / 4, block))
    }),
    ("one long line", |values| {
        text(&(0..values).fold(String::new(), |line, at| line + &word(at) + " "))
    }),
    ("many lines", |values| {
        text(&(0..values).fold(String::new(), |lines, at| lines + &word(at) + "\n"))
    }),
    ("a deep tree", |values| {
        let branch = |at| {
            (0..50).fold(format!("\"leaf {at}\""), |inside, level| {
                format!("{{\"k{level}\":{inside},\"x\":{level}}}")
            })
        };
        structured(&object(values / 100, branch))
    }),
    ("records", |values| structured(&common::data(values / 10))),
    ("records as Markdown and data", |values| {
        let (markdown, data) = (
            string(&common::markdown(values / 10)),
            common::data(values / 10),
        );
        format!(
            "{{\"content\":[{{\"type\":\"text\",\"text\":{markdown}}}],\"structuredContent\":{data}}}"
        )
    }),
];

fn list(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

fn object(count: usize, value: impl Fn(usize) -> String) -> String {
    format!(
        "{{{}}}",
        list(count, |at| format!("\"key{at}\":{}", value(at)))
    )
}

fn word(at: usize) -> String {
    format!("word{} number {at}", at % 977)
}

fn string(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}

fn text(text: &str) -> String {
    format!(
        "{{\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}",
        string(text)
    )
}

fn structured(json: &str) -> String {
    format!("{{\"content\":[],\"structuredContent\":{json}}}")
}

/// The time of one run, and the most memory that it held, where the system tells.
fn run(file: &Path, view: &[&str]) -> (Duration, Option<u64>) {
    let began = Instant::now();
    let mut child = Command::new(LOUPE)
        .arg("show")
        .arg(file)
        .args(view)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut most = None;
    while child
        .try_wait()
        .expect("a child can be waited for")
        .is_none()
    {
        most = kibibytes(&status).or(most);
        std::thread::sleep(Duration::from_millis(2));
    }
    (began.elapsed(), most)
}

fn kibibytes(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?
        .split_whitespace()
        .next()?
        .parse()
        .ok()
}

fn least(file: &Path, view: &[&str]) -> (Duration, Option<u64>) {
    let runs: Vec<_> = (0..RUNS).map(|_| run(file, view)).collect();
    let time = runs.iter().map(|(time, _)| *time).min().unwrap_or_default();
    (time, runs.iter().filter_map(|(_, most)| *most).max())
}

fn main() {
    let values = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next_back()
        .unwrap_or(VALUES);
    let folder = tempfile::tempdir().expect("a folder");
    println!(
        "| shape | size | ledger | report | ÷ ledger (6) | twice the size (2.5) | memory | ÷ allowed (1) |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|");
    for (name, shape) in SHAPES {
        let mut before: Option<Duration> = None;
        for values in [values, 2 * values] {
            let answer = shape(values);
            let file = folder.path().join("answer.json");
            std::fs::write(&file, &answer).expect("a file");
            let (ledger, _) = least(&file, &["--view", "ledger"]);
            let (report, most) = least(&file, &["--json"]);
            let mut row = format!(
                "| {name} | {:.2} MB | {ledger:.2?} | {report:.2?}",
                answer.len() as f64 / 1e6
            );
            let times = |of: Duration, by: Duration| of.as_secs_f64() / by.as_secs_f64();
            let twice = before.replace(report).map_or_else(String::new, |before| {
                format!("{:.2}", times(report, before))
            });
            let allowed = 150e6 + 20.0 * answer.len() as f64;
            let memory = most.map_or_else(
                || "| not told |".to_owned(),
                |most| {
                    format!(
                        "| {} MB | {:.2} ",
                        most / 1_000,
                        most as f64 * 1_024.0 / allowed
                    )
                },
            );
            write!(row, " | {:.2} | {twice} {memory}|", times(report, ledger))
                .expect("writing to a string");
            println!("{row}");
        }
    }
}
