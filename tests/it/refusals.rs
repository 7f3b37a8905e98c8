//! What servers refuse and what proxies change on the way: named with its cause, and undone where that is possible.

use std::sync::Mutex;
use std::time::Duration;

use crate::peer::{self, HttpPeer, ServerNotification, call, connect, gzip, http, options, reply};
use loupe_client::{self, CancelToken, SessionEvent};
use loupe_core::capture::Outcome;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Protocol, Source};

const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
const DESCRIBED: &str = r#"{"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"1"}}}"#;

async fn refused(source: &Source) -> (Problem, ServerNotification) {
    let heard = ServerNotification::default();
    match loupe_client::connect(source, options(), heard.happenings()).await {
        Ok(_) => panic!("{source}: connected"),
        Err(error) => (error.into(), heard),
    }
}

fn notes(heard: &ServerNotification) -> Vec<String> {
    let note = |event| match event {
        SessionEvent::Noted(text) => Some(text),
        _ => None,
    };
    heard.all().into_iter().filter_map(note).collect()
}

fn stdio(discover: &str, initialize: &str) -> Source {
    peer::child(&format!(
        r#"*server/discover*) printf '%s\n' '{{"jsonrpc":"2.0","id":"loupe-discover",{discover}}}' ;;
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,{initialize}}}' ;;
    *'"tools/call"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[]}}}}\n' "$id" ;;"#
    ))
    .with_protocol(Protocol::Auto)
}

#[tokio::test]
async fn a_probe_that_wants_credentials_is_not_the_server() {
    let answer = reply(
        "401 Unauthorized",
        "text/plain\r\nWWW-Authenticate: Bearer",
        b"no",
    );
    let peer = HttpPeer::start(move |seen| match seen.body.contains("server/discover") {
        true => answer.clone(),
        false => reply("200 OK", "application/json", ANSWER.as_bytes()),
    })
    .await;
    let heard = ServerNotification::default();
    let session = loupe_client::connect(
        &http(&peer.url).with_protocol(Protocol::Auto),
        options(),
        heard.happenings(),
    )
    .await
    .unwrap();
    assert_eq!(
        session.call(call("{}"), CancelToken::new()).await.outcome,
        Outcome::Result
    );
    let notes = notes(&heard);
    assert!(
        notes
            .iter()
            .any(|note| note.contains("`server/discover` got HTTP 401")
                && note.contains("`initialize`")),
        "{notes:?}"
    );
    session.close().await;
}

#[tokio::test]
async fn a_server_that_describes_itself_without_versions_is_taken_unless_it_takes_a_handshake() {
    let described = format!(r#""result":{DESCRIBED}"#);
    let no = r#""error":{"code":-32601,"message":"no such method"}"#;
    for (source, is_noted) in [
        (stdio(&described, no), true),
        (
            stdio(&described, "\"result\":{}").with_protocol(Protocol::Version("2026-07-28")),
            true,
        ),
        (
            stdio(&described, &format!("\"result\":{}", peer::INITIALIZED)),
            false,
        ),
    ] {
        let heard = ServerNotification::default();
        let session = loupe_client::connect(&source, options(), heard.happenings())
            .await
            .unwrap();
        assert_eq!(
            session.server().protocol_version,
            if is_noted { "2026-07-28" } else { "2025-11-25" }
        );
        assert_eq!(session.server().name, if is_noted { "m" } else { "peer" });
        let capture = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            String::from_utf8_lossy(&capture.request)
                .contains("modelcontextprotocol/protocolVersion"),
            is_noted
        );
        assert_eq!(
            notes(&heard)
                .iter()
                .any(|note| note.contains("without `supportedVersions`")),
            is_noted,
            "{:?}",
            notes(&heard)
        );
        session.close().await;
    }
    // One that says neither what it is nor takes a handshake: both are named.
    let (problem, _) = refused(&stdio("\"result\":{\"a\":1}", no)).await;
    assert_eq!(problem.kind, ProblemKind::Handshake);
    assert!(
        problem.what.contains("-32601")
            && problem
                .what
                .contains("`server/discover` got a result without"),
        "{problem}"
    );
}

