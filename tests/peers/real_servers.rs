//! Real servers from public registries: what Loupe shows equals, byte for byte, what a bare exchange receives.
//!
//! Not part of plain `cargo test`, which needs no network: `.ci/run` installs the servers and runs this with
//! `LOUPE_PEERS` naming the folder they are in.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use loupe_core::source::{Command as CommandSource, Source};
use mcp_loupe::state::{CallAction, ConnectAction};

use crate::support::Driver;

fn peers() -> PathBuf {
    PathBuf::from(
        std::env::var_os("LOUPE_PEERS")
            .expect("LOUPE_PEERS names the folder of the installed servers"),
    )
}

fn node_peer(name: &str) -> String {
    peers()
        .join("node_modules/.bin")
        .join(name)
        .to_string_lossy()
        .into_owned()
}

fn python_peer(name: &str) -> String {
    peers()
        .join("python/bin")
        .join(name)
        .to_string_lossy()
        .into_owned()
}

fn loupe(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn ok(output: &Output) -> &[u8] {
    assert!(
        output.status.success(),
        "{}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    &output.stdout
}

/// The messages that left in a recorded session, as text.
fn sent(transcript: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(transcript).unwrap();
    text.lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|message| message["dir"] == "out")
        .map(|message| message["text"].as_str().unwrap().to_owned())
        .collect()
}

fn id(message: &str) -> Option<serde_json::Value> {
    let value: serde_json::Value = serde_json::from_str(message).ok()?;
    value.get("method")?;
    value.get("id").cloned()
}

/// Sends the same messages to a fresh server and returns the line that answers the last request.
fn raw_stdio(command: &[String], messages: &[String]) -> Vec<u8> {
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut last = Vec::new();
    for message in messages {
        writeln!(input, "{message}").unwrap();
        let Some(wanted) = id(message) else { continue };
        loop {
            let mut line = Vec::new();
            assert!(
                lines.read_until(b'\n', &mut line).unwrap() > 0,
                "the server ended before it answered {message}"
            );
            let answer: serde_json::Value = serde_json::from_slice(&line).unwrap();
            if answer.get("method").is_none() && answer["id"] == wanted {
                last = line;
                break;
            }
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    while matches!(last.last(), Some(b'\n' | b'\r')) {
        last.pop();
    }
    last
}

#[track_caller]
fn check_stdio(command: &[String], tool: &str, args: &str) {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("wire.jsonl");
    let transcript_text = transcript.to_string_lossy().into_owned();
    let mut line = vec![
        "call",
        tool,
        "--args",
        args,
        "--view",
        "wire",
        "--transcript",
        &transcript_text,
        "--",
    ];
    line.extend(command.iter().map(String::as_str));
    let output = loupe(&line);
    let shown = ok(&output);
    let raw = raw_stdio(command, &sent(&transcript));
    assert_eq!(
        String::from_utf8_lossy(shown),
        String::from_utf8_lossy(&raw),
        "{tool}"
    );
    let mut list = vec!["tools", "--json", "--"];
    list.extend(command.iter().map(String::as_str));
    let listed: serde_json::Value = serde_json::from_slice(ok(&loupe(&list))).unwrap();
    assert!(
        listed["tools"]
            .as_array()
            .unwrap()
            .iter()
            .any(|listed| listed["name"] == tool)
    );
}

#[test]
fn everything_over_stdio() {
    let command = [node_peer("mcp-server-everything"), "stdio".into()];
    check_stdio(
        &command,
        "echo",
        r#"{"message": "h\u00e9llo \ud83d\udd0d"}"#,
    );
    check_stdio(
        &command,
        "get-structured-content",
        r#"{"location":"New York"}"#,
    );
    check_stdio(
        &command,
        "get-annotated-message",
        r#"{"messageType":"error","includeImage":true}"#,
    );
    check_stdio(&command, "get-resource-links", r#"{"count":3}"#);
}

#[test]
fn an_error_answer_is_an_answer() {
    let everything = node_peer("mcp-server-everything");
    let output = loupe(&[
        "call",
        "echo",
        "--args",
        "{}",
        "--send-anyway",
        "--view",
        "content",
        "--",
        &everything,
        "stdio",
    ]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Input validation error"));
}

#[test]
fn filesystem_memory_and_time() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("note.txt"),
        "line one\nline two | with a pipe\n",
    )
    .unwrap();
    let root = folder.path().to_string_lossy().into_owned();
    let note = serde_json::json!({"path": folder.path().join("note.txt")}).to_string();
    check_stdio(
        &[node_peer("mcp-server-filesystem"), root],
        "read_text_file",
        &note,
    );
    check_stdio(&[node_peer("mcp-server-memory")], "read_graph", "{}");
    let time = [
        python_peer("mcp-server-time"),
        "--local-timezone".into(),
        "UTC".into(),
    ];
    check_stdio(
        &time,
        "convert_time",
        r#"{"source_timezone":"UTC","time":"12:00","target_timezone":"Asia/Tokyo"}"#,
    );
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Posts one message and returns status line with headers, and the decoded body.
fn post(port: u16, session: Option<&str>, message: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let session = session
        .map(|id| format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n"))
        .unwrap_or_default();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         {session}Connection: close\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    )
    .unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).unwrap();
    let split = all
        .windows(4)
        .position(|window| window == b"\r\n\r\n")
        .unwrap();
    let head = String::from_utf8_lossy(&all[..split]).into_owned();
    let mut rest = &all[split + 4..];
    if !head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        return (head, rest.to_vec());
    }
    let mut body = Vec::new();
    loop {
        let end = rest
            .windows(2)
            .position(|window| window == b"\r\n")
            .unwrap();
        let size =
            usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        if size == 0 {
            return (head, body);
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
    }
}

#[test]
fn everything_over_http() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let child = Command::new(node_peer("mcp-server-everything"))
        .arg("streamableHttp")
        .env("PORT", port.to_string())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Server(child);
    let end = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < end, "the server does not listen");
        std::thread::yield_now();
    }
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("wire.jsonl");
    let url = format!("http://127.0.0.1:{port}/mcp");
    let args = r#"{"location": "Chicago"}"#;
    let output = loupe(&[
        "call",
        "get-structured-content",
        "--args",
        args,
        "--view",
        "wire",
        "--transcript",
        &transcript.to_string_lossy(),
        "--url",
        &url,
    ]);
    let shown = ok(&output).to_vec();
    let mut session: Option<String> = None;
    let mut last = Vec::new();
    for message in sent(&transcript) {
        let (head, body) = post(port, session.as_deref(), &message);
        if let Some(line) = head
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"))
        {
            session = Some(line.split_once(':').unwrap().1.trim().to_owned());
        }
        if id(&message).is_some() {
            let text = String::from_utf8(body).unwrap();
            let data: Vec<_> = text
                .lines()
                .filter_map(|line| line.strip_prefix("data:"))
                .map(str::trim_start)
                .filter(|data| !data.is_empty())
                .collect();
            last = data.join("\n").into_bytes();
        }
    }
    drop(server);
    assert_eq!(
        String::from_utf8_lossy(&shown),
        String::from_utf8_lossy(&last)
    );
}

