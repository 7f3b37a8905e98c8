//! The doctor: servers that fail in one way each, with the step and the sentence that say so, and servers that work.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Output;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::peer::oauth::{Modes, OAuthPeer};
use crate::peer::tls::{behind_tls, certified, self_signed};
use crate::peer::{self, INITIALIZED, PINNED, options, reply};
use crate::visit::Visit;
use loupe_analysis::doctor::{ConnectionEvidence, DoctorReport, StepReport, StepStatus};
use loupe_client::login::Step as LoginStep;
use loupe_client::{Options, SessionEvent};
use loupe_core::capture::{Direction, Step};
use loupe_core::problem::Problem;
use loupe_core::source::{Command, Http, Login, Source};
use serde_json::Value;

/// How long a server that is silent is waited for here.
const SILENCE: Duration = Duration::from_secs(4);

/// What the doctor says of a server.
async fn examined(source: &Source) -> DoctorReport {
    examined_within(source, Duration::from_secs(30)).await
}

async fn examined_within(source: &Source, limit: Duration) -> DoctorReport {
    let steps = Arc::<Mutex<Vec<Step>>>::default();
    let stderr = Arc::<Mutex<Vec<String>>>::default();
    let lines = Arc::<Mutex<Vec<_>>>::default();
    let browser = Visit::new();
    let (of_steps, of_stderr, of_lines) =
        (Arc::clone(&steps), Arc::clone(&stderr), Arc::clone(&lines));
    let options = Options {
        connect_limit: limit,
        transcript: Some(Arc::new(move |line| {
            of_lines.lock().unwrap().push(line);
        })),
        ..options()
    };
    let connecting = loupe_client::connect(
        source,
        options,
        Arc::new(move |event| match event {
            SessionEvent::Step(step) => of_steps.lock().unwrap().push(step),
            SessionEvent::Stderr(line) => of_stderr.lock().unwrap().push(line),
            SessionEvent::Login(LoginStep::Open { url, .. }) => browser.go(url),
            _ => {}
        }),
    );
    let mut server = None;
    let problem = match connecting.await {
        Ok(session) => {
            server = Some(session.server().clone());
            session.examine(Duration::from_secs(2)).await;
            let failure = session.failure().map(Problem::from);
            session.close().await;
            failure
        }
        Err(error) => Some(Problem::from(error)),
    };
    let mut lines = lines.lock().unwrap().clone();
    lines.retain(|line: &loupe_core::capture::Line| line.direction != Direction::Stderr);
    DoctorReport::new(&ConnectionEvidence {
        source,
        steps: &steps.lock().unwrap(),
        problem: problem.as_ref(),
        server: server.as_ref(),
        lines: &lines,
        stderr: &stderr.lock().unwrap(),
        is_over: true,
    })
}

/// The step that fails, and its cause; the steps before it passed, and those after it were not reached.
fn failed(report: &DoctorReport, what: &str) -> StepReport {
    let at = report
        .steps
        .iter()
        .position(|step| step.status == StepStatus::Fail)
        .unwrap_or_else(|| panic!("{what} works: {report:#?}"));
    assert!(
        report.steps[at + 1..]
            .iter()
            .all(|step| step.status != StepStatus::Fail),
        "{what}"
    );
    let step = &report.steps[at];
    assert!(!step.fix.is_empty(), "{what}: {}", step.cause);
    step.clone()
}

#[track_caller]
fn says(report: &DoctorReport, what: &str, step: &str, sentence: &str) {
    let found = failed(report, what);
    assert!(
        found.id == step && found.cause.contains(sentence),
        "{what}: {} says {:?}",
        found.id,
        found.cause
    );
}

fn sh(script: &str) -> Source {
    peer::sh(script)
}

fn program(program: &str) -> Source {
    Source::Command(Command {
        program: program.into(),
        ..Command::default()
    })
    .with_protocol(PINNED)
}

