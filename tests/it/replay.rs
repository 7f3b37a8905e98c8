//! Captures served as an MCP server: what comes out of the program is what was recorded, byte for byte, to a raw client
//! over stdio and HTTP and to Loupe itself.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use bytes::Bytes;
use loupe_core::capture::{Capture, Tool};
use mcp_loupe::store::{ReadAs, read_bytes, write_folder};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const ARGUMENTS: &str = r#"{"searchTerm":"north","pageSize":2}"#;

/// A result that any re-typing would change: spaces, escapes, a number's spelling, a key that is there twice.
const ODD: &str = r#"{ "content" : [{"type":"text","text":"\u00e9 \/ 1e3"}],"structuredContent":{"n":1.50,"big":12345678901234567890,"n":2}, "_meta":{ } }"#;

fn run(args: &[&str]) -> Output {
    Command::new(LOUPE)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn capture(tool: &str, arguments: &str, result: &str) -> Capture {
    let message = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let mut capture = read_bytes(&Bytes::from(message), tool, Some(ReadAs::Message)).unwrap();
    let definition = format!(
        r#"{{"name":"{tool}","inputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}}}}"#
    );
    capture.tool = Tool::read(Bytes::from(definition));
    capture.arguments = Bytes::copy_from_slice(arguments.as_bytes());
    capture
}

/// A folder with an odd capture and one of the sample.
fn fixtures(folder: &Path) {
    let output = run(&[
        "call",
        "dual_search_companies",
        "--args",
        ARGUMENTS,
        "--view",
        "wire",
        "--sample",
    ]);
    let wire = String::from_utf8(output.stdout).unwrap();
    let result = wire
        .split_once(r#""result":"#)
        .unwrap()
        .1
        .strip_suffix('}')
        .unwrap();
    write_folder(
        &capture("dual_search_companies", ARGUMENTS, result),
        &folder.join("companies"),
    )
    .unwrap();
    write_folder(&capture("odd", "{}", ODD), &folder.join("odd")).unwrap();
}

struct Served {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Served {
    fn start(args: &[&str]) -> Self {
        let mut child = Command::new(LOUPE)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn ask(&mut self, message: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{message}").unwrap();
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }
}

#[test]
fn a_raw_client_reads_the_recorded_bytes_over_stdio() {
    let folder = tempfile::tempdir().unwrap();
    fixtures(folder.path());
    let mut served = Served::start(&["replay", &folder.path().to_string_lossy()]);
    let answer = served.ask(
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}"#,
    );
    assert!(
        answer.contains(r#""protocolVersion":"2025-06-18""#),
        "{answer}"
    );
    let answer =
        served.ask(r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"odd"}}"#);
    assert_eq!(
        answer,
        format!(r#"{{"jsonrpc":"2.0","id":"a","result":{ODD}}}"#)
    );
}

#[test]
fn a_raw_client_reads_the_recorded_bytes_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let pretty = ODD.replace("{ ", "{\n  ");
    write_folder(&capture("odd", "{}", &pretty), &folder.path().join("odd")).unwrap();
    let mut child = Command::new(LOUPE)
        .args([
            "replay",
            "--http",
            "127.0.0.1:0",
            &folder.path().to_string_lossy(),
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(said.read_line(&mut line).unwrap() > 0, "the replay ended");
        if let Some((_, rest)) = line.split_once("http://") {
            break rest.split('/').next().unwrap().to_owned();
        }
    };
    let body =
        r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"odd","arguments":{}}}"#;
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, message) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!(
        message,
        format!(r#"{{"jsonrpc":"2.0","id":5,"result":{pretty}}}"#)
    );
}

#[test]
fn a_fixture_is_a_source_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    fixtures(folder.path());
    let dir = folder.path().to_string_lossy().into_owned();
    let wire = |args: &[&str]| {
        let output = run(args);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_once(r#""result":"#).unwrap().1.to_owned()
    };
    assert_eq!(
        wire(&["call", "odd", "--view", "wire", "--fixture", &dir]),
        format!("{ODD}}}")
    );
    let call = |source: [&str; 2]| {
        let common = [
            "call",
            "dual_search_companies",
            "--args",
            ARGUMENTS,
            "--view",
            "wire",
        ];
        wire(&[common.as_slice(), &source].concat())
    };
    assert_eq!(call(["--fixture", &dir]), call(["--quiet", "--sample"]));
    let one = run(&[
        "tools",
        "--fixture",
        &PathBuf::from(&dir).join("odd").to_string_lossy(),
    ]);
    assert!(String::from_utf8_lossy(&one.stdout).contains("odd"));
    let none = run(&["tools", "--fixture", "no/such/folder"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&none.stderr).contains("error: cannot read the folder"));
}

#[test]
fn a_variant_is_what_loupe_shows_of_that_format() {
    let folder = tempfile::tempdir().unwrap();
    fixtures(folder.path());
    let dir = folder
        .path()
        .join("companies")
        .to_string_lossy()
        .into_owned();
    for format in ["yaml", "toon", "csv"] {
        let text = |args: &[&str]| {
            let output = run(args);
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            output.stdout
        };
        let shown = text(&["show", &dir, "--view", format]);
        let call = [
            "call",
            "dual_search_companies",
            "--args",
            ARGUMENTS,
            "--view",
            "content",
            "--",
        ];
        assert_eq!(
            text(
                &[
                    call.as_slice(),
                    &[LOUPE, "replay", "--variant", format, &dir]
                ]
                .concat()
            ),
            shown,
            "{format}"
        );
    }
}

#[test]
fn a_fixture_is_exported_as_other_things() {
    let folder = tempfile::tempdir().unwrap();
    fixtures(folder.path());
    let dir = folder.path().join("odd").to_string_lossy().into_owned();
    let export = |kind: &str| run(&["fixture", "export", &dir, "--as", kind, "--out", "-"]);
    let result = export("result");
    assert!(
        result.status.success(),
        "{}",
        String::from_utf8_lossy(&result.stderr)
    );
    assert_eq!(String::from_utf8_lossy(&result.stdout), ODD);
    let har = export("har");
    assert_eq!(har.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&har.stderr).contains("the call did not go over HTTP"));
    let unknown = export("resutl");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `result`"));
    let copy = folder.path().join("copy");
    let out = copy.to_string_lossy().into_owned();
    assert!(
        run(&["fixture", "export", &dir, "--out", &out])
            .status
            .success()
    );
    assert_eq!(
        std::fs::read(copy.join("response.json")).unwrap(),
        std::fs::read(Path::new(&dir).join("response.json")).unwrap()
    );
    assert_eq!(
        run(&["fixture", "export", &dir, "--out", &out])
            .status
            .code(),
        Some(2),
        "a folder is never written into"
    );
}

#[test]
fn a_file_of_many_answers_is_listed_and_one_is_shown() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/answers/bare.jsonl");
    let listed = run(&["show", file]);
    assert_eq!(listed.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&listed.stdout).lines().count(), 4);
    assert!(String::from_utf8_lossy(&listed.stderr).contains("error: the file holds 3 answers"));
    let one = run(&["show", file, "--nth", "1", "--view", "structured"]);
    assert_eq!(String::from_utf8_lossy(&one.stdout), r#"{"n":1.50}"#);
}
