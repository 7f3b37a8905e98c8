//! Both eras of the protocol and every transport, against peers that behave like the servers of their time: which era is
//! found, what leaves in it, and how a session ends, is lost and is opened again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use std::time::Duration;

use crate::peer::tls::{behind_tls, certified, self_signed};
use crate::peer::{
    self, HttpPeer, INITIALIZED, Seen, ServerNotification, call, connect, http, options, reply, sh,
    until,
};
use futures::future::join_all;
use loupe_client::{self, Call, CancelToken, Options, Session, SessionEvent};
use loupe_core::capture::{Direction, Outcome, Step, StepState, Tool};
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::source::{Http, Protocol, SampleSpec, Source, Transport};
use loupe_sample::{self, sample::Sample};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const STATELESS: &str = "2026-07-28";
const DISCOVERED: &str = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"modern","version":"3"}}}"#;
const NOT_FOUND: &str = r#"printf '{"jsonrpc":"2.0","id":"loupe-discover","error":{"code":-32601,"message":"Method not found"}}\n'"#;

/// A child with an answer of its own to `server/discover`, and to `initialize`.
fn child(on_discover: &str, on_initialize: &str) -> Source {
    peer::child(&format!(
        r#"*server/discover*) {on_discover} ;;
    *'"initialize"'*) {on_initialize} ;;
    *'"tools/call"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[]}}}}\n' "$id" ;;"#
    ))
    .with_protocol(Protocol::Auto)
}

