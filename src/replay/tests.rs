//! A replay through its own front door: captures in, one message in, exact bytes out.

use std::sync::Mutex;
use std::time::Duration;

use time::OffsetDateTime;

use super::*;
use crate::store::{ReadAs, read_bytes};

/// A capture of `tool` with these arguments, answered with this message.
fn capture(tool: &str, arguments: &str, response: &str) -> Capture {
    let mut capture = read_bytes(
        &Bytes::copy_from_slice(response.as_bytes()),
        "t",
        Some(ReadAs::Message),
    )
    .unwrap();
    capture.tool = Tool::unlisted(tool);
    capture.arguments = Bytes::copy_from_slice(arguments.as_bytes());
    capture.started_at = OffsetDateTime::UNIX_EPOCH;
    capture
}

fn replay(captures: Vec<Capture>, options: ReplayOptions) -> (Replay, Arc<Mutex<Vec<String>>>) {
    let notes = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&notes);
    let note: Note = Arc::new(move |text| told.lock().unwrap().push(text.to_owned()));
    (Replay::new(captures, options, note).unwrap(), notes)
}

fn ask(replay: &Replay, method: &str, params: &str) -> String {
    let message = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{params}}}"#);
    let answers = replay.handle(message.as_bytes());
    assert_eq!(answers.len(), 1);
    String::from_utf8(answers[0].to_vec()).unwrap()
}

fn call(replay: &Replay, tool: &str, arguments: &str) -> String {
    ask(
        replay,
        "tools/call",
        &format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#),
    )
}

const RESULT: &str = r#"{ "content":[{"type":"text","text":"a \u00e9"}],"structuredContent" : {"n":1.50, "n":2}, "x":[ ]}"#;

