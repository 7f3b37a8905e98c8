//! What a server asks of the client, over every transport and in both eras: who is asked, what is declared, what leaves,
//! what is kept, and that nothing is ever answered by itself.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::{self, ServerNotification, call, http, options, server, until};
use bytes::Bytes;
use loupe_client::{
    self, Answer, Call, CancelToken, ClientCapabilities, Listing, Options, Session, SessionEvent,
};
use loupe_core::capture::{Capture, Direction, Outcome, Tool};
use loupe_core::server_request::{Reply, RequestKind, Root, ServerRequest};
use loupe_core::source::{Command, Protocol, SampleSpec, Source};
use loupe_sample::{self, sample::Sample};

const LOGIN: &str = r#"{"handle":"@carol.art"}"#;
const PASSWORD: &str = "abcd-efgh-canary";

/// Everything that is asked, answered by rule.
#[derive(Clone)]
struct Person {
    asked: Arc<Mutex<Vec<ServerRequest>>>,
    kept: Arc<Mutex<Vec<Answer>>>,
}

impl Person {
    fn new() -> Self {
        Self {
            asked: Arc::default(),
            kept: Arc::default(),
        }
    }

    /// Options with everything declared, and `reply` as what is said; `None` leaves the question open.
    fn options(
        &self,
        reply: impl Fn(&ServerRequest) -> Option<Reply> + Send + Sync + 'static,
    ) -> Options {
        let person = self.clone();
        let asker = move |ask: ServerRequest, answer: Answer| {
            let reply = reply(&ask);
            person.asked.lock().unwrap().push(ask);
            match reply {
                Some(reply) => answer.give(reply),
                None => person.kept.lock().unwrap().push(answer),
            }
        };
        let roots = vec![Root {
            uri: "file:///tmp".into(),
            name: "tmp".into(),
        }];
        let answering = ClientCapabilities {
            elicitation: true,
            sampling: true,
            roots: Some(roots),
            asker: Some(Arc::new(asker)),
        };
        Options {
            answering,
            ..options()
        }
    }

    fn asked(&self) -> Vec<ServerRequest> {
        self.asked.lock().unwrap().clone()
    }
}

fn accept(content: &str) -> Option<Reply> {
    Some(Reply::Accept(Some(content.to_owned())))
}

async fn open(source: &Source, options: Options) -> (Session, ServerNotification) {
    let heard = ServerNotification::default();
    let session = loupe_client::connect(source, options, heard.happenings())
        .await
        .unwrap_or_else(|error| panic!("{source}: {error:?}"));
    (session, heard)
}

fn call_of(name: &str, arguments: &'static str) -> Call {
    Call {
        tool: Tool::unlisted(name),
        ..call(arguments)
    }
}

fn text(capture: &Capture) -> String {
    String::from_utf8_lossy(capture.response.as_deref().unwrap_or_default()).into_owned()
}

