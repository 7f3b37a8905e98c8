//! Servers that misbehave, over stdio and over HTTP: each ends in a capture or a clear error, the next call is possible,
//! and nothing runs on. What they send is data (`data/misbehave/modes.toml`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::{
    self, HttpPeer, INITIALIZED, PATIENCE, ServerNotification, call, http, options, reply, server,
    sh, until,
};
use futures::future::join_all;
use loupe_client::{self, Call, CancelToken, Options, Session};
use loupe_core::capture::{Capture, Outcome};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Protocol, Source};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
/// Small enough for `a line over the limit` to be over it.
pub const LIMIT: usize = 64 << 20;
/// The time limit of a list.
const WITHIN: Duration = Duration::from_secs(60);

pub struct Mode {
    pub name: String,
    outcome: String,
    word: String,
    pub limit: Duration,
    pub lines: Vec<Vec<u8>>,
}

impl Mode {
    /// The call that it answers.
    fn call(&self) -> Call {
        Call {
            limit: self.limit,
            ..call("{}")
        }
    }
}

pub fn modes() -> Vec<Mode> {
    let file: toml::Table = include_str!("../data/misbehave/modes.toml")
        .parse()
        .unwrap();
    let read = |mode: &toml::Value| {
        let text = |name: &str| {
            mode.get(name)
                .and_then(toml::Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let number = |name: &str| {
            mode.get(name)
                .and_then(toml::Value::as_integer)
                .map(|number| number as usize)
        };
        let mut lines: Vec<Vec<u8>> = Vec::new();
        if let Some(flood) = mode.get("flood") {
            let line = flood["text"].as_str().unwrap().as_bytes();
            lines.extend(std::iter::repeat_n(
                line.to_vec(),
                flood["count"].as_integer().unwrap() as usize,
            ));
        }
        for line in mode
            .get("lines")
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
        {
            lines.push(
                line.as_str()
                    .unwrap()
                    .replace("$ANSWER", ANSWER)
                    .into_bytes(),
            );
        }
        if let Some(length) = number("fill") {
            let head = br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#;
            lines.push([&head[..], &vec![b'x'; length], b"\"}]}}"].concat());
        }
        if let Some(depth) = number("deep") {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            lines.push(
                format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[],"structuredContent":{{"a":{open}1{close}}}}}}}"#)
                    .into_bytes(),
            );
        }
        let hex = text("hex");
        if !hex.is_empty() {
            lines.push(
                (0..hex.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
                    .collect(),
            );
        }
        let limit =
            number("limit_ms").map_or(PATIENCE, |limit| Duration::from_millis(limit as u64));
        Mode {
            name: text("name"),
            outcome: text("outcome"),
            word: text("word"),
            limit,
            lines,
        }
    };
    file["mode"].as_array().unwrap().iter().map(read).collect()
}

