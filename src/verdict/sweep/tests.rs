//! What the sentences say of answers made up.

use super::*;
use crate::analysis::sweep::tests::{JSON, both, call, of_argument, sweep, text_result};
use crate::analysis::sweep::{SweepCall, SweepQuery};
use crate::cancel::Cancel;
use crate::capture::Outcome;

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
fn fewer_records_are_no_saving_without_a_word() {
    let fewer = r#"{"items":[{"id":102,"name":"Bob Burr","city":"Rome","phone":"555-0142"}],"total":2}"#;
    let calls = [call("1", &text_result(fewer), Outcome::Result), call("2", &text_result(JSON), Outcome::Result)];
    let sweep = sweep(&calls);
    assert_eq!((sweep.columns[0].absent, sweep.missing(&sweep.columns[0]).count()), (1, 0));
    expect_test::expect_file!["snapshots/fewer_records_are_no_saving_without_a_word.txt"]
        .assert_eq(&sweep_verdict(&sweep, Encoding::O200kBase).text());
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
    let same = "Both answers are the same, byte for byte. Tokens (o200k_base): 1 each. Milliseconds: 0.0 each.";
    assert_eq!(said(&of(&["a", "a"])), (same.to_owned(), Vec::new()));
    assert!(said(&of(&["a"])).0.starts_with("At least two answers are needed"));
}