/// The whole login against the sample, wherever it runs; nothing that is kept holds the password. Gives back the messages
/// beside the call's last request and its answer.
async fn logs_in(source: &Source) -> Vec<(Direction, String)> {
    let person = Person::new();
    let transcript = Arc::new(Mutex::new(String::new()));
    let written = Arc::clone(&transcript);
    let taker: loupe_client::Transcript = Arc::new(move |message| {
        written
            .lock()
            .unwrap()
            .push_str(&String::from_utf8_lossy(&message.bytes))
    });
    let password = format!(r#"{{"password":"{PASSWORD}"}}"#);
    let options = Options {
        transcript: Some(taker),
        ..person.options(move |_| accept(&password))
    };
    let (session, _) = open(source, options).await;
    let capture = session
        .call(call_of("login", LOGIN), CancelToken::new())
        .await;
    assert_eq!(
        capture.outcome,
        Outcome::Result,
        "{source}: {:?}",
        capture.problem
    );
    assert!(
        text(&capture).contains("Logged in as @carol.art"),
        "{source}: {}",
        text(&capture)
    );
    let asked = person.asked();
    assert_eq!(
        (asked.len(), asked[0].message(), asked[0].secrets()),
        (1, "App password of @carol.art", vec!["password"])
    );
    let words = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
    let mut said: Vec<_> = capture
        .messages
        .iter()
        .map(|message| (message.direction, words(&message.bytes)))
        .collect();
    said.push((Direction::Out, words(&capture.request)));
    let answer = r#"{"action":"accept","content":{"password":"•••"}}"#;
    assert!(
        said.iter()
            .any(|(direction, text)| *direction == Direction::Out && text.contains(answer)),
        "{said:?}"
    );
    assert!(
        capture.notes.iter().any(|note| note.contains("masked")),
        "{:?}",
        capture.notes
    );
    let log: String = session
        .wire()
        .iter()
        .map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect();
    let kept = format!("{capture:?}{log}{}", transcript.lock().unwrap());
    assert!(!kept.contains("canary"), "{source}: the password was kept");
    session.close().await;
    said
}

#[tokio::test]
async fn the_sample_asks_for_its_password_over_every_transport_in_either_era() {
    let spec = SampleSpec::parse("autoreply").unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loupe").to_owned();
    let args = vec![
        "sample-server".into(),
        "--quiet".into(),
        "--set".into(),
        "autoreply".into(),
    ];
    let program = Source::Command(Command {
        program,
        args,
        ..Command::default()
    });
    // A server at a URL remembers who is logged in.
    let serve = || async {
        let backend = Arc::new(Sample::new(&spec).unwrap());
        loupe_sample::http(backend, (std::net::Ipv4Addr::LOCALHOST, 0).into())
            .await
            .unwrap()
    };
    let (old, new) = (serve().await, serve().await);
    let sample = Source::Sample(spec.clone());
    for (source, again) in [
        (sample.clone(), sample),
        (program.clone(), program),
        (http(&old.url()), http(&new.url())),
    ] {
        let in_session = logs_in(&source.with_protocol(Protocol::Version("2025-11-25"))).await;
        assert_eq!(
            in_session.len(),
            3,
            "the question, the answer, the call: {in_session:?}"
        );
        assert!(
            in_session[0].1.contains(r#""method":"elicitation/create""#),
            "{in_session:?}"
        );
        let by_rounds = logs_in(&again.with_protocol(Protocol::Version("2026-07-28"))).await;
        let [(_, first), (_, question), (_, last)] = &by_rounds[..] else {
            panic!("two rounds: {by_rounds:?}")
        };
        assert!(
            !first.contains("inputResponses")
                && question.contains(r#""resultType":"input_required""#),
            "{by_rounds:?}"
        );
        assert!(
            last.contains(r#""requestState":"autoreply-login/1""#),
            "{last}"
        );
    }
}

#[tokio::test]
async fn without_an_answer_nothing_is_declared() {
    let session = peer::connect(&Source::Sample(SampleSpec::parse("autoreply").unwrap())).await;
    let capture = session
        .call(call_of("login", LOGIN), CancelToken::new())
        .await;
    assert!(text(&capture).contains("this client cannot be asked"));
    session.close().await;
}

/// Prints a request of the server's and puts our reply into the answer.
fn asking(request: &str) -> Source {
    server(&format!(
        r#"printf '%s\n' '{request}'; IFS= read -r reply
        printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[],"reply":%s}}}}\n' "$id" "$reply""#
    ))
}

async fn replied(request: &str, options: Options) -> serde_json::Value {
    let (session, _) = open(&asking(request), options).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    session.close().await;
    let answer: serde_json::Value =
        serde_json::from_str(&text(&capture)).unwrap_or_else(|_| panic!("{capture:?}"));
    answer["result"]["reply"].clone()
}