async fn connect(source: &Source) -> Session {
    let limited = Options {
        limits: loupe_core::source::Limits {
            message: LIMIT,
            ..Default::default()
        },
        ..options()
    };
    loupe_client::connect(source, limited, ServerNotification::default().happenings())
        .await
        .unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

fn check(mode: &Mode, over: &str, capture: &Capture) {
    let said = format!(
        "{:?} {:?}",
        capture.notes,
        capture.problem.as_ref().map(Problem::message)
    );
    let is_expected = mode.outcome == "any" || capture.outcome.name() == mode.outcome;
    assert!(
        is_expected,
        "{} over {over}: {} {said}",
        mode.name,
        capture.outcome.name()
    );
    assert!(
        said.contains(&mode.word),
        "{} over {over}: {said}",
        mode.name
    );
}

/// A plain answer to every call after the first.
fn plain(seen: &peer::Seen) -> Vec<u8> {
    let body = ANSWER.replace("\"id\":1", &format!("\"id\":{}", seen.id()));
    reply("200 OK", "application/json", body.as_bytes())
}

#[tokio::test]
async fn whatever_is_said_on_stdio_ends_and_the_next_call_succeeds() {
    join_all(modes().into_iter().map(|mode| async move {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("said");
        std::fs::write(&file, [mode.lines.join(&b'\n'), b"\n".to_vec()].concat()).unwrap();
        let script = format!(
            r#"if [ "$id" = 1 ]; then cat '{}'; elif [ -n "$id" ]; then printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[]}}}}\n' "$id"; fi"#,
            file.display()
        );
        let session = connect(&server(&script)).await;
        check(&mode, "stdio", &session.call(mode.call(), CancelToken::new()).await);
        let next = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(next.outcome, Outcome::Result, "after {}: {:?}", mode.name, next.problem);
        session.close().await;
    }))
    .await;
}

#[tokio::test]
async fn whatever_is_said_in_a_stream_ends_and_the_next_call_succeeds() {
    for mode in modes() {
        // What stands in one event may not hold a line end, and half a message is only that on a stream of lines.
        if mode.name.contains("half a line") {
            continue;
        }
        let mut stream = Vec::new();
        for line in &mode.lines {
            stream.extend_from_slice(b"data: ");
            stream.extend_from_slice(line);
            stream.extend_from_slice(b"\n\n");
        }
        let calls = AtomicUsize::new(0);
        let peer = HttpPeer::start(move |seen| {
            let is_reply = !seen.body.contains("\"method\":\"tools/call\"");
            match is_reply || calls.fetch_add(1, Ordering::SeqCst) > 0 {
                true => plain(seen),
                false => reply("200 OK", "text/event-stream", &stream),
            }
        })
        .await;
        let session = connect(&http(&peer.url)).await;
        check(
            &mode,
            "HTTP",
            &session.call(call("{}"), CancelToken::new()).await,
        );
        let next = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            next.outcome,
            Outcome::Result,
            "after {}: {:?}",
            mode.name,
            next.problem
        );
        session.close().await;
    }
}

/// One body is all that comes: what in it is no answer is told at once.
#[tokio::test]
async fn a_body_is_read_for_its_answer_alone() {
    let odd = r#"{"jsonrpc":"2.0","method":null,"id":null}"#;
    let noted = r#"{"jsonrpc":"2.0","method":"notifications/nonsense"}"#;
    for (body, outcome, response, word) in [
        (format!("[{ANSWER}]"), Outcome::Result, ANSWER, "batch"),
        (
            format!("[{odd},{noted},{ANSWER},7]"),
            Outcome::Result,
            ANSWER,
            "batch",
        ),
        ("[]".into(), Outcome::Malformed, "[]", "`[]`"),
        (
            format!("[{noted}]"),
            Outcome::Malformed,
            &*format!("[{noted}]"),
            "no answer",
        ),
        (odd.into(), Outcome::Malformed, odd, "not an MCP message"),
        (
            ANSWER.replace(":1,", ":77,"),
            Outcome::Malformed,
            &*ANSWER.replace(":1,", ":77,"),
            "the id 77",
        ),
    ] {
        let first = Mutex::new(Some(reply("200 OK", "application/json", body.as_bytes())));
        let peer = HttpPeer::start(move |seen| {
            first.lock().unwrap().take().unwrap_or_else(|| plain(seen))
        })
        .await;
        let session = connect(&http(&peer.url)).await;
        let capture = session.call(call("{}"), CancelToken::new()).await;
        let said = format!(
            "{:?} {:?}",
            capture.notes,
            capture.problem.as_ref().map(Problem::message)
        );
        assert_eq!(capture.outcome, outcome, "{body}: {said}");
        assert_eq!(
            capture.response.as_deref(),
            Some(response.as_bytes()),
            "{body}: {said}"
        );
        assert!(said.contains(word), "{body}: {said}");
        let next = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            next.outcome,
            Outcome::Result,
            "after {body}: {:?}",
            next.problem
        );
        session.close().await;
    }
}

