//! The client against servers that behave and servers that do not, over every transport: exact bytes in both
//! directions, and for every odd answer a capture or a clear error, never a wait without end.

use std::time::Duration;

use crate::peer::{
    self, HttpPeer, INITIALIZED, PATIENCE, ServerNotification, call, called, connect, http,
    options, reply, server, sh, until,
};
use loupe_client::{self, Call, CancelToken, Options, SessionEvent};
use loupe_core::capture::{Capture, Direction, Outcome};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Command, Source};

const RESULT: &str = r#"{"content":[{"type":"text","text":"hi"}]}"#;

fn kind(capture: &Capture) -> Option<ProblemKind> {
    capture.problem.as_ref().map(|problem| problem.kind)
}

async fn refused(source: &Source, options: Options) -> Problem {
    match loupe_client::connect(source, options, ServerNotification::default().happenings()).await {
        Ok(_) => panic!("{source}: connected"),
        Err(error) => error.into(),
    }
}

#[tokio::test]
async fn the_sample_answers_in_process() {
    let session = connect(&Source::sample()).await;
    assert_eq!(session.server().transport, "in-process");
    let list = session.list_tools(Duration::from_secs(60)).await.unwrap();
    assert!(!list.tools.is_empty());
    assert_eq!(list.note, None);
    session.close().await;
}

#[tokio::test]
async fn bytes_leave_and_come_exactly() {
    // The peer sends back what it got, inside a string where only the quotes are escaped.
    let echo = r#"said=$(printf '%s' "$line" | sed 's/"/\\"/g')
        printf '{"jsonrpc":"2.0","id":%s , "result":{"content":[{"type":"text","text":"%s"}], "n":1.10}}\n' "$id" "$said""#;
    let session = connect(&server(echo)).await;
    let arguments = r#"{"a": 1e3, "b":9007199254740993,"b":1.10,  "z":"é"}"#;
    let capture = session.call(call(arguments), CancelToken::new()).await;
    let request = String::from_utf8(capture.request.to_vec()).unwrap();
    assert_eq!(
        request,
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments},"_meta":{{"progressToken":1}}}}}}"#
        )
    );
    let escaped = request.replace('"', "\\\"");
    let response = format!(
        r#"{{"jsonrpc":"2.0","id":1 , "result":{{"content":[{{"type":"text","text":"{escaped}"}}], "n":1.10}}}}"#
    );
    assert_eq!(capture.response.as_deref(), Some(response.as_bytes()));
    assert_eq!(
        (capture.outcome, capture.arguments.as_ref()),
        (Outcome::Result, arguments.as_bytes())
    );
    assert_eq!(
        (
            capture.messages.len(),
            capture.notes.len(),
            capture.http.as_ref()
        ),
        (0, 0, None)
    );

    let wire = session.wire();
    let sent: Vec<_> = wire
        .iter()
        .map(|message| (message.direction, message.bytes.clone()))
        .collect();
    assert_eq!(
        sent.iter()
            .filter(|(direction, _)| *direction == Direction::Out)
            .count(),
        3,
        "initialize, initialized, call"
    );
    assert!(sent.contains(&(Direction::Out, capture.request.clone())));
    assert!(sent.contains(&(Direction::In, capture.response.clone().unwrap())));
    assert!(wire.is_sorted_by_key(|message| message.at));
    let hello: serde_json::Value = serde_json::from_slice(&wire[0].bytes).unwrap();
    assert_eq!(hello["params"]["protocolVersion"], "2025-11-25");
    assert_eq!(hello["params"]["capabilities"], serde_json::json!({}));
    assert_eq!(hello["params"]["clientInfo"]["name"], "loupe");
    session.close().await;
}

