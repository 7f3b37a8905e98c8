//! Cases as data: what each format writes for data, and what the matcher finds in a text.
//!
//! `tests/data/format/ID/CASE.json` is data, `CASE.txt` next to it what the format ID writes for it, or after
//! `refused: ` why it does not. `tests/data/facts/CASE/` holds `payload.json`, `text.md` and `expected.txt`, and
//! `tests/data/diff/CASE/` two values (`a.json`, `b.json`) or texts (`a.txt`, `b.txt`) and `expected.txt`.
//! `tests/data/judged/*.toml` are texts judged by hand, fact by fact.
//! `UPDATE_EXPECT=1 cargo test --test it cases` writes the expectations anew; read the difference before it is kept.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use loupe_core::capture::{Capture, CaptureId, FactState, ResultData, Server, Tool, locate_facts};
use loupe_core::diff::lines::{LineOptions, Side, lines};
use loupe_core::diff::tree::{TreeOptions, tree};
use loupe_core::format::{Format, ParsedCapture, WriteError, by_id};
use loupe_core::json::Doc;

pub fn data(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(folder)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}

/// Compares with the file, or writes it.
pub fn expect(path: &Path, actual: &str, failures: &mut String) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(path, actual).unwrap();
        return;
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    if expected != actual {
        writeln!(
            failures,
            "{}\n--- expected\n{expected}\n--- actual\n{actual}\n",
            path.display()
        )
        .unwrap();
    }
}

fn subject(data: &[u8]) -> ParsedCapture {
    let mut response =
        br#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":"#.to_vec();
    response.extend_from_slice(data.trim_ascii());
    response.extend_from_slice(b"}}");
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("case"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(response)),
        ..Capture::empty(CaptureId("case".into()), Server::default())
    }))
}

fn write(format: &dyn Format, subject: &ParsedCapture) -> String {
    if let Err(why) = format.applies(subject) {
        return format!("refused: {}", why.0);
    }
    let mut gather = Vec::new();
    match format.write(subject, &mut gather) {
        Ok(()) => String::from_utf8(gather).unwrap(),
        Err(WriteError(why)) => format!("refused: {why}"),
    }
}

#[test]
fn formats_write_what_is_expected() {
    let mut failures = String::new();
    let mut cases = 0;
    for folder in entries(&data("format")) {
        let id = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let format = by_id(&id).unwrap_or_else(|| panic!("no format `{id}`"));
        for path in entries(&folder)
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
        {
            let text = write(format, &subject(&fs::read(path).unwrap()));
            expect(&path.with_extension("txt"), &text, &mut failures);
            cases += 1;
        }
    }
    assert!(cases > 0, "no cases found");
    assert!(failures.is_empty(), "{failures}");
}

/// Every fact that is not proved, then the counts, then the first words of each record's places.
fn describe(data: &ResultData, text: &str) -> String {
    let found = locate_facts(data, text);
    let mut out = String::new();
    for fact in &found.facts {
        let node = data.doc.node(fact.node()).unwrap();
        let place = fact.place().map(|place| &text[place]);
        let state = match fact.state() {
            FactState::Proved => continue,
            FactState::Found if fact.is_reworded() => {
                format!("found in other words {:?}", place.unwrap_or_default())
            }
            FactState::Found => "found".to_owned(),
            FactState::Missing => "missing".to_owned(),
            FactState::Differs => format!("differs {:?}", place.unwrap()),
        };
        writeln!(
            out,
            "{} {}: {state}",
            node.pointer_from(data.root),
            node.raw_text()
        )
        .unwrap();
    }
    let count = found.count;
    writeln!(
        out,
        "total {}, proved {}, found {}, missing {}",
        count.total, count.proved, count.found, count.missing
    )
    .unwrap();
    for record in &found.records {
        let places: Vec<_> = record
            .places
            .iter()
            .map(|place| ends(&text[place.clone()]))
            .collect();
        writeln!(
            out,
            "{}: {}",
            data.doc.node(record.node).unwrap().pointer_from(data.root),
            places.join(" and ")
        )
        .unwrap();
    }
    out
}

/// The beginning and the end of a longer text.
fn ends(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 48 {
        return format!("{text:?}");
    }
    format!(
        "{:?}…{:?}",
        chars[..20].iter().collect::<String>(),
        chars[chars.len() - 20..].iter().collect::<String>()
    )
}

