//! What a client sees of a server is the same with the tap between them: of the sample, byte for byte, in a session that asks
//! for all there is; and of servers that misbehave.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use loupe_client::{
    Answer, Call, CancelToken, ClientCapabilities, ContentRequest, Listing, Options,
};
use loupe_core::capture::{Capture, CaptureId, Direction, Prompt, Resource};
use loupe_core::json::write;
use loupe_core::problem::{Problem, ProblemKind};
use loupe_core::server_request::{Reply, RequestKind, ServerRequest, form};
use loupe_core::source::{Command, Http, Protocol, SampleSpec, Source};

use crate::misbehave;
use crate::peer::{self, PATIENCE, ServerNotification, call, options};
use crate::plain::plain;

const OWN: &str = env!("CARGO_BIN_EXE_mcp-loupe");

fn command(program: &str, args: &[&str]) -> Source {
    Source::Command(Command {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Command::default()
    })
}

/// The same server behind a tap.
fn tapped(source: &Source, folder: &Path) -> Source {
    let Source::Command(server) = source else {
        panic!("{source}")
    };
    let mut tapped = server.clone();
    tapped.program = OWN.into();
    let tap = ["tap", "--data-dir", &folder.display().to_string(), "--"].map(str::to_owned);
    tapped.args = tap.into_iter().chain([server.program.clone()]).collect();
    tapped.args.extend(server.args.iter().cloned());
    Source::Command(tapped)
}

