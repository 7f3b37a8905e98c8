//! What is the same, what differs, and what is offered.

use super::*;
use crate::queries::SessionCalls;
use loupe_core::capture::{CaptureId, Server, Tool};
use loupe_core::host::rules::Select;

fn call(tool: &str, arguments: &str, result: &str) -> Arc<Capture> {
    let mut capture = Capture::empty(CaptureId(tool.into()), Server::default());
    capture.tool = Tool::unlisted(tool);
    capture.arguments = Bytes::from(arguments.to_owned());
    capture.outcome = Outcome::Result;
    capture.response = Some(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#).into());
    Arc::new(capture)
}

fn text(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!(r#"{{"content":[{{"type":"text","text":{text}}}]}}"#)
}

fn given_call(name: &str, arguments: &str, text: &str) -> GivenCall {
    GivenCall {
        name: name.into(),
        arguments: Bytes::from(arguments.to_owned()),
        parts: vec![GivenPart::Text(text.into())],
        ..GivenCall::default()
    }
}

fn compare(client: &str, calls: Vec<Arc<Capture>>, given: &[GivenCall]) -> TranscriptReport {
    let session = SessionCalls {
        captures: calls,
        client: client.into(),
        ..SessionCalls::default()
    };
    let input = TranscriptInput {
        session: &session,
        name: "my server",
        given,
        hosts: &Hosts::built_in(),
        today: "2026-11-29",
    };
    compare_transcript(&input, &Cancel::new()).unwrap()
}

fn outcomes(report: &TranscriptReport) -> Vec<&'static str> {
    let calls = report.calls.iter();
    calls.map(|call| call.outcome.name()).collect()
}

#[test]
fn calls_are_paired_by_tool_and_arguments_in_order() {
    let calls = vec![
        call("search", r#"{"q":"a","n":1.0}"#, &text("one")),
        call("search", r#"{"q":"b"}"#, &text("two")),
        call("search", r#"{"q":"b"}"#, &text("three")),
        call("never", "{}", &text("four")),
        call("list", "", &text("five")),
    ];
    let entries = [
        given_call("mcp__my_server__search", r#"{"q":"b"}"#, "two"),
        given_call("Bash", r#"{"q":"b"}"#, "no"),
        given_call("mcp__my_server__search", r#"{"n":1,"q":"a"}"#, "one"),
        given_call("mcp__my_server__search", r#"{"q":"b"}"#, "three"),
        given_call("mcp__my_server__list", "{}", "five"),
    ];
    let report = compare("claude-code", calls, &entries);
    assert_eq!(
        outcomes(&report),
        ["same", "same", "same", "not-in-transcript", "same"]
    );
    assert_eq!(report.summary(), "same 4 of 5, 1 not in the transcript");
    assert!(report.confirmed([], "", "2026-11-29").is_none());
}

#[test]
fn a_call_that_the_host_refused_first_has_its_entry_later() {
    let calls = vec![call("search", "{}", &text("found"))];
    let entries = [
        given_call("mcp__s__search", "{}", "permission denied"),
        given_call("mcp__s__search", "{}", "found"),
    ];
    let report = compare("claude-code", calls, &entries);
    assert!(report.is_confirmed());
    let version = "2.1.332".to_owned();
    let confirmed = report.confirmed([&version], "", "2026-11-29").unwrap();
    assert_eq!(
        confirmed.words(),
        "confirmed 1 of 1, 29 Nov 2026, version 2.1.332"
    );
    let two = [version, "2.1.333".to_owned()];
    assert!(report.confirmed(&two, "", "2026-11-29").is_none());
}

#[test]
fn what_a_record_hides_is_no_difference() {
    let hidden =
        r#"{"user": "ada", "password": "[hidden:member]", "key": "[hidden:github-token]"}"#;
    let clear = r#"{"user": "ada", "password": "hunter2", "key": "ghp_0123"}"#;
    let calls = vec![
        call("get", r#"{"token":"[hidden:member]"}"#, &text(hidden)),
        call("get", r#"{"token":"[hidden:member]"}"#, &text(hidden)),
    ];
    let other = clear.replace("ada", "bob");
    let entries = [
        given_call("mcp__s__get", r#"{"token":"abc"}"#, clear),
        given_call("mcp__s__get", r#"{"token":"abc"}"#, &other),
    ];
    let report = compare("claude-code", calls, &entries);
    assert_eq!(outcomes(&report), ["same", "differs"]);
    // What is shown of the transcript has no secret either.
    let TranscriptOutcome::Differs(pair) = &report.calls[1].outcome else {
        panic!("{report:?}");
    };
    assert!(!pair.given.contains("hunter2"), "{pair:?}");
    assert!(pair.given.contains("bob") && pair.rule.contains("ada"));
}

#[test]
fn times_and_paths_are_the_hosts() {
    let structured = r#"{"content":[],"structuredContent":{"b":1.0}}"#;
    let calls = vec![call("one", "{}", &text("a")), call("two", "{}", structured)];
    let mut one = given_call("mcp__s__one", "{}", "Wall time: 12.3456 seconds\nOutput:");
    one.parts.push(GivenPart::Text("a".into()));
    let two = given_call(
        "mcp__s__two",
        "{}",
        "Wall time: 0.1 seconds\nOutput:\n{\"b\":1.0}",
    );
    let report = compare("codex-mcp-client", calls, &[one, two]);
    assert_eq!(report.summary(), "confirmed 2 of 2");

    let image = r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}"#;
    let entry = |path: &str| GivenCall {
        name: "mcp__s__see".into(),
        parts: vec![
            GivenPart::Media("image/png".into()),
            GivenPart::Text(format!("[Image: source: {path}]")),
        ],
        is_error: Some(false),
        ..GivenCall::default()
    };
    let see = || vec![call("see", "{}", image)];
    assert!(compare("claude-code", see(), &[entry("/home/ada/1.png")]).is_confirmed());
    assert_eq!(compare("claude-code", see(), &[entry("")]).differing(), 1);
    let mut flagged = entry("/home/ada/1.png");
    flagged.is_error = Some(true);
    assert_eq!(compare("claude-code", see(), &[flagged]).differing(), 1);
}

#[test]
fn the_first_difference_is_shown_on_both_sides() {
    let calls = vec![call("say", "{}", &text("The quick brown fox"))];
    let entries = [given_call("mcp__s__say", "{}", "The quick brawn fox")];
    let report = compare("claude-code", calls, &entries);
    let TranscriptOutcome::Differs(pair) = &report.calls[0].outcome else {
        panic!("{report:?}");
    };
    assert_eq!(pair.at, [12, 12]);
    assert_eq!(
        pair.around(),
        ["The quick brown fox", "The quick brawn fox"]
    );
    assert_eq!(report.change, None);
}

#[test]
fn another_choice_of_the_rules_words_is_offered() {
    let both = r##"{"content":[{"type":"text","text":"# Found"}],"structuredContent":{"n":1.0}}"##;
    let calls = || vec![call("find", "{}", both), call("say", "{}", &text("hello"))];
    let entries = |found: &str| {
        [
            given_call("mcp__s__find", "{}", found),
            given_call("mcp__s__say", "{}", "hello"),
        ]
    };
    let keys = |found: &str| {
        let report = compare("claude-code", calls(), &entries(found));
        report.change.map(|change| change.keys)
    };
    assert_eq!(keys(r#"{"n":1}"#), None);
    assert_eq!(keys("# Found").unwrap(), [r#"select = "content""#]);
    assert_eq!(
        keys(r#"{"n":1.0}"#).unwrap(),
        [r#"json = "compact-verbatim""#]
    );
    assert_eq!(keys("something else"), None);
    let change = compare("claude-code", calls(), &entries("# Found"))
        .change
        .unwrap();
    let own = Hosts::built_in().with_file(&change.toml, "hosts.toml");
    assert_eq!(own.problems, []);
    let host = own.get("claude-code").unwrap();
    assert!(host.is_own && host.checked == "2026-11-29" && host.select == Select::Content);
}

#[test]
fn a_limit_that_is_gone_or_higher_is_offered() {
    let long = "lorem ipsum\n".repeat(5000);
    let calls = vec![call("long", "{}", &text(&long))];
    let report = compare(
        "claude-code",
        calls,
        &[given_call("mcp__s__long", "{}", &long)],
    );
    assert_eq!(report.differing(), 1);
    assert_eq!(report.change.unwrap().keys, ["no limit"]);
}

#[test]
fn without_a_rule_nothing_is_said_to_be_the_same() {
    let calls = || vec![call("say", "{}", &text("hello"))];
    let report = compare("nobody", calls(), &[given_call("say", "{}", "hello")]);
    assert_eq!(outcomes(&report), ["rule-unknown"]);
    assert_eq!(report.summary(), "same 0 of 1, 1 rule unknown");
    let mut lost = Capture::clone(&calls()[0]);
    lost.outcome = Outcome::Disconnected;
    lost.response = None;
    let report = compare(
        "claude-code",
        vec![Arc::new(lost)],
        &[given_call("mcp__s__say", "{}", "hello")],
    );
    assert_eq!(outcomes(&report), ["rule-unknown"]);
}

#[test]
fn names_of_hosts_lead_to_servers() {
    let server = |given: &str, tool: &str| server_of(given, tool);
    assert_eq!(server("mcp__git_hub__search", "search").unwrap(), "git_hub");
    assert_eq!(server("mcp_github_get-sum", "get-sum").unwrap(), "github");
    assert_eq!(server("github_search", "search").unwrap(), "github");
    assert_eq!(server("search", "search").unwrap(), "");
    assert_eq!(server("mcp__s__get_sum", "get-sum").unwrap(), "s");
    assert_eq!(server("mcp__s__research", "search"), None);
    assert_eq!(
        server("mcp_s_a_very...long_name", "what_a_long_name").unwrap(),
        ""
    );
}