/// Odd answers on stdio, as a file that the peer prints after the call.
#[tokio::test]
async fn odd_lines_yield_what_came() {
    use Outcome::{Malformed, ProtocolError, Result};
    let result = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{RESULT}}}"#);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"structuredContent":{}1{}}}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let large = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"{}"}}]}}}}"#,
        "x".repeat(20 << 20)
    );
    let text = |line: &str| line.as_bytes().to_vec();
    // What is printed, the outcome, the line that is the response (counted from 0), and a word of the notes or problem.
    let cases: Vec<(&str, Vec<u8>, Outcome, usize, &str)> = vec![
        ("plain", text(&result("1")), Result, 0, ""),
        ("error null beside a result", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]},"error":null}"#), Result, 0, ""),
        (
            "result null beside an error",
            text(r#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":-32000,"message":"no"}}"#),
            ProtocolError,
            0,
            "-32000: no",
        ),
        (
            "error with a string code",
            text(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"E","message":"no"}}"#),
            ProtocolError,
            0,
            "no",
        ),
        (
            "error without message",
            text(r#"{"jsonrpc":"2.0","id":1,"error":{"code":5000000000}}"#),
            ProtocolError,
            0,
            "5000000000",
        ),
        (
            "error without id",
            text(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what"}}"#),
            ProtocolError,
            0,
            "the id null",
        ),
        ("no jsonrpc", text(&format!(r#"{{"id":1,"result":{RESULT}}}"#)), Result, 0, ""),
        ("foreign id", text(&result("99")), Malformed, 0, "the id 99"),
        ("no id", text(&format!(r#"{{"jsonrpc":"2.0","result":{RESULT}}}"#)), Malformed, 0, "no id"),
        ("id as text", text(&result("\"1\"")), Result, 0, "came back as \"1\""),
        ("id as float", text(&result("1.0")), Result, 0, "came back as 1.0"),
        (
            "NaN",
            text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":NaN}}}"#),
            Malformed,
            0,
            "not JSON",
        ),
        ("cut", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"te"#), Malformed, 0, "not JSON"),
        (
            "invalid UTF-8",
            [&b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\xff\xfe\"}]}}"[..]]
                .concat(),
            Result,
            0,
            "",
        ),
        (
            "lone surrogate",
            text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"\ud800"}]}}"#),
            Result,
            0,
            "",
        ),
        ("1e400", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{"a":1e400}}}"#), Result, 0, ""),
        ("10,000 levels", text(&deep), Result, 0, ""),
        ("20 MB", text(&large), Result, 0, ""),
        (
            "unknown block",
            text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"hologram"}],"messages":[],"resultType":"odd"}}"#),
            Result,
            0,
            "",
        ),
        ("content is text", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":"hi","isError":"no"}}"#), Result, 0, ""),
        ("result null", text(r#"{"jsonrpc":"2.0","id":1,"result":null}"#), Malformed, 0, "is null"),
        ("tool error", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"isError":true}}"#), Outcome::ToolError, 0, ""),
        ("duplicate content", text(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[1],"content":[]}}"#), Result, 0, ""),
        ("BOM", text(&format!("\u{feff}{}", result("1"))), Result, 0, ""),
        (
            "noise before",
            text(&format!("Listening…\n{{\"level\":\"info\"}}\n\n{}", result("1"))),
            Result,
            3,
            "2 unreadable lines",
        ),
        (
            "notification before",
            text(&format!("{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{{}}}}\n{}", result("1"))),
            Result,
            1,
            "",
        ),
        ("late answer before", text(&format!("{}\n{}", result("0"), result("1"))), Result, 1, "earlier request"),
        ("neither", text(r#"{"jsonrpc":"2.0","id":1}"#), Malformed, 0, "neither"),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (name, printed, outcome, position, word) in cases {
        let file = folder.path().join("answer");
        std::fs::write(&file, [&printed[..], b"\n"].concat()).unwrap();
        let session = connect(&server(&format!("cat '{}'", file.display()))).await;
        // No answer is to come.
        let limit = if matches!(name, "foreign id" | "no id") {
            Duration::from_millis(500)
        } else {
            PATIENCE
        };
        let capture = session
            .call(
                Call {
                    limit,
                    ..call("{}")
                },
                CancelToken::new(),
            )
            .await;
        session.close().await;
        let response: Vec<_> = printed
            .split(|&byte| byte == b'\n')
            .nth(position)
            .unwrap()
            .to_vec();
        let said = format!(
            "{:?} {:?}",
            capture.notes,
            capture.problem.as_ref().map(Problem::message)
        );
        assert_eq!(capture.outcome, outcome, "{name}: {said}");
        assert!(
            capture.response.as_deref() == Some(&response[..]),
            "{name}: other bytes"
        );
        assert!(
            said.replace("\\\"", "\"")
                .replace("\\\\", "")
                .contains(word),
            "{name}: {said}"
        );
        assert_eq!(
            capture.problem.is_some(),
            matches!(outcome, Malformed | ProtocolError),
            "{name}: {said}"
        );
    }
}

#[tokio::test]
async fn line_ends_are_not_part_of_a_message() {
    let answer = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{RESULT}}}"#);
    for (name, script, note) in [
        ("CRLF", format!(r"printf '%s\r\n' '{answer}'"), None),
        (
            "no line end at all",
            format!("printf '%s' '{answer}'; exit 0"),
            Some("the last line has no line end"),
        ),
    ] {
        let capture = called(&server(&script)).await;
        assert_eq!(
            capture.response.as_deref(),
            Some(answer.as_bytes()),
            "{name}"
        );
        assert_eq!(
            (capture.outcome, capture.notes.first().map(String::as_str)),
            (Outcome::Result, note),
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_message_over_several_lines_is_shown_and_refused() {
    let pretty =
        "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 1,\n  \"result\": {\n    \"content\": []\n  }\n}";
    let capture = called(&server(&format!("cat <<'END'\n{pretty}\nEND\n"))).await;
    assert_eq!(
        (capture.outcome, kind(&capture)),
        (Outcome::Malformed, Some(ProblemKind::Malformed))
    );
    assert_eq!(capture.response.as_deref(), Some(pretty.as_bytes()));
}

#[tokio::test]
async fn a_message_over_the_limit_ends_its_call() {
    let limited = Options {
        limits: loupe_core::source::Limits {
            message: 1_000,
            ..Default::default()
        },
        ..options()
    };
    let long = r#"printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"; head -c 5000 /dev/zero | tr '\0' x; printf '"}\n'"#;
    let session = loupe_client::connect(
        &server(long),
        limited,
        ServerNotification::default().happenings(),
    )
    .await
    .unwrap();
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(
        (capture.outcome, capture.wire_len()),
        (Outcome::Malformed, 1_000)
    );
    assert!(
        capture
            .problem
            .unwrap()
            .what
            .contains("larger than 1,000 bytes")
    );
    session.close().await;
}

#[tokio::test]
async fn what_is_kept_of_stderr_can_be_changed_and_its_end_is_said() {
    let limits = loupe_core::source::Limits {
        stderr: 2_000,
        ..Default::default()
    };
    let flood = r#"i=0; while [ $i -lt 100 ]; do printf '%0100d\n' $i >&2; i=$((i+1)); done
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id""#;
    let heard = ServerNotification::default();
    let session = loupe_client::connect(
        &server(flood),
        Options {
            limits,
            ..options()
        },
        heard.happenings(),
    )
    .await
    .unwrap();
    session.call(call("{}"), CancelToken::new()).await;
    session.close().await;
    let said = |happening: &SessionEvent| matches!(happening, SessionEvent::Noted(text) if text.contains("stderr came to more than 2,000 bytes"));
    assert_eq!(
        heard
            .all()
            .iter()
            .filter(|happening| said(happening))
            .count(),
        1
    );
}

#[tokio::test]
async fn pings_are_answered_and_other_requests_refused() {
    let asks = r#"printf '%s\n' '{"jsonrpc":"2.0","id":"p","method":"ping"}'; IFS= read -r pong
        printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"roots/list"}'; IFS= read -r no
        printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1.5,"message":"half"}}\n' "$id"
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"pong":%s,"no":%s}}\n' "$id" "$pong" "$no""#;
    let heard = ServerNotification::default();
    let session = loupe_client::connect(&server(asks), options(), heard.happenings())
        .await
        .unwrap();
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Result);
    let answer: serde_json::Value =
        serde_json::from_slice(capture.response.as_deref().unwrap()).unwrap();
    assert_eq!(
        answer["result"]["pong"],
        serde_json::json!({"jsonrpc":"2.0","id":"p","result":{}})
    );
    assert_eq!(answer["result"]["no"]["error"]["code"], -32601);
    assert_eq!(answer["result"]["no"]["id"], 1);
    assert_eq!(
        capture.messages.len(),
        5,
        "two requests, two replies, one notification: {:?}",
        capture.messages
    );
    let progress = SessionEvent::Progress {
        progress: 1.5,
        total: None,
        message: Some("half".into()),
    };
    assert!(heard.all().contains(&progress));
    session.close().await;
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_given_up() {
    // The peer says nothing until it is told of the end; then it answers the first call late, and the next at once.
    let slow = r#"if [ "$id" = 1 ]; then IFS= read -r notice; echo "$notice" >&2
        printf '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}\n'
        else printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id"; fi"#;
    let heard = ServerNotification::default();
    let session = loupe_client::connect(&server(slow), options(), heard.happenings())
        .await
        .unwrap();
    let brief = Call {
        limit: Duration::from_millis(50),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    assert_eq!(
        (capture.outcome, kind(&capture), &capture.response),
        (Outcome::Timeout, Some(ProblemKind::Timeout), &None)
    );
    let notice = &capture.messages.last().unwrap().bytes;
    assert!(notice.starts_with(
        br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"#
    ));
    let said = SessionEvent::Stderr(String::from_utf8_lossy(notice).into_owned());
    heard.until(|happening| *happening == said).await;
    let next = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(next.outcome, Outcome::Result);
    session.close().await;
}

#[tokio::test]
async fn a_cancelled_call_returns_at_once() {
    let heard = ServerNotification::default();
    let session = loupe_client::connect(&server("echo got it >&2"), options(), heard.happenings())
        .await
        .unwrap();
    let cancel = CancelToken::new();
    let (capture, ()) = tokio::join!(session.call(call("{}"), cancel.clone()), async {
        heard
            .until(|happening| *happening == SessionEvent::Stderr("got it".into()))
            .await;
        cancel.cancel();
    });
    assert_eq!(
        (capture.outcome, kind(&capture)),
        (Outcome::Cancelled, Some(ProblemKind::Cancelled))
    );
    assert!(
        capture
            .messages
            .iter()
            .any(|message| message.direction == Direction::Stderr)
    );
    // A token that was used up before cancels before anything is waited for.
    assert_eq!(
        session.call(call("{}"), cancel).await.outcome,
        Outcome::Cancelled
    );
    session.close().await;
}

#[tokio::test]
async fn a_server_that_dies_ends_its_calls_and_says_why() {
    let heard = ServerNotification::default();
    let source = server("echo 'out of luck' >&2; exit 3");
    let session = loupe_client::connect(&source, options(), heard.happenings())
        .await
        .unwrap();
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(
        (capture.outcome, kind(&capture)),
        (Outcome::Disconnected, Some(ProblemKind::Disconnected))
    );
    let problem = capture.problem.unwrap();
    assert_eq!(
        problem.what,
        "the program ended with status 3; stderr ends with `out of luck`"
    );
    assert!(problem.hint.unwrap().contains("reconnect"));
    assert!(matches!(
        heard
            .until(|happening| matches!(happening, SessionEvent::Gone(_)))
            .await,
        SessionEvent::Gone(_)
    ));
    let next = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(next.outcome, Outcome::Disconnected);
    session.close().await;
}

#[tokio::test]
async fn servers_that_cannot_be_started_or_do_not_speak_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain.txt");
    std::fs::write(&plain, "not a program").unwrap();
    let program = |program: &str| {
        Source::Command(Command {
            program: program.into(),
            ..Command::default()
        })
    };
    let brief = || Options {
        connect_limit: Duration::from_millis(300),
        ..options()
    };
    let cases = [
        (
            program("nosuch-program-at-all"),
            options(),
            ProblemKind::Spawn,
            "command not found",
        ),
        (
            program("/nosuch/program"),
            options(),
            ProblemKind::Spawn,
            "command not found",
        ),
        (
            program(&plain.to_string_lossy()),
            options(),
            ProblemKind::Spawn,
            "not executable",
        ),
        (
            program(&folder.path().to_string_lossy()),
            options(),
            ProblemKind::Spawn,
            "not executable",
        ),
        (
            Source::Command(Command {
                program: "sh".into(),
                cwd: Some("/nosuch".into()),
                ..Command::default()
            }),
            options(),
            ProblemKind::Spawn,
            "working directory not found",
        ),
        (
            sh("echo 'bad option' >&2; exit 2"),
            options(),
            ProblemKind::Handshake,
            "ended with status 2; stderr ends with `bad option`",
        ),
        (
            sh("kill -9 $$"),
            options(),
            ProblemKind::Handshake,
            "was ended by SIGKILL",
        ),
        (
            sh("echo 'Welcome to the shell'; exit 0"),
            options(),
            ProblemKind::Handshake,
            "it printed `Welcome to the shell`, which is not MCP",
        ),
        (
            sh("echo 'Welcome'; cat >/dev/null"),
            brief(),
            ProblemKind::Timeout,
            "it printed `Welcome`",
        ),
        (
            sh("cat >/dev/null"),
            brief(),
            ProblemKind::Timeout,
            "no answer to `initialize`",
        ),
        (
            sh("read -r line; printf '%s\\n' \"$line\"; cat >/dev/null"),
            brief(),
            ProblemKind::Timeout,
            "no answer",
        ),
        (
            sh(r#"echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1999-01-01"}}'; cat"#),
            options(),
            ProblemKind::Handshake,
            "1999-01-01",
        ),
        (
            sh(r#"echo '{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"what"}}'; cat"#),
            options(),
            ProblemKind::Handshake,
            "-32601: what",
        ),
        (
            sh(r#"echo '{"jsonrpc":"2.0","id":0,"result":[]}'; cat"#),
            options(),
            ProblemKind::Handshake,
            "no result",
        ),
        (
            http("http://127.0.0.1:1/mcp"),
            options(),
            ProblemKind::Connect,
            "connection refused",
        ),
        (
            http("ftp://127.0.0.1/mcp"),
            options(),
            ProblemKind::Connect,
            "not an http or https address",
        ),
    ];
    for (source, options, kind, word) in cases {
        let problem = refused(&source, options).await;
        assert_eq!(problem.kind, kind, "{source}: {problem}");
        assert!(problem.what.contains(word), "{source}: {problem}");
        assert!(
            problem.hint.is_some() && !problem.place.is_empty(),
            "{source}: {problem:?}"
        );
    }
}

#[tokio::test]
async fn a_banner_before_the_handshake_is_counted_and_forgiven() {
    let heard = ServerNotification::default();
    let banner = sh(&format!(
        "echo 'Starting'; read -r line; printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{INITIALIZED}}}'; cat >/dev/null"
    ));
    let session = loupe_client::connect(&banner, options(), heard.happenings())
        .await
        .unwrap();
    assert_eq!(
        (
            session.server().name.as_str(),
            session.server().version.as_str()
        ),
        ("peer", "1.2")
    );
    assert!(heard.all().contains(&SessionEvent::Unreadable(1)));
    let phases: Vec<_> = heard
        .all()
        .into_iter()
        .filter(|happening| matches!(happening, SessionEvent::Phase(_)))
        .collect();
    assert_eq!(phases.len(), 3, "{phases:?}");
    session.close().await;
}

#[tokio::test]
async fn lists_end_and_keep_bad_entries() {
    let lists = |pages: &str| {
        peer::child(&format!(
            r#"*'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}' ;;
    {pages}"#
        ))
    };
    let page = |when: &str, result: &str| {
        format!("{when}) printf '{{\"jsonrpc\":\"2.0\",\"id\":%s,{result}}}\\n' \"$id\" ;;\n")
    };
    let odd =
        r#""result":{"tools":[{"name":"a","inputSchema":{},"outputSchema":true},{"name":"b"},7]}"#;
    let first = r#""result":{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"c\\u0031"}"#;
    let (to_a, second) = (
        r#""result":{"tools":[{"name":"a"}],"nextCursor":"a"}"#,
        r#""result":{"tools":[{"name":"b"}],"nextCursor":"b"}"#,
    );
    let empty = r#""result":{"tools":[{"name":"a"}],"nextCursor":""}"#;
    let cases = [
        (page("*tools/list*", odd), 3, 1, None),
        (
            page("*cursor*", r#""result":{"tools":[]}"#) + &page("*tools/list*", first),
            1,
            2,
            None,
        ),
        // The same page for ever, and a circle of two.
        (
            page("*tools/list*", first),
            1,
            2,
            Some("page 2 of `tools/list` is page 1 again"),
        ),
        (
            page("*'\"a\"'*", second) + &page("*tools/list*", to_a),
            2,
            3,
            Some("page 3 of `tools/list` is page 1 again"),
        ),
        (
            page("*tools/list*", r#""result":{"tools":[],"nextCursor":"x"}"#),
            0,
            2,
            Some("repeats the cursor"),
        ),
        // An empty cursor is a cursor, whether it leads on, is refused, or is the end to the server.
        (
            page("*cursor*", r#""result":{"tools":[{"name":"b"}]}"#) + &page("*tools/list*", empty),
            2,
            2,
            None,
        ),
        (
            page("*cursor*", r#""error":{"code":-32602,"message":"no"}"#)
                + &page("*tools/list*", empty),
            1,
            1,
            Some("refuses it"),
        ),
        (page("*tools/list*", empty), 1, 2, Some("page 1 again")),
        (
            page("*cursor*", r#""error":{"code":1,"message":"no"}"#) + &page("*tools/list*", first),
            1,
            1,
            Some("is missing"),
        ),
        (
            page("*tools/list*", r#""error":{"code":-32601,"message":"no"}"#),
            0,
            0,
            Some("no tools"),
        ),
    ];
    for (pages, tools, raw, note) in cases {
        let session = connect(&lists(&pages)).await;
        let list = session.list_tools(Duration::from_secs(60)).await.unwrap();
        assert_eq!((list.tools.len(), list.raw.len()), (tools, raw), "{pages}");
        assert_eq!(list.note.is_some(), note.is_some(), "{:?}", list.note);
        assert!(
            list.note
                .unwrap_or_default()
                .contains(note.unwrap_or_default()),
            "{pages}"
        );
        session.close().await;
    }
    let session = connect(&lists(&page("*tools/list*", r#""result":{}"#))).await;
    assert_eq!(
        Problem::from(
            session
                .list_tools(Duration::from_secs(60))
                .await
                .unwrap_err()
        )
        .kind,
        ProblemKind::Malformed
    );
    session.close().await;
}

#[tokio::test]
async fn http_answers_odd_and_plain_yield_what_came() {
    use Outcome::{Disconnected, Malformed, ProtocolError, Result};
    const JSON: &str = "application/json";
    const SSE: &str = "text/event-stream";
    let result = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id} ,"result":{RESULT}}}"#);
    let ours = result("1");
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#;
    // Status, type, body, outcome, kind of the problem, the response (as in the body), and a word of what is said.
    type Case = (
        &'static str,
        &'static str,
        String,
        Outcome,
        Option<ProblemKind>,
        Option<String>,
        &'static str,
    );
    let cases: Vec<Case> = vec![
        (
            "200 OK",
            JSON,
            ours.clone(),
            Result,
            None,
            Some(ours.clone()),
            "",
        ),
        (
            "200 OK",
            "Application/JSON; charset=utf-8",
            ours.clone(),
            Result,
            None,
            Some(ours.clone()),
            "",
        ),
        (
            "200 OK",
            "text/plain",
            ours.clone(),
            Result,
            None,
            Some(ours.clone()),
            "Content-Type is text/plain",
        ),
        (
            "200 OK",
            JSON,
            result("9"),
            Malformed,
            Some(ProblemKind::Malformed),
            Some(result("9")),
            "the id 9",
        ),
        (
            "200 OK",
            JSON,
            format!("[{ours}]"),
            Result,
            None,
            Some(ours.clone()),
            "batch",
        ),
        (
            "200 OK",
            JSON,
            "{\"a\":".into(),
            Malformed,
            Some(ProblemKind::Malformed),
            Some("{\"a\":".into()),
            "not an MCP message",
        ),
        (
            "200 OK",
            JSON,
            String::new(),
            Malformed,
            Some(ProblemKind::Malformed),
            Some(String::new()),
            "it is empty",
        ),
        (
            "200 OK",
            "text/html",
            "<html>Hello</html>".into(),
            Malformed,
            Some(ProblemKind::Malformed),
            Some("<html>Hello</html>".into()),
            "<html>",
        ),
        (
            "202 Accepted",
            "text/plain",
            String::new(),
            Malformed,
            Some(ProblemKind::Malformed),
            None,
            "sent no answer",
        ),
        (
            "200 OK",
            SSE,
            format!(
                ": hello\n\nid: 1\ndata:\n\ndata: {progress}\n\nevent: message\ndata: {ours}\n\n"
            ),
            Result,
            None,
            Some(ours.clone()),
            "",
        ),
        (
            "200 OK",
            SSE,
            format!("data: {}\r\ndata: {}\r\n\r\n", &ours[..17], &ours[17..]),
            Result,
            None,
            Some(format!("{}\n{}", &ours[..17], &ours[17..])),
            "",
        ),
        (
            "200 OK",
            SSE,
            format!("data: {ours}\n"),
            Result,
            None,
            Some(ours.clone()),
            "not ended by a blank line",
        ),
        (
            "200 OK",
            SSE,
            "data: what\n\n".into(),
            Malformed,
            Some(ProblemKind::Malformed),
            Some("what".into()),
            "`what`",
        ),
        (
            "200 OK",
            SSE,
            format!("data: {}\n\n", result("9")),
            Malformed,
            Some(ProblemKind::Malformed),
            Some(result("9")),
            "the id 9",
        ),
        (
            "200 OK",
            SSE,
            String::new(),
            Disconnected,
            Some(ProblemKind::Disconnected),
            None,
            "without an answer",
        ),
        (
            "401 Unauthorized",
            "text/plain",
            "log in".into(),
            Malformed,
            Some(ProblemKind::Auth),
            Some("log in".into()),
            "log in",
        ),
        (
            "404 Not Found",
            "text/plain",
            "gone".into(),
            Disconnected,
            Some(ProblemKind::Disconnected),
            None,
            "this session",
        ),
        (
            "400 Bad Request",
            JSON,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#.into(),
            ProtocolError,
            Some(ProblemKind::RpcError),
            Some(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#.into()),
            "HTTP 400",
        ),
        (
            "500 Internal Server Error",
            "text/plain",
            "oops".into(),
            Malformed,
            Some(ProblemKind::HttpStatus),
            Some("oops".into()),
            "HTTP 500 Internal Server Error: oops",
        ),
        (
            "307 Temporary Redirect",
            "text/plain\r\nLocation: http://elsewhere/",
            String::new(),
            Malformed,
            Some(ProblemKind::HttpStatus),
            Some(String::new()),
            "http://elsewhere/",
        ),
    ];
    for (status, content_type, body, outcome, expected, response, word) in cases {
        let name = format!("{status} {content_type} {body}");
        let answer = reply(status, content_type, body.as_bytes());
        let peer = HttpPeer::start(move |_| answer.clone()).await;
        let capture = called(&http(&peer.url)).await;
        let said = format!("{:?} {:?}", capture.notes, capture.problem);
        assert_eq!(
            (capture.outcome, kind(&capture)),
            (outcome, expected),
            "{name}: {said}"
        );
        assert_eq!(
            capture
                .response
                .as_deref()
                .map(String::from_utf8_lossy)
                .as_deref(),
            response.as_deref(),
            "{name}: {said}"
        );
        assert!(said.contains(word), "{name}: {said}");
    }
}

#[tokio::test]
async fn http_requests_carry_what_was_negotiated() {
    let peer = HttpPeer::start(|seen| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{RESULT}}}"#,
            seen.id()
        );
        reply(
            "200 OK",
            "application/json\r\nSet-Cookie: s3cret",
            body.as_bytes(),
        )
    })
    .await;
    let session = connect(&http(&peer.url)).await;
    let capture = session
        .call(call("{\"a\":\n1e3}"), CancelToken::new())
        .await;
    session.close().await;
    let header = capture.http.unwrap();
    assert_eq!(header.status, 200);
    assert!(header.headers.contains(&("set-cookie".into(), "…".into())));
    assert!(!session_text(&header.headers).contains("s3cret"));

    until("the farewell", || {
        peer.seen()
            .iter()
            .any(|seen| seen.head.starts_with("delete"))
            .then_some(())
    })
    .await;
    let seen = peer.seen();
    for request in &seen {
        assert!(
            request.head.contains("x-key: s3cret") && !request.head.contains("\norigin:"),
            "{}",
            request.head
        );
        let is_first = request.body.contains("\"initialize\"");
        assert_eq!(
            request.head.contains("mcp-session-id: abc"),
            !is_first,
            "{}",
            request.head
        );
        assert_eq!(
            request.head.contains("mcp-protocol-version: 2025-11-25"),
            !is_first,
            "{}",
            request.head
        );
    }
    let sent = seen
        .iter()
        .find(|request| request.body.contains("tools/call"))
        .unwrap();
    assert!(sent.body.contains("\"arguments\":{\"a\":\n1e3},"));
    assert_eq!(sent.body.as_bytes(), &capture.request[..]);
    assert!(
        sent.head
            .contains("accept: application/json, text/event-stream")
    );
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_taken_up_where_it_ended() {
    let peer = HttpPeer::start(|seen| {
        let events = if seen.head.contains("last-event-id: 7") {
            format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{RESULT}}}\n\n")
        } else {
            "retry: 1\nid: 7\ndata:\n\n".into()
        };
        reply("200 OK", "text/event-stream", events.as_bytes())
    })
    .await;
    let capture = called(&http(&peer.url)).await;
    assert_eq!((capture.outcome, capture.problem), (Outcome::Result, None));
}

#[tokio::test]
async fn an_http_call_is_cancelled_by_a_notification() {
    let peer = HttpPeer::start(|_| Vec::new()).await;
    let session = connect(&http(&peer.url)).await;
    let cancel = CancelToken::new();
    let seen = async |word: &str| {
        until(word, || {
            peer.seen()
                .iter()
                .any(|seen| seen.body.contains(word))
                .then_some(())
        })
        .await
    };
    let (capture, ()) = tokio::join!(session.call(call("{}"), cancel.clone()), async {
        seen("tools/call").await;
        cancel.cancel();
    });
    assert_eq!(
        (capture.outcome, capture.response),
        (Outcome::Cancelled, None)
    );
    seen("notifications/cancelled").await;
    session.close().await;
}

fn session_text(headers: &[(String, String)]) -> String {
    headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect()
}

#[tokio::test]
async fn http_handshakes_that_fail_are_explained() {
    for (status, body, kind, word) in [
        (
            "401 Unauthorized",
            "log in",
            ProblemKind::Auth,
            "requires credentials: log in",
        ),
        (
            "404 Not Found",
            "nothing here",
            ProblemKind::HttpStatus,
            "HTTP 404 Not Found: nothing here",
        ),
        (
            "500 Internal Server Error",
            "oops",
            ProblemKind::HttpStatus,
            "HTTP 500",
        ),
        (
            "403 Forbidden",
            r#"{"error":"nope"}"#,
            ProblemKind::Auth,
            r#"the server requires credentials: {"error":"nope"}"#,
        ),
        (
            "404 Not Found",
            r#"{"error":"nope"}"#,
            ProblemKind::HttpStatus,
            r#"HTTP 404 Not Found: {"error":"nope"}"#,
        ),
        (
            "500 Internal Server Error",
            r#"{"error":{"reason":"oops"}}"#,
            ProblemKind::HttpStatus,
            "HTTP 500",
        ),
        (
            "200 OK",
            "<!doctype html><title>Hello</title>",
            ProblemKind::Handshake,
            "not an MCP message",
        ),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let page = reply(status, "text/html", body.as_bytes());
        tokio::spawn(async move {
            use tokio::io::{AsyncReadExt, AsyncWriteExt};
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 64 << 10];
            assert!(stream.read(&mut request).await.unwrap() > 0);
            stream.write_all(&page).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        let problem = refused(&http(&url), options()).await;
        assert_eq!(problem.kind, kind, "{status}: {problem}");
        assert!(
            problem.what.contains(word) && problem.place == url && problem.hint.is_some(),
            "{status}: {problem:?}"
        );
    }
}