/// What a program prints before it ends, or instead of an answer, and what that is said to be.
#[tokio::test]
async fn a_program_that_does_not_answer_is_explained() {
    let cases = [
        (
            "echo ' os.environ[\"API_KEY\"]' >&2; echo 'KeyError: '\"'API_KEY'\" >&2; exit 1",
            "still-running",
            "variable API_KEY is not set",
        ),
        (
            "echo 'Error: BRAVE_API_KEY environment variable is required' >&2; exit 1",
            "still-running",
            "variable BRAVE_API_KEY is missing",
        ),
        (
            "echo 'Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables' >&2; exit 1",
            "still-running",
            "variables SLACK_BOT_TOKEN and SLACK_TEAM_ID are missing",
        ),
        (
            "echo \"Error: Cannot find module '/srv/dist/index.js'\" >&2; exit 1",
            "still-running",
            "there is no file /srv/dist/index.js",
        ),
        (
            "echo \"python3: can't open file 'server.py': [Errno 2] No such file or directory\" >&2; exit 2",
            "still-running",
            "there is no file server.py",
        ),
        (
            "echo \"ModuleNotFoundError: No module named 'mcp'\" >&2; exit 1",
            "still-running",
            "has no module mcp",
        ),
        (
            "echo \"Cannot find package 'zod' imported from /srv/index.js\" >&2; exit 1",
            "still-running",
            "the package zod is not installed",
        ),
        (
            "echo 'Error: listen EADDRINUSE: address already in use :::3000' >&2; exit 1",
            "still-running",
            "port is in use",
        ),
        (
            "printf 'SyntaxError: Unexpected token\\n\\nNode.js v14.21.3\\n' >&2; exit 1",
            "still-running",
            "Node.js 14.21.3 is likely too old",
        ),
        (
            "echo \"npm error 404  'mcp-server-nosuch@*' is not in this registry.\" >&2; exit 1",
            "still-running",
            "npm registry has no package mcp-server-nosuch",
        ),
        (
            "echo 'npm error request failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org' >&2; exit 1",
            "still-running",
            "could not reach registry.npmjs.org",
        ),
        (
            "echo \"PermissionError: [Errno 13] Permission denied: '/var/lib/cache.db'\" >&2; exit 1",
            "still-running",
            "may not open /var/lib/cache.db",
        ),
        (
            "echo 'server.py: error: the following arguments are required: --db' >&2; exit 2",
            "still-running",
            "does not take its arguments",
        ),
        (
            "nosuchprogram; exit 127",
            "still-running",
            "it starts `nosuchprogram`, which is in no folder of PATH",
        ),
        ("exit 0", "still-running", "ended by itself"),
        ("exit 7", "still-running", "ended with status 7"),
        ("kill -SEGV $$", "still-running", "SIGSEGV"),
        (
            "kill -KILL $$",
            "still-running",
            "likely because memory ran out",
        ),
        (
            "echo '[INFO] ready'; exit 1",
            "first-output",
            "log to standard output",
        ),
        (
            "echo '> weather@1.0.0 start'; exit 1",
            "first-output",
            "`npm run` prints",
        ),
        (
            "echo '[dotenv@17.2.3] injecting env (4) from .env'; exit 1",
            "first-output",
            "dotenv prints",
        ),
        (
            "echo 'Usage: weather [OPTIONS] COMMAND'; exit 1",
            "first-output",
            "prints its help",
        ),
        (
            "echo '<!DOCTYPE html>'; exit 1",
            "first-output",
            "prints a document",
        ),
        ("echo 'Hello there'; exit 1", "first-output", "Hello there"),
        (
            "echo 'Content-Length: 120'; exit 1",
            "framing",
            "as language servers do",
        ),
        ("printf '{\\0\"\\0j\\0\\n'; exit 1", "framing", "UTF-16"),
        (
            "printf '{\\n \"a\": 1\\n'; exit 1",
            "framing",
            "over several lines",
        ),
    ];
    for (script, step, sentence) in cases {
        says(&examined(&sh(script)).await, script, step, sentence);
    }
}

/// A program that stays, and says nothing of MCP.
#[tokio::test]
async fn a_program_that_is_silent_is_explained() {
    let cases = [
        (
            "echo 'INFO: Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C to quit)' >&2; sleep 60",
            "not-http",
            "it says that it listens at http://127.0.0.1:8000/mcp",
        ),
        (
            "echo 'MCP server listening on port 3000'; sleep 60",
            "not-http",
            "it says that it listens on port 3000",
        ),
        (
            "echo 'Hello there'; sleep 60",
            "first-output",
            "printed `Hello there`",
        ),
        ("sleep 60", "first-output", "runs and has answered nothing"),
    ];
    for (script, step, sentence) in cases {
        let report = examined_within(&sh(script), SILENCE).await;
        says(&report, script, step, sentence);
        assert_eq!(report.steps[2].status, StepStatus::Pass, "it still runs");
    }
}

