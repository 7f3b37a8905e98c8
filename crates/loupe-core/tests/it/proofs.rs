//! `tests/data/judged/proofs.json`: texts next to data, with what may be claimed of each, and its extra text.

use std::fmt::Write as _;
use std::sync::Arc;

use bytes::Bytes;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::format::ledger::Row;
use loupe_core::format::{ParsedCapture, by_id};
use serde_json::{Value, json};

#[test]
fn a_text_is_claimed_to_be_what_it_proves() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/judged/proofs.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let mut failures = String::new();
    for case in &cases {
        let result = json!({"content": [{"type": "text", "text": case["text"]}], "structuredContent": case["data"]});
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let subject = ParsedCapture::new(Arc::new(Capture {
            tool: Tool::unlisted("case"),
            arguments: Bytes::from_static(b"{}"),
            response: Some(Bytes::from(message.to_string())),
            ..Capture::empty(CaptureId("case".into()), Server::default())
        }));
        let claim = Row::measure(by_id("content").unwrap(), &subject)
            .claim()
            .name();
        let text = subject.response.content_text().unwrap_or_default();
        let extra: Vec<&str> = subject
            .extra()
            .pieces
            .iter()
            .map(|piece| &text[piece.range.clone()])
            .collect();
        let (expected, expected_extra) = (
            &case["claim"],
            case.get("extra").cloned().unwrap_or_else(|| json!([])),
        );
        if *expected != claim || (claim.starts_with("proved") && expected_extra != json!(extra)) {
            writeln!(
                failures,
                "{} claims {claim}, extra {} in {:?}",
                case["name"],
                json!(extra),
                case["text"]
            )
            .unwrap();
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