/// What is odd costs no answer in the other era either, and a batch is none where the revision has batches.
#[tokio::test]
async fn odd_lines_cost_no_answer_in_any_revision() {
    let odd = r#"printf '%s\n' '[]' '{"jsonrpc":"2.0","method":null,"id":null}' '{"jsonrpc":"2.0","id":77,"result":{}}'"#;
    let answer = r#"printf '[{"jsonrpc":"2.0","method":"notifications/nonsense"},{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}]\n' "$id""#;
    for version in Protocol::VERSIONS {
        let initialized = INITIALIZED.replace("2025-11-25", version);
        let discovered =
            format!(r#"{{"supportedVersions":["{version}"],"capabilities":{{"tools":{{}}}}}}"#);
        let arms = format!(
            r#"*server/discover*) {odd}; printf '%s\n' '{{"jsonrpc":"2.0","id":"loupe-discover","result":{discovered}}}' ;;
            *'"initialize"'*) {odd}; printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{initialized}}}' ;;
            *'"tools/call"'*) {odd}; {answer} ;;"#
        );
        let session = connect(&peer::child(&arms).with_protocol(Protocol::Version(version))).await;
        let capture = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            capture.outcome,
            Outcome::Result,
            "{version}: {:?}",
            capture.problem
        );
        let is_odd = capture.notes.iter().any(|note| note.contains("batch"));
        assert_eq!(
            is_odd,
            *version != "2025-03-26",
            "{version}: {:?}",
            capture.notes
        );
        // Three odd lines and the notification stand beside it.
        assert_eq!(
            capture.messages.len(),
            4,
            "{version}: {:?}",
            capture.messages
        );
        session.close().await;
    }
}