#[test]
fn facts_are_found_as_expected() {
    let mut failures = String::new();
    for folder in entries(&data("facts")) {
        let payload = Doc::parse(Bytes::from(fs::read(folder.join("payload.json")).unwrap()));
        let payload = ResultData::of_doc(payload).unwrap();
        let text = fs::read_to_string(folder.join("text.md")).unwrap();
        expect(
            &folder.join("expected.txt"),
            &describe(&payload, &text),
            &mut failures,
        );
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Whether each fact of a case that was judged by hand is told by the text; as judged, and as said.
fn judged(case: &toml::Value) -> (String, String) {
    let text_of = |member: &str| case[member].as_str().unwrap().to_owned();
    let pointers = |member: &str| -> Vec<String> {
        let list = case
            .get(member)
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten();
        list.map(|pointer| pointer.as_str().unwrap().to_owned())
            .collect()
    };
    let data = ResultData::of_doc(Doc::parse(Bytes::from(text_of("data")))).unwrap();
    let (mut words, mut actual): (BTreeMap<String, bool>, BTreeMap<String, bool>) =
        Default::default();
    for fact in locate_facts(&data, &text_of("text")).facts {
        let pointer = data
            .doc
            .node(fact.node())
            .unwrap()
            .pointer_from(data.root)
            .to_string();
        words.insert(pointer.clone(), true);
        actual.insert(pointer, !fact.state().is_missing());
    }
    for pointer in pointers("missing").into_iter().chain(pointers("limits")) {
        let told = words
            .get_mut(&pointer)
            .unwrap_or_else(|| panic!("{pointer} is no fact of {case}"));
        *told = !*told;
    }
    let lines = |words: BTreeMap<String, bool>| {
        words
            .iter()
            .map(|(at, told)| format!("{at} {}\n", if *told { "told" } else { "missing" }))
            .collect::<String>()
    };
    (lines(words), lines(actual))
}

/// `tests/data/judged/texts.json`: texts next to data with the facts that they do not carry. None of these is proved or
/// found, and a text that does not carry all is never proved.
#[test]
fn facts_that_a_text_does_not_carry_are_missing() {
    let cases: Vec<serde_json::Value> =
        serde_json::from_slice(&fs::read(data("judged").join("texts.json")).unwrap()).unwrap();
    assert!(cases.len() >= 134, "{} cases", cases.len());
    let mut failures = String::new();
    for case in &cases {
        let payload =
            ResultData::of_doc(Doc::parse(Bytes::from(case["data"].to_string()))).unwrap();
        let found = locate_facts(&payload, case["text"].as_str().unwrap());
        let not_carried: Vec<&str> = case["notCarried"]
            .as_array()
            .unwrap()
            .iter()
            .map(|at| at.as_str().unwrap())
            .collect();
        for fact in &found.facts {
            let pointer = payload
                .doc
                .node(fact.node())
                .unwrap()
                .pointer_from(payload.root)
                .to_string();
            if not_carried.contains(&pointer.as_str()) && !fact.state().is_missing() {
                writeln!(
                    failures,
                    "{}: {pointer} {:?} in {:?}",
                    case["name"],
                    fact.state(),
                    case["text"]
                )
                .unwrap();
            }
        }
        assert!(
            not_carried.is_empty() || !found.count.is_proved(),
            "{}",
            case["name"]
        );
    }
    assert!(failures.is_empty(), "{failures}");
}

/// `tests/data/judged/*.toml`: each case says what a reader says of every fact, and in `limits` what the matcher says
/// instead of it. A limit that is fixed fails here as well as a new mistake: neither happens unseen.
#[test]
fn facts_are_what_a_reader_says() {
    let mut failures = String::new();
    let mut cases = 0;
    for path in entries(&data("judged"))
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
    {
        let file: toml::Table = fs::read_to_string(path).unwrap().parse().unwrap();
        for case in file["case"].as_array().unwrap() {
            let (expected, actual) = judged(case);
            if expected != actual {
                writeln!(
                    failures,
                    "{}\n--- judged\n{expected}--- said\n{actual}",
                    case["name"]
                )
                .unwrap();
            }
            cases += 1;
        }
    }
    assert!(cases >= 150, "{cases} cases");
    assert!(failures.is_empty(), "{failures}");
}

/// Every difference on a line, the fields by which lists were matched, and the counts.
fn describe_values(a: &Doc, b: &Doc) -> String {
    let found = tree(
        a.root().unwrap(),
        b.root().unwrap(),
        &TreeOptions::default(),
    );
    let mut out = String::new();
    for list in &found.lists {
        writeln!(out, "{} by {}", b.node(list.b).unwrap().pointer(), list.key).unwrap();
    }
    let side = |doc: &Doc, node: Option<usize>| {
        node.map(|node| doc.node(node).unwrap())
            .map(|node| format!("{} {}", node.pointer(), node.raw_text()))
    };
    for change in &found.changes {
        let sides: Vec<String> = [side(a, change.a), side(b, change.b)]
            .into_iter()
            .flatten()
            .collect();
        writeln!(out, "{} {}", change.op.name(), sides.join(" -> ")).unwrap();
    }
    let counts = found.counts;
    writeln!(
        out,
        "added {}, removed {}, changed {}, moved {}",
        counts.added, counts.removed, counts.changed, counts.moved
    )
    .unwrap();
    out
}

/// The hunks as `diff -u` writes them, with what changed within a line in brackets.
fn describe_texts(a: &str, b: &str) -> String {
    let found = lines(a, b, &LineOptions::default());
    let mut out = String::new();
    for hunk in &found.hunks {
        writeln!(
            out,
            "@@ -{},{} +{},{} @@",
            hunk.a.start,
            hunk.a.len(),
            hunk.b.start,
            hunk.b.len()
        )
        .unwrap();
        for line in &hunk.lines {
            let (sign, text) = match line.side {
                Side::Both => (' ', &a[line.range.clone()]),
                Side::A => ('-', &a[line.range.clone()]),
                Side::B => ('+', &b[line.range.clone()]),
            };
            let (mut marked, mut at) = (String::new(), 0);
            for word in &line.words {
                write!(marked, "{}[{}]", &text[at..word.start], &text[word.clone()]).unwrap();
                at = word.end;
            }
            writeln!(out, "{sign}{}", (marked + &text[at..]).replace('\r', "\\r")).unwrap();
        }
    }
    writeln!(out, "added {}, removed {}", found.added, found.removed).unwrap();
    out
}

#[test]
fn differences_are_found_as_expected() {
    let mut failures = String::new();
    for folder in entries(&data("diff")) {
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let actual = if folder.join("a.json").exists() {
            let doc = |name: &str| Doc::parse(Bytes::from(text(name)));
            describe_values(&doc("a.json"), &doc("b.json"))
        } else {
            describe_texts(&text("a.txt"), &text("b.txt"))
        };
        expect(&folder.join("expected.txt"), &actual, &mut failures);
    }
    assert!(failures.is_empty(), "{failures}");
}
