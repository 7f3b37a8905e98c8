//! What the formats write, read by decoders in other languages: JSON by Python and JavaScript, YAML by npm `yaml` (core
//! schema) and PyYAML (1.1), CSV by Python, TOON by `@toon-format/toon`.
//!
//! Not part of plain `cargo test`: `.ci/run` installs the decoders and runs this with `LOUPE_PEERS` naming the folder
//! they are in. The payloads are those of `tests/data/format`, and hostile ones made here.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::format::round_trip::prove;
use loupe_core::format::{ParsedCapture, by_id};
use serde_json::{Value, json};

fn peers() -> PathBuf {
    PathBuf::from(
        std::env::var_os("LOUPE_PEERS")
            .expect("LOUPE_PEERS names the folder of the installed decoders"),
    )
}

fn subject(data: &[u8]) -> ParsedCapture {
    let mut response =
        br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":"#.to_vec();
    response.extend_from_slice(data);
    response.extend_from_slice(b"}}");
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("case"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(response)),
        ..Capture::empty(CaptureId("case".into()), Server::default())
    }))
}

/// The text of a format; `None` where it does not apply.
fn write(id: &str, subject: &ParsedCapture) -> Option<Vec<u8>> {
    let format = by_id(id).unwrap();
    format.applies(subject).ok()?;
    let mut gather = Vec::new();
    format.write(subject, &mut gather).ok()?;
    Some(gather)
}

const WORDS: &[&str] = &[
    "",
    " ",
    "a",
    "-",
    "- x",
    "-1",
    "007",
    "1_000",
    "1e3",
    "0x1f",
    "0o17",
    "017",
    "0b1",
    "+1",
    ".5",
    "1.",
    ".inf",
    ".nan",
    "12:30",
    "1:30.5",
    "2025-01-15",
    "2025-01-15T10:00:00Z",
    "2025-1-5 1:02:03",
    "yes",
    "Yes",
    "no",
    "NO",
    "on",
    "off",
    "y",
    "n",
    "true",
    "True",
    "null",
    "Null",
    "~",
    "<<",
    "=",
    "!tag",
    "&a",
    "*a",
    "? x",
    ": x",
    "x: y",
    "x:",
    "#",
    "x #y",
    "%",
    "@",
    "`",
    "[",
    "]",
    "{",
    "}",
    "[2]: x,y",
    "[1]{a}:",
    ",",
    "x,y",
    "|",
    ">",
    "a|b",
    "\\",
    "\\n",
    "\"",
    "'",
    "''",
    "\n",
    "a\nb",
    "a\r\nb",
    "\r",
    "\t",
    " pad ",
    "\u{0}",
    "\u{1b}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{feff}",
    "\u{fffd}",
    "é",
    "北京",
    "日本語",
    "😀",
    "👩‍👩‍👧",
    "\u{e0041}\u{e007f}",
    "<br>",
    "&lt;",
    "<b>",
    "```",
    "````",
    "---",
    "...",
    "a.b",
    "a[0]",
    "columns",
    "rows",
    "key",
    "__x__",
    "9007199254740993",
    "NaN",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1.0",
    "1e3",
    "0.1",
    "-2.50",
    "5e-324",
    "1e21",
    "123456789012",
    "9007199254740991",
    "1.7976931348623157e308",
];

