//! What the sentences say of results made up.

use super::*;
use crate::queries::comparison::tests::{JSON, both, call, comparison, of_argument, text_result};
use crate::queries::comparison::{ComparedCall, ComparisonQuery};
use loupe_core::cancel::Cancel;
use loupe_core::capture::Outcome;
use loupe_core::host::Hosts;
use loupe_core::token::Encoding;

#[test]
fn the_verdict_names_what_the_winner_loses() {
    let comparison = comparison(&both());
    expect_test::expect_file!["snapshots/the_verdict_names_what_the_winner_loses.txt"]
        .assert_eq(&comparison_summary(&comparison, None).text());
}

#[test]
fn needed_fields_decide_who_wins() {
    let comparison = comparison(&both());
    let of = |needed: &[&str]| -> BTreeSet<String> {
        needed
            .iter()
            .map(|field| format!("/items/*/{field}"))
            .collect()
    };
    let strip = |needed: &[&str]| comparison_strip(&comparison, Some(&of(needed)));
    let cells =
        |strip: &Strip| -> Vec<String> { strip.cells.iter().map(StripCell::text).collect() };
    // What the cheaper answer has is all that is needed: it wins.
    let wins = strip(&["id", "name"]);
    assert_eq!(
        cells(&wins),
        [
            "json, baseline: 50 tokens, every needed fact found",
            "markdown, cheapest of these answers: 40 tokens, −20%, every needed fact found, cheapest"
        ]
    );
    assert_eq!(
        wins.headline().unwrap(),
        "markdown: 40 tokens, 20% less than json, every needed fact found."
    );
    // One more, and it is out.
    let loses = strip(&["id", "name", "city"]);
    assert_eq!(
        cells(&loses)[1],
        "markdown, cheapest of these answers: 40 tokens, −20%, 2 of 6 facts missing"
    );
    assert_eq!(
        loses
            .winner()
            .map(|cell| (cell.name.as_str(), cell.role.as_str())),
        Some(("TOON", "if you changed it"))
    );
    assert_eq!(loses.cells[1].loss.as_ref().unwrap().detail, "city");
    assert_eq!(
        column_loss(&comparison, 1, Some(&of(&["phone"]))).text,
        "1 value differs"
    );
}

#[test]
fn of_several_answers_the_cheapest_whole_one_is_named() {
    let pretty = JSON
        .replace("{\"id\"", "\n      {\n        \"id\"")
        .replace(',', ",\n        ");
    let mut calls = both();
    calls.insert(
        0,
        call("\"pretty\"", &text_result(&pretty), Outcome::Result),
    );
    let strip = comparison_strip(&comparison(&calls), None);
    let told: Vec<_> = strip
        .cells
        .iter()
        .map(|cell| (cell.name.as_str(), cell.role.as_str(), cell.is_winner()))
        .collect();
    assert_eq!(
        told,
        [
            ("pretty", "baseline", false),
            ("json", "cheapest with all facts", false),
            ("TOON", "if you changed it", true)
        ]
    );
}

#[test]
fn what_the_baseline_says_beside_its_data_is_not_said_to_be_kept() {
    let dual = format!(
        r#"{{"content":[{{"type":"text","text":"Status of 101: active since 2019. {}"}}],"structuredContent":{JSON}}}"#,
        "More will follow. ".repeat(20)
    );
    let calls = [
        call("\"dual\"", &dual, Outcome::Result),
        call("\"json\"", &text_result(JSON), Outcome::Result),
    ];
    let found = comparison(&calls);
    assert!(found.columns[1].row.tokens.o200k_base < found.columns[0].row.tokens.o200k_base);
    let strip = comparison_strip(&found, None);
    let losses: Vec<_> = strip
        .cells
        .iter()
        .map(|cell| cell.loss.as_ref().unwrap().text.as_str())
        .collect();
    assert!(
        losses[1].starts_with("same data · drops ") && losses[1].ends_with(" tok of extra text"),
        "{losses:?}"
    );
    assert!(!strip.winner().unwrap().is_proved());
}

#[test]
fn calls_that_failed_stay_beside_the_others() {
    let mut calls = both();
    calls.push(call("\"xml\"", "{}", Outcome::Timeout));
    calls.push(call(
        "\"csv\"",
        r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#,
        Outcome::ToolError,
    ));
    let found = comparison(&calls);
    assert_eq!(
        found
            .columns
            .iter()
            .filter(|column| column.is_answer())
            .count(),
        5
    );
    assert_eq!(found.deltas(&calls, Encoding::O200kBase).len(), 2);
    expect_test::expect_file!["snapshots/calls_that_failed_stay_beside_the_others.txt"]
        .assert_eq(&comparison_summary(&found, None).text());
    let none = comparison(&calls[2..]);
    assert_eq!(none.baseline, None);
    let message = comparison_summary(&none, None).text();
    assert!(
        message.starts_with(
            "None of the calls gave an answer to compare. Not compared: xml (no answer "
        ),
        "{message}"
    );
}

