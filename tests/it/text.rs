//! Answers of real servers, and of layouts that none of them sent, with the data that is read from each.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use expect_test::expect_file;
use loupe_analysis::fixture::export::{ExportChoice, Material, Place};
use loupe_analysis::queries::HostsReport;
use loupe_analysis::summary::{self, CountedRow, ModelReads, SummaryPart};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{BlockKind, Capture, CaptureId, Server, Tool, is_wrapped};
use loupe_core::format::claim::Claim;
use loupe_core::format::ledger::Row;
use loupe_core::format::round_trip::Fidelity;
use loupe_core::format::{self, FORMATS, ParsedCapture};
use loupe_core::host::{Hosts, Omission, OmittedPart, ReadChoice};
use loupe_core::token::{Encoding, Tokenizer};
use proptest::prelude::*;

#[test]
fn answers_are_read_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/text");
    let mut cases: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    cases.sort();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    for case in cases {
        let about: toml::Table = fs::read_to_string(case.join("case.toml"))
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            about["from"].is_str(),
            "{} does not say where it is from",
            case.display()
        );
        let answer = fs::read_to_string(case.join("answer.json")).unwrap();
        let subject = subject(&answer);
        let mut page = String::new();
        if is_wrapped(&subject.response) {
            page.push_str("structuredContent is the text once more\n");
        }
        match &subject.data {
            None => page.push_str("no data\n"),
            Some(payload) => {
                page.push_str(&payload.origin_text());
                let root = payload.root();
                let data: serde_json::Value = serde_json::from_slice(root.raw()).unwrap();
                page.push_str(&format!(
                    "\n{}\n",
                    serde_json::to_string_pretty(&data).unwrap()
                ));
            }
        }
        let text = subject.response.content_text().unwrap_or_default();
        for piece in &subject.extra().pieces {
            page.push_str(&format!("extra: {}\n", &text[piece.range.clone()]));
        }
        expect_file![case.join("read.txt")].assert_eq(&page);
    }
}

fn subject(result: &str) -> ParsedCapture {
    ParsedCapture::new(Arc::new(Capture {
        tool: Tool::unlisted("case"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#
        ))),
        ..Capture::empty(CaptureId("case".into()), Server::default())
    }))
}

