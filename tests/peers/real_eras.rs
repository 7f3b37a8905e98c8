//! Real servers from public registries over every transport they offer, in every revision they speak.
//!
//! Not part of plain `cargo test`, which needs no network: `.ci/run` installs the servers and runs this with
//! `LOUPE_PEERS` naming the folder they are in.

use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::peer::{PATIENCE, ServerNotification, options};
use loupe_client::{self, Call, CancelToken, Listing, SessionEvent};
use loupe_core::capture::{CaptureId, Tool};
use loupe_core::source::{Command as CommandSource, Http, Protocol, Source};

const HANDSHAKES: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const STATELESS: &str = "2026-07-28";
const LIMIT: Duration = Duration::from_secs(60);

fn installed(path: &str) -> String {
    let peers = PathBuf::from(
        std::env::var_os("LOUPE_PEERS")
            .expect("LOUPE_PEERS names the folder of the installed servers"),
    );
    peers.join(path).to_string_lossy().into_owned()
}

fn everything() -> String {
    installed("node_modules/.bin/mcp-server-everything")
}

fn python() -> (String, String) {
    (
        installed("python/bin/python"),
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/peers/peer.py").into(),
    )
}

fn loupe(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// The text that a call shows.
#[track_caller]
fn said(args: &[&str]) -> String {
    let output = loupe(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{args:?}: {}: {stderr}",
        output.status
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Starts a server with a free port of its own, and waits until it listens.
fn start(start: impl FnOnce(u16) -> Command) -> (Server, u16) {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let server = Server(
        start(port)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    let end = Instant::now() + LIMIT;
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
    (server, port)
}

fn everything_at(transport: &'static str) -> (Server, u16) {
    start(|port| {
        let mut command = Command::new(everything());
        command.arg(transport).env("PORT", port.to_string());
        command
    })
}

const SUM: [&str; 6] = [
    "call",
    "get-sum",
    "--args",
    r#"{"a":2,"b":3}"#,
    "--view",
    "content",
];

#[test]
fn everything_in_every_revision_over_each_of_its_transports() {
    let (_http, http) = everything_at("streamableHttp");
    let (_sse, sse) = everything_at("sse");
    let (http, sse) = (
        format!("http://127.0.0.1:{http}/mcp"),
        format!("http://127.0.0.1:{sse}/sse"),
    );
    let server = everything();
    let ways: [(&str, &[&str]); 4] = [
        ("stdio", &["--", &server, "stdio"]),
        ("Streamable HTTP", &["--url", &http]),
        ("HTTP+SSE, chosen", &["--transport", "sse", "--url", &sse]),
        ("HTTP+SSE, found", &["--url", &sse]),
    ];
    for (name, way) in ways {
        let versions = HANDSHAKES.iter().copied().chain(["auto"]);
        for version in versions {
            let shown = said(&[&SUM[..], &["--protocol", version], way].concat());
            assert_eq!(shown, "The sum of 2 and 3 is 5.", "{version} over {name}");
        }
        // It does not speak the era without a handshake, and is said not to.
        let refused = loupe(&[&SUM[..], &["--protocol", STATELESS], way].concat());
        assert_eq!(
            refused.status.code(),
            Some(3),
            "{name}: {}",
            String::from_utf8_lossy(&refused.stderr)
        );
    }
}

#[test]
fn a_server_of_both_eras_in_every_revision_over_each_of_its_transports() {
    let (program, script) = python();
    let (_server, port) = start(|port| {
        let mut command = Command::new(&program);
        command.args([&script, &port.to_string()]);
        command
    });
    let url = format!("http://127.0.0.1:{port}/mcp");
    let args = [
        "call",
        "add",
        "--args",
        r#"{"a":2,"b":3}"#,
        "--view",
        "content",
    ];
    let ways: [(&str, &[&str]); 2] = [
        ("stdio", &["--", &program, &script]),
        ("Streamable HTTP", &["--url", &url]),
    ];
    for (name, way) in ways {
        for version in HANDSHAKES.iter().copied().chain([STATELESS, "auto"]) {
            assert_eq!(
                said(&[&args[..], &["--protocol", version], way].concat()),
                "5",
                "{version} over {name}"
            );
        }
    }
}

#[tokio::test]
async fn changes_are_told_of_in_both_eras_over_each_transport() {
    let (program, script) = python();
    let (_server, port) = start(|port| {
        let mut command = Command::new(&program);
        command.args([&script, &port.to_string()]);
        command
    });
    let command = Source::Command(CommandSource {
        program,
        args: vec![script],
        ..CommandSource::default()
    });
    let http = Source::Http(Http {
        url: format!("http://127.0.0.1:{port}/mcp"),
        ..Http::default()
    });
    for (source, version) in [(&command, STATELESS), (&http, STATELESS)] {
        let heard = ServerNotification::default();
        let source = source.clone().with_protocol(Protocol::Version(STATELESS));
        let session = loupe_client::connect(&source, options(), heard.happenings())
            .await
            .unwrap_or_else(|error| panic!("{error:?}"));
        session.listen(PATIENCE).await.unwrap();
        session.watch("note://1", true, PATIENCE).await.unwrap();
        let call = Call {
            id: CaptureId("1".into()),
            tool: Tool::unlisted("touch"),
            arguments: bytes::Bytes::from_static(b"{}"),
            limit: PATIENCE,
        };
        let capture = session.call(call, CancelToken::new()).await;
        assert_eq!(
            capture.outcome.name(),
            "result",
            "{version}: {:?}",
            capture.problem
        );
        heard
            .until(|happening| *happening == SessionEvent::ListChanged(Listing::Tools))
            .await;
        heard
            .until(|happening| *happening == SessionEvent::ResourceUpdated("note://1".into()))
            .await;
        session.close().await;
    }
}