#[tokio::test]
async fn a_command_that_cannot_be_started_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let script = |name: &str, text: &str, mode: u32| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let windows = script("windows", "#!/usr/bin/env python3\r\nprint()\r\n", 0o755);
    let nowhere = script("nowhere", "#!/opt/nosuch/python\n", 0o755);
    let binary = script("binary", "\u{1}\u{2}no program", 0o755);
    let plain = script("plain", "#!/bin/sh\n", 0o644);
    let missing = folder.path().join("missing").display().to_string();
    for (command, step, sentence) in [
        ("nosuch-program", "command-found", "in no folder of PATH"),
        (
            "node server.js",
            "command-found",
            "taken as the name of one program",
        ),
        (&*missing, "command-found", "there is no file"),
        (&*plain, "command-found", "is not executable"),
        (&*windows, "command-found", "has Windows line ends"),
        (
            &*nowhere,
            "command-found",
            "/opt/nosuch/python, which is not there",
        ),
        (&*binary, "process-started", "cannot run"),
    ] {
        says(&examined(&program(command)).await, command, step, sentence);
    }
    let elsewhere = Source::Command(Command {
        program: "sh".into(),
        cwd: Some(folder.path().join("no")),
        ..Command::default()
    });
    says(
        &examined(&elsewhere).await,
        "cwd",
        "command-found",
        "there is no folder",
    );
}

fn url(url: &str) -> Source {
    Source::Http(Http {
        url: url.into(),
        ..Http::default()
    })
}

/// A server that answers everything, `initialize` too, with the same.
async fn raw(answer: Vec<u8>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                use tokio::io::{AsyncReadExt, AsyncWriteExt};
                let mut request = [0; 16 << 10];
                // Whatever came of the request, the answer is the same.
                let _any = stream.read(&mut request).await.unwrap_or_default();
                if answer.is_empty() {
                    return std::future::pending().await;
                }
                stream.write_all(&answer).await.ok();
                stream.shutdown().await.ok();
            });
        }
    });
    address
}

#[tokio::test]
async fn what_http_refuses_is_explained() {
    let html = "text/html";
    for (status, kind, body, path, step, sentence) in [
        (
            "404 Not Found",
            html,
            "nothing here",
            "/",
            "http-status",
            "no MCP endpoint at this path",
        ),
        (
            "404 Not Found",
            html,
            "nothing here",
            "/mcp",
            "http-status",
            "HTTP 404",
        ),
        (
            "405 Method Not Allowed",
            html,
            "",
            "/",
            "http-status",
            "no MCP endpoint at this path",
        ),
        (
            "401 Unauthorized",
            html,
            "no",
            "/mcp",
            "challenge",
            "requires credentials",
        ),
        (
            "403 Forbidden",
            html,
            "no",
            "/mcp",
            "challenge",
            "requires credentials",
        ),
        (
            "400 Bad Request",
            "application/json",
            "Bad Request: No valid session ID provided",
            "/mcp",
            "http-status",
            "wants a session",
        ),
        (
            "400 Bad Request",
            html,
            "Client sent an HTTP request to an HTTPS server.",
            "/mcp",
            "http-status",
            "wants https",
        ),
        (
            "406 Not Acceptable",
            html,
            "Not Acceptable: client must accept text/event-stream",
            "/mcp",
            "http-status",
            "other `Accept` types",
        ),
        (
            "415 Unsupported Media Type",
            html,
            "",
            "/mcp",
            "http-status",
            "does not take application/json",
        ),
        (
            "421 Misdirected Request",
            html,
            "Invalid Host header",
            "/mcp",
            "http-status",
            "refuses the host name",
        ),
        (
            "429 Too Many Requests",
            html,
            "slow",
            "/mcp",
            "http-status",
            "HTTP 429",
        ),
        (
            "500 Internal Server Error",
            html,
            "oops",
            "/mcp",
            "http-status",
            "HTTP 500",
        ),
        (
            "502 Bad Gateway",
            html,
            "nginx",
            "/mcp",
            "http-status",
            "does not reach it",
        ),
        (
            "200 OK",
            html,
            "<!DOCTYPE html><title>Welcome</title>",
            "/mcp",
            "content",
            "a web page came",
        ),
        (
            "200 OK",
            "application/json\r\nContent-Encoding: br",
            "\x1b\x2a",
            "/mcp",
            "content",
            "encoded as `br`",
        ),
        (
            "307 Temporary Redirect",
            "text/plain\r\nLocation: https://elsewhere.example/mcp",
            "",
            "/mcp",
            "http-status",
            "redirects",
        ),
        (
            "301 Moved Permanently",
            "text/plain\r\nLocation: /mcp",
            "",
            "/mcp",
            "http-status",
            "redirects",
        ),
    ] {
        let base = raw(reply(status, kind, body.as_bytes())).await;
        let report = examined(&url(&format!("{base}{path}"))).await;
        says(&report, &format!("{status} {path}"), step, sentence);
    }
}

