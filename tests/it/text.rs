//! Answers of real servers, and of layouts that none of them sent, with the data that is read from each.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use expect_test::expect_file;
use mcp_loupe::capture::{Capture, CaptureId, Server, Tool, is_wrapped};
use mcp_loupe::format::Subject;

#[test]
fn answers_are_read_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/text");
    let mut cases: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.sort();
    assert!(cases.len() >= 20, "{} cases", cases.len());
    for case in cases {
        let about: toml::Table = fs::read_to_string(case.join("case.toml")).unwrap().parse().unwrap();
        assert!(about["from"].is_str(), "{} does not say where it is from", case.display());
        let answer = fs::read_to_string(case.join("answer.json")).unwrap();
        let subject = Subject::of(Arc::new(Capture {
            tool: Tool::unlisted("case"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{answer}}}"#))),
            ..Capture::empty(CaptureId("case".into()), Server::default())
        }));
        let mut page = String::new();
        if is_wrapped(&subject.reading) {
            page.push_str("structuredContent is the text once more\n");
        }
        match &subject.payload {
            None => page.push_str("no data\n"),
            Some(payload) => {
                page.push_str(&payload.origin_text());
                let root = payload.root();
                let data: serde_json::Value = serde_json::from_slice(root.raw()).unwrap();
                page.push_str(&format!("\n{}\n", serde_json::to_string_pretty(&data).unwrap()));
            }
        }
        let text = subject.reading.content_text().unwrap_or_default();
        for statement in &subject.text_only().statements {
            page.push_str(&format!("in the text alone: {:?} {}\n", statement.kind, &text[statement.range.clone()]));
        }
        expect_file![case.join("read.txt")].assert_eq(&page);
    }
}

fn subject(result: &str) -> Subject {
    Subject::of(Arc::new(Capture {
        tool: Tool::unlisted("case"),
        arguments: Bytes::from_static(b"{}"),
        response: Some(Bytes::from(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#))),
        ..Capture::empty(CaptureId("case".into()), Server::default())
    }))
}

/// What Loupe writes of flat records is read back as those records, where its own round trip is without loss.
#[test]
fn what_formats_write_is_read_back() {
    const FORMATS: [&str; 10] =
        ["json", "json-pretty", "json-fenced", "yaml", "toon", "csv", "markdown-table", "markdown-list", "code-block", "xml"];
    let payloads = [
        r#"[{"id":1,"name":"Ann Ames","city":"Oslo","open":true},{"id":2,"name":"Bob Burr","city":"Rome","open":false},{"id":3,"name":"Cid","city":"Bonn","open":true}]"#,
        r#"{"id":7,"name":"Ann Ames","size":12.5,"open":true}"#,
        r#"[{"sku":"A-1","price":9.5,"note":"fits, mostly"},{"sku":"B-2","price":0.25,"note":"a | b"}]"#,
    ];
    let mut wrong = Vec::new();
    for payload in payloads {
        let source = subject(&format!(r#"{{"content":[],"structuredContent":{payload}}}"#));
        for id in FORMATS {
            let row = mcp_loupe::format::ledger::Row::measure(mcp_loupe::format::by_id(id).unwrap(), &source);
            if !row.round_trip.as_ref().is_some_and(|trip| trip.verdict.is_lossless()) {
                continue;
            }
            let text = mcp_loupe::analysis::text_of(&source, id).unwrap();
            let text = mcp_loupe::json::write::string(&text);
            let read = subject(&format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#));
            let found = read.payload.as_ref().map(|payload| payload.root().raw_text().into_owned());
            let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
            if found.as_deref().map(value) != Some(value(payload)) {
                let by = read.payload.as_ref().map_or_else(|| "nothing".to_owned(), |payload| payload.origin_text());
                wrong.push(format!("{id}: {text}\n  {by}: {found:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