#[tokio::test]
async fn replies_carry_the_id_as_it_came_and_what_was_said() {
    let ask = |id: &str, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    let all = || {
        Person::new().options(|ask| {
            Some(match &ask.wants {
                RequestKind::Url { .. } => Reply::Accept(None),
                RequestKind::Sampling(_) if ask.params.windows(4).any(|word| word == b"nope") => {
                    Reply::Refuse("no model here".into())
                }
                RequestKind::Sampling(_) => Reply::Message {
                    text: "hello".into(),
                    model: "hand".into(),
                },
                _ => Reply::Decline,
            })
        })
    };
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    for id in ["0", "1", "\"a b\"", "-7", "1.50", "9007199254740993"] {
        let reply = replied(&ask(id, "elicitation/create", form), all()).await;
        assert_eq!(
            reply["result"],
            serde_json::json!({"action": "decline"}),
            "{id}"
        );
        assert_eq!(
            reply["id"],
            serde_json::from_str::<serde_json::Value>(id).unwrap()
        );
    }
    let reply = replied(
        &ask(
            "1",
            "elicitation/create",
            r#"{"mode":"url","message":"m","url":"https://a.example/x"}"#,
        ),
        all(),
    )
    .await;
    assert_eq!(reply["result"], serde_json::json!({"action": "accept"}));
    let reply = replied(
        &ask("1", "sampling/createMessage", r#"{"messages":[]}"#),
        all(),
    )
    .await;
    assert_eq!(
        reply["result"]["content"],
        serde_json::json!({"type": "text", "text": "hello"})
    );
    let reply = replied(
        &ask(
            "1",
            "sampling/createMessage",
            r#"{"messages":[],"systemPrompt":"nope"}"#,
        ),
        all(),
    )
    .await;
    assert_eq!(
        reply["error"],
        serde_json::json!({"code": -1, "message": "no model here"})
    );
    let reply = replied(&ask("1", "roots/list", "{}"), all()).await;
    assert_eq!(
        reply["result"],
        serde_json::json!({"roots": [{"uri": "file:///tmp", "name": "tmp"}]})
    );
    let empty = Options {
        answering: ClientCapabilities {
            roots: Some(Vec::new()),
            ..ClientCapabilities::default()
        },
        ..options()
    };
    assert_eq!(
        replied(&ask("1", "roots/list", "{}"), empty).await["result"],
        serde_json::json!({"roots": []})
    );
    // What was not declared, what nobody knows, and ids that are none.
    assert_eq!(
        replied(&ask("1", "roots/list", "{}"), options()).await["error"]["code"],
        -32601
    );
    assert_eq!(
        replied(&ask("1", "no/such", "{}"), all()).await["error"]["code"],
        -32601
    );
    for id in ["{}", "[1]", "true"] {
        let reply = replied(&ask(id, "elicitation/create", form), all()).await;
        assert_eq!(
            (&reply["id"], &reply["error"]["code"]),
            (&serde_json::Value::Null, &serde_json::json!(-32600)),
            "{id}"
        );
    }
}

#[tokio::test]
async fn questions_before_the_handshake_are_refused_and_it_goes_on() {
    let early = peer::sh(&format!(
        r#"IFS= read -r hello; printf '%s\n' '{{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{{}}}}'; IFS= read -r reply
        printf '%s\n' "$reply" >&2; printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{}}}'; while IFS= read -r line; do :; done"#,
        peer::INITIALIZED
    ));
    let person = Person::new();
    let (session, heard) = open(&early, person.options(|_| None)).await;
    heard
        .until(|happening| matches!(happening, SessionEvent::Stderr(line) if line.contains(r#""id":5,"error":{"code":-32600"#)))
        .await;
    assert_eq!(person.asked(), []);
    session.close().await;
}

#[tokio::test]
async fn a_flood_of_questions_is_bounded_and_the_call_goes_on() {
    let flood = server(
        r#"n=0; while [ $n -lt 200 ]; do printf '{"jsonrpc":"2.0","id":"q%s","method":"elicitation/create","params":{"message":"%s"}}\n' $n $n; n=$((n+1)); done
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id""#,
    );
    let person = Person::new();
    let (session, heard) = open(&flood, person.options(|_| None)).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Result);
    assert_eq!(person.asked().len(), 32);
    let refused = heard
        .all()
        .iter()
        .filter(|happening| matches!(happening, SessionEvent::Noted(_)))
        .count();
    assert_eq!(refused, 168);
    session.close().await;
    heard
        .until(|happening| matches!(happening, SessionEvent::Withdrawn { .. }))
        .await;
}

#[tokio::test]
async fn a_question_stops_the_clock_and_can_be_withdrawn() {
    // Asks, takes it back after longer than the call's limit, and answers.
    let slow = server(
        r#"printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}'; sleep 0.6
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q","reason":"never mind"}}'
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id""#,
    );
    let person = Person::new();
    let (session, heard) = open(&slow, person.options(|_| None)).await;
    let brief = Call {
        limit: Duration::from_millis(250),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    // Nobody's thinking is the server's time.
    assert!(
        capture.timings.total() < Duration::from_millis(500),
        "{:?}",
        capture.timings
    );
    heard.until(|happening| matches!(happening, SessionEvent::Withdrawn { why, .. } if why.contains("never mind"))).await;
    // Too late: nothing leaves.
    let before = session.wire().len();
    person
        .kept
        .lock()
        .unwrap()
        .pop()
        .unwrap()
        .give(Reply::Decline);
    assert_eq!(session.wire().len(), before);
    session.close().await;
}

#[tokio::test]
async fn progress_keeps_a_call_alive() {
    let slow = server(
        r#"for n in 1 2 3 4; do sleep 0.15
        printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%s,"total":4,"message":"step"}}\n' "$id" $n; done
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id""#,
    );
    let (session, heard) = open(&slow, options()).await;
    let brief = Call {
        limit: Duration::from_millis(400),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    assert!(heard.all().contains(&SessionEvent::Progress {
        progress: 4.0,
        total: Some(4.0),
        message: Some("step".into())
    }));
    // For ever, it does not: the hard limit ends what only ever makes progress.
    let endless = server(
        r#"while printf '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}\n' "$id"; do sleep 0.02; done"#,
    );
    let (endless, _) = open(&endless, options()).await;
    let brief = Call {
        limit: Duration::from_millis(60),
        ..call("{}")
    };
    assert_eq!(
        endless.call(brief, CancelToken::new()).await.outcome,
        Outcome::Timeout
    );
    endless.close().await;
    session.close().await;
}

/// Wants something first, twice, and then answers with what it got.
fn rounds() -> Source {
    server(
        r#"case "$line" in
        *inputResponses*step2*) said=$(printf '%s' "$line" | sed 's/\\/\\\\/g; s/"/\\"/g')
            printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[{"type":"text","text":"%s"}]}}\n' "$id" "$said" ;;
        *inputResponses*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"token":{"method":"elicitation/create","params":{"message":"two","requestedSchema":{"type":"object","properties":{"token":{"type":"string"}}}}}},"requestState":"step2\\/\\u0041"}}\n' "$id" ;;
        *) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"one","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":7}}}}},"r":{"method":"roots/list"}},"requestState":"step1"}}\n' "$id" ;;
        esac"#,
    )
}