/// A value by its reader: what a text of the server's own would hold, without marks at its ends that a layout has.
fn leaf() -> impl Strategy<Value = String> {
    prop_oneof![
        (-9_999_i32..9_999).prop_map(|number| number.to_string()),
        (-99_i32..99, 1_u32..9).prop_map(|(whole, part)| format!("{whole}.{part}")),
        any::<bool>().prop_map(|value| value.to_string()),
        "[A-Z][a-z]{1,6}( [a-z]{1,5}){0,2}".prop_map(|text| format!("{text:?}")),
        "[A-Z][a-z]{1,4}, [a-z]{1,4} (&|<|[|]|-) [a-z]{1,5}".prop_map(|text| format!("{text:?}")),
        Just(r#""2026-11-02""#.to_owned()),
        Just(r#""https://example.com/a?b=1""#.to_owned()),
    ]
}

fn record(
    leaf: impl Strategy<Value = String>,
    members: std::ops::Range<usize>,
) -> impl Strategy<Value = String> {
    prop::collection::btree_map("[a-z]{3,6}(_[a-z]{2,4})?", leaf, members).prop_map(|members| {
        let members: Vec<_> = members
            .into_iter()
            .map(|(key, value)| format!("{key:?}:{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    })
}

/// Records with the keys of the first.
fn records() -> impl Strategy<Value = String> {
    (
        prop::collection::btree_set("[a-z]{3,6}", 2..5),
        prop::collection::vec(prop::collection::vec(leaf(), 5), 2..6),
    )
        .prop_map(|(keys, rows)| {
            let row = |row: Vec<String>| {
                let members: Vec<_> = keys
                    .iter()
                    .zip(row)
                    .map(|(key, value)| format!("{key:?}:{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            };
            format!(
                "[{}]",
                rows.into_iter().map(row).collect::<Vec<_>>().join(",")
            )
        })
}

fn nested() -> impl Strategy<Value = String> {
    let list = |of: BoxedStrategy<String>| {
        prop::collection::vec(of, 1..4).prop_map(|list| format!("[{}]", list.join(",")))
    };
    let inner =
        prop_oneof![3 => leaf(), 1 => list(leaf().boxed()), 1 => record(leaf(), 1..4), 1 => Just("null".to_owned())].boxed();
    prop_oneof![
        record(inner.clone(), 2..6),
        list(record(inner, 2..5).boxed())
    ]
}

/// Whether what a format writes of the data is read as the data, to the grade that its round trip claims.
fn read_back(data: &str, id: &str) -> Result<(), String> {
    let source = subject(&format!(r#"{{"content":[],"structuredContent":{data}}}"#));
    let row = Row::measure(format::by_id(id).unwrap(), &source);
    // One fact is enough for what says what it is, not for a layout.
    let has_facts = row.facts.is_some_and(|facts| facts.total > 1);
    let Some(trip) = row
        .round_trip
        .as_ref()
        .filter(|trip| has_facts && trip.fidelity.is_lossless())
    else {
        return Ok(());
    };
    let text = loupe_analysis::queries::text_of(&source, id).map_err(|problem| problem.what)?;
    let read = subject(&format!(
        r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
        loupe_core::json::write::string(&text)
    ));
    let found = read
        .data
        .as_ref()
        .map(|data| data.root().raw_text().into_owned())
        .unwrap_or_default();
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let is_same = match trip.fidelity {
        Fidelity::Exact => {
            value(&found).map(|value| value.to_string())
                == value(data).map(|value| value.to_string())
        }
        _ => value(&found) == value(data),
    };
    let by = read
        .data
        .as_ref()
        .map_or_else(|| "nothing".to_owned(), |data| data.origin_text());
    is_same
        .then_some(())
        .ok_or_else(|| format!("{id} of {data}:\n{text}\nis {by}: {found}"))
}

/// The formats that lay nested values out. `json-table` is JSON, and read as that; the paths of `code-block` are labels.
const NESTED: [&str; 7] = [
    "json",
    "json-pretty",
    "json-fenced",
    "yaml",
    "toon",
    "markdown-list",
    "xml",
];
/// These put what is nested into a cell.
const FLAT: [&str; 3] = ["csv", "markdown-table", "code-block"];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_formats_write_of_records_is_read_back(data in prop_oneof![records(), record(leaf(), 2..6)]) {
        for id in NESTED.into_iter().chain(FLAT) {
            prop_assert_eq!(read_back(&data, id), Ok(()));
        }
    }

    #[test]
    fn what_formats_write_of_nested_data_is_read_back(data in nested()) {
        for id in NESTED.into_iter().chain(FLAT).filter(|id| *id != "code-block") {
            prop_assert_eq!(read_back(&data, id), Ok(()));
        }
    }
}

/// Answers whose text says more than their data does: as data beside it, as data in it, as a block that are not text.
pub const SAYS_MORE: [&str; 3] = [
    r#"{"content":[{"type":"text","text":"Found 3 issues:\n\n- #101 Crash on start, opened 2026-11-02 by ann\n- #102 Slow search, opened 2026-11-03 by bob\n"}],"structuredContent":{"count":3,"page":1}}"#,
    r#"{"content":[{"type":"text","text":"Rain until 17:40, wind 12 m/s, the ferry is cancelled.\n\n```json\n{\"temp\":4,\"sky\":\"grey\"}\n```\n\nTomorrow:\n```json\n{\"temp\":9,\"sky\":\"blue\"}\n```\n"}]}"#,
    r#"{"content":[{"type":"text","text":"{\"a\":1,\"b\":\"two\"}"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"structuredContent":{"a":1,"b":"two"}}"#,
];

/// Words and colours that say that nothing is lost.
pub const CLAIMS: [&str; 7] = [
    "no fact lost",
    "nothing lost",
    "loses nothing",
    "lose nothing",
    "nothing is lost",
    "same data, proved",
    "cheapest, proved",
];

/// No sentence, table, export or host says that nothing is lost where the text says more than what was written from the data.
#[test]
fn nothing_claims_to_lose_nothing_where_the_text_says_more() {
    let hosts = Hosts::built_in();
    for answer in SAYS_MORE {
        let subject = Arc::new(subject(answer));
        let rows: Vec<Row> = FORMATS
            .iter()
            .map(|format| Row::measure(*format, &subject))
            .collect();
        for row in rows
            .iter()
            .filter(|row| row.is_available() && !matches!(row.format, "content" | "both" | "wire"))
        {
            assert!(
                row.omitted.is_some() && row.claim() != Claim::Proved,
                "{} of {answer}",
                row.format
            );
        }
        let tokenizer = Tokenizer::default();
        let count = |row: &Row| {
            tokenizer
                .from_tokens(row.tokens)
                .filter(|_| row.is_available())
        };
        let counted: Vec<_> = rows
            .iter()
            .map(|row| CountedRow {
                row,
                count: count(row),
                why: None,
            })
            .collect();
        let reads = ModelReads::Most(&hosts);
        let strip = summary::strip(&counted, reads, &tokenizer).unwrap();
        assert!(
            strip.winner().is_none_or(|winner| !winner.is_proved()),
            "{strip:?}"
        );
        let summary = summary::summary_counted(&counted, reads, &tokenizer).unwrap();
        assert!(
            !summary
                .parts
                .iter()
                .any(|part| matches!(part, SummaryPart::Good(_))),
            "{summary:?}"
        );
        let mut said = vec![
            summary.text(),
            loupe_analysis::contract::summary_markdown(
                &counted,
                reads,
                &subject.capture,
                &tokenizer,
            )
            .unwrap(),
            strip.cells.iter().map(|cell| cell.text()).collect(),
        ];
        let place = Place::default();
        let material = Material {
            subject: &subject,
            samples: std::slice::from_ref(&subject),
            hosts: &hosts,
            encoding: Encoding::O200kBase,
            reads: ReadChoice::Most,
            place: &place,
        };
        for choice in ExportChoice::all(&hosts) {
            // Of hosts that show the whole answer it is true.
            if !choice.kind().starts_with("hosts-")
                && let Ok(bytes) = choice.write(&material, &Cancel::new())
            {
                let page = String::from_utf8_lossy(&bytes);
                // The report has the chart of the hosts.
                let page = if choice.kind() == "html" {
                    page.replace("same data, proved", "")
                } else {
                    page.into()
                };
                said.push(format!("{}: {page}", choice.kind()));
            }
        }
        for page in &said {
            for claim in CLAIMS {
                assert!(
                    !page.contains(claim),
                    "{claim}: {}",
                    page.lines()
                        .find(|line| line.contains(claim))
                        .unwrap_or(page)
                );
            }
        }
        let report = HostsReport::new(&subject, &hosts, &Cancel::new()).unwrap();
        // What is dropped without loss is a text that says what the data says, or data that the text says.
        let says_no_more = |block: usize| {
            subject.response.blocks[block].kind == BlockKind::Text
                && subject.extra().pieces.is_empty()
        };
        for row in report.rows.iter().filter(|row| row.loses_nothing()) {
            let is_free = |dropped: &Omission| match dropped.what {
                OmittedPart::Block(block) => says_no_more(block),
                OmittedPart::Structured => row.missing() == 0,
                OmittedPart::IsError => false,
            };
            assert!(
                row.view.dropped.iter().all(is_free),
                "{} drops {:?}",
                row.host.name,
                row.view.dropped
            );
        }
    }
}
