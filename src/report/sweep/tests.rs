//! A sweep over answers made up here: what is left out, what differs, what the sentences say.

use bytes::Bytes;

use super::*;
use crate::capture::{Capture, CaptureId, Server, Tool};
use crate::json::write::string;

const JSON: &str = r#"{"items":[{"id":101,"name":"Ann Ames","city":"Oslo","phone":"555-0117"},{"id":102,"name":"Bob Burr","city":"Rome","phone":"555-0142"}],"total":2}"#;
const MARKDOWN: &str = "| ID | Name | Phone |\n|---|---|---|\n| 101 | Ann Ames | 555-0117 |\n| 102 | Bob Burr | 555-0199 |";

pub(crate) fn call(value: &str, result: &str, outcome: Outcome) -> SweepCall {
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let capture = Capture {
        tool: Tool::unlisted("test"),
        arguments: Bytes::from_static(b"{}"),
        outcome,
        response: Some(Bytes::from(response)).filter(|_| outcome != Outcome::Timeout),
        ..Capture::empty(CaptureId("test".into()), Server::default())
    };
    SweepCall::measure(value.into(), Arc::new(Subject::of(Arc::new(capture))), &Cancel::new()).unwrap()
}

pub(crate) fn text_result(text: &str) -> String {
    format!(r#"{{"content":[{{"type":"text","text":{}}}]}}"#, string(text))
}

fn of_argument(name: &str) -> SweepQuery {
    SweepQuery { vary: Some(name.into()), ..SweepQuery::default() }
}

fn sweep(calls: &[SweepCall]) -> Sweep {
    Sweep::of(&of_argument("format"), calls, &Cancel::new()).unwrap()
}

fn both() -> Vec<SweepCall> {
    vec![call("\"json\"", &text_result(JSON), Outcome::Result), call("\"markdown\"", &text_result(MARKDOWN), Outcome::Result)]
}

#[test]
fn columns_say_what_they_leave_out() {
    let sweep = sweep(&both());
    let titles: Vec<_> = sweep.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["json as sent", "markdown as sent", "JSON, compact", "Markdown table"]);
    let missing: Vec<_> =
        sweep.missing(&sweep.columns[1]).map(|(field, lost)| format!("{} {lost}/{}", field.pattern, field.total)).collect();
    assert_eq!(missing, ["/items/*/city 2/2", "/items/*/phone 1/2", "/total 1/1"]);
    assert_eq!(
        sweep.columns[1].differing[0],
        Differing { path: "/items/1/phone".into(), value: "555-0142".into(), said: "555-0199".into() }
    );
    assert!([0, 2, 3].iter().all(|at| sweep.missing(&sweep.columns[*at]).next().is_none()));
    assert_eq!(sweep.kept_fields(&sweep.columns[1]), ["/items/*/id", "/items/*/name"]);
    let record = &sweep.records[1];
    assert_eq!((record.path.as_str(), record.title.as_str()), ("/items/1", "Bob Burr"));
    assert_eq!(&MARKDOWN[record.places[1][0].clone()], "| 102 | Bob Burr | 555-0199 |");
}

#[test]
fn the_verdict_names_what_the_winner_loses() {
    let sweep = sweep(&both());
    expect_test::expect_file!["snapshots/the_verdict_names_what_the_winner_loses.txt"]
        .assert_eq(&sweep_verdict(&sweep, Encoding::O200kBase).text());
}

#[test]
fn needed_fields_decide_who_wins() {
    let sweep = sweep(&both());
    let say = |needed: &[&str]| {
        let needed: Vec<String> = needed.iter().map(|field| (*field).to_owned()).collect();
        needed_verdict(&sweep, &needed, Encoding::O200kBase).text()
    };
    expect_test::expect_file!["snapshots/needed_fields_decide_who_wins.txt"].assert_eq(&say(&["/items/*/id", "/items/*/name"]));
    expect_test::expect_file!["snapshots/needed_fields_decide_who_wins-2.txt"].assert_eq(&say(&["/items/*/id", "/items/*/city"]));
}