#[tokio::test]
async fn an_output_that_ends_is_told_at_once() {
    let answer = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' "$id""#;
    // The limit is far: none of these ends by it.
    let ends = [
        (
            "exec 1>&-".to_owned(),
            Outcome::Disconnected,
            "closed its output",
        ),
        (
            format!("{answer}; exec 1>&-"),
            Outcome::Result,
            "no line end",
        ),
        (format!("{answer}; exit 0"), Outcome::Result, "no line end"),
        (
            "printf '{\"jsonrpc\":\"2.0\",'; exec 1>&-".to_owned(),
            Outcome::Disconnected,
            "closed its output",
        ),
    ];
    join_all(ends.map(|(script, outcome, word)| async move {
        let capture = peer::called(&server(&script)).await;
        let said = format!("{:?} {:?}", capture.notes, capture.problem);
        assert_eq!(capture.outcome, outcome, "{script}: {said}");
        assert!(
            said.contains(word) && !said.contains("--timeout"),
            "{script}: {said}"
        );
    }))
    .await;
    // While the output is open, a line may still go on.
    let session = connect(&server(answer)).await;
    let brief = Call {
        limit: Duration::from_millis(500),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    let problem = capture.problem.unwrap();
    assert_eq!(
        (capture.outcome, problem.kind),
        (Outcome::Malformed, ProblemKind::Malformed),
        "{problem:?}"
    );
    assert!(problem.what.contains("no line end"), "{problem:?}");
    assert_eq!(capture.response.as_deref(), Some(ANSWER.as_bytes()));
    session.close().await;
}

#[tokio::test]
async fn whatever_http_itself_does_ends_and_the_next_call_succeeds() {
    const JSON: &str = "application/json";
    let cut = |head: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n{head}")
            .into_bytes()
    };
    let sse = |body: &str| reply("200 OK", "text/event-stream", body.as_bytes());
    let mut cases: Vec<(String, Vec<u8>, Option<ProblemKind>)> = vec![
        (
            "cut short".into(),
            cut("Content-Length: 1000\r\n\r\n{\"jsonrpc\""),
            Some(ProblemKind::Disconnected),
        ),
        (
            "a chunk cut short".into(),
            cut("Transfer-Encoding: chunked\r\n\r\nff\r\n{\"jsonrpc\""),
            Some(ProblemKind::Disconnected),
        ),
        (
            "a chunk without a length".into(),
            cut("Transfer-Encoding: chunked\r\n\r\nzz\r\n"),
            Some(ProblemKind::Disconnected),
        ),
        (
            "not HTTP".into(),
            b"220 smtp.example ready\r\n".to_vec(),
            Some(ProblemKind::Disconnected),
        ),
        (
            "compressed, but not".into(),
            reply(
                "200 OK",
                "application/json\r\nContent-Encoding: gzip",
                b"{}",
            ),
            Some(ProblemKind::Malformed),
        ),
        (
            "HTML".into(),
            reply("200 OK", "text/html", b"<h1>hello</h1>"),
            Some(ProblemKind::Malformed),
        ),
        (
            "an image".into(),
            reply("200 OK", "image/png", b"\x89PNG\r\n\x1a\n"),
            Some(ProblemKind::Malformed),
        ),
        (
            "no type at all".into(),
            cut(&format!("Content-Length: {}\r\n\r\n{ANSWER}", ANSWER.len())),
            None,
        ),
        (
            "events in CR alone".into(),
            sse(&format!("id:x\r:c\rdata:{ANSWER}\r\r")),
            None,
        ),
        (
            "data over lines".into(),
            sse(&format!(
                "data: {}\ndata: {}\n\n",
                &ANSWER[..17],
                &ANSWER[17..]
            )),
            None,
        ),
        (
            "a field without a value".into(),
            sse(&format!(
                "data\nretry: soon\nid\n\nfoo: bar\ndata: {ANSWER}\n\n"
            )),
            None,
        ),
        (
            "an endless comment".into(),
            sse(&format!(":{}\n\ndata: {ANSWER}\n\n", "x".repeat(1 << 20))),
            None,
        ),
    ];
    for status in [
        "204 No Content",
        "301 Moved Permanently",
        "403 Forbidden",
        "405 Method Not Allowed",
        "406 Not Acceptable",
        "409 Conflict",
        "413 Content Too Large",
        "415 Unsupported Media Type",
        "421 Misdirected Request",
        "429 Too Many Requests",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "599 Odd",
    ] {
        let kind = match &status[..3] {
            "204" => ProblemKind::Malformed,
            "403" => ProblemKind::Auth,
            _ => ProblemKind::HttpStatus,
        };
        cases.push((status.into(), reply(status, JSON, b""), Some(kind)));
    }
    for (name, answer, kind) in cases {
        let first = Mutex::new(Some(answer));
        let peer = HttpPeer::start(move |seen| {
            first.lock().unwrap().take().unwrap_or_else(|| plain(seen))
        })
        .await;
        let session = connect(&http(&peer.url)).await;
        let capture = session.call(call("{}"), CancelToken::new()).await;
        let problem = capture.problem;
        assert_eq!(
            problem.as_ref().map(|problem| problem.kind),
            kind,
            "{name}: {problem:?}"
        );
        if name.ends_with("cut short") {
            assert_eq!(
                capture.response.as_deref(),
                Some(&b"{\"jsonrpc\""[..]),
                "{name}: what came is kept"
            );
            assert_eq!(capture.outcome, Outcome::Disconnected, "{name}");
        }
        if let Some(problem) = problem.filter(|problem| problem.kind == ProblemKind::Malformed) {
            // Bytes can be looked at only where there are some.
            let word = if capture.response.is_some() {
                "`wire`"
            } else {
                "--transcript"
            };
            assert!(
                problem
                    .hint
                    .as_ref()
                    .is_some_and(|hint| hint.contains(word)),
                "{name}: {problem:?}"
            );
        }
        let next = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            next.outcome,
            Outcome::Result,
            "after {name}: {:?}",
            next.problem
        );
        session.close().await;
    }
}

#[tokio::test]
async fn an_error_that_is_larger_than_is_kept_is_no_answer() {
    let peer = HttpPeer::start(|seen| {
        let text = "x".repeat(2 << 20);
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-1,"message":"{text}"}}}}"#,
            seen.id()
        );
        reply(
            "500 Internal Server Error",
            "application/json",
            body.as_bytes(),
        )
    })
    .await;
    let capture = peer::called(&http(&peer.url)).await;
    assert_eq!(
        (capture.outcome, capture.problem.map(|problem| problem.kind)),
        (Outcome::Malformed, Some(ProblemKind::HttpStatus))
    );
    assert_eq!(capture.response.map(|bytes| bytes.len()), Some(1 << 20));
    assert!(
        capture
            .notes
            .iter()
            .any(|note| note.contains("larger than 1048576 bytes")),
        "{:?}",
        capture.notes
    );
}