#[tokio::test]
async fn rounds_repeat_the_request_and_stay_visible() {
    let person = Person::new();
    let options = person.options(|ask| {
        accept(if ask.message() == "one" {
            r#"{"n":1.0}"#
        } else {
            r#"{"token":"canary"}"#
        })
    });
    let (session, _) = open(&rounds(), options).await;
    let capture = session
        .call(call(r#"{"a": 1e3}"#), CancelToken::new())
        .await;
    assert_eq!(
        (capture.outcome, &capture.arguments[..]),
        (Outcome::Result, &br#"{"a": 1e3}"#[..]),
        "{:?}",
        capture.problem
    );
    assert_eq!(
        person
            .asked()
            .iter()
            .map(ServerRequest::message)
            .collect::<Vec<_>>(),
        ["one", "two"]
    );
    let kept = String::from_utf8(capture.request.to_vec()).unwrap();
    assert_eq!(
        kept,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t","arguments":{"a": 1e3},"inputResponses":{"token":{"action":"accept","content":{"token":"•••"}}},"requestState":"step2\/\u0041","_meta":{"progressToken":3}}}"#
    );
    // What left had the secret in it: the peer repeats it.
    assert!(text(&capture).contains("canary"), "{}", text(&capture));
    let said: Vec<_> = capture
        .messages
        .iter()
        .map(|message| message.direction)
        .collect();
    assert_eq!(
        said,
        [Direction::Out, Direction::In, Direction::Out, Direction::In]
    );
    let second = String::from_utf8_lossy(&capture.messages[2].bytes).into_owned();
    assert!(
        second.contains(
            r#""inputResponses":{"a":{"action":"accept","content":{"n":1.0}},"r":{"roots":[{"uri":"file:///tmp","name":"tmp"}]}},"requestState":"step1""#
        ),
        "{second}"
    );
    assert!(capture.messages.is_sorted_by_key(|message| message.at));
    assert!(
        capture.notes.iter().any(|note| note.contains("2 rounds")),
        "{:?}",
        capture.notes
    );
    session.close().await;
}

#[tokio::test]
async fn rounds_end_where_nobody_answers_or_the_server_never_stops() {
    let (session, _) = open(&rounds(), options()).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert!(
        capture.notes.iter().any(|note| note.contains("--elicit")),
        "{:?}",
        capture.notes
    );
    assert!(text(&capture).contains("input_required"));
    session.close().await;

    let person = Person::new();
    let (session, heard) = open(&rounds(), person.options(|_| None)).await;
    let cancel = CancelToken::new();
    let stop = cancel.clone();
    let asked = person.clone();
    tokio::spawn(async move {
        until("a question", || asked.asked().first().cloned()).await;
        stop.cancel();
    });
    let capture = session.call(call("{}"), cancel).await;
    assert_eq!(capture.outcome, Outcome::Cancelled);
    assert!(
        heard
            .all()
            .iter()
            .any(|happening| matches!(happening, SessionEvent::Withdrawn { .. }))
    );
    session.close().await;

    let endless = server(
        r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}\n' "$id""#,
    );
    let (session, _) = open(&endless, Person::new().options(|_| None)).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert!(
        capture.notes.iter().any(|note| note.contains("10 times")),
        "{:?}",
        capture.notes
    );
    assert_eq!(capture.messages.len(), 20);
    session.close().await;

    // One that only says to ask again is asked again while the one limit of the call lasts.
    let empty = server(
        r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","requestState":"s"}}\n' "$id""#,
    );
    let (session, _) = open(&empty, options()).await;
    let brief = Call {
        limit: Duration::from_millis(900),
        ..call("{}")
    };
    let capture = session.call(brief, CancelToken::new()).await;
    assert_eq!(capture.outcome, Outcome::Timeout, "{:?}", capture.notes);
    assert!(
        capture.messages.len() <= 6,
        "after 0.2 and 0.6 s, and no more: {:?}",
        capture.messages
    );
    assert!(
        capture.notes.iter().any(|note| note.contains("rounds")),
        "{:?}",
        capture.notes
    );
    session.close().await;
}

#[tokio::test]
async fn a_task_is_followed_to_its_result() {
    let tasks = peer::child(&format!(
        r#"*'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{}}}' ;;
    *'"tools/call"'*'"task":{{}}'*) n=0; printf '{{"jsonrpc":"2.0","id":%s,"result":{{"task":{{"taskId":"t1","status":"working","pollInterval":200}}}}}}\n' "$id" ;;
    *'"tasks/get"'*) n=$((n+1)); s=working; [ $n -gt 1 ] && s=completed
      printf '{{"jsonrpc":"2.0","id":%s,"result":{{"taskId":"t1","status":"%s","statusMessage":"step %s","pollInterval":200}}}}\n' "$id" $s $n ;;
    *'"tasks/result"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"done"}}]}}}}\n' "$id" ;;"#,
        peer::INITIALIZED.replace(
            r#"{"tools":{}}"#,
            r#"{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}"#
        )
    ));
    let (session, heard) = open(&tasks, options()).await;
    let tool = Tool::read(
        r#"{"name":"t","inputSchema":{},"execution":{"taskSupport":"required"}}"#.into(),
    );
    let capture = session
        .call(Call { tool, ..call("{}") }, CancelToken::new())
        .await;
    assert_eq!(capture.outcome, Outcome::Result, "{:?}", capture.problem);
    assert!(text(&capture).contains("done"));
    assert!(String::from_utf8_lossy(&capture.request).contains("tasks/result"));
    assert_eq!(
        capture.messages.len(),
        6,
        "the call, and two looks: {:?}",
        capture.messages
    );
    let states: Vec<_> = heard
        .all()
        .into_iter()
        .filter_map(|happening| match happening {
            SessionEvent::Task { status, .. } => Some(status),
            _ => None,
        })
        .collect();
    assert_eq!(states, ["working", "working", "completed"]);
    session.close().await;
}

