//! Loupe as an MCP server, over stdio: driven by its own client and command line, checked by its own rules, and by raw
//! messages where a client would not send them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loupe_analysis::finding::{CheckedResult, CheckedServer, Checker, RuleSettings, Severity};
use loupe_analysis::queries;
use loupe_client::{self, Call, CancelToken, Session};
use loupe_core::cancel::Cancel;
use loupe_core::capture::{Capture, CaptureId, Outcome, Tool};
use loupe_core::host::Hosts;
use loupe_core::source::import::ServerAddress;
use loupe_core::source::{Command as CommandSource, Source};
use serde_json::{Value, json};

use crate::peer::{ServerNotification, options};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const LIMIT: Duration = Duration::from_secs(60);
const CALLS: [&str; 3] = ["--allow-calls", "--allow-source", "demo=--sample"];

fn data(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
        .to_str()
        .unwrap()
        .to_owned()
}

fn loupe(folder: &Path, args: &[&str]) -> Output {
    Command::new(LOUPE)
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[track_caller]
fn stdout(folder: &Path, args: &[&str]) -> String {
    let output = loupe(folder, args);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a result of the sample, and one of hostile records.
fn results() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let save = |name: &str, sample: &str, tool: &str| {
        stdout(
            folder.path(),
            &[
                "fixture",
                "save",
                name,
                tool,
                sample,
                "--no-redact",
                "--quiet",
            ],
        );
    };
    save("plain", "--sample", "dual_search_companies");
    save(
        "hostile",
        "--sample=all,data=hostile",
        "dual_search_companies",
    );
    save("tickets", "--sample", "strict_search_tickets");
    save("users", "--sample=dial,data=hostile", "search_user");
    fs::write(
        folder.path().join("tools.json"),
        stdout(folder.path(), &["tools", "--sample", "--json"]),
    )
    .unwrap();
    fs::write(
        folder.path().join("others.json"),
        stdout(folder.path(), &["tools", "--sample=dial", "--json"]),
    )
    .unwrap();
    folder
}

/// A session of Loupe's own client.
struct Own {
    session: Session,
    tools: Vec<Arc<Tool>>,
}

impl Own {
    async fn start(folder: &Path, args: &[&str]) -> Self {
        let args = ["mcp", "--quiet"]
            .iter()
            .chain(args)
            .map(|arg| (*arg).to_owned())
            .collect();
        let command = CommandSource {
            program: LOUPE.into(),
            args,
            cwd: Some(folder.to_owned()),
            ..CommandSource::default()
        };
        let session = loupe_client::connect(
            &Source::Command(command),
            options(),
            ServerNotification::default().happenings(),
        )
        .await
        .unwrap();
        let tools = session
            .list_tools(LIMIT)
            .await
            .unwrap()
            .tools
            .into_iter()
            .map(Arc::new)
            .collect();
        Self { session, tools }
    }

    async fn call(&self, tool: &str, arguments: &Value) -> Capture {
        let tool = Tool::clone(self.tools.iter().find(|known| known.name == tool).unwrap());
        let id = CaptureId(tool.name.as_str().into());
        let call = Call {
            id,
            tool,
            arguments: arguments.to_string().into(),
            limit: LIMIT,
        };
        self.session.call(call, CancelToken::new()).await
    }

    /// A call whose result nothing above a note is found in; gives its structured part.
    async fn clean(&self, tool: &str, arguments: Value) -> Value {
        let capture = self.call(tool, &arguments).await;
        assert_eq!(
            capture.outcome,
            Outcome::Result,
            "{tool} {arguments}: {:?}",
            capture.response
        );
        let subject = queries::subject(Arc::new(capture));
        let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
        let checker = Checker {
            settings: &settings,
            hosts: &hosts,
        };
        let server = CheckedServer {
            tools: &self.tools,
            ..CheckedServer::default()
        };
        for finding in checker
            .answer(
                &CheckedResult::new(&subject, server, &hosts),
                &Cancel::new(),
            )
            .unwrap()
        {
            let text = subject.response.content_text().unwrap_or_default();
            assert!(
                finding.severity > Severity::Warning,
                "{tool} {arguments}: {} {} at {}\n{text}",
                finding.rule.id,
                finding.message,
                finding.path()
            );
        }
        let structured = subject
            .response
            .structured()
            .unwrap()
            .raw_text()
            .into_owned();
        assert_eq!(
            subject.response.content_text().as_deref(),
            Some(&*structured),
            "the text says the same"
        );
        serde_json::from_str(&structured).unwrap()
    }

    /// The text of a call that is refused.
    async fn refused(&self, tool: &str, arguments: Value) -> String {
        let capture = self.call(tool, &arguments).await;
        assert_eq!(capture.outcome, Outcome::ToolError, "{tool} {arguments}");
        let subject = queries::subject(Arc::new(capture));
        let text = subject.response.content_text().unwrap();
        assert!(
            text.starts_with("Error: ") && text.contains("\nHint: "),
            "{text}"
        );
        text
    }

    /// Every page of a result.
    async fn pages(&self, tool: &str, arguments: Value) -> usize {
        let (mut arguments, mut pages) = (arguments, 0);
        loop {
            let page = self.clean(tool, arguments.clone()).await;
            pages += 1;
            match page.get("nextCursor") {
                // The first pages of a long result are like all others.
                Some(cursor) if pages < 4 => arguments["cursor"] = cursor.clone(),
                _ => return pages,
            }
        }
    }
}

#[tokio::test]
async fn definitions_have_no_finding_above_a_note() {
    let folder = tempfile::tempdir().unwrap();
    for args in [
        &[][..],
        &CALLS,
        &[&CALLS[..], &["--allow-any-tool"]].concat(),
    ] {
        let own = Own::start(folder.path(), args).await;
        let again: Vec<_> = own
            .session
            .list_tools(LIMIT)
            .await
            .unwrap()
            .tools
            .into_iter()
            .map(Arc::new)
            .collect();
        let (settings, hosts) = (RuleSettings::default(), Hosts::built_in());
        let server = CheckedServer {
            server: Some(own.session.server()),
            tools: &own.tools,
            again: &again,
            ..CheckedServer::default()
        };
        for finding in (Checker {
            settings: &settings,
            hosts: &hosts,
        })
        .server(&server, &Cancel::new())
        .unwrap()
        {
            assert!(
                finding.severity > Severity::Warning,
                "{args:?}: {} {}",
                finding.rule.id,
                finding.message
            );
        }
        let read_only: Vec<_> = own
            .tools
            .iter()
            .filter(|tool| tool.is_declared_read_only())
            .map(|tool| tool.name.as_str())
            .collect();
        let expected: &[&str] = match args.len() {
            0 => &["show", "hosts", "check", "diff", "compare"],
            3 => &["show", "hosts", "check", "diff", "compare", "call"],
            _ => &["show", "hosts", "check", "diff"],
        };
        assert_eq!(read_only, expected);
        own.session.close().await;
    }
}

#[tokio::test]
async fn answers_about_the_sample_and_real_servers_have_none_either() {
    let folder = results();
    let real = data("answers");
    let texts = data("text");
    let own = Own::start(
        folder.path(),
        &[
            "--folder",
            folder.path().to_str().unwrap(),
            "--folder",
            &real,
            "--folder",
            &texts,
        ],
    )
    .await;
    let mut named: Vec<Value> = ["plain", "hostile", "tickets", "users"]
        .iter()
        .map(|name| json!({"result": name}))
        .collect();
    for file in fs::read_dir(&real).unwrap() {
        named.push(json!({"result": file.unwrap().path(), "nth": 1}));
    }
    for case in fs::read_dir(&texts).unwrap().take(18) {
        let text = fs::read_dir(case.unwrap().path())
            .unwrap()
            .map(|file| file.unwrap().path());
        named.extend(
            text.filter(|file| file.extension().is_some_and(|end| end == "txt"))
                .map(|file| json!({"result": file})),
        );
    }
    assert!(named.len() > 25, "{}", named.len());
    for result in &named {
        for tool in ["show", "hosts", "check"] {
            own.pages(tool, result.clone()).await;
        }
        for view in ["content", "wire", "host:claude-code"] {
            let mut ask = result.clone();
            (ask["view"], ask["limit"]) = (view.into(), 100.into());
            if own.call("show", &ask).await.outcome == Outcome::Result {
                own.pages("show", ask).await;
            }
        }
    }
    let pretty =
        |city: &str| format!("{{\n  \"a\": {{\n    \"city\": {city},\n    \"n\": 1\n  }}\n}}\n");
    fs::write(
        folder.path().join("one.json"),
        pretty("{\n \"name\": \"Oslo\"}"),
    )
    .unwrap();
    fs::write(folder.path().join("two.json"), pretty("[\n  1,\n  \"x\"]")).unwrap();
    let told = own
        .clean("diff", json!({"a": "one.json", "b": "two.json"}))
        .await;
    assert_eq!(
        told["changes"][0]["before"],
        json!({"name": "Oslo"}),
        "of several lines, in a message of one: {told}"
    );
    assert!(
        own.pages("diff", json!({"a": "plain", "b": "hostile"}))
            .await
            > 1
    );
    own.pages("diff", json!({"a": "plain", "b": "plain"})).await;
    own.pages("diff", json!({"a": "tools.json", "b": "others.json"}))
        .await;
    assert!(own.pages("check", json!({"result": "tools.json"})).await > 1);
    own.clean(
        "compare",
        json!({"results": ["plain", "hostile", "tickets"]}),
    )
    .await;
    own.session.close().await;
}

#[tokio::test]
async fn calls_are_kept_and_can_be_named() {
    let folder = results();
    let own = Own::start(folder.path(), &CALLS).await;
    let ask = json!({"source": "demo", "tool": "strict_search_companies", "arguments": {"response_format": "markdown"}});
    let called = own.clean("call", ask.clone()).await;
    assert_eq!(
        (&called["result"], &called["outcome"], &called["view"]),
        (&json!("call:1"), &json!("result"), &json!("content"))
    );
    assert!(called["lines"].as_array().unwrap().len() > 3);
    assert!(
        called["summary"]
            .as_str()
            .unwrap()
            .contains(" hosts show (o200k_base, exact)"),
        "{called}"
    );
    let compared = own
        .clean(
            "compare",
            json!({"source": "demo", "tool": "strict_search_companies"}),
        )
        .await;
    assert_eq!(compared["varies"], "response_format");
    assert_eq!(compared["columns"][1]["result"], "call:3");
    for column in compared["columns"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|column| column.get("result").is_none())
    {
        assert_eq!(
            column["factsTold"], column["facts"],
            "what reads back to the same data loses none of it: {column}"
        );
    }
    assert_eq!(
        own.clean("diff", json!({"a": "call:1", "b": "call:3"}))
            .await["equal"],
        true,
        "each server is a new one"
    );
    let shown = own.clean("show", json!({"result": "call:1"})).await;
    assert_eq!(shown["formats"][0]["format"], "content");
    let checked = own
        .clean(
            "check",
            json!({"source": "demo", "tool": "dual_search_companies"}),
        )
        .await;
    assert!(
        checked["findings"]
            .as_array()
            .unwrap()
            .iter()
            .any(|finding| finding["rule"] == "annotations/missing"),
        "{checked}"
    );
    own.session.close().await;
}

#[tokio::test]
async fn the_figures_are_those_of_the_command_line() {
    let folder = results();
    let own = Own::start(folder.path(), &[]).await;
    let report: Value =
        serde_json::from_str(&stdout(folder.path(), &["show", "plain", "--json"])).unwrap();
    let shown = own.clean("show", json!({"result": "plain"})).await;
    let rows = report["ledger"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["available"] == true);
    let rows: Vec<_> = rows
        .map(|row| {
            (
                &row["format"],
                &row["tokens"]["o200k_base"],
                &row["facts"]["missing"],
            )
        })
        .collect();
    let formats = shown["formats"].as_array().unwrap().iter();
    assert_eq!(
        formats
            .map(|row| (&row["format"], &row["tokens"], &row["missingFacts"]))
            .collect::<Vec<_>>(),
        rows
    );
    let found = own
        .clean("check", json!({"result": "plain", "limit": 100}))
        .await;
    assert_eq!(
        found["inAll"].as_u64(),
        report["findings"]
            .as_array()
            .map(|found| found.len() as u64)
    );
    let diff = loupe(folder.path(), &["diff", "plain", "hostile", "--json"]);
    let diff: Value = serde_json::from_slice(&diff.stdout).unwrap();
    let told = own
        .clean("diff", json!({"a": "plain", "b": "hostile", "limit": 1}))
        .await;
    assert_eq!(told["changes"][0]["path"], diff["data"][0]["path"]);
    own.session.close().await;
}

#[tokio::test]
async fn what_is_refused_says_what_to_do() {
    let folder = results();
    fs::write(
        folder.path().join("two.jsonl"),
        fs::read(data("answers/bare.jsonl")).unwrap(),
    )
    .unwrap();
    let own = Own::start(folder.path(), &CALLS).await;
    let say = async |tool: &str, arguments: Value| own.refused(tool, arguments).await;
    assert!(
        say("show", json!({"result": "plains"}))
            .await
            .contains("did you mean `plain`")
    );
    for outside in ["../x", "/etc/passwd", "plain/../../x", "/etc/nothing-there"] {
        assert!(
            say("show", json!({"result": outside}))
                .await
                .contains("outside of the folders"),
            "{outside}"
        );
    }
    assert!(
        say("show", json!({"result": "."}))
            .await
            .contains("give one of them: ./hostile, ./plain")
    );
    assert!(
        say("show", json!({"result": "two.jsonl"}))
            .await
            .contains("give `nth`, 1 to")
    );
    assert!(
        say("show", json!({"result": "two.jsonl", "nth": 99}))
            .await
            .contains("give `nth`, 1 to")
    );
    assert!(
        say("show", json!({"result": "plain", "view": "markdown-tabel"}))
            .await
            .contains("did you mean `markdown-table`")
    );
    assert!(
        say("show", json!({"result": "plain", "view": "host:cursr"}))
            .await
            .contains("did you mean `cursor`")
    );
    assert!(
        say("show", json!({"result": "call:7"}))
            .await
            .contains("no call was made yet")
    );
    for cursor in ["-1", "9999999", "x\u{202e}", "18446744073709551616"] {
        assert!(
            say("hosts", json!({"result": "plain", "cursor": cursor}))
                .await
                .contains("`nextCursor`"),
            "{cursor}"
        );
    }
    for wrong in [
        json!({}),
        json!({"result": 3}),
        json!({"result": "plain", "limit": 1_000_000}),
        json!({"result": "plain", "x": 1}),
    ] {
        assert!(
            say("hosts", wrong.clone())
                .await
                .contains("the tool takes `result`"),
            "{wrong}"
        );
    }
    assert!(
        say("diff", json!({"a": "plain", "b": "tools.json"}))
            .await
            .contains("the other is not")
    );
    let call = |tool: &str| json!({"source": "demo", "tool": tool});
    assert!(
        say("call", call("strict_serch_companies"))
            .await
            .contains("did you mean `strict_search_companies`")
    );
    assert!(
        say("call", call("strict_create_company"))
            .await
            .contains("not declared read-only")
    );
    assert!(
        say("compare", call("strict_create_company"))
            .await
            .contains("not declared read-only")
    );
    assert!(
        say("call", json!({"source": "sh -c 'touch x'", "tool": "t"}))
            .await
            .contains("is not one of")
    );
    let unfit = json!({"source": "demo", "tool": "strict_search_companies", "arguments": {"pageSize": "many"}});
    assert!(
        say("call", unfit)
            .await
            .contains("nothing was called; its `arguments` are")
    );
    let many = json!({"source": "demo", "tool": "strict_search_companies", "vary": "pageSize", "values": "1,2,3,4,5,6,7,8,9"});
    assert!(say("compare", many).await.contains("give fewer `values`"));
    assert!(
        say("compare", json!({}))
            .await
            .contains("`source` and `tool`")
    );
    assert!(!folder.path().join("x").exists());
    own.session.close().await;
}

#[cfg(unix)]
#[tokio::test]
async fn links_lead_nowhere_else() {
    let (folder, other) = (results(), tempfile::tempdir().unwrap());
    fs::write(other.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(
        other.path().join("secret.txt"),
        folder.path().join("link.txt"),
    )
    .unwrap();
    fs::remove_file(folder.path().join("plain/response.json")).unwrap();
    std::os::unix::fs::symlink(
        other.path().join("secret.txt"),
        folder.path().join("plain/response.json"),
    )
    .unwrap();
    let own = Own::start(folder.path(), &[]).await;
    for name in ["link.txt", "plain"] {
        let text = own.refused("show", json!({"result": name})).await;
        assert!(text.contains("outside of the folders"), "{name}: {text}");
    }
    own.session.close().await;
}

/// Messages as they are, without a client that knows better.
struct Raw {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Raw {
    fn start(folder: &Path, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut child = Command::new(LOUPE)
            .args(["mcp", "--quiet"])
            .args(args)
            .envs(variables.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (
            child.stdin.take(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        Self { child, to, from }
    }

    fn send(&mut self, message: &str) {
        writeln!(self.to.as_mut().unwrap(), "{message}").unwrap();
    }

    fn call(&mut self, id: u32, tool: &str, arguments: &Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
                .to_string(),
        );
    }

    fn result(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        drop(self.to.take());
        self.child.wait().unwrap();
    }
}

fn text_of(result: &Value) -> &str {
    result["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn hostile_messages_break_nothing() {
    let folder = results();
    let mut raw = Raw::start(folder.path(), &[], &[]);
    raw.call(1, "no\u{202e}such\n", &json!({}));
    assert_eq!(raw.result()["error"]["code"], -32602);
    raw.send("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"show\",\"arguments\":[]}}");
    assert_eq!(raw.result()["error"]["code"], -32602);
    raw.send("nonsense");
    assert_eq!(raw.result()["error"]["code"], -32700);
    for name in [
        "\u{0}",
        "a\u{0}b",
        "\u{202e}txt.\u{1b}[2J",
        "call:",
        "call:-1",
        "../..",
        "//",
        "~",
        "$(touch x)",
        &"x/".repeat(5_000),
    ] {
        raw.call(3, "show", &json!({"result": name}));
        let result = raw.result();
        assert_eq!(result["result"]["isError"], true, "{name:?}: {result}");
        assert!(
            !text_of(&result).contains(['\u{0}', '\u{1b}', '\u{202e}']),
            "{result}"
        );
    }
    assert!(!folder.path().join("x").exists());
    raw.call(4, "show", &json!({"result": "plain"}));
    assert!(text_of(&raw.result()).contains("\"formats\""), "it goes on");
}

/// A server whose one tool says what it was given, and waits for ever where it is told to.
#[cfg(unix)]
fn waiting(folder: &Path) -> String {
    let script = r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}\n' "$id" ;;
    *wait*) touch began; sleep 600 ;;
    *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"key %s"}]}}\n' "$id" "$KEY" ;;
  esac
done"#;
    fs::write(folder.join("w.sh"), script).unwrap();
    format!(
        "w=--env KEY=${{LOUPE_TEST_KEY}} --protocol 2025-11-25 --cwd {} -- sh w.sh",
        folder.display()
    )
}