fn initialized() -> String {
    format!(r#"printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}'"#)
}

fn discovered() -> String {
    format!(r#"printf '%s\n' '{{"jsonrpc":"2.0","id":"loupe-discover","result":{DISCOVERED}}}'"#)
}

fn sent(session: &Session) -> Vec<String> {
    let out = session
        .wire()
        .into_iter()
        .filter(|message| message.direction == Direction::Out);
    out.map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect()
}

fn methods(session: &Session) -> Vec<String> {
    let method = |text: &String| {
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        value["method"].as_str().unwrap_or("reply").to_owned()
    };
    sent(session).iter().map(method).collect()
}

async fn refused(source: &Source) -> (Problem, Vec<Step>) {
    let heard = ServerNotification::default();
    match loupe_client::connect(source, options(), heard.happenings()).await {
        Ok(_) => panic!("{source}: connected"),
        Err(error) => (error.into(), steps(&heard)),
    }
}

fn steps(heard: &ServerNotification) -> Vec<Step> {
    let step = |happening| match happening {
        SessionEvent::Step(step) => Some(step),
        _ => None,
    };
    heard.all().into_iter().filter_map(step).collect()
}

fn names(steps: &[Step]) -> Vec<(&str, StepState)> {
    steps.iter().map(|step| (step.name, step.state)).collect()
}

#[tokio::test]
async fn a_server_of_the_handshake_is_found_by_any_answer_to_the_probe() {
    for answer in [
        NOT_FOUND,
        r#"printf '{"jsonrpc":"2.0","id":"loupe-discover","error":{"code":-32602,"message":"Invalid request parameters"}}\n'"#,
        r#"printf '{"jsonrpc":"2.0","id":"server-error","error":{"code":-1,"message":"?"}}\n'"#,
        r#"printf '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Server not initialized"}}\n'"#,
        r#"printf '{"jsonrpc":"2.0","id":"loupe-discover","result":{}}\n'"#,
    ] {
        let session = connect(&child(answer, &initialized())).await;
        assert_eq!(session.server().protocol_version, "2025-11-25", "{answer}");
        assert_eq!(
            methods(&session),
            ["server/discover", "initialize", "notifications/initialized"]
        );
        let capture = session
            .call(call(r#"{"a": 1e3}"#), CancelToken::new())
            .await;
        assert_eq!(capture.outcome, Outcome::Result);
        assert!(!String::from_utf8_lossy(&capture.request).contains("io.modelcontextprotocol"));
        session.close().await;
    }
}

#[tokio::test]
async fn a_stateless_server_gets_no_handshake_and_arguments_as_typed() {
    let heard = ServerNotification::default();
    let source = child(&discovered(), "exit 9");
    let session = loupe_client::connect(&source, options(), heard.happenings())
        .await
        .unwrap();
    assert_eq!(
        (
            session.server().name.as_str(),
            session.server().protocol_version.as_str()
        ),
        ("modern", STATELESS)
    );
    let capture = session
        .call(
            call(r#"{"a": 1e3,  "b":9007199254740993}"#),
            CancelToken::new(),
        )
        .await;
    assert_eq!(capture.outcome, Outcome::Result);
    let request = String::from_utf8(capture.request.to_vec()).unwrap();
    assert!(request.contains(r#""arguments":{"a": 1e3,  "b":9007199254740993},"_meta":{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"loupe""#), "{request}");
    assert!(
        request.contains(r#""io.modelcontextprotocol/clientCapabilities":{"#),
        "{request}"
    );
    assert_eq!(methods(&session), ["server/discover", "tools/call"]);
    let done = StepState::Done;
    assert_eq!(
        names(&steps(&heard)),
        [
            ("find the program", done),
            ("start", done),
            ("negotiate", done)
        ]
    );
    assert_eq!(session.steps(), steps(&heard));
    session.close().await;
}

/// Everything that is asked beside calls says of itself what the era wants, too.
#[tokio::test]
async fn other_requests_are_written_in_the_era_as_well() {
    let peer = HttpPeer::start(|seen| {
        let is_right = seen
            .body
            .contains("io.modelcontextprotocol/protocolVersion");
        let answer = match seen.body.contains("server/discover") {
            true => format!(r#""result":{DISCOVERED}"#),
            false if is_right => r#""result":{"completion":{"values":["a"]}}"#.to_owned(),
            false => r#""error":{"code":-32602,"message":"no _meta"}"#.to_owned(),
        };
        reply(
            "200 OK",
            "application/json",
            format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, seen.id()).as_bytes(),
        )
    })
    .await;
    let session = connect(&http(&peer.url).with_protocol(Protocol::Auto)).await;
    assert_eq!(session.server().protocol_version, STATELESS);
    let params = r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}"#;
    let result = session
        .request("completion/complete", params, peer::PATIENCE)
        .await
        .unwrap();
    assert_eq!(result, r#"{"completion":{"values":["a"]}}"#);
    let last = peer.seen().pop().unwrap();
    assert!(
        last.head.contains("mcp-method: completion/complete"),
        "{}",
        last.head
    );
    assert!(
        last.body.contains(&params[..params.len() - 1]),
        "{}",
        last.body
    );
    session.close().await;
}

#[tokio::test]
async fn a_server_that_ends_on_the_probe_is_started_again() {
    let heard = ServerNotification::default();
    let source = child("echo no such method >&2; exit 1", &initialized());
    let session = loupe_client::connect(&source, options(), heard.happenings())
        .await
        .unwrap();
    assert_eq!(session.server().protocol_version, "2025-11-25");
    let steps = steps(&heard);
    assert_eq!(
        steps.iter().filter(|step| step.name == "start").count(),
        2,
        "{steps:?}"
    );
    assert!(
        steps
            .iter()
            .any(|step| step.state == StepState::Passed && step.answered.contains("started again")),
        "{steps:?}"
    );
    assert_eq!(
        session.call(call("{}"), CancelToken::new()).await.outcome,
        Outcome::Result
    );
    session.close().await;
    // One that ends anyway is explained by its own last words, told once.
    let (problem, _) =
        refused(&sh("echo 'bad option' >&2; exit 2").with_protocol(Protocol::Auto)).await;
    assert_eq!(
        (problem.kind, problem.what.as_str()),
        (
            ProblemKind::Handshake,
            "the program ended with status 2; stderr ends with `bad option`"
        )
    );
}

#[tokio::test]
async fn silence_decides_nothing() {
    // What is answered first counts, whichever it is; what comes late spoils nothing.
    let late_error = format!("{NOT_FOUND}; {}", initialized());
    let late_discovery = discovered();
    let found = [
        (initialized(), "2025-11-25"),
        (late_error, "2025-11-25"),
        (late_discovery, STATELESS),
    ];
    join_all(found.map(|(on_initialize, version)| async move {
        let session = connect(&child(":", &on_initialize)).await;
        assert_eq!(
            session.server().protocol_version,
            version,
            "{on_initialize}"
        );
        assert_eq!(
            session.call(call("{}"), CancelToken::new()).await.outcome,
            Outcome::Result,
            "{on_initialize}"
        );
        session.close().await;
    }))
    .await;
}

#[tokio::test]
async fn versions_are_agreed_on_or_named() {
    let unsupported = |versions: &str| {
        format!(
            r#"printf '%s\n' '{{"jsonrpc":"2.0","id":"loupe-discover","error":{{"code":-32022,"message":"Unsupported","data":{{"supported":[{versions}]}}}}}}'"#
        )
    };
    let once = format!(
        r#"if [ -z "$asked" ]; then asked=1; {}; else {}; fi"#,
        unsupported(r#""2026-07-28""#),
        discovered()
    );
    let session = connect(&child(&once, "exit 9")).await;
    assert_eq!(session.server().protocol_version, STATELESS);
    assert_eq!(methods(&session), ["server/discover", "server/discover"]);
    session.close().await;
    let (problem, _) = refused(&child(&unsupported(r#""2031-01-01""#), "exit 9")).await;
    assert!(
        problem.kind == ProblemKind::Handshake && problem.what.contains("2031-01-01"),
        "{problem:?}"
    );
    // One without a handshake, where one was pinned: what it speaks is said, and how that is found.
    let modern = r#"printf '%s\n' '{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"Unsupported","data":{"supported":["2026-07-28"]}}}'"#;
    let (problem, _) =
        refused(&child("exit 9", modern).with_protocol(Protocol::Version("2025-11-25"))).await;
    assert!(problem.what.ends_with("but 2026-07-28"), "{problem}");
    assert!(
        problem
            .hint
            .as_deref()
            .is_some_and(|hint| hint.contains("without `--protocol`")),
        "{problem:?}"
    );
    let (problem, _) =
        refused(&child(NOT_FOUND, "exit 9").with_protocol(Protocol::Version(STATELESS))).await;
    assert!(
        problem.what.contains("does not speak 2026-07-28") && problem.what.contains("-32601"),
        "{problem:?}"
    );
    for version in &Protocol::VERSIONS[..4] {
        let answer = r#"v=$(printf '%s' "$line" | sed -n 's/.*"protocolVersion":"\([^"]*\)".*/\1/p'); printf '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"%s","capabilities":{},"serverInfo":{"name":"p","version":"1"}}}\n' "$v""#;
        let session =
            connect(&child("exit 9", answer).with_protocol(Protocol::Version(version))).await;
        assert_eq!(
            (
                session.server().protocol_version.as_str(),
                methods(&session).len()
            ),
            (*version, 2)
        );
        session.close().await;
    }
}

#[tokio::test]
async fn the_sample_answers_the_same_in_both_eras_over_every_transport() {
    let sample = Arc::new(Sample::new(&SampleSpec::default()).unwrap());
    let serving = loupe_sample::http(sample, ([127, 0, 0, 1], 0).into())
        .await
        .unwrap();
    let url = Source::Http(Http {
        url: serving.url(),
        ..Http::default()
    });
    let stdio = Source::Command(loupe_core::source::Command {
        program: env!("CARGO_BIN_EXE_mcp-loupe").into(),
        args: vec!["sample-server".into()],
        ..Default::default()
    });
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    for source in [Source::sample(), url, stdio] {
        for protocol in [
            Protocol::Version("2025-06-18"),
            Protocol::Version(STATELESS),
            Protocol::Auto,
        ] {
            let source = source.clone().with_protocol(protocol);
            let session = connect(&source).await;
            let found_version = session.server().protocol_version.clone();
            match (protocol, &source) {
                (Protocol::Version(version), _) => assert_eq!(found_version, version, "{source}"),
                (Protocol::Auto, Source::Sample(_)) => assert_eq!(found_version, "2025-11-25"),
                (Protocol::Auto, _) => assert_eq!(found_version, STATELESS, "{source}"),
            }
            let tools = session
                .list_tools(Duration::from_secs(60))
                .await
                .unwrap()
                .tools;
            let tool = tools
                .iter()
                .find(|tool| tool.name == "strict_search_companies")
                .unwrap()
                .clone();
            let asked = Call {
                tool,
                ..call(r#"{"searchTerm":"north"}"#)
            };
            let capture = session.call(asked, CancelToken::new()).await;
            assert_eq!(
                capture.outcome,
                Outcome::Result,
                "{source}: {:?}",
                capture.problem
            );
            let value: serde_json::Value =
                serde_json::from_slice(capture.response.as_deref().unwrap()).unwrap();
            let is_stateless = Protocol::is_stateless(&found_version);
            assert_eq!(
                value["result"]["resultType"].as_str(),
                is_stateless.then_some("complete"),
                "{source}"
            );
            found
                .entry(value["result"]["content"].to_string())
                .or_default()
                .push(source.to_string());
            session.close().await;
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
}

/// A stateless HTTP server: discovers, lists one tool whose argument is mirrored and one that must not be called.
fn modern(seen: &Seen) -> Vec<u8> {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]"#;
    let result = if seen.body.contains("server/discover") {
        DISCOVERED.to_owned()
    } else if seen.body.contains("tools/list") {
        format!(r#"{{"tools":{tools}}}"#)
    } else if seen.body.contains("\"hang\"") {
        return Vec::new();
    } else {
        r#"{"content":[]}"#.to_owned()
    };
    reply(
        "200 OK",
        "application/json",
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
            seen.id()
        )
        .as_bytes(),
    )
}

#[tokio::test]
async fn a_stateless_request_says_what_it_is_in_its_headers() {
    let peer = HttpPeer::start(modern).await;
    let session = connect(&http(&peer.url).with_protocol(Protocol::Auto)).await;
    let tools = session
        .list_tools(Duration::from_secs(60))
        .await
        .unwrap()
        .tools;
    assert_eq!(tools[0].faults, Vec::<String>::new());
    assert!(
        tools[1]
            .faults
            .iter()
            .any(|fault| fault.contains("cannot be called over HTTP")),
        "{:?}",
        tools[1].faults
    );
    let capture = session
        .call(
            Call {
                tool: tools[0].clone(),
                ..call(r#"{"region":"Østfold"}"#)
            },
            CancelToken::new(),
        )
        .await;
    assert_eq!(capture.outcome, Outcome::Result);
    // What a definition forbids is not sent, and the capture says why.
    let capture = session
        .call(
            Call {
                tool: tools[1].clone(),
                ..call(r#"{"a":1}"#)
            },
            CancelToken::new(),
        )
        .await;
    let problem = capture.problem.unwrap();
    assert_eq!(
        (capture.outcome, problem.kind, capture.request.len()),
        (Outcome::Cancelled, ProblemKind::Arguments, 0)
    );
    assert!(
        problem.what.contains("not sent: `x-mcp-header` of `a`"),
        "{problem}"
    );

    // Given up is: the stream is closed, and nothing is said.
    let cancel = CancelToken::new();
    let hang = Call {
        tool: Tool::unlisted("hang"),
        ..call("{}")
    };
    let (capture, ()) = tokio::join!(session.call(hang, cancel.clone()), async {
        until("the call", || {
            peer.seen()
                .iter()
                .any(|seen| seen.body.contains("\"hang\""))
                .then_some(())
        })
        .await;
        cancel.cancel();
    });
    assert_eq!(capture.outcome, Outcome::Cancelled);
    session.close().await;
    let seen = peer.seen();
    assert!(
        !seen.iter().any(
            |seen| seen.body.contains("notifications/") || seen.body.contains("\"initialize\"")
        )
    );
    assert!(
        !seen
            .iter()
            .any(|seen| seen.head.starts_with("get") || seen.head.starts_with("delete")),
        "{seen:?}"
    );
    for request in &seen {
        let value: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        let method = value["method"].as_str().unwrap();
        assert!(
            request.head.contains(&format!("mcp-method: {method}")),
            "{}",
            request.head
        );
        assert!(
            request.head.contains("mcp-protocol-version: 2026-07-28"),
            "{}",
            request.head
        );
    }
    let called = seen
        .iter()
        .find(|seen| seen.body.contains("stfold"))
        .unwrap();
    assert!(
        called.head.contains("mcp-name: t\r\n") || called.head.ends_with("mcp-name: t"),
        "{}",
        called.head
    );
    // The peer writes heads in lower case.
    assert!(
        called.head.contains("mcp-param-region: =?base64?"),
        "{}",
        called.head
    );
}

#[tokio::test]
async fn an_http_server_of_the_handshake_is_found_however_it_refuses() {
    for (status, content_type, body) in [
        (
            "400 Bad Request",
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#,
        ),
        ("400 Bad Request", "text/plain", "what?"),
        ("404 Not Found", "text/html", "<h1>no</h1>"),
        ("500 Internal Server Error", "text/plain", ""),
        ("202 Accepted", "text/plain", ""),
        ("200 OK", "text/plain", "hello"),
        ("200 OK", "text/event-stream", ""),
        (
            "400 Bad Request",
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32602,"message":"no"},"id":"server-error"}"#,
        ),
        // In the words of the other era, but with no version to speak.
        (
            "400 Bad Request",
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"no"},"id":"loupe-discover"}"#,
        ),
        (
            "400 Bad Request",
            "application/json",
            r#"{"jsonrpc":"2.0","error":{"code":-32022,"message":"no"},"id":"loupe-discover"}"#,
        ),
        ("401 Unauthorized", "text/plain", "no key"),
        ("403 Forbidden", "text/html", "<h1>no</h1>"),
        ("429 Too Many Requests", "text/plain", "later"),
    ] {
        let answer = reply(status, content_type, body.as_bytes());
        let peer = HttpPeer::start(move |_| answer.clone()).await;
        let session = connect(&http(&peer.url).with_protocol(Protocol::Auto)).await;
        assert_eq!(
            session.server().protocol_version,
            "2025-11-25",
            "{status} {body}"
        );
        assert_eq!(
            peer.seen()
                .iter()
                .filter(|seen| seen.body.contains("server/discover"))
                .count(),
            1,
            "{status} {body}"
        );
        session.close().await;
    }
    // What is forbidden without a word of scopes asks for no login: none stands in the report of the handshake that follows.
    let answer = reply("403 Forbidden", "text/plain", b"not you");
    let peer = HttpPeer::start(move |_| answer.clone()).await;
    let Source::Http(mut source) = http(&peer.url).with_protocol(Protocol::Auto) else {
        panic!("no HTTP source")
    };
    source.login = Some(loupe_core::source::Login::default());
    let session = connect(&Source::Http(source)).await;
    assert!(
        session.steps().iter().all(|step| step.name != "login"),
        "{:?}",
        session.steps()
    );
    session.close().await;
}

/// A server that says that it does not know the session has not taken the call: it is made once more in another session.
#[tokio::test]
async fn a_session_that_is_gone_is_opened_anew_and_the_call_made_once_more() {
    let json = "application/json";
    let coded =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}"#;
    for (status, kind, body) in [
        ("404 Not Found", "text/plain", "no"),
        ("404 Not Found", json, coded),
        ("400 Bad Request", "text/plain", "no valid session"),
        (
            "400 Bad Request",
            json,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Bad Request: Server not initialized"}}"#,
        ),
    ] {
        let forgotten = Arc::new(Mutex::new(true));
        let told = Arc::clone(&forgotten);
        let peer = HttpPeer::start(move |seen| {
            if std::mem::take(&mut *told.lock().unwrap()) {
                return reply(status, kind, body.as_bytes());
            }
            reply(
                "200 OK",
                "application/json",
                format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[],"tools":[]}}}}"#,
                    seen.id()
                )
                .as_bytes(),
            )
        })
        .await;
        let heard = ServerNotification::default();
        let session = loupe_client::connect(&http(&peer.url), options(), heard.happenings())
            .await
            .unwrap();
        let counted = |word: &str| {
            peer.seen()
                .iter()
                .filter(|seen| seen.body.contains(word))
                .count()
        };
        let capture = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!(
            capture.outcome,
            Outcome::Result,
            "{status}: {:?}",
            capture.problem
        );
        assert!(
            capture
                .notes
                .iter()
                .any(|note| note.contains(status) && note.contains("sent again")),
            "{:?}",
            capture.notes
        );
        assert_eq!(
            (counted("tools/call"), counted("\"initialize\"")),
            (2, 2),
            "{status}"
        );
        // A list has no notes of its own.
        *forgotten.lock().unwrap() = true;
        session.list_tools(Duration::from_secs(60)).await.unwrap();
        let is_noted = |event: &SessionEvent| matches!(event, SessionEvent::Noted(text) if text.contains("`tools/list`"));
        assert_eq!(
            (
                heard.all().iter().filter(|event| is_noted(event)).count(),
                counted("\"initialize\"")
            ),
            (1, 3)
        );
        session.close().await;
    }
}

#[tokio::test]
async fn a_session_that_is_gone_again_is_told() {
    let peer = HttpPeer::start(|_| reply("404 Not Found", "text/plain", b"no valid session")).await;
    let session = connect(&http(&peer.url)).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    let problem = capture.problem.unwrap();
    assert_eq!(
        (capture.outcome, problem.kind),
        (Outcome::Disconnected, ProblemKind::Disconnected),
        "{problem}"
    );
    assert!(
        problem.what.contains("no longer knows this session"),
        "{problem}"
    );
    assert_eq!(
        peer.seen()
            .iter()
            .filter(|seen| seen.body.contains("tools/call"))
            .count(),
        2
    );
    session.close().await;
}

/// What is refused while the handshake ends is told in the words of the server, and a session that is lost there is none.
#[tokio::test]
async fn a_notification_that_is_refused_is_told_in_plain_words() {
    for (status, body, is_lost) in [
        ("400 Bad Request", "no valid session", true),
        ("429 Too Many Requests", "slow down", false),
    ] {
        let refused_once = Arc::new(Mutex::new(true));
        let url = notification_peer(Arc::clone(&refused_once), status, body).await;
        match loupe_client::connect(
            &http(&url),
            options(),
            ServerNotification::default().happenings(),
        )
        .await
        {
            Ok(session) if is_lost => {
                assert_eq!(
                    session.call(call("{}"), CancelToken::new()).await.outcome,
                    Outcome::Result
                );
                session.close().await;
            }
            Ok(_) => panic!("{status}: connected"),
            Err(error) => {
                let problem = Problem::from(error);
                assert!(
                    !is_lost && problem.what == format!("HTTP {status}: {body}"),
                    "{problem}"
                );
            }
        }
    }
}

/// A server that answers all but the first notification, which it refuses.
async fn notification_peer(
    refuses: Arc<Mutex<bool>>,
    status: &'static str,
    body: &'static str,
) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let refuses = Arc::clone(&refuses);
            tokio::spawn(async move {
                let mut text = vec![0; 64 << 10];
                let length = stream.read(&mut text).await.unwrap_or(0);
                let text = String::from_utf8_lossy(&text[..length]).into_owned();
                let sent: serde_json::Value =
                    serde_json::from_str(text.split_once("\r\n\r\n").map_or("", |(_, body)| body))
                        .unwrap_or_default();
                let answer = match sent["method"].as_str() {
                    Some("initialize") => {
                        let body = format!(
                            r#"{{"jsonrpc":"2.0","id":{},"result":{INITIALIZED}}}"#,
                            sent["id"]
                        );
                        reply(
                            "200 OK",
                            "application/json\r\nMcp-Session-Id: abc",
                            body.as_bytes(),
                        )
                    }
                    Some("tools/call") => {
                        let body = format!(
                            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#,
                            sent["id"]
                        );
                        reply("200 OK", "application/json", body.as_bytes())
                    }
                    Some(_) if std::mem::take(&mut *refuses.lock().unwrap()) => {
                        reply(status, "text/plain", body.as_bytes())
                    }
                    Some(_) => reply("202 Accepted", "text/plain", b""),
                    None => reply("405 Method Not Allowed", "text/plain", b""),
                };
                stream.write_all(&answer).await.ok();
                stream.shutdown().await.ok();
            });
        }
    });
    url
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_alone() {
    let peer = HttpPeer::start(|seen| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#,
            seen.id()
        );
        match seen.head.lines().next().unwrap_or_default() {
            first if first.contains("/mcp ") => reply(
                "307 Temporary Redirect",
                "text/plain\r\nLocation: /elsewhere",
                b"",
            ),
            first if first.contains("/elsewhere ") => {
                reply("200 OK", "application/json", body.as_bytes())
            }
            _ => Vec::new(),
        }
    })
    .await;
    let session = connect(&http(&peer.url)).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    session.close().await;
    for location in [
        "http://other.invalid/mcp",
        "https://127.0.0.1/mcp",
        "file:///etc/passwd",
    ] {
        let answer = reply(
            "307 Temporary Redirect",
            &format!("text/plain\r\nLocation: {location}"),
            b"",
        );
        let peer = HttpPeer::start(move |_| answer.clone()).await;
        let session = connect(&http(&peer.url)).await;
        let capture = session.call(call("{}"), CancelToken::new()).await;
        let problem = capture.problem.unwrap();
        assert!(
            problem.kind == ProblemKind::HttpStatus && problem.what.contains(location),
            "{problem}"
        );
        session.close().await;
        let (problem, _) = refused(&http(&peer.url).with_protocol(Protocol::Auto)).await;
        assert!(problem.what.contains(location), "{problem}");
    }
    let round = reply(
        "307 Temporary Redirect",
        "text/plain\r\nLocation: /mcp",
        b"",
    );
    let peer = HttpPeer::start(move |_| round.clone()).await;
    let (problem, _) = refused(&http(&peer.url).with_protocol(Protocol::Auto)).await;
    assert_eq!(problem.kind, ProblemKind::HttpStatus, "{problem}");
    assert!(peer.seen().len() < 20, "{}", peer.seen().len());
}

#[tokio::test]
async fn a_compressed_answer_counts_at_its_full_size() {
    let bomb = include_bytes!("../data/http/bomb.json.gz");
    let answer = reply("200 OK", "application/json\r\nContent-Encoding: gzip", bomb);
    let peer = HttpPeer::start(move |_| answer.clone()).await;
    for (limit, outcome, kept) in [
        (100_000, Outcome::Malformed, 100_000),
        (20 << 20, Outcome::Result, 8_000_073),
    ] {
        let limited = Options {
            limits: loupe_core::source::Limits {
                message: limit,
                ..Default::default()
            },
            ..options()
        };
        let session = loupe_client::connect(
            &http(&peer.url),
            limited,
            ServerNotification::default().happenings(),
        )
        .await
        .unwrap();
        let capture = session.call(call("{}"), CancelToken::new()).await;
        assert_eq!((capture.outcome, capture.wire_len()), (outcome, kept));
        session.close().await;
    }
}

/// A server of 2024: a stream by GET, which names `endpoint` and carries every answer. It says nothing else by POST.
async fn stream_peer(endpoint: &'static str) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/sse", listener.local_addr().unwrap());
    let posted = Arc::new(Mutex::new(Vec::new()));
    let (log, (say, _)) = (
        Arc::clone(&posted),
        tokio::sync::broadcast::channel::<String>(100),
    );
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (log, say) = (Arc::clone(&log), say.clone());
            let mut said = say.subscribe();
            tokio::spawn(async move {
                let mut text = String::new();
                let mut chunk = [0; 4096];
                let (head, body) = loop {
                    let len = stream.read(&mut chunk).await.unwrap_or(0);
                    if len == 0 {
                        return;
                    }
                    text += &String::from_utf8_lossy(&chunk[..len]);
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        continue;
                    };
                    let length = head
                        .to_lowercase()
                        .lines()
                        .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                    if body.len() >= length.unwrap_or(0) {
                        break (head.to_owned(), body.to_owned());
                    }
                };
                if head.starts_with("GET /sse") {
                    let first = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: {endpoint}\n\n"
                    );
                    stream.write_all(first.as_bytes()).await.ok();
                    while let Ok(message) = said.recv().await {
                        if message == "end" {
                            return;
                        }
                        if stream
                            .write_all(format!("event: message\ndata: {message}\n\n").as_bytes())
                            .await
                            .is_err()
                        {
                            return;
                        }
                    }
                    return;
                }
                if !head.starts_with("POST /message?s=1") {
                    stream
                        .write_all(&reply("404 Not Found", "text/html", b"<h1>no</h1>"))
                        .await
                        .ok();
                    return;
                }
                log.lock().unwrap().push(body.clone());
                stream
                    .write_all(&reply("202 Accepted", "text/plain", b"Accepted"))
                    .await
                    .ok();
                let value: serde_json::Value = serde_json::from_str(&body).unwrap();
                match value["method"].as_str() {
                    Some("initialize") => say
                        .send(format!(
                            r#"{{"jsonrpc":"2.0","id":0,"result":{}}}"#,
                            INITIALIZED.replace("2025-11-25", "2024-11-05")
                        ))
                        .ok(),
                    Some("tools/call") if body.contains("\"die\"") => say.send("end".into()).ok(),
                    Some("tools/call") => say
                        .send(format!(
                            r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[]}}}}"#,
                            value["id"]
                        ))
                        .ok(),
                    _ => None,
                };
            });
        }
    });
    (url, posted)
}