/// What of the session left for the server.
fn sent(session: &Session) -> Vec<String> {
    let out = session
        .wire()
        .into_iter()
        .filter(|message| message.direction == Direction::Out);
    out.map(|message| String::from_utf8_lossy(&message.bytes).into_owned())
        .collect()
}

#[tokio::test]
async fn a_task_that_is_given_up_while_it_is_looked_at_is_cancelled() {
    let tasks = peer::child(&format!(
        r#"*'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{}}}' ;;
    *'"tools/call"'*'"task":{{}}'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"task":{{"taskId":"t1","status":"working","pollInterval":200}}}}}}\n' "$id" ;;
    *'"tools/call"'*) printf '{{"jsonrpc":"2.0","id":null,"error":{{"code":-1,"message":"no"}}}}\n' ;;"#,
        peer::INITIALIZED.replace(
            r#"{"tools":{}}"#,
            r#"{"tools":{},"tasks":{"requests":{"tools":{"call":{}}}}}"#
        )
    ));
    let (session, _) = open(&tasks, options()).await;
    let tool = Tool::read(
        r#"{"name":"t","inputSchema":{},"execution":{"taskSupport":"required"}}"#.into(),
    );
    let cancel = CancelToken::new();
    let has_sent = |method: &str| {
        sent(&session)
            .iter()
            .any(|text| text.contains(method))
            .then_some(())
    };
    let calling = session.call(Call { tool, ..call("{}") }, cancel.clone());
    let looked_at = async {
        until("a look at the task", || has_sent("tasks/get")).await;
        cancel.cancel();
    };
    let (capture, ()) = tokio::join!(calling, looked_at);
    assert_eq!(capture.outcome, Outcome::Cancelled);
    assert!(has_sent("tasks/cancel").is_some(), "{:?}", sent(&session));
    // Nothing of it waits any more: an answer without an id can only be that of the next call.
    let next = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(next.outcome, Outcome::ProtocolError, "{:?}", next.problem);
    session.close().await;
}