#[test]
fn one_is_driven_through_the_windows_state() {
    let mut driver = Driver::new();
    let command = CommandSource {
        program: node_peer("mcp-server-everything"),
        args: vec!["stdio".into()],
        ..CommandSource::default()
    };
    driver.perform(ConnectAction::Connect(Box::new(Source::Command(command))));
    driver.until("the tools are listed", |state| {
        state.session().tools.len() >= 13
    });
    driver.perform(CallAction::SelectTool("get-structured-content".into()));
    driver.perform(CallAction::SetArgumentsText(
        r#"{"location":"Los Angeles"}"#.into(),
    ));
    driver.perform(CallAction::Call { send_anyway: false });
    // server-everything declares nothing about this tool, so the window asks first.
    if driver.state.dialog.is_some() {
        driver.perform(CallAction::Confirm);
    }
    driver.until("the answer is there", |state| {
        state.running.is_none() && state.capture().is_some()
    });
    let capture = driver.state.capture().unwrap();
    assert_eq!(capture.outcome.name(), "result");
    assert!(capture.wire_len() > 0);
}

#[test]
fn what_a_server_asks_is_answered() {
    let server = node_peer("mcp-server-everything");
    let said = |args: &[&str]| {
        let output = loupe(&[args, &["--view", "content", "--", &server, "stdio"]].concat());
        String::from_utf8_lossy(ok(&output)).into_owned()
    };
    let form = said(&[
        "call",
        "trigger-elicitation-request",
        "--elicit",
        r#"{"name":"Ann"}"#,
    ]);
    assert!(
        form.contains("Name: Ann") && form.contains("\"hero-1\""),
        "{form}"
    );
    assert!(
        said(&["call", "trigger-elicitation-request", "--elicit", "decline"]).contains("declined")
    );
    let args = r#"{"prompt":"hi","maxTokens":10}"#;
    assert!(
        said(&[
            "call",
            "trigger-sampling-request",
            "--args",
            args,
            "--sampling-reply",
            "hello"
        ])
        .contains("hello")
    );
    assert!(said(&["call", "get-roots-list", "--root", "/tmp"]).contains("file:///tmp"));
    // Must be called as a task, and is.
    assert!(
        said(&[
            "call",
            "simulate-research-query",
            "--args",
            r#"{"topic":"x"}"#
        ])
        .contains("Research Report")
    );
}