#[tokio::test]
async fn a_server_of_2024_is_reached_by_its_stream() {
    for transport in [Transport::Auto, Transport::Sse] {
        let (url, posted) = stream_peer("/message?s=1").await;
        let session = connect(&Source::Http(Http {
            url,
            transport,
            ..Http::default()
        }))
        .await;
        assert_eq!(
            (
                session.server().transport.as_str(),
                session.server().protocol_version.as_str()
            ),
            ("sse", "2024-11-05")
        );
        let capture = session.call(call("{\"n\": 1e3}"), CancelToken::new()).await;
        assert_eq!(capture.outcome, Outcome::Result);
        assert!(
            posted
                .lock()
                .unwrap()
                .iter()
                .any(|body| body.as_bytes() == &capture.request[..])
        );
        let gone = session
            .call(
                Call {
                    tool: Tool::unlisted("die"),
                    ..call("{}")
                },
                CancelToken::new(),
            )
            .await;
        assert_eq!(gone.outcome, Outcome::Disconnected);
        assert!(gone.problem.unwrap().what.contains("ended the stream"));
        session.close().await;
    }
    let (url, posted) = stream_peer("http://other.invalid/message").await;
    let (problem, _) = refused(&Source::Http(Http {
        url,
        transport: Transport::Sse,
        ..Http::default()
    }))
    .await;
    assert!(
        problem
            .what
            .contains("another origin (http://other.invalid)"),
        "{problem}"
    );
    assert!(posted.lock().unwrap().is_empty());
}

