//! What the era without sessions (2026-07-28) does in place of them: subscriptions, tasks of the extension, levels and
//! completions by requests that stand alone; against scripted peers over stdio and HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::peer::{
    self, HttpPeer, PATIENCE, Seen, ServerNotification, call, http, options, reply, until,
};
use loupe_client::{
    self, CancelToken, ClientCapabilities, Listing, Options, Session, SessionEvent,
};
use loupe_core::capture::{Capture, Direction, Outcome, ParsedResponse};
use loupe_core::server_request::Reply;
use loupe_core::source::{Protocol, Source};

const STATELESS: Protocol = Protocol::Version("2026-07-28");
const DISCOVERED: &str = r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},"logging":{},"completions":{}}}"#;

fn sent(session: &Session, method: &str) -> Vec<serde_json::Value> {
    let out = session
        .wire()
        .into_iter()
        .filter(|message| message.direction == Direction::Out);
    out.map(|message| serde_json::from_slice(&message.bytes).unwrap())
        .filter(|message: &serde_json::Value| message["method"] == method)
        .collect()
}

/// A child that discovers, answers calls, and runs `on_listen` and `on_cancelled`; `$id` is that of the line.
fn child(on_listen: &str, on_cancelled: &str) -> Source {
    peer::child(&format!(
        r#"*server/discover*) printf '%s\n' '{{"jsonrpc":"2.0","id":"loupe-discover","result":{DISCOVERED}}}' ;;
    *notifications/cancelled*) {on_cancelled} ;;
    *subscriptions/listen*) {on_listen} ;;
    *'"tools/call"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[]}}}}\n' "$id" ;;
    *) printf '{{"jsonrpc":"2.0","id":%s,"result":{{}}}}\n' "$id" ;;"#
    ))
    .with_protocol(STATELESS)
}

fn about(method: &str, members: &str) -> String {
    format!(
        r#"printf '{{"jsonrpc":"2.0","method":"notifications/{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":%s}}{members}}}}}\n' "$id""#
    )
}

async fn connect(source: &Source, heard: &ServerNotification) -> Session {
    loupe_client::connect(source, options(), heard.happenings())
        .await
        .unwrap_or_else(|error| panic!("{source}: {error:?}"))
}