fn answered(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

#[test]
fn a_recorded_result_goes_out_byte_for_byte_for_equal_arguments() {
    let (replay, _) = replay(
        vec![capture("t", r#"{"a":1,"b":[2.0]}"#, &answered(RESULT))],
        ReplayOptions::default(),
    );
    let expected = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{RESULT}}}"#);
    assert_eq!(call(&replay, "t", r#"{"a":1,"b":[2.0]}"#), expected);
    assert_eq!(call(&replay, "t", r#"{"b": [2], "a": 1e0}"#), expected);
}

#[test]
fn a_call_recorded_twice_is_answered_in_turn() {
    let captures = vec![
        capture("t", "{}", &answered("1")),
        capture("t", "", &answered("2")),
    ];
    let (replay, _) = replay(captures, ReplayOptions::default());
    let answers: Vec<String> = (0..3).map(|_| call(&replay, "t", "{}")).collect();
    let tail = |answer: &String| answer.rsplit(':').next().unwrap().to_owned();
    assert_eq!(
        answers.iter().map(tail).collect::<Vec<_>>(),
        ["1}", "2}", "1}"]
    );
    assert_eq!(replay.calls(), 2);
}

#[test]
fn what_was_not_recorded_is_an_error_that_says_what_was() {
    let (replay, _) = replay(
        vec![capture("t", r#"{"a":1}"#, &answered("{}"))],
        ReplayOptions::default(),
    );
    assert_eq!(
        call(&replay, "t", r#"{"a":2}"#),
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32602,"message":"Not recorded: t with these arguments. Recorded arguments: {\"a\":1}"}}"#
    );
    assert!(call(&replay, "u", "{}").contains("Not recorded: the tool u. Recorded tools: t"));
}

#[test]
fn the_nearest_call_answers_where_it_may_and_is_noted() {
    let captures = vec![
        capture("t", r#"{"a":1,"b":1,"c":1}"#, &answered("\"far\"")),
        capture("t", r#"{"a":1,"b":2}"#, &answered("\"near\"")),
    ];
    let (replay, notes) = replay(
        captures,
        ReplayOptions {
            nearest: true,
            ..ReplayOptions::default()
        },
    );
    assert!(call(&replay, "t", r#"{"a":1,"b":3}"#).contains("near"));
    let notes = notes.lock().unwrap();
    assert_eq!(
        notes.as_slice(),
        [
            r#"t {"a":1,"b":3} was not recorded; the nearest answers, with 1 difference: {"a":1,"b":2}"#
        ]
    );
}

#[test]
fn a_variant_sends_one_part_or_one_format() {
    let sends = |word: &str| {
        let captures = vec![capture("t", "{}", &answered(RESULT))];
        let (replay, _) = replay(
            captures,
            ReplayOptions {
                variant: Variant::parse(word).unwrap(),
                ..ReplayOptions::default()
            },
        );
        let answer = call(&replay, "t", "{}");
        answer
            .strip_prefix(r#"{"jsonrpc":"2.0","id":7,"#)
            .unwrap()
            .strip_suffix('}')
            .unwrap()
            .to_owned()
    };
    assert_eq!(
        sends("content-only"),
        r#""result":{"content":[{"type":"text","text":"a \u00e9"}],"x":[ ]}"#
    );
    assert_eq!(
        sends("structured-only"),
        r#""result":{"content":[],"structuredContent":{"n":1.50, "n":2},"x":[ ]}"#
    );
    assert_eq!(
        sends("structured"),
        r#""result":{"content":[{"type":"text","text":"{\"n\":1.50, \"n\":2}"}]}"#
    );
    assert!(sends("csv").contains("error"));
    assert!(Variant::parse("nosuch").is_none());
}

#[test]
fn failures_are_replayed_too() {
    let mut silent = capture("silent", "{}", "");
    silent.response = None;
    silent.outcome = loupe_core::capture::Outcome::Timeout;
    let captures = vec![
        capture(
            "refused",
            "{}",
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no","data":{"x":1.0}}}"#,
        ),
        capture("broken", "{}", "<html>"),
        silent,
    ];
    let (replay, notes) = replay(captures, ReplayOptions::default());
    assert!(
        call(&replay, "refused", "{}")
            .ends_with(r#""error":{"code":-1,"message":"no","data":{"x":1.0}}}"#)
    );
    assert_eq!(call(&replay, "broken", "{}"), "<html>");
    assert!(call(&replay, "silent", "{}").contains("no answer was recorded (timeout)"));
    assert_eq!(notes.lock().unwrap().len(), 1);
}

#[test]
fn line_feeds_between_values_stay_where_a_message_is_no_line() {
    let pretty = "{\n  \"content\": []\r\n}";
    let captures = || vec![capture("t", "{}", &answered(pretty))];
    let (over_http, notes) = replay(
        captures(),
        ReplayOptions {
            lines: false,
            ..ReplayOptions::default()
        },
    );
    assert!(call(&over_http, "t", "{}").contains(pretty));
    assert!(notes.lock().unwrap().is_empty());
    let (over_lines, notes) = replay(captures(), ReplayOptions::default());
    assert!(call(&over_lines, "t", "{}").contains("{   \"content\": []  }"));
    assert!(notes.lock().unwrap()[0].contains("(answers: 1)"));
}

#[test]
fn a_variant_without_structured_content_declares_no_output_schema() {
    let mut one = capture("t", "{}", &answered(RESULT));
    one.tool = Tool::read(Bytes::from_static(
        br#"{"name":"t","inputSchema":{"type":"object"},"outputSchema":{}, "title":"T"}"#,
    ));
    let lists = |variant: &str| {
        let options = ReplayOptions {
            variant: Variant::parse(variant).unwrap(),
            ..ReplayOptions::default()
        };
        ask(&replay(vec![one.clone()], options).0, "tools/list", "{}")
    };
    assert!(lists("both").contains(
        r#"[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{}, "title":"T"}]"#
    ));
    assert!(
        lists("yaml").contains(r#"[{"name":"t","inputSchema":{"type":"object"},"title":"T"}]"#)
    );
}

#[test]
fn resources_and_prompts_are_listed_and_answered() {
    let captures = vec![
        capture(
            "resources/read",
            r#"{"uri":"a://b"}"#,
            &answered(r#"{"contents":[]}"#),
        ),
        capture(
            "prompts/get",
            r#"{"name":"p","arguments":{"x":"1"}}"#,
            &answered(r#"{"messages":[]}"#),
        ),
    ];
    let (replay, _) = replay(captures, ReplayOptions::default());
    assert!(ask(&replay, "resources/list", "{}").contains(r#"[{"uri":"a://b","name":"a://b"}]"#));
    assert!(ask(&replay, "prompts/list", "{}").contains(r#"[{"name":"p"}]"#));
    assert!(
        ask(
            &replay,
            "resources/read",
            r#"{"uri":"a://b","_meta":{"progressToken":1}}"#
        )
        .contains("contents")
    );
    assert!(
        ask(
            &replay,
            "prompts/get",
            r#"{"arguments":{"x":"1"},"name":"p"}"#
        )
        .contains("messages")
    );
    assert!(ask(&replay, "prompts/get", r#"{"name":"p"}"#).contains("Not recorded: prompts/get"));
    assert!(ask(&replay, "tools/list", "{}").contains(r#""tools":[]"#));
}

#[test]
fn the_recorded_time_passes_where_that_is_asked_for() {
    let mut slow = capture("t", "{}", &answered("{}"));
    slow.timings.server = Duration::from_millis(30);
    let (replay, _) = replay(
        vec![slow],
        ReplayOptions {
            delay: true,
            ..ReplayOptions::default()
        },
    );
    let began = std::time::Instant::now();
    call(&replay, "t", "{}");
    // A lower bound only: that it waits, not how fast anything is.
    assert!(began.elapsed() >= Duration::from_millis(30));
}