#[tokio::test]
async fn certificates_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let (empty, missing) = (
        folder.path().join("empty.pem"),
        folder.path().join("missing.pem"),
    );
    std::fs::write(&empty, "nothing here").unwrap();
    for (file, word) in [(empty, "no certificate"), (missing, "cannot read")] {
        let source = Source::Http(Http {
            url: "http://127.0.0.1:1/".into(),
            cacert: Some(file.clone()),
            ..Http::default()
        });
        let (problem, _) = refused(&source).await;
        assert_eq!(
            (problem.kind, problem.place.as_str()),
            (ProblemKind::Io, &*file.to_string_lossy()),
            "{problem}"
        );
        assert!(problem.what.contains(word), "{problem}");
    }
}

#[tokio::test]
async fn a_certificate_that_signs_itself_is_trusted_once_it_is_named() {
    let (config, pem) = self_signed("127.0.0.1", 30);
    let url = behind_tls(config).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("named.pem");
    let source = |url: &str| {
        Source::Http(Http {
            url: url.into(),
            cacert: Some(file.clone()),
            ..Http::default()
        })
    };
    let (problem, told) = refused(&Source::Http(Http {
        url: url.clone(),
        ..Http::default()
    }))
    .await;
    assert!(problem.what.contains("signs itself"), "{problem}");
    assert!(
        problem
            .hint
            .unwrap()
            .contains("that very certificate by `--cacert")
    );
    assert!(
        told.iter()
            .any(|step| step.name == "TLS" && step.answered.contains("signs itself")),
        "{told:?}"
    );
    // Another of the same kind vouches for nothing.
    std::fs::write(&file, self_signed("127.0.0.1", 30).1).unwrap();
    let (problem, _) = refused(&source(&url)).await;
    assert!(problem.what.contains("signs itself"), "{problem}");
    std::fs::write(&file, &pem).unwrap();
    let session = loupe_client::connect(
        &source(&url),
        options(),
        ServerNotification::default().happenings(),
    )
    .await
    .unwrap();
    assert!(
        !session
            .list_tools(Duration::from_secs(60))
            .await
            .unwrap()
            .tools
            .is_empty()
    );
    session.close().await;
    // It is trusted for the names and the days that it states, and no others.
    for ((config, pem), why, hint) in [
        (
            self_signed("localhost", 30),
            "not for this host name",
            "subjectAltName",
        ),
        (self_signed("127.0.0.1", -1), "has expired", "renewed"),
    ] {
        let url = behind_tls(config).await;
        std::fs::write(&file, pem).unwrap();
        let (problem, _) = refused(&source(&url)).await;
        assert!(
            problem.what.contains(why) && problem.hint.as_ref().unwrap().contains(hint),
            "{problem}: {:?}",
            problem.hint
        );
    }
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_once_it_is_named() {
    let (config, authority) = certified();
    let url = behind_tls(config).await;
    let (problem, told) = refused(&Source::Http(Http {
        url: url.clone(),
        ..Http::default()
    }))
    .await;
    assert_eq!(problem.kind, ProblemKind::Connect, "{problem}");
    assert!(
        problem
            .hint
            .as_deref()
            .is_some_and(|hint| hint.contains("--cacert")),
        "{problem}"
    );
    let tls = told.iter().find(|step| step.name == "TLS").unwrap();
    assert!(
        tls.state == StepState::Failed && tls.took.is_some(),
        "{told:?}"
    );
    assert!(
        told.iter()
            .any(|step| step.name == "connect" && step.state == StepState::Done),
        "{told:?}"
    );

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, authority).unwrap();
    let heard = ServerNotification::default();
    let source = Source::Http(Http {
        url,
        cacert: Some(file),
        ..Http::default()
    });
    let session = loupe_client::connect(&source, options(), heard.happenings())
        .await
        .unwrap();
    assert!(
        !session
            .list_tools(Duration::from_secs(60))
            .await
            .unwrap()
            .tools
            .is_empty()
    );
    let told = steps(&heard);
    for name in ["connect", "TLS", "HTTP"] {
        let step = told.iter().find(|step| step.name == name).unwrap();
        assert!(
            step.state == StepState::Done && step.took.is_some(),
            "{told:?}"
        );
    }
    session.close().await;
}