#[tokio::test]
async fn a_connection_that_does_not_come_about_is_explained() {
    let closed = {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap()
    };
    let silent = raw(Vec::new()).await;
    let plain = raw(reply("400 Bad Request", "text/plain", b"")).await;
    for (address, step, sentence) in [
        (
            format!("http://{closed}/mcp"),
            "connected",
            "nothing listens",
        ),
        (
            "http://nosuch.invalid/mcp".into(),
            "name-resolved",
            "has no address",
        ),
        (format!("{silent}/mcp"), "http-status", "no answer to"),
        (
            plain.replace("http://", "https://") + "/mcp",
            "tls",
            "does not speak TLS",
        ),
    ] {
        let report = examined_within(&url(&address), SILENCE).await;
        says(&report, &address, step, sentence);
    }
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_explained() {
    for (config, sentence) in [
        (
            certified().0,
            "signed by an authority that is not trusted here",
        ),
        (self_signed("127.0.0.1", 30).0, "signs itself"),
    ] {
        let report = examined(&url(&behind_tls(config).await)).await;
        says(&report, sentence, "tls", sentence);
    }
    let folder = tempfile::tempdir().unwrap();
    for ((config, pem), sentence) in [
        (self_signed("localhost", 30), "not for this host name"),
        (self_signed("127.0.0.1", -1), "has expired"),
    ] {
        let file = folder.path().join("named.pem");
        fs::write(&file, pem).unwrap();
        let source = Source::Http(Http {
            url: behind_tls(config).await,
            cacert: Some(file),
            ..Http::default()
        });
        says(&examined(&source).await, sentence, "tls", sentence);
    }
}

/// The places at which a login may stop.
#[tokio::test]
async fn a_login_that_stops_is_explained() {
    let modes = |change: fn(&mut Modes)| {
        let mut modes = Modes::default();
        change(&mut modes);
        modes
    };
    for (modes, step, sentence) in [
        (modes(|modes| modes.another = true), "", ""),
        (
            modes(|modes| modes.no_pkce = true),
            "authorization-server",
            "PKCE",
        ),
        (
            modes(|modes| modes.pages = true),
            "resource-metadata",
            "a web page",
        ),
        (
            modes(|modes| {
                modes.endpoint = Some(("token_endpoint", "http://elsewhere.example/token"))
            }),
            "authorization-server",
            "token_endpoint is not an address",
        ),
        (
            modes(|modes| modes.no_registration = true),
            "registration",
            "registers no clients",
        ),
        (
            modes(|modes| modes.refuse_registration = true),
            "registration",
            "Only a and b",
        ),
        (
            modes(|modes| modes.wrong_iss = true),
            "browser",
            "not from the authorization server",
        ),
        (
            modes(|modes| modes.deny = true),
            "browser",
            "did not log you in",
        ),
        (modes(|modes| modes.refuse_code = true), "token", ""),
    ] {
        let peer = OAuthPeer::start(modes).await;
        let source = Source::Http(Http {
            url: peer.url(),
            login: Some(Login::default()),
            ..Http::default()
        });
        let report = examined(&source).await;
        if step.is_empty() {
            // Of several authorization servers the one that publishes something is taken.
            continue;
        }
        says(&report, sentence, step, sentence);
    }
    let chosen = |change: fn(&mut Login)| {
        let mut login = Login::default();
        change(&mut login);
        login
    };
    for (login, step, sentence) in [
        (
            chosen(|login| login.server = Some("https://another.example".into())),
            "resource-metadata",
            "does not name the authorization server",
        ),
        (
            chosen(|login| login.grant = loupe_core::source::Grant::Workload),
            "token",
            "",
        ),
    ] {
        let peer = OAuthPeer::start(Modes::default()).await;
        let source = Source::Http(Http {
            url: peer.url(),
            login: Some(login),
            ..Http::default()
        });
        says(&examined(&source).await, sentence, step, sentence);
    }
}

/// Each step of a login that works is in the list, with what was sent.
#[tokio::test]
async fn a_login_that_works_is_shown_document_by_document() {
    let peer = OAuthPeer::start(Modes::default()).await;
    let source = Source::Http(Http {
        url: peer.url(),
        login: Some(Login::default()),
        ..Http::default()
    });
    let report = examined(&source).await;
    assert!(report.failed().is_none(), "{:?}", report.failed());
    for id in [
        "challenge",
        "resource-metadata",
        "authorization-server",
        "registration",
        "browser",
        "token",
    ] {
        let step = report.steps.iter().find(|step| step.id == id);
        let step = step.unwrap_or_else(|| panic!("{id} is missing"));
        assert_eq!(step.status, StepStatus::Pass, "{id}: {}", step.cause);
    }
    assert!(!format!("{report:?}").contains("canary-"), "{report:#?}");
}

/// A server that shakes hands and then answers by these arms.
fn speaks(initialized: &str, arms: &str) -> Source {
    peer::child(&format!(
        r#"*'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,{initialized}}}' ;;
    {arms}"#
    ))
}

const TOOLS: &str = r#"*tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{}}]}}\n' "$id" ;;"#;
const PING: &str = r#"*'"ping"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;"#;
const REFUSE: &str = r#"*no-such-method*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;"#;

#[tokio::test]
async fn a_handshake_that_fails_is_explained() {
    for (initialized, sentence) in [
        (
            r#""result":{"protocolVersion":"1999-01-01","capabilities":{}}"#,
            "speaks MCP 1999-01-01",
        ),
        (
            r#""error":{"code":-32603,"message":"database is down"}"#,
            "database is down",
        ),
        (
            r#""result":{"capabilities":{}}"#,
            "names no protocol version",
        ),
        (r#""result":7"#, "no result"),
    ] {
        let report = examined(&speaks(initialized, "")).await;
        says(&report, initialized, "handshake", sentence);
    }
}

#[tokio::test]
async fn what_a_working_server_does_oddly_is_a_warning() {
    let fine = format!("\"result\":{INITIALIZED}");
    let report = examined(&speaks(&fine, &[TOOLS, PING, REFUSE].concat())).await;
    assert!(
        report.failed().is_none() && report.warnings().count() == 0,
        "{report:#?}"
    );
    assert!(
        report
            .headline()
            .contains("works: 2025-11-25 over stdio, 1 tool"),
        "{}",
        report.headline()
    );

    let endless = r#"*tools/list*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[],"nextCursor":"a"}}\n' "$id" ;;"#;
    let accepts = r#"*no-such-method*) printf '{"jsonrpc":"2.0","id":%s,"result":{}}\n' "$id" ;;"#;
    let banner = format!(
        "*'\"initialize\"'*) printf 'Hello\\n%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":0,{fine}}}' ;;"
    );
    for (source, step, sentence) in [
        (
            speaks(&fine, &[endless, PING, REFUSE].concat()),
            "lists",
            "repeats the cursor",
        ),
        (
            speaks(&fine, &[TOOLS, REFUSE].concat()),
            "requests",
            "ping: no answer",
        ),
        (
            speaks(&fine, &[TOOLS, PING].concat()),
            "requests",
            "no answer",
        ),
        (
            speaks(&fine, &[TOOLS, PING, accepts].concat()),
            "requests",
            "answered with a result",
        ),
        (
            peer::child(&[&banner, TOOLS, PING, REFUSE].concat()),
            "first-output",
            "the first `Hello`",
        ),
    ] {
        let report = examined(&source).await;
        assert!(report.failed().is_none(), "{:?}", report.failed());
        let odd: Vec<_> = report
            .warnings()
            .map(|step| (step.id, &*step.cause))
            .collect();
        assert!(
            matches!(&odd[..], [(id, cause)] if *id == step && cause.contains(sentence)),
            "{sentence}: {odd:?}"
        );
    }
}