/// As the client of the conformance runner: lists all, calls each tool with plain arguments, reads each resource and prompt,
/// and accepts what it is asked. The messages of both directions.
async fn play(source: &Source, record: Option<&Path>) -> Vec<(Direction, Bytes)> {
    let wire = Arc::<Mutex<Vec<(Direction, Bytes)>>>::default();
    let lines = Arc::clone(&wire);
    let reply = |asked: &ServerRequest| match &asked.wants {
        RequestKind::Form { fields, .. } => Reply::Accept(Some(form::content(fields, "{}"))),
        RequestKind::Url { .. } => Reply::Accept(None),
        RequestKind::Sampling(_) | RequestKind::Roots => Reply::Cancel,
    };
    let asker = move |asked: ServerRequest, answer: Answer| answer.give(reply(&asked));
    let options = Options {
        transcript: Some(Arc::new(move |line| {
            lines.lock().unwrap().push((line.direction, line.bytes));
        })),
        answering: ClientCapabilities {
            elicitation: true,
            asker: Some(Arc::new(asker)),
            ..ClientCapabilities::default()
        },
        ..options()
    };
    let happenings = ServerNotification::default().happenings();
    let session = loupe_client::connect(source, options, happenings)
        .await
        .unwrap_or_else(|error| panic!("{source}: {error:?}"));
    for tool in session.list_tools(PATIENCE).await.unwrap().tools {
        if session.rejects(&tool).is_none() {
            let called = Call {
                id: CaptureId(tool.name.as_str().into()),
                arguments: plain(&tool).into(),
                tool,
                limit: PATIENCE,
            };
            session.call(called, CancelToken::new()).await;
        }
    }
    let mut asks = Vec::new();
    for listing in [Listing::Resources, Listing::Templates, Listing::Prompts] {
        let listed = session.list(listing, PATIENCE).await.unwrap().entries;
        asks.extend(listed.into_iter().filter_map(|raw| match listing {
            Listing::Resources => {
                let uri = write::string(&Resource::read(raw, false).uri);
                Some(("resources/read", format!(r#"{{"uri":{uri}}}"#)))
            }
            Listing::Prompts => {
                let name = write::string(&Prompt::read(raw).name);
                Some(("prompts/get", format!(r#"{{"name":{name}}}"#)))
            }
            _ => None,
        }));
    }
    for (method, params) in asks {
        let ask = ContentRequest {
            id: CaptureId(method.into()),
            method,
            params: params.into(),
            limit: PATIENCE,
        };
        session.read(ask, CancelToken::new()).await;
    }
    // On a busy machine the record is behind; a client that closes may end the tap before it is complete.
    if let Some(folder) = record {
        let is_complete = || {
            let wire = wire.lock().unwrap();
            let pairs = [(Direction::Out, "out"), (Direction::In, "in")];
            let has_all =
                |(direction, name)| recorded(folder, name).len() >= of(&wire, direction).len();
            pairs.into_iter().all(has_all).then_some(())
        };
        peer::until("the record", is_complete).await;
    }
    session.close().await;
    let wire = wire.lock().unwrap().clone();
    assert!(wire.len() > 20, "{source}: {} messages", wire.len());
    wire
}

fn of(wire: &[(Direction, Bytes)], direction: Direction) -> Vec<Bytes> {
    let of = wire.iter().filter(|(found, _)| *found == direction);
    of.map(|(_, bytes)| bytes.clone()).collect()
}

/// The messages that were recorded in the one session.
fn recorded(folder: &Path, direction: &str) -> Vec<Bytes> {
    let mut sessions = fs::read_dir(folder.join("sessions")).unwrap().flatten();
    let session = sessions.next().unwrap().path();
    assert!(sessions.next().is_none());
    let text = fs::read_to_string(session.join("messages.jsonl")).unwrap();
    // The last line may be on its way.
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let lines = lines.map(|line| serde_json::from_str(line).unwrap());
    lines
        .filter(|line: &serde_json::Value| line["dir"] == direction)
        .map(|line| Bytes::from(line["text"].as_str().unwrap().to_owned()))
        .collect()
}

fn check_equal(left: &[Bytes], right: &[Bytes], what: &str) {
    for (left, right) in left.iter().zip(right) {
        assert_eq!(left, right, "{what}");
    }
    assert_eq!(left.len(), right.len(), "{what}");
}

/// Without and with the tap it is the same, and the same is recorded.
fn check_same(
    direct: &[(Direction, Bytes)],
    with: &[(Direction, Bytes)],
    folder: &Path,
    of_what: &str,
) {
    for (direction, name) in [(Direction::Out, "out"), (Direction::In, "in")] {
        let (direct, with) = (of(direct, direction), of(with, direction));
        check_equal(&direct, &with, &format!("{of_what}, {name}"));
        check_equal(
            &with,
            &recorded(folder, name),
            &format!("{of_what}, {name}, recorded"),
        );
    }
}

/// Each sample set in both eras: what goes into the tap comes out at the server, and the other way, and is what was recorded.
#[tokio::test]
async fn a_whole_session_passes_byte_for_byte() {
    let sets = SampleSpec::SETS
        .iter()
        .zip(["2025-11-25", "2026-07-28"].iter().cycle());
    for (set, version) in sets {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let protocol = Protocol::Version(version);
        let direct = command(OWN, &["sample-server", "--set", set]).with_protocol(protocol);
        let script = format!(
            r#"tee '{}' | "$0" tap --data-dir '{}' -- sh -c 'tee "{}" | "$0" sample-server --set {set} | tee "{}"' "$0" | tee '{}'"#,
            path("host-out"),
            path("."),
            path("server-in"),
            path("server-out"),
            path("host-in"),
        );
        let with = command("sh", &["-c", &script, OWN]).with_protocol(protocol);
        let (direct, with) = (
            play(&direct, None).await,
            play(&with, Some(folder.path())).await,
        );
        check_same(&direct, &with, folder.path(), set);
        for (from, to) in [("host-out", "server-in"), ("server-out", "host-in")] {
            let bytes = fs::read(path(from)).unwrap();
            assert!(
                !bytes.is_empty() && bytes == fs::read(path(to)).unwrap(),
                "{set}: {from}"
            );
        }
    }
}

/// The same over HTTP.
#[tokio::test]
async fn a_whole_session_over_http_is_the_same() {
    for version in ["2025-11-25", "2026-07-28"] {
        let folder = tempfile::tempdir().unwrap();
        let start = |arguments: &[&str]| {
            let mut child = tokio::process::Command::new(OWN)
                .args(arguments)
                .stderr(std::process::Stdio::piped())
                .kill_on_drop(true)
                .spawn()
                .unwrap();
            let stderr = child.stderr.take().unwrap();
            async move {
                use tokio::io::AsyncBufReadExt;
                let mut lines = tokio::io::BufReader::new(stderr).lines();
                let line = lines.next_line().await.unwrap().unwrap();
                let url = line
                    .split_whitespace()
                    .find(|word| word.starts_with("http://"));
                (child, url.unwrap().to_owned())
            }
        };
        // Each has a state of its own.
        let serve = ["sample-server", "--http", "127.0.0.1:0"];
        let ((_one, direct), (_other, behind)) = (start(&serve).await, start(&serve).await);
        let data = folder.path().display().to_string();
        let tap = [
            "tap",
            "--data-dir",
            &data,
            "--url",
            &behind,
            "--listen",
            "127.0.0.1:0",
        ];
        let (mut proxy, with) = start(&tap).await;
        let play_at = async |url: &str, record| {
            let http = Http {
                url: url.to_owned(),
                ..Http::default()
            };
            play(
                &Source::Http(http).with_protocol(Protocol::Version(version)),
                record,
            )
            .await
        };
        let (direct, with) = (
            play_at(&direct, None).await,
            play_at(&with, Some(folder.path())).await,
        );
        let pid = nix::unistd::Pid::from_raw(proxy.id().unwrap() as i32);
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
        proxy.wait().await.unwrap();
        check_same(&direct, &with, folder.path(), version);
    }
}

/// What a user sees of a call.
fn user_view(
    capture: &Capture,
) -> (
    &'static str,
    Option<ProblemKind>,
    Option<Bytes>,
    Vec<String>,
) {
    (
        capture.outcome.name(),
        capture.problem.as_ref().map(|problem| problem.kind),
        capture.response.clone(),
        capture.notes.clone(),
    )
}

/// The outcome of a server's first call, and of the next; or why there is none.
async fn outcome(source: &Source, limit: Duration) -> String {
    let limits = loupe_core::source::Limits {
        message: misbehave::LIMIT,
        ..Default::default()
    };
    let options = Options {
        limits,
        ..options()
    };
    let happenings = ServerNotification::default().happenings();
    let session = match loupe_client::connect(source, options, happenings).await {
        Ok(session) => session,
        Err(error) => return format!("{:?}", Problem::from(error).kind),
    };
    let first = Call {
        limit,
        ..call("{}")
    };
    let mut both = Vec::new();
    for call in [first, call("{}")] {
        both.push(user_view(&session.call(call, CancelToken::new()).await));
    }
    session.close().await;
    let text = format!("{both:?}");
    // A large response is compared by its length and its beginning.
    format!(
        "{} {}",
        text.len(),
        text.chars().take(2000).collect::<String>()
    )
}

#[tokio::test]
async fn a_server_that_misbehaves_does_so_with_the_tap() {
    let folder = tempfile::tempdir().unwrap();
    let other = r#"if [ -n "$id" ]; then printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id"; fi"#;
    let answer = r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' "$id""#;
    let mut cases: Vec<(String, Duration, Source)> = Vec::new();
    for (at, mode) in misbehave::modes().into_iter().enumerate() {
        let file = folder.path().join(at.to_string());
        fs::write(&file, [mode.lines.join(&b'\n'), b"\n".to_vec()].concat()).unwrap();
        let script = format!(
            r#"if [ "$id" = 1 ]; then cat '{}'; else {other}; fi"#,
            file.display()
        );
        cases.push((mode.name, mode.limit, peer::server(&script)));
    }
    for script in [
        "exec 1>&-".to_owned(),
        "exec 1>&- 2>&-; exit 3".to_owned(),
        "exit 4".to_owned(),
        format!("{answer}; exec 1>&-"),
        format!("{answer}; exit 0"),
        "printf '{\"jsonrpc\":\"2.0\",'; exec 1>&-".to_owned(),
        format!("head -c 3000000 /dev/zero | tr '\\0' 'e' >&2; {other}"),
        format!("printf '\\r\\n'; {}", other.replace("\\n", "\\r\\n")),
        format!("exec 0<&-; {other}; exit 0"),
    ] {
        cases.push((script.clone(), PATIENCE, peer::server(&script)));
    }
    for script in [
        "exit 0",
        "exit 4",
        "echo no; exit 1",
        "cat",
        "exec 1>&-; sleep 1",
    ] {
        cases.push((script.to_owned(), PATIENCE, peer::sh(script)));
    }
    let cases = cases.into_iter().map(|(name, limit, source)| {
        let folder = folder.path();
        async move {
            let direct = outcome(&source, limit).await;
            let with = outcome(&tapped(&source, folder), limit).await;
            assert_eq!(direct, with, "{name}");
        }
    });
    join_all(cases).await;
}
