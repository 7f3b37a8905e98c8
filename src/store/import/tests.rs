//! Files of many results, each a case in `tests/data/answers`, and what is not one.

use std::fmt::Write;
use std::path::Path;

use bytes::Bytes;

use crate::store::{ReadAs, read_all, read_all_bytes, read_any};

/// Every file of `tests/data/answers`, with what it was taken for and the captures it gave.
#[test]
fn files_of_many_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/answers");
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(files.len() > 6);
    let mut page = String::new();
    for file in files {
        let bytes = Bytes::from(std::fs::read(&file).unwrap());
        let captures = read_all(&file, None).unwrap();
        writeln!(
            page,
            "{}: {}",
            file.file_name().unwrap().to_string_lossy(),
            ReadAs::detect(&bytes).name()
        )
        .unwrap();
        for capture in captures {
            let server = &capture.server;
            writeln!(
                page,
                "  {} {} {} | {} {} ({}) {}",
                capture.tool.name,
                String::from_utf8_lossy(&capture.arguments),
                capture.outcome.name(),
                server.name,
                server.version,
                server.transport,
                server.source
            )
            .unwrap();
            writeln!(
                page,
                "    {}",
                String::from_utf8_lossy(capture.response.as_deref().unwrap_or(b"(no answer)"))
            )
            .unwrap();
            let beside = capture.messages.len();
            let read_only = capture.tool.annotations.read_only.declared;
            writeln!(
                page,
                "    {:?} beside {beside} read-only declared {read_only} {:?}",
                capture.timings.total(),
                capture.notes
            )
            .unwrap();
        }
    }
    // Secrets of requests and cookies are not taken over.
    assert!(!page.contains("canary"), "{page}");
    expect_test::expect_file!["snapshots/files_of_many_answers.txt"].assert_eq(&page);
}

#[test]
fn one_answer_is_not_many() {
    let detect = |text: &'static str| ReadAs::detect(&Bytes::from_static(text.as_bytes())).name();
    assert_eq!(
        detect("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"),
        "message"
    );
    assert_eq!(detect("{\"a\":1}\n{\"a\":2}\n"), "text");
}

#[test]
fn what_holds_no_answer_says_so() {
    let none = read_all_bytes(
        &Bytes::from_static(b"{\"log\":{\"entries\":[]}}"),
        "empty.har",
        None,
    )
    .unwrap_err();
    assert_eq!(
        none.message(),
        "an HTTP archive without an answer of an MCP server (empty.har)"
    );
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/answers");
    let many = read_any(&folder.join("bare.jsonl")).unwrap_err();
    assert!(
        many.message()
            .starts_with("the file holds 3 answers, and one is wanted"),
        "{}",
        many.message()
    );
}

/// One message a line, as `messages` reads them.
fn lines(
    lines: impl Iterator<Item = String>,
) -> Result<Vec<loupe_core::capture::Capture>, loupe_core::problem::Problem> {
    read_all_bytes(
        &Bytes::from(lines.collect::<String>()),
        "m.jsonl",
        Some(ReadAs::Messages),
    )
}

#[test]
fn a_file_cannot_fill_the_memory() {
    let call = |id: usize| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"t\"}}}}\n"
        )
    };
    let told = |_| "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n".to_owned();
    let answer =
        |id: usize| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[]}}}}\n");
    // Each of the notifications would be kept next to each of the calls.
    let captures = lines(
        (0..2_000)
            .map(call)
            .chain((0..2_000).map(told))
            .chain((0..2_000).map(answer)),
    )
    .unwrap();
    assert_eq!(captures.len(), 2_000);
    assert_eq!(
        captures
            .iter()
            .map(|capture| capture.messages.len())
            .sum::<usize>(),
        1_000_000
    );
    assert_eq!(
        captures[0].notes,
        ["1500 more messages came during the call and are not kept"]
    );
    let many = lines((0..100_001).map(told)).unwrap_err();
    assert!(
        many.what.contains("with more than 100000 messages"),
        "{many}"
    );
}

#[test]
fn the_newest_request_of_an_id_is_answered_first() {
    let call = |name: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{{\"name\":\"{name}\"}}}}\n"
        )
    };
    let answer = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\n".to_owned();
    let captures = lines([call("a"), call("b"), answer].into_iter()).unwrap();
    let named: Vec<_> = captures
        .iter()
        .map(|capture| (capture.tool.name.as_str(), capture.response.is_some()))
        .collect();
    assert_eq!(named, [("b", true), ("a", false)]);
}

#[test]
fn a_quick_answer_may_be_recorded_before_its_request() {
    let at = |ms: f64, dir: &str, message: &str| {
        let text = serde_json::to_string(message).unwrap();
        format!("{{\"atMs\":{ms},\"dir\":\"{dir}\",\"text\":{text}}}\n")
    };
    let call = |id: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t{id}"}}}}"#
        )
    };
    let answer = |id: usize| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#);
    let captures = lines(
        [
            at(10.0, "in", &answer(1)),
            at(10.2, "out", &call(1)),
            at(20.0, "out", &call(2)),
            at(20.1, "in", &answer(2)),
            // Too early to be its own.
            at(30.0, "in", &answer(3)),
            at(5000.0, "out", &call(3)),
        ]
        .into_iter(),
    )
    .unwrap();
    let named: Vec<_> = captures
        .iter()
        .map(|capture| (capture.tool.name.as_str(), capture.response.is_some()))
        .collect();
    assert_eq!(
        named,
        [("t1", true), ("t2", true), ("", true), ("t3", false)]
    );
}