#[tokio::test]
async fn an_encoding_is_undone_whole_or_named() {
    let event = format!("data: {ANSWER}\n\n");
    let parts = [
        gzip(&ANSWER.as_bytes()[..20]),
        gzip(&ANSWER.as_bytes()[20..]),
    ]
    .concat();
    let mut broken = gzip(ANSWER.as_bytes());
    broken[10] = 7;
    let (json, sse) = ("application/json", "text/event-stream");
    let (fine, failed) = (Outcome::Result, Outcome::Malformed);
    for (status, kind, encoding, body, outcome, word) in [
        ("200 OK", json, "gzip", gzip(ANSWER.as_bytes()), fine, ""),
        ("200 OK", json, "gzip", parts, fine, ""),
        ("200 OK", json, "x-gzip", gzip(ANSWER.as_bytes()), fine, ""),
        (
            "200 OK",
            json,
            "gzip, gzip",
            gzip(&gzip(ANSWER.as_bytes())),
            fine,
            "",
        ),
        ("200 OK", sse, "gzip", gzip(event.as_bytes()), fine, ""),
        ("200 OK", json, "identity", ANSWER.into(), fine, ""),
        (
            "200 OK",
            json,
            "gzip",
            gzip(&gzip(ANSWER.as_bytes())),
            fine,
            "announced as gzip and came as gzip in 2 layers; a proxy",
        ),
        (
            "200 OK",
            json,
            "",
            gzip(ANSWER.as_bytes()),
            fine,
            "announced as not encoded and came as gzip",
        ),
        (
            "200 OK",
            sse,
            "",
            gzip(event.as_bytes()),
            fine,
            "announced as not encoded and came as gzip",
        ),
        (
            "200 OK",
            json,
            "gzip",
            ANSWER.into(),
            fine,
            "announced as gzip and came as plain text",
        ),
        (
            "200 OK",
            sse,
            "gzip",
            event.clone().into(),
            fine,
            "announced as gzip and came as plain text",
        ),
        (
            "200 OK",
            json,
            "br",
            ANSWER.into(),
            fine,
            "announced as `br` and came plain",
        ),
        (
            "200 OK",
            json,
            "gzip",
            gzip(ANSWER.as_bytes())[..30].to_vec(),
            Outcome::Disconnected,
            "connection lost",
        ),
        (
            "200 OK",
            json,
            "gzip",
            broken,
            failed,
            "begins like gzip and is not",
        ),
        (
            "200 OK",
            json,
            "br",
            b"\x1b\x2a\x00\xf8\x03".to_vec(),
            failed,
            "encoded as `br`, which was not asked for; gzip is read; it begins with the bytes 1b 2a 00 f8 03; a proxy",
        ),
        (
            "200 OK",
            json,
            "deflate",
            b"\x78\x9c\x03\0\0\0\0\x01".to_vec(),
            failed,
            "encoded as `deflate`",
        ),
        (
            "500 Internal Server Error",
            json,
            "br",
            b"\x0f".to_vec(),
            failed,
            "500 Internal Server Error: a page that is encoded as `br`",
        ),
    ] {
        let announced = if encoding.is_empty() {
            String::new()
        } else {
            format!("\r\nContent-Encoding: {encoding}")
        };
        let answer = reply(status, &format!("{kind}{announced}"), &body);
        let peer = HttpPeer::start(move |_| answer.clone()).await;
        let capture = peer::called(&http(&peer.url)).await;
        let said = format!("{:?} {:?}", capture.notes, capture.problem);
        assert_eq!(capture.outcome, outcome, "{status} {encoding}: {said}");
        assert!(said.contains(word), "{status} {encoding}: {said}");
        if outcome == Outcome::Result {
            assert_eq!(
                capture.response.as_deref(),
                Some(ANSWER.as_bytes()),
                "{encoding}"
            );
            assert_eq!(
                capture.notes.is_empty(),
                word.is_empty(),
                "{encoding}: {said}"
            );
        } else if status == "200 OK" && outcome == failed {
            assert!(
                said.contains("Accept-Encoding: identity"),
                "{encoding}: {said}"
            );
        }
        assert!(
            peer.seen()
                .iter()
                .all(|seen| seen.head.contains("accept-encoding: gzip")),
            "{:?}",
            peer.seen()
        );
    }
}