#[tokio::test]
async fn a_stream_is_left_after_its_answer() {
    let peer = HttpPeer::start(|seen| {
        let event = format!(
            "data: {}\n\n",
            ANSWER.replace("\"id\":1", &format!("\"id\":{}", seen.id()))
        );
        [
            &b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"[..],
            event.as_bytes(),
            peer::HOLD,
        ]
        .concat()
    })
    .await;
    let session = connect(&http(&peer.url)).await;
    assert_eq!(
        session.call(call("{}"), CancelToken::new()).await.outcome,
        Outcome::Result
    );
    peer::until("the end of the stream", || {
        peer.seen()
            .iter()
            .any(|seen| seen.head == "closed")
            .then_some(())
    })
    .await;
    session.close().await;
}

#[tokio::test]
async fn an_end_at_any_point_is_told() {
    let hello = format!(r#"printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}'"#);
    let script = |at: &str| {
        let die = |here: &str| if here == at { "exit 4" } else { ":" };
        sh(&format!(
            r#"{} ; while IFS= read -r line; do case "$line" in
*'"initialize"'*) {} ; {hello} ;;
*initialized*) {} ;;
*tools/list*) {} ; printf '{{"jsonrpc":"2.0","id":1,"result":{{"tools":[' ; {} ; printf ']}}}}\n' ;;
*tools/call*) {} ;; esac; done"#,
            die("start"),
            die("initialize"),
            die("initialized"),
            die("list"),
            die("half a list"),
            die("call")
        ))
    };
    for at in [
        "start",
        "initialize",
        "initialized",
        "list",
        "half a list",
        "call",
    ] {
        let ended = match loupe_client::connect(
            &script(at),
            options(),
            ServerNotification::default().happenings(),
        )
        .await
        {
            Err(error) => Problem::from(error),
            Ok(session) => {
                let listed = session.list_tools(WITHIN).await.err().map(Problem::from);
                let called = session.call(call("{}"), CancelToken::new()).await.problem;
                session.close().await;
                listed
                    .or(called)
                    .unwrap_or_else(|| panic!("{at}: nothing is told"))
            }
        };
        assert!(
            matches!(
                ended.kind,
                ProblemKind::Handshake | ProblemKind::Disconnected | ProblemKind::Malformed
            ),
            "{at}: {ended:?}"
        );
        // Half a list is told as what it is; everything else by how the program ended.
        assert!(
            ended.kind == ProblemKind::Malformed || ended.what.contains("ended with status 4"),
            "{at}: {ended:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_stands_still_is_given_up_and_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pid");
    let still = server(&format!("echo $$ > '{}'; kill -STOP $$", file.display()));
    let session = connect(&still).await;
    let brief = Call {
        limit: Duration::from_millis(500),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Timeout);
    let pid: i32 = std::fs::read_to_string(&file)
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    session.close().await;
    let is_gone = || {
        nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), None)
            .is_err()
            .then_some(())
    };
    until("the end of the program", is_gone).await;
}

#[tokio::test]
async fn slow_bytes_and_a_flood_of_stderr_are_waited_for() {
    let slow = r#"head -c 3000000 /dev/zero | tr '\0' 'e' >&2; i=0
        text=$(printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' "$id")
        while [ $i -lt ${#text} ]; do printf '%s' "$(printf '%s' "$text" | cut -c $((i + 1)))"; i=$((i + 1)); done; printf '\n'"#;
    let session = connect(&server(slow)).await;
    for _ in 0..2 {
        let capture = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    }
    session.close().await;
}

#[tokio::test]
async fn a_list_that_never_ends_is_ended() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let peer = HttpPeer::start(move |seen| {
        let number = count.fetch_add(1, Ordering::SeqCst);
        let result = format!(
            r#"{{"tools":[{{"name":"t{number}","inputSchema":{{}}}}],"nextCursor":"{number}"}}"#
        );
        reply(
            "200 OK",
            "application/json",
            format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
                seen.id()
            )
            .as_bytes(),
        )
    })
    .await;
    let session = connect(&http(&peer.url).with_protocol(Protocol::Version("2025-06-18"))).await;
    let list = session.list_tools(WITHIN).await.unwrap();
    assert_eq!(
        (list.tools.len(), asked.load(Ordering::SeqCst)),
        (1_000, 1_000)
    );
    assert!(list.note.unwrap().contains("ends after 1000 pages"));
    session.close().await;
}