#[cfg(unix)]
#[test]
fn secrets_are_hidden_time_is_limited_and_a_cancelled_call_is_not_answered() {
    let folder = tempfile::tempdir().unwrap();
    let source = waiting(folder.path());
    let variables = [("LOUPE_TEST_KEY", "hunter2-hunter2")];
    let mut raw = Raw::start(
        folder.path(),
        &["--timeout", "4", "--allow-calls", "--allow-source", &source],
        &variables,
    );
    raw.call(1, "call", &json!({"source": "w", "tool": "t"}));
    let result = raw.result().to_string();
    assert!(
        result.contains("key [hidden:") && !result.contains("hunter2"),
        "{result}"
    );

    let began = Instant::now();
    raw.call(
        2,
        "call",
        &json!({"source": "w", "tool": "t", "arguments": {"wait": 1}}),
    );
    // What takes long keeps nothing else from being answered.
    raw.send(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#);
    assert_eq!(raw.result()["id"], 3);
    let late = raw.result();
    assert!(began.elapsed() >= Duration::from_secs(3), "{late}");
    assert_eq!(
        (&late["id"], &late["result"]["isError"]),
        (&json!(2), &json!(true)),
        "{late}"
    );
    assert!(text_of(&late).contains("`--timeout SECONDS`"), "{late}");

    fs::remove_file(folder.path().join("began")).unwrap();
    raw.call(
        4,
        "call",
        &json!({"source": "w", "tool": "t", "arguments": {"wait": 1}}),
    );
    let end = Instant::now() + LIMIT;
    while !folder.path().join("began").exists() {
        assert!(Instant::now() < end, "the call does not reach the server");
        std::thread::sleep(Duration::from_millis(20));
    }
    raw.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}"#);
    raw.send(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#);
    assert_eq!(raw.result()["id"], 5);
    drop(raw.to.take());
    let mut rest = String::new();
    raw.from.read_line(&mut rest).unwrap();
    assert_eq!(rest, "", "a cancelled request is not answered");
}

/// A client that goes away in the middle of a call takes it along, and the server that was called.
#[cfg(unix)]
#[test]
fn the_end_of_the_input_ends_what_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let source = waiting(folder.path());
    let variables = [("LOUPE_TEST_KEY", "hunter2-hunter2")];
    let mut raw = Raw::start(
        folder.path(),
        &[
            "--timeout",
            "60",
            "--allow-calls",
            "--allow-source",
            &source,
        ],
        &variables,
    );
    raw.call(
        1,
        "call",
        &json!({"source": "w", "tool": "t", "arguments": {"wait": 1}}),
    );
    let end = Instant::now() + LIMIT;
    while !folder.path().join("began").exists() {
        assert!(Instant::now() < end, "the call does not reach the server");
        std::thread::sleep(Duration::from_millis(20));
    }
    let began = Instant::now();
    drop(raw.to.take());
    raw.child.wait().unwrap();
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn the_command_line_drives_it() {
    let folder = results();
    let own = [&["--quiet", "--", LOUPE, "mcp", "--quiet"], &CALLS[..]].concat();
    let with = |args: &[&str]| stdout(folder.path(), &[args, &own].concat());
    assert!(with(&["tools"]).contains("What each host's model is shown"));
    let report: Value = serde_json::from_str(&with(&[
        "call",
        "hosts",
        "--args",
        r#"{"result":"plain"}"#,
        "--json",
    ]))
    .unwrap();
    assert_eq!(report["capture"]["outcome"], "result");
    assert_eq!(report["capture"]["data"]["from"], "structuredContent");
    with(&[
        "check",
        "--fail-on",
        "warning",
        "--call",
        "show",
        "--args",
        r#"{"result":"plain"}"#,
    ]);
    let compared = with(&[
        "compare",
        "hosts",
        "--args",
        r#"{"result":"plain"}"#,
        "--vary",
        "limit=1,3",
    ]);
    assert!(
        compared.contains("limit · 2 calls · mcp-loupe"),
        "{compared}"
    );
}

#[test]
fn options_say_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let refused = |args: &[&str]| {
        let output = loupe(folder.path(), &[&["mcp"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(refused(&["--allow-calls"]).contains("--allow-source"));
    assert!(refused(&["--allow-source", "a=x"]).contains("--allow-calls"));
    assert!(refused(&["--allow-any-tool"]).contains("--allow-calls"));
    assert!(refused(&["--allow-calls", "--allow-source", "x"]).contains("NAME=SOURCE"));
    assert!(
        refused(&["--allow-calls", "--allow-source", "a=--nonsense"]).contains("--allow-source a")
    );
    assert!(refused(&["--folder", "nowhere"]).contains("cannot open the folder"));
    #[cfg(unix)]
    {
        let root = loupe(Path::new("/"), &["mcp"]);
        assert!(String::from_utf8_lossy(&root.stderr).contains("`--folder DIR`"));
    }
}

/// The blocks of a language in a page.
fn blocks<'p>(page: &'p str, language: &str) -> Vec<&'p str> {
    let fences = page.split("```").skip(1).step_by(2);
    fences
        .filter_map(|block| block.strip_prefix(language)?.strip_prefix('\n'))
        .collect()
}

#[test]
fn the_lines_for_clients_are_read_and_taken() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md")).unwrap();
    let files = [("json", "mcp.json"), ("toml", "config.toml")];
    let texts: Vec<_> = files
        .iter()
        .flat_map(|(language, file)| {
            blocks(&page, language)
                .into_iter()
                .map(move |text| (*file, text))
        })
        .collect();
    assert!(texts.len() >= 8, "{}", texts.len());
    for (file, text) in texts {
        let import = loupe_core::source::import::read(file, text).unwrap();
        let ServerAddress::Command { program, args, .. } =
            &import.server(Some("loupe")).unwrap().reach
        else {
            panic!("{text}")
        };
        assert_eq!(program, "mcp-loupe");
        // What is not taken is refused before help is given.
        let args: Vec<_> = args.iter().map(String::as_str).chain(["--help"]).collect();
        stdout(Path::new("."), &args);
    }
}