#[tokio::test]
async fn a_server_that_dies_of_a_question_is_a_failure() {
    let fine = format!("\"result\":{INITIALIZED}");
    let dies = "*no-such-method*) exit 3 ;;";
    let report = examined(&speaks(&fine, &[TOOLS, PING, dies].concat())).await;
    says(&report, "exit", "requests", "ended with status 3");
    let dies = "*tools/list*) exit 3 ;;";
    let report = examined(&speaks(&fine, dies)).await;
    says(&report, "exit", "lists", "ended with status 3");
}

fn loupe(arguments: &[&str], folder: &Path) -> Output {
    std::process::Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn the_command_says_it_in_one_line_or_step_by_step() {
    let folder = tempfile::tempdir().unwrap();
    let output = loupe(&["doctor", "--sample", "--quiet"], folder.path());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(
        text.starts_with("✓ loupe-sample") && text.lines().count() == 1,
        "{text}"
    );
    let output = loupe(
        &["doctor", "--sample", "--quiet", "--verbose", "--call"],
        folder.path(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("Discovery and handshake") && text.contains("answered"),
        "{text}"
    );

    fs::write(
        folder.path().join("server.sh"),
        "echo 'Error: API_TOKEN is not set' >&2; exit 1",
    )
    .unwrap();
    let source = ["--", "sh", "server.sh"];
    let output = loupe(
        &[&["doctor", "--quiet"], &source[..]].concat(),
        folder.path(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.starts_with(
            "✗ the server says that the variable API_TOKEN is missing\n  Step 3 of 10 failed."
        ),
        "{text}"
    );
    assert!(text.contains(r#""env": { "API_TOKEN": "…" }"#), "{text}");

    let output = loupe(
        &[&["doctor", "--json"], &source[..]].concat(),
        folder.path(),
    );
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&document["schema"], &document["passed"]),
        (&"loupe.doctor/1".into(), &false.into())
    );
    let steps = document["steps"].as_array().unwrap();
    let statuses: Vec<_> = steps
        .iter()
        .map(|step| step["status"].as_str().unwrap())
        .collect();
    assert_eq!(statuses[..4], ["pass", "pass", "fail", "not-reached"]);
    assert_eq!(steps[2]["paste"]["place"], "entry");
    let output = loupe(
        &[&["doctor", "--as", "markdown"], &source[..]].concat(),
        folder.path(),
    );
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with("**the server says that the variable API_TOKEN is missing**"),
        "{text}"
    );

    // The same cause is the error of every other command.
    let output = loupe(&[&["tools"], &source[..]].concat(), folder.path());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("error: the server says that the variable API_TOKEN is missing: the program ended with status 1"), "{error}");
}

/// An older SDK complains of the question for the newer revision at length: once it is one line, then nothing.
#[test]
fn a_complaint_about_discovery_is_one_line_and_is_not_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        r#"echo started >&2
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *server/discover*) echo asked >> asked; echo 'Failed to validate request: 24 validation errors for ClientRequest' >&2; i=0; while [ $i -lt 50 ]; do echo '  Input should be' >&2; i=$((i+1)); done
      printf '{{"jsonrpc":"2.0","id":"loupe-discover","error":{{"code":-32602,"message":"Invalid"}}}}\n' ;;
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{INITIALIZED}}}' ;;
    {TOOLS}
  esac