/// The environment's proxy is used for other machines and not for this one.
#[tokio::test]
async fn proxies_of_the_environment_are_used() {
    let proxy = HttpPeer::start(|seen| {
        let result = if seen.body.contains("tools/list") {
            r#"{"tools":[]}"#
        } else {
            DISCOVERED
        };
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
    let address = proxy.url.trim_end_matches("/mcp").to_owned();
    let run = |url: &str, no_proxy: &str| {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_mcp-loupe"));
        command.args(["tools", "--timeout", "20", "--url", url]);
        for name in [
            "https_proxy",
            "HTTPS_PROXY",
            "http_proxy",
            "all_proxy",
            "ALL_PROXY",
            "no_proxy",
            "REQUEST_METHOD",
        ] {
            command.env_remove(name);
        }
        command
            .env("http_proxy", &address)
            .env("NO_PROXY", no_proxy)
            .output()
    };
    let output = run("http://nowhere.invalid/mcp", "").await.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        proxy
            .seen()
            .iter()
            .all(|seen| seen.head.contains("post http://nowhere.invalid/mcp")),
        "{:?}",
        proxy.seen()
    );
    let before = proxy.seen().len();
    let output = run("http://nowhere.invalid/mcp", "nowhere.invalid")
        .await
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("step: resolve: nowhere.invalid"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(proxy.seen().len(), before);
}