#[tokio::test]
async fn a_result_that_looks_like_a_task_is_a_result() {
    let plain = server(
        r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[],"task":{"taskId":"7","status":"working"}}}\n' "$id""#,
    );
    let (session, heard) = open(&plain, options()).await;
    let capture = session.call(call("{}"), CancelToken::new()).await;
    assert_eq!(
        (capture.outcome, capture.messages.len()),
        (Outcome::Result, 0)
    );
    assert!(text(&capture).contains("taskId"));
    assert!(
        !heard
            .all()
            .iter()
            .any(|happening| matches!(happening, SessionEvent::Task { .. }))
    );
    session.close().await;
}

#[tokio::test]
async fn what_a_server_says_unasked_is_told() {
    let talk = server(
        r#"printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"db","data":{"n":1.0}}}'
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b"}}'
        printf '%s\n' '{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}'
        printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id""#,
    );
    let (session, heard) = open(&talk, options()).await;
    session.call(call("{}"), CancelToken::new()).await;
    let told = heard.all();
    for happening in [
        SessionEvent::Log {
            level: "warning".into(),
            logger: Some("db".into()),
            data: r#"{"n":1.0}"#.into(),
        },
        SessionEvent::ListChanged(Listing::Tools),
        SessionEvent::ResourceUpdated("a://b".into()),
        SessionEvent::Visited { id: "e".into() },
    ] {
        assert!(told.contains(&happening), "{happening:?}");
    }
    session.close().await;
}