#[test]
fn without_data_nothing_is_said_to_be_left_out() {
    let calls = [
        call("1", &text_result("one two three"), Outcome::Result),
        call("2", &text_result("one"), Outcome::Result),
    ];
    expect_test::expect_file!["snapshots/without_data_nothing_is_said_to_be_left_out.txt"]
        .assert_eq(&comparison_summary(&comparison(&calls), None).text());
}

#[test]
fn fewer_records_are_no_saving_without_a_word() {
    let fewer =
        r#"{"items":[{"id":102,"name":"Bob Burr","city":"Rome","phone":"555-0142"}],"total":2}"#;
    let calls = [
        call("1", &text_result(fewer), Outcome::Result),
        call("2", &text_result(JSON), Outcome::Result),
    ];
    let comparison = comparison(&calls);
    assert_eq!(
        (
            comparison.columns[0].absent,
            comparison.missing(&comparison.columns[0]).count()
        ),
        (1, 0)
    );
    expect_test::expect_file!["snapshots/fewer_records_are_no_saving_without_a_word.txt"]
        .assert_eq(&comparison_summary(&comparison, None).text());
}

#[test]
fn where_each_call_asks_for_something_else_nobody_wins() {
    let calls = both();
    let found = Comparison::of(
        &of_argument("region"),
        &calls,
        &Hosts::built_in(),
        &Cancel::new(),
    )
    .unwrap();
    assert!(!found.is_about_form);
    expect_test::expect_file!["snapshots/where_each_call_asks_for_something_else_nobody_wins.txt"]
        .assert_eq(&comparison_summary(&found, None).text());
}

#[test]
fn answers_of_different_sizes_have_no_winner() {
    let of = |count: usize| {
        let items: Vec<String> = (1..=count)
            .map(|id| format!(r#"{{"id":{id},"name":"n{id}"}}"#))
            .collect();
        text_result(&format!(r#"{{"items":[{}],"total":9}}"#, items.join(",")))
    };
    let calls: Vec<ComparedCall> = [1, 3, 9]
        .map(|limit| call(&limit.to_string(), &of(limit), Outcome::Result))
        .into();
    let found = Comparison::of(
        &of_argument("limit"),
        &calls,
        &Hosts::built_in(),
        &Cancel::new(),
    )
    .unwrap();
    assert!(found.is_about_form && !found.has_same_records());
    expect_test::expect_file!["snapshots/answers_of_different_sizes_have_no_winner.txt"]
        .assert_eq(&comparison_summary(&found, None).text());
    let strip = comparison_strip(&found, Some(&BTreeSet::from(["/items/*/name".to_owned()])));
    assert!(
        strip.cells.is_empty()
            && strip
                .note
                .unwrap()
                .starts_with("Different records: no winner")
    );
}

/// One record is often written without a list around it.
#[test]
fn one_record_is_not_the_same_as_three() {
    let record = |id: u32| format!(r#"{{"id":{id},"name":"n{id}"}}"#);
    let three = format!("[{},{},{}]", record(1), record(2), record(3));
    let calls = [("1", record(1)), ("3", three)];
    let calls = calls.map(|(limit, data)| call(limit, &text_result(&data), Outcome::Result));
    let found = Comparison::of(
        &of_argument("max_count"),
        &calls,
        &Hosts::built_in(),
        &Cancel::new(),
    )
    .unwrap();
    let message = comparison_summary(&found, None).text();
    assert!(
        message.starts_with("Different records: no winner."),
        "{message}"
    );
}

#[test]
fn equal_calls_are_told_apart_by_their_bytes() {
    let of = |texts: &[&str]| -> Vec<ComparedCall> {
        let call = |(at, text): (usize, &&str)| {
            call(
                &format!("\"call {}\"", at + 1),
                &text_result(text),
                Outcome::Result,
            )
        };
        texts.iter().enumerate().map(call).collect()
    };
    let message = |calls: &[ComparedCall]| {
        let found = Comparison::of(
            &ComparisonQuery::default(),
            calls,
            &Hosts::built_in(),
            &Cancel::new(),
        )
        .unwrap();
        assert!(
            found
                .columns
                .iter()
                .all(|column| matches!(column.origin, ColumnOrigin::Call(_))),
            "nothing is derived"
        );
        (comparison_summary(&found, None).text(), found.different)
    };
    let at = |at: u32| format!(r#"{{"items":[{{"id":1,"at":{at}}}]}}"#);
    let calls = of(&[&at(4), &at(4), &at(512_345)]);
    let spread = "Tokens (o200k_base): 13 to 14, median 13. Milliseconds: 0.0 each.";
    let differs = format!("Not all answers are the same: call 3 differs from call 1. {spread}");
    assert_eq!(message(&calls), (differs, vec![2]));
    let same = "Both answers are the same, byte for byte. Tokens (o200k_base): 1 each. Milliseconds: 0.0 each.";
    assert_eq!(message(&of(&["a", "a"])), (same.to_owned(), Vec::new()));
    assert!(
        message(&of(&["a"]))
            .0
            .starts_with("At least two answers are needed")
    );
}