#[tokio::test]
async fn lists_and_resources_are_told_of_beside_calls() {
    let heard = ServerNotification::default();
    let agreed = r#","notifications":{"toolsListChanged":true,"resourceSubscriptions":["a://1"]}"#;
    let on_listen = [
        about("subscriptions/acknowledged", agreed),
        about("tools/list_changed", ""),
        about("resources/updated", r#","uri":"a://1""#),
    ];
    let session = connect(&child(&on_listen.join("; "), ":"), &heard).await;
    session.listen(PATIENCE).await.unwrap();
    heard
        .until(|happening| *happening == SessionEvent::ListChanged(Listing::Tools))
        .await;
    let updated = || {
        heard
            .all()
            .into_iter()
            .filter(|happening| *happening == SessionEvent::ResourceUpdated("a://1".into()))
            .count()
    };
    // All that the peer says of its own accord has come: what comes during a call stands among its messages.
    until("a resource to be told of", || {
        (updated() == 1).then_some(())
    })
    .await;
    let listens = sent(&session, "subscriptions/listen");
    let wanted = serde_json::json!({"toolsListChanged": true, "resourcesListChanged": true});
    assert_eq!(listens[0]["params"]["notifications"], wanted);
    assert_eq!(
        listens[0]["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );

    // A call beside it is as it would be alone.
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(
        (capture.outcome, capture.messages.len(), capture.notes.len()),
        (Outcome::Result, 0, 0),
        "{capture:?}"
    );

    // Watching is another subscription in place of the first.
    session.watch("a://1", true, PATIENCE).await.unwrap();
    until("it to be told of again", || (updated() == 2).then_some(())).await;
    until("the first to be cancelled", || {
        sent(&session, "notifications/cancelled").pop()
    })
    .await;
    let listens = sent(&session, "subscriptions/listen");
    assert_eq!(
        listens[1]["params"]["notifications"]["resourceSubscriptions"],
        serde_json::json!(["a://1"])
    );
    assert_eq!(
        sent(&session, "notifications/cancelled")[0]["params"]["requestId"],
        listens[0]["id"]
    );
    assert!(sent(&session, "resources/subscribe").is_empty());

    // What the server does not take is said; what is no longer watched is not asked for.
    session.watch("a://2", true, PATIENCE).await.unwrap();
    heard.until(|happening| matches!(happening, SessionEvent::Noted(note) if note.contains("changes of a://2"))).await;
    session.watch("a://2", false, PATIENCE).await.unwrap();
    let listens = sent(&session, "subscriptions/listen");
    assert_eq!(
        listens.last().unwrap()["params"]["notifications"]["resourceSubscriptions"],
        serde_json::json!(["a://1"])
    );
    session.close().await;
}

#[tokio::test]
async fn a_subscription_that_is_refused_or_ends_leaves_everything_else() {
    let heard = ServerNotification::default();
    let refusing = r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id""#;
    let session = connect(&child(refusing, ":"), &heard).await;
    assert!(
        session
            .listen(PATIENCE)
            .await
            .unwrap_err()
            .to_string()
            .contains("no such method")
    );
    assert!(session.watch("a://1", true, PATIENCE).await.is_err());
    assert_eq!(
        session.call(call("{}"), CancelToken::new()).await.outcome,
        Outcome::Result
    );
    session.close().await;

    // On stdio a server ends one by `notifications/cancelled`; it is taken up again.
    let ending = format!(
        r#"{}; printf '{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":%s,"reason":"going down"}}}}\n' "$id""#,
        about(
            "subscriptions/acknowledged",
            r#","notifications":{"toolsListChanged":true}"#
        )
    );
    let session = connect(&child(&ending, ":"), &heard).await;
    session.listen(PATIENCE).await.unwrap();
    until("another subscription", || {
        sent(&session, "subscriptions/listen").get(1).cloned()
    })
    .await;
    assert_eq!(
        session.call(call("{}"), CancelToken::new()).await.outcome,
        Outcome::Result
    );
    session.close().await;
}

#[tokio::test]
async fn levels_and_completions_stand_alone() {
    let session = connect(&child(":", ":"), &ServerNotification::default()).await;
    session.set_log_level("warning", PATIENCE).await.unwrap();
    session
        .request("completion/complete", r#"{"ref":{}}"#, PATIENCE)
        .await
        .unwrap();
    assert!(sent(&session, "logging/setLevel").is_empty());
    let meta = &sent(&session, "completion/complete")[0]["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/logLevel"], "warning");
    assert_eq!(
        meta["io.modelcontextprotocol/protocolVersion"],
        "2026-07-28"
    );
    session.close().await;
}

fn json(seen: &Seen, result: &str) -> Vec<u8> {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#,
        seen.id()
    );
    reply("200 OK", "application/json", body.as_bytes())
}

/// A stateless HTTP server whose calls become tasks; `looks` are what looking at one shows, the last again and again.
async fn tasks(looks: &'static [&'static str]) -> HttpPeer {
    let looked = AtomicUsize::new(0);
    HttpPeer::start(move |seen| {
        let task =
            |rest: &str| format!(r#"{{"resultType":"complete","taskId":"a \"1\"","ttlMs":null,"pollIntervalMs":1,{rest}}}"#);
        let value: serde_json::Value = serde_json::from_str(&seen.body).unwrap();
        match value["method"].as_str().unwrap() {
            "server/discover" => {
                let body = format!(r#"{{"jsonrpc":"2.0","id":"loupe-discover","result":{DISCOVERED}}}"#);
                reply("200 OK", "application/json", body.as_bytes())
            }
            "tools/call" => json(seen, &task(r#""status":"working""#).replace("complete", "task")),
            "tasks/get" => json(seen, &task(looks[looked.fetch_add(1, Ordering::SeqCst).min(looks.len() - 1)])),
            _ => json(seen, r#"{"resultType":"complete"}"#),
        }
    })
    .await
}

async fn called(
    peer: &HttpPeer,
    options: Options,
    heard: &ServerNotification,
) -> (Session, Capture) {
    let source = http(&peer.url).with_protocol(STATELESS);
    let session = loupe_client::connect(&source, options, heard.happenings())
        .await
        .unwrap();
    let capture = session.call(call("{}"), CancelToken::new()).await;
    (session, capture)
}

const WANTED: &str = r#""status":"input_required","inputRequests":{"na\u006de":{"method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"password":{"type":"string"}}}}}}"#;

#[tokio::test]
async fn a_task_is_followed_asked_and_answered_to_its_result() {
    let looks: &[&str] = &[
        r#""status":"working","statusMessage":"halfway""#,
        WANTED,
        // Not seen yet: what was answered is not put to anybody again.
        WANTED,
        r#""status":"completed","result":{"content":[{"type":"text","text":"1.10"}],"structuredContent":[1e3]}"#,
    ];
    let peer = tasks(looks).await;
    let heard = ServerNotification::default();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let answering = ClientCapabilities {
        elicitation: true,
        asker: Some(Arc::new(move |ask, answer| {
            count.fetch_add(1, Ordering::SeqCst);
            assert_eq!(ask.message(), "who?");
            answer.give(Reply::Accept(Some(r#"{"password":"s3cret"}"#.into())));
        })),
        ..ClientCapabilities::default()
    };
    let (session, capture) = called(
        &peer,
        Options {
            answering,
            ..options()
        },
        &heard,
    )
    .await;
    assert_eq!(
        (capture.outcome, asked.load(Ordering::SeqCst)),
        (Outcome::Result, 1),
        "{:?}",
        capture.problem
    );
    let reading = ParsedResponse::new(&capture);
    assert_eq!(reading.content_text().as_deref(), Some("1.10"));
    assert_eq!(reading.structured().unwrap().raw_text(), "[1e3]");
    assert!(
        heard
            .all()
            .iter()
            .any(|happening| matches!(happening, SessionEvent::Task { message: Some(said), .. } if said == "halfway"))
    );

    // Its requests go where the task is, and declare the extension.
    let of_task: Vec<_> = peer
        .seen()
        .into_iter()
        .filter(|seen| seen.body.contains("\"tasks/"))
        .collect();
    assert_eq!(of_task.len(), 5);
    for seen in &of_task {
        assert!(seen.head.contains("mcp-name: a \"1\""), "{}", seen.head);
        assert!(
            seen.body
                .contains(r#""extensions":{"io.modelcontextprotocol/tasks":{}}"#),
            "{}",
            seen.body
        );
    }
    let update = of_task
        .iter()
        .find(|seen| seen.body.contains("tasks/update"))
        .unwrap();
    let responses =
        r#""inputResponses":{"na\u006de":{"action":"accept","content":{"password":"s3cret"}}}"#;
    assert!(update.body.contains(responses), "{}", update.body);

    // Each stands among the messages, and what was secret in none.
    let kept: Vec<_> = capture
        .messages
        .iter()
        .map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect();
    assert!(
        kept.iter().any(|text| text.contains("tasks/update"))
            && kept
                .iter()
                .any(|text| text.contains(r#""resultType":"task""#))
    );
    let everything = format!("{kept:?} {:?}", session.wire());
    assert!(!everything.contains("s3cret"));
    assert!(
        capture.notes.iter().any(|note| note.contains("masked")),
        "{:?}",
        capture.notes
    );
    session.close().await;
}

#[tokio::test]
async fn a_task_that_fails_or_is_cancelled_says_so() {
    let (session, capture) = called(
        &tasks(&[r#""status":"failed","statusMessage":"no luck","error":{"code":-32603,"message":"out of luck"}"#]).await,
        options(),
        &ServerNotification::default(),
    )
    .await;
    assert_eq!(capture.outcome, Outcome::ProtocolError);
    assert!(capture.problem.unwrap().to_string().contains("out of luck"));
    session.close().await;

    let peer = tasks(&[r#""status":"cancelled","statusMessage":"by the owner""#]).await;
    let (session, capture) = called(&peer, options(), &ServerNotification::default()).await;
    assert_eq!(capture.outcome, Outcome::Cancelled);
    assert_eq!(
        capture.notes,
        ["the server cancelled the task: by the owner"]
    );
    session.close().await;

    // Cancelled here: the task is told, by its own request.
    let peer = tasks(&[r#""status":"working""#]).await;
    let heard = ServerNotification::default();
    let source = http(&peer.url).with_protocol(STATELESS);
    let session = loupe_client::connect(&source, options(), heard.happenings())
        .await
        .unwrap();
    let cancel = CancelToken::new();
    let stop = async {
        heard
            .until(|happening| matches!(happening, SessionEvent::Task { .. }))
            .await;
        cancel.cancel();
    };
    let (capture, ()) = tokio::join!(session.call(call("{}"), cancel.clone()), stop);
    assert_eq!(capture.outcome, Outcome::Cancelled);
    until("tasks/cancel", || {
        peer.seen()
            .into_iter()
            .find(|seen| seen.body.contains("\"tasks/cancel\""))
    })
    .await;
    assert!(
        !peer
            .seen()
            .iter()
            .any(|seen| seen.body.contains("notifications/cancelled"))
    );
    session.close().await;
}

#[tokio::test]
async fn over_http_the_stream_is_the_subscription() {
    let heard = ServerNotification::default();
    let peer = HttpPeer::start(|seen| {
        if seen.body.contains("server/discover") {
            let body = format!(r#"{{"jsonrpc":"2.0","id":"loupe-discover","result":{DISCOVERED}}}"#);
            return reply("200 OK", "application/json", body.as_bytes());
        }
        let about = |method: &str, members: &str| {
            format!(
                "data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{method}\",\"params\":{{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{}}}{members}}}}}\n\n",
                seen.id()
            )
        };
        let agreed = about("subscriptions/acknowledged", r#","notifications":{"toolsListChanged":true}"#);
        reply("200 OK", "text/event-stream", format!(": alive\n\n{agreed}{}", about("tools/list_changed", "")).as_bytes())
    })
    .await;
    let session = connect(&http(&peer.url).with_protocol(STATELESS), &heard).await;
    session.listen(PATIENCE).await.unwrap();
    heard
        .until(|happening| *happening == SessionEvent::ListChanged(Listing::Tools))
        .await;
    // The stream ended: it is opened again, by a request of its own.
    let listens = || {
        peer.seen()
            .into_iter()
            .filter(|seen| seen.body.contains("subscriptions/listen"))
            .collect::<Vec<_>>()
    };
    let second = until("another stream", || listens().get(1).cloned()).await;
    assert!(
        second.head.contains("mcp-method: subscriptions/listen")
            && !second.head.contains("last-event-id"),
        "{}",
        second.head
    );
    assert_ne!(second.id(), listens()[0].id());
    session.close().await;
}