done"#
    );
    fs::write(folder.path().join("server.sh"), script).unwrap();
    let run = || {
        let output = loupe(
            &["tools", "--data-dir", "data", "--", "sh", "server.sh"],
            folder.path(),
        );
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let first = run();
    let notes: Vec<_> = first
        .lines()
        .filter(|line| line.starts_with("note: "))
        .collect();
    assert_eq!(
        notes,
        [
            "note: the server speaks 2025-11-25 and printed 51 lines about `server/discover`, which are not shown; it is not asked again"
        ]
    );
    assert!(
        first.contains("started") && !first.contains("Input should be"),
        "{first}"
    );
    let again = run();
    assert!(!again.contains("note: "), "{again}");
    let asked = fs::read_to_string(folder.path().join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 1, "asked once");
}

/// No secret is in a report, wherever a server repeats it.
#[test]
fn reports_hold_no_secret() {
    const CANARY: &str = "canary-5f2a9c71e0";
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("server.sh"),
        "echo \"$1 $API_KEY\"; echo \"Error: Cannot find module '/srv/$API_KEY.js'\" >&2; exit 1",
    )
    .unwrap();
    let key = format!("API_KEY={CANARY}");
    let source = ["--env", &key, "--", "sh", "server.sh", "--token", CANARY];
    for kind in [&["--json"][..], &["--as", "markdown"], &["--verbose"]] {
        let output = loupe(&[&["doctor"], kind, &source[..]].concat(), folder.path());
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(
            !text.contains(CANARY) && text.contains("hidden"),
            "{kind:?}: {text}"
        );
    }
}