/// Payloads by name.
fn payloads() -> BTreeMap<String, Vec<u8>> {
    let mut payloads = BTreeMap::new();
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/loupe-core/tests/data/format");
    for folder in fs::read_dir(data)
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        for path in fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.extension().is_some_and(|end| end == "json") {
                let name = format!(
                    "{}-{}",
                    folder.file_name().unwrap().display(),
                    path.file_stem().unwrap().display()
                );
                payloads.insert(name, fs::read(&path).unwrap().trim_ascii().to_vec());
            }
        }
    }
    let mut add =
        |name: &str, data: &Value| payloads.insert(name.to_owned(), data.to_string().into_bytes());
    add("words", &json!(WORDS));
    add(
        "words-as-keys",
        &WORDS
            .iter()
            .map(|word| ((*word).to_owned(), json!(word)))
            .collect(),
    );
    add(
        "words-in-lists",
        &json!(
            WORDS
                .iter()
                .map(|word| json!([word, [word]]))
                .collect::<Vec<_>>()
        ),
    );
    add(
        "words-in-rows",
        &json!(
            WORDS
                .iter()
                .map(|word| json!({"a": word, "b": 1, "c": null}))
                .collect::<Vec<_>>()
        ),
    );
    let uneven = |at: usize, word: &str| {
        if at.is_multiple_of(3) {
            json!({"x": word, word: at})
        } else {
            json!({word: {"in": [word]}, "x": []})
        }
    };
    add(
        "uneven-rows",
        &json!(
            WORDS
                .iter()
                .enumerate()
                .map(|(at, word)| uneven(at, word))
                .collect::<Vec<_>>()
        ),
    );
    add(
        "envelope",
        &json!({"total": 2, "next": null, "items": [{"a": ""}, {"a": null, "b": {"c": [1, {"d": {}}]}}], "more": false}),
    );
    add(
        "empties",
        &json!({"a": [], "b": {}, "c": [[]], "d": [{}], "e": [{}, {}], "f": [[], {}], "g": ""}),
    );
    add(
        "nested-rows",
        &json!([{"n": {"a": 1, "b": [{"c": 1}, {"c": 2}]}}, {"n": {"a": 2, "b": [{"c": 3}, {"d": 4}]}}]),
    );
    add(
        "one-empty-column",
        &json!([{"a": ""}, {"a": "x"}, {"a": null}]),
    );
    // The YAML crate folds these: lossy, hence not compared there.
    add("line-separators", &json!(["\u{2028}", "a\u{2029}b"]));
    for (at, &word) in WORDS.iter().enumerate() {
        add(&format!("alone-{at}"), &json!(word));
        add(
            &format!("member-{at}"),
            &json!({"k": word, word: [word, {word: word}]}),
        );
    }
    payloads.insert(
        "numbers".into(),
        format!("[{}]", NUMBERS.join(",")).into_bytes(),
    );
    payloads
}

/// Runs a decoder over the folder; its complaints, and how many texts it read.
fn run(command: &mut Command, script: &str, texts: &Path) -> (Vec<String>, usize) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(".ci")
        .join(script);
    let output = command
        .current_dir(peers())
        .env("LOUPE_TEXTS", texts)
        .stdin(Stdio::from(fs::File::open(script).unwrap()))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let mut lines: Vec<_> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    let count = lines
        .pop()
        .unwrap_or_default()
        .strip_prefix("compared ")
        .and_then(|count| count.parse().ok())
        .unwrap();
    (lines, count)
}

#[test]
fn decoders_in_other_languages_read_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut written = BTreeMap::<&str, usize>::new();
    for (name, data) in payloads() {
        let subject = subject(&data);
        fs::write(folder.path().join(format!("{name}.data")), &data).unwrap();
        for id in [
            "json",
            "json-pretty",
            "json-fenced",
            "json-table",
            "yaml",
            "toon",
            "csv",
        ] {
            let Some(text) = write(id, &subject) else {
                continue;
            };
            let proof = prove(by_id(id).unwrap(), &subject, &Bytes::from(text.clone())).unwrap();
            // Python's csv knows no numbers: only payloads that it spells as we do are compared.
            if (id == "csv" && name.contains("numbers"))
                || (id != "csv" && !proof.fidelity.is_lossless())
            {
                continue;
            }
            *written.entry(id).or_default() += 1;
            fs::write(folder.path().join(format!("{name}.data.{id}")), &text).unwrap();
            if id == "yaml" && matches!(name.as_str(), "words" | "numbers") {
                let paths: Vec<_> = proof
                    .elsewhere
                    .first
                    .iter()
                    .map(|found| found.path.clone())
                    .collect();
                fs::write(
                    folder.path().join(format!("{name}.retyped")),
                    json!(paths).to_string(),
                )
                .unwrap();
                fs::write(folder.path().join(format!("{name}.data.yaml-list")), &text).unwrap();
            }
        }
    }
    assert!(
        written.len() == 7 && written.values().all(|count| *count > 10),
        "{written:?}"
    );
    let of = |ids: &[&str]| ids.iter().map(|id| written[id]).sum::<usize>();

    let (wrong, count) = run(
        Command::new("node").args(["--input-type=module", "-"]),
        "second_decoders.mjs",
        folder.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(
        count,
        of(&[
            "json",
            "json-pretty",
            "json-fenced",
            "json-table",
            "yaml",
            "toon"
        ])
    );

    let python = peers().join("python/bin/python3");
    let (wrong, count) = run(
        Command::new(python).arg("-"),
        "second_decoders.py",
        folder.path(),
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(count, of(&["json", "json-pretty", "csv"]) + 2);
}