#[test]
fn calls_that_failed_stay_beside_the_others() {
    let mut calls = both();
    calls.push(call("\"xml\"", "{}", Outcome::Timeout));
    calls.push(call("\"csv\"", r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#, Outcome::ToolError));
    let found = sweep(&calls);
    assert_eq!(found.columns.iter().filter(|column| column.is_answer()).count(), 4);
    assert_eq!(found.deltas(&calls, Encoding::O200kBase).len(), 2);
    expect_test::expect_file!["snapshots/calls_that_failed_stay_beside_the_others.txt"]
        .assert_eq(&sweep_verdict(&found, Encoding::O200kBase).text());
    let none = sweep(&calls[2..]);
    assert_eq!(none.baseline, None);
    assert_eq!(sweep_verdict(&none, Encoding::O200kBase).text(), "None of the calls gave an answer to compare.");
}

#[test]
fn without_data_nothing_is_said_to_be_left_out() {
    let calls = [call("1", &text_result("one two three"), Outcome::Result), call("2", &text_result("one"), Outcome::Result)];
    expect_test::expect_file!["snapshots/without_data_nothing_is_said_to_be_left_out.txt"]
        .assert_eq(&sweep_verdict(&sweep(&calls), Encoding::O200kBase).text());
}

#[test]
fn records_of_another_answer_are_added_by_their_key() {
    let other = r#"{"items":[{"id":102,"name":"Bob Burr"},{"id":103,"name":"Cid Cole"}],"total":2}"#;
    let calls = [call("1", &text_result(JSON), Outcome::Result), call("2", &text_result(other), Outcome::Result)];
    let sweep = sweep(&calls);
    assert_eq!(sweep.key.as_deref(), Some("id"));
    let titles: Vec<_> = sweep.records.iter().map(|record| record.title.as_str()).collect();
    assert_eq!(titles, ["Ann Ames", "Bob Burr", "Cid Cole"]);
    assert!(sweep.records[2].places[0].is_empty() && !sweep.records[2].places[1].is_empty());
    let deltas = sweep.deltas(&calls, Encoding::O200kBase);
    assert_eq!((deltas[0].ratio, deltas[0].missing.len()), (Some(1.0), 0));
    assert!(deltas[1].tokens.iter().any(|(format, delta)| *format == "json" && *delta < 0));
}

#[test]
fn fewer_records_are_no_saving_without_a_word() {
    let fewer = r#"{"items":[{"id":102,"name":"Bob Burr","city":"Rome","phone":"555-0142"}],"total":2}"#;
    let calls = [call("1", &text_result(fewer), Outcome::Result), call("2", &text_result(JSON), Outcome::Result)];
    let sweep = sweep(&calls);
    assert_eq!((sweep.columns[0].absent, sweep.missing(&sweep.columns[0]).count()), (1, 0));
    expect_test::expect_file!["snapshots/fewer_records_are_no_saving_without_a_word.txt"]
        .assert_eq(&sweep_verdict(&sweep, Encoding::O200kBase).text());
}

#[test]
fn one_part_of_the_answers_is_compared_by_itself() {
    let dual = format!(r#"{{"content":[{{"type":"text","text":{}}}],"structuredContent":{JSON}}}"#, string(MARKDOWN));
    let calls = [call("\"dual\"", &dual, Outcome::Result), call("\"text\"", &text_result("| 101 | Ann Ames |"), Outcome::Result)];
    let of = |part| {
        Sweep::of(&SweepQuery { vary: Some("format".into()), part, ..SweepQuery::default() }, &calls, &Cancel::new()).unwrap()
    };
    let seen = |sweep: &Sweep| -> Vec<(String, &'static str, Option<String>)> {
        sweep.columns.iter().take(2).map(|column| (column.title.clone(), column.format, column.why.clone())).collect()
    };
    assert_eq!(
        seen(&of(SentPart::Content)),
        [("dual text".to_owned(), "content", None), ("text text".to_owned(), "content", None)]
    );
    let structured = of(SentPart::Structured);
    let why = Some("no structuredContent in this answer".to_owned());
    assert_eq!(
        seen(&structured),
        [("dual structured".to_owned(), "structured", None), ("text structured".to_owned(), "content", why)]
    );
    assert_eq!((structured.baseline, structured.columns[0].facts.map(|facts| facts.missing)), (Some(0), Some(0)));
    assert_eq!(seen(&of(SentPart::Both))[0].1, "both");
}

#[test]
fn where_each_call_asks_for_something_else_nobody_wins() {
    let calls = both();
    let found = Sweep::of(&of_argument("region"), &calls, &Cancel::new()).unwrap();
    assert!(!found.is_about_form);
    expect_test::expect_file!["snapshots/where_each_call_asks_for_something_else_nobody_wins.txt"]
        .assert_eq(&sweep_verdict(&found, Encoding::O200kBase).text());
}

#[test]
fn answers_of_different_sizes_have_no_winner() {
    let of = |count: usize| {
        let items: Vec<String> = (1..=count).map(|id| format!(r#"{{"id":{id},"name":"n{id}"}}"#)).collect();
        text_result(&format!(r#"{{"items":[{}],"total":9}}"#, items.join(",")))
    };
    let calls: Vec<SweepCall> = [1, 3, 9].map(|limit| call(&limit.to_string(), &of(limit), Outcome::Result)).into();
    let found = Sweep::of(&of_argument("limit"), &calls, &Cancel::new()).unwrap();
    assert!(found.is_about_form && !found.has_same_records());
    expect_test::expect_file!["snapshots/answers_of_different_sizes_have_no_winner.txt"]
        .assert_eq(&sweep_verdict(&found, Encoding::O200kBase).text());
    let needed = needed_verdict(&found, &["/items/*/name".to_owned()], Encoding::O200kBase).text();
    assert_eq!(needed, "The answers hold different records, so none of them is the cheaper one.");
}

#[test]
fn equal_calls_are_told_apart_by_their_bytes() {
    let of = |texts: &[&str]| -> Vec<SweepCall> {
        let call = |(at, text): (usize, &&str)| call(&format!("\"call {}\"", at + 1), &text_result(text), Outcome::Result);
        texts.iter().enumerate().map(call).collect()
    };
    let said = |calls: &[SweepCall]| {
        let found = Sweep::of(&SweepQuery::default(), calls, &Cancel::new()).unwrap();
        assert!(found.columns.iter().all(|column| matches!(column.origin, ColumnOrigin::Call(_))), "nothing is derived");
        (sweep_verdict(&found, Encoding::O200kBase).text(), found.different)
    };
    let at = |at: u32| format!(r#"{{"items":[{{"id":1,"at":{at}}}]}}"#);
    let calls = of(&[&at(4), &at(4), &at(512_345)]);
    let spread = "Tokens (o200k_base): 13 to 14, median 13. Milliseconds: 0.0 each.";
    let differs = format!("Not all answers are the same: call 3 differs from call 1. {spread}");
    assert_eq!(said(&calls), (differs, vec![2]));
    let same = "All 2 answers are the same, byte for byte. Tokens (o200k_base): 1 each. Milliseconds: 0.0 each.";
    assert_eq!(said(&of(&["a", "a"])), (same.to_owned(), Vec::new()));
    assert!(said(&of(&["a"])).0.starts_with("At least two answers are needed"));
}