/// What the hint says works: a person's own header wins.
#[tokio::test]
async fn an_encoding_may_be_refused_by_a_header() {
    let peer = HttpPeer::start(
        |seen| match seen.head.contains("accept-encoding: identity") {
            true => reply("200 OK", "application/json", ANSWER.as_bytes()),
            false => reply(
                "200 OK",
                "application/json\r\nContent-Encoding: br",
                b"\x1b\x2a",
            ),
        },
    )
    .await;
    let Source::Http(mut plain) = http(&peer.url) else {
        panic!("no HTTP source")
    };
    plain
        .headers
        .push(("Accept-Encoding".into(), "identity".into()));
    assert_eq!(
        peer::called(&Source::Http(plain)).await.outcome,
        Outcome::Result
    );
}

/// A signed address is a key: of a redirect neither parameters nor fragment are shown.
#[tokio::test]
async fn a_redirect_tells_no_secret() {
    let first = Mutex::new(true);
    let peer = HttpPeer::start(move |_| {
        let location = "https://store.example/obj?X-Amz-Date=canary-1&u=canary-2&sig=canary-3#access_token=canary-4";
        let tail = if std::mem::take(&mut *first.lock().unwrap()) { "" } else { "&again=canary-5" };
        reply("307 Temporary Redirect", &format!("text/plain\r\nLocation: {location}{tail}"), b"")
    })
    .await;
    let session = connect(&http(&peer.url)).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    let said = format!(
        "{:?} {:?} {:?}",
        capture.notes, capture.problem, capture.http
    );
    assert!(
        said.contains("https://store.example/obj?X-Amz-Date=…") && !said.contains("canary"),
        "{said}"
    );
    session.close().await;
    let (problem, heard) = refused(&http(&peer.url).with_protocol(Protocol::Auto)).await;
    let said = format!("{problem:?} {:?}", heard.all());
    assert!(
        said.contains("store.example") && !said.contains("canary"),
        "{said}"
    );
}

/// A line of its own, however many came: their number, the first of them, and the cure.
#[tokio::test]
async fn lines_that_are_no_messages_are_summed_up_once() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    let text = format!(
        r#"printf '╭─ My server 9 ─╮\n{{ settings sidecar started }}\n[INFO] ready\n\n'
i=0; while [ $i -lt 60 ]; do echo "line $i"; i=$((i+1)); done
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{}}}' ;;
    *tools/list*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"t","inputSchema":{{}}}}]}}}}\n' "$id" ;;
    *tools/call*) echo '{{"level":"info"}}'; printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[]}}}}\n' "$id" ;;
  esac
done"#,
        peer::INITIALIZED
    );
    std::fs::write(&script, text).unwrap();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp-loupe"));
    command
        .args([
            "call",
            "t",
            "--yes",
            "--timeout",
            "30",
            "--protocol",
            "2025-11-25",
            "--",
            "sh",
        ])
        .arg(&script);
    let output = tokio::time::timeout(Duration::from_secs(60), command.output())
        .await
        .unwrap()
        .unwrap();
    let (said, page) = (
        String::from_utf8_lossy(&output.stderr),
        String::from_utf8_lossy(&output.stdout),
    );
    let expected = "64 lines are no MCP messages, the first `╭─ My server 9 ─╮`; standard output is for messages alone, so print logs to stderr";
    let lines: Vec<_> = said
        .lines()
        .filter(|line| line.contains("no MCP message"))
        .collect();
    assert_eq!(lines, [format!("note: {expected}")], "{said}");
    assert!(
        page.contains("1 unreadable line came during the call (64 since the start)"),
        "{page}"
    );
}
