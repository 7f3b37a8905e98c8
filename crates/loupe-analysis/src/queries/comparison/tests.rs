//! A comparison over answers made up here: what is left out, what differs.

use bytes::Bytes;

use super::*;
use loupe_core::capture::{Capture, CaptureId, Server, Tool};
use loupe_core::host::{Hosts, ReadChoice, ResultPart};
use loupe_core::json::write::string;

pub(crate) const JSON: &str = r#"{"items":[{"id":101,"name":"Ann Ames","city":"Oslo","phone":"555-0117"},{"id":102,"name":"Bob Burr","city":"Rome","phone":"555-0142"}],"total":2}"#;
const MARKDOWN: &str = "| ID | Name | Phone |\n|---|---|---|\n| 101 | Ann Ames | 555-0117 |\n| 102 | Bob Burr | 555-0199 |";

pub(crate) fn call(value: &str, result: &str, outcome: Outcome) -> ComparedCall {
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let capture = Capture {
        tool: Tool::unlisted("test"),
        arguments: Bytes::from_static(b"{}"),
        outcome,
        response: Some(Bytes::from(response)).filter(|_| outcome != Outcome::Timeout),
        ..Capture::empty(CaptureId("test".into()), Server::default())
    };
    ComparedCall::measure(
        value.into(),
        Arc::new(ParsedCapture::new(Arc::new(capture))),
        &Cancel::new(),
    )
    .unwrap()
}

pub(crate) fn text_result(text: &str) -> String {
    format!(
        r#"{{"content":[{{"type":"text","text":{}}}]}}"#,
        string(text)
    )
}

pub(crate) fn of_argument(name: &str) -> ComparisonQuery {
    ComparisonQuery {
        vary: Some(name.into()),
        ..ComparisonQuery::default()
    }
}

pub(crate) fn comparison(calls: &[ComparedCall]) -> Comparison {
    Comparison::of(
        &of_argument("format"),
        calls,
        &Hosts::built_in(),
        &Cancel::new(),
    )
    .unwrap()
}

pub(crate) fn both() -> Vec<ComparedCall> {
    vec![
        call("\"json\"", &text_result(JSON), Outcome::Result),
        call("\"markdown\"", &text_result(MARKDOWN), Outcome::Result),
    ]
}

#[test]
fn columns_say_what_they_leave_out() {
    let comparison = comparison(&both());
    let titles: Vec<_> = comparison
        .columns
        .iter()
        .map(|column| column.title.as_str())
        .collect();
    assert_eq!(
        titles,
        [
            "json text",
            "markdown text",
            "JSON, compact",
            "TOON",
            "Markdown table"
        ]
    );
    let missing: Vec<_> = comparison
        .missing(&comparison.columns[1])
        .map(|(field, lost)| format!("{} {lost}/{}", field.pattern, field.total))
        .collect();
    assert_eq!(
        missing,
        ["/items/*/city 2/2", "/items/*/phone 1/2", "/total 1/1"]
    );
    assert_eq!(
        comparison.columns[1].differing[0],
        ValueMismatch {
            path: "/items/1/phone".into(),
            value: "555-0142".into(),
            text: "555-0199".into()
        }
    );
    assert!([0, 2, 3, 4].iter().all(|at| {
        comparison
            .missing(&comparison.columns[*at])
            .next()
            .is_none()
    }));
    let fields: Vec<_> = comparison
        .fields
        .iter()
        .map(|field| field.pattern.as_str())
        .collect();
    assert_eq!(
        fields,
        [
            "/items/*/id",
            "/items/*/name",
            "/items/*/city",
            "/items/*/phone",
            "/total"
        ]
    );
    let cell = |column: usize, field: usize| comparison.columns[column].cells[field].clone();
    assert_eq!((cell(0, 1).text.as_str(), cell(0, 1).lost), ("Ann Ames", 0));
    assert_eq!(
        cell(1, 3),
        FieldCell {
            lost: 1,
            differing: 1,
            reworded: 0,
            text: "555-0199".into()
        }
    );
    let record = &comparison.records[1];
    assert_eq!(
        (record.path.as_str(), record.title.as_str()),
        ("/items/1", "Bob Burr")
    );
    assert_eq!(
        &MARKDOWN[record.places[1][0].clone()],
        "| 102 | Bob Burr | 555-0199 |"
    );
}

#[test]
fn records_of_another_answer_are_added_by_their_key() {
    let other =
        r#"{"items":[{"id":102,"name":"Bob Burr"},{"id":103,"name":"Cid Cole"}],"total":2}"#;
    let calls = [
        call("1", &text_result(JSON), Outcome::Result),
        call("2", &text_result(other), Outcome::Result),
    ];
    let comparison = comparison(&calls);
    assert_eq!(comparison.key.as_deref(), Some("id"));
    let titles: Vec<_> = comparison
        .records
        .iter()
        .map(|record| record.title.as_str())
        .collect();
    assert_eq!(titles, ["Ann Ames", "Bob Burr", "Cid Cole"]);
    assert!(
        comparison.records[2].places[0].is_empty() && !comparison.records[2].places[1].is_empty()
    );
    let deltas = comparison.deltas(&calls, Encoding::O200kBase);
    assert_eq!((deltas[0].ratio, deltas[0].missing.len()), (Some(1.0), 0));
    assert!(
        deltas[1]
            .tokens
            .iter()
            .any(|(format, delta)| *format == "json" && *delta < 0)
    );
}

#[test]
fn one_part_of_the_answers_is_compared_by_itself() {
    let dual = format!(
        r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{JSON}}}"#,
        string(MARKDOWN)
    );
    let calls = [
        call("\"dual\"", &dual, Outcome::Result),
        call(
            "\"text\"",
            &text_result("| 101 | Ann Ames |"),
            Outcome::Result,
        ),
    ];
    let of = |reads| {
        Comparison::of(
            &ComparisonQuery {
                vary: Some("format".into()),
                reads,
                ..ComparisonQuery::default()
            },
            &calls,
            &Hosts::built_in(),
            &Cancel::new(),
        )
        .unwrap()
    };
    let seen = |comparison: &Comparison| -> Vec<(String, &'static str, Option<String>)> {
        comparison
            .columns
            .iter()
            .take(2)
            .map(|column| (column.title.clone(), column.format, column.why.clone()))
            .collect()
    };
    assert_eq!(
        seen(&of(ReadChoice::Part(ResultPart::Text))),
        [
            ("dual text".to_owned(), "content", None),
            ("text text".to_owned(), "content", None)
        ]
    );
    let structured = of(ReadChoice::Part(ResultPart::Data));
    let why = Some("no structuredContent in this result".to_owned());
    assert_eq!(
        seen(&structured),
        [
            ("dual structuredContent".to_owned(), "structured", None),
            ("text structuredContent".to_owned(), "content", why)
        ]
    );
    assert_eq!(
        (
            structured.baseline,
            structured.columns[0].facts.map(|facts| facts.missing)
        ),
        (Some(0), Some(0))
    );
    assert_eq!(seen(&of(ReadChoice::Part(ResultPart::Both)))[0].1, "both");
}
