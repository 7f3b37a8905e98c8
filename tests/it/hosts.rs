//! Hosts on the command line: the list, the views, the array in reports, a user's own file, calling as a host.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");

/// Runs the program with a settings folder of its own, so that no file of the person who tests is read.
fn run(args: &[&str], stdin: &[u8]) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut child = Command::new(LOUPE)
        .args(args)
        .env("XDG_CONFIG_HOME", home.path())
        .env("HOME", home.path())
        .env("APPDATA", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no failure of the test.
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), stdin).ok();
    child.wait_with_output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[track_caller]
fn text(args: &[&str], stdin: &[u8]) -> String {
    let output = run(args, stdin);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        words(&output.stderr)
    );
    words(&output.stdout)
}

#[track_caller]
fn json(args: &[&str], stdin: &[u8]) -> Value {
    serde_json::from_str(&text(args, stdin)).unwrap()
}

const RESULT: &[u8] =
    br#"{"content":[{"type":"text","text":"Ada, 36"}],"structuredContent":{"name":"Ada","age":36.0,"city":"London"}}"#;

/// How many hosts come with Loupe.
fn known() -> usize {
    loupe_core::host::Hosts::built_in().len()
}

#[test]
fn one_host_is_told_in_full() {
    let page = text(&["hosts", "codex"], b"");
    assert!(page.starts_with("codex · "), "{page}");
    for said in [
        "limit 48,000 bytes",
        "input schema kept (type, description, enum,",
        "observed: ",
    ] {
        assert!(page.contains(said), "{said} is not in {page}");
    }
    let list = json(&["hosts", "codex", "--json"], b"");
    assert_eq!(
        (&list["schema"], &list["hosts"][0]["id"]),
        (&"loupe.hosts-list/1".into(), &"codex".into())
    );
    let unknown = run(&["hosts", "codez"], b"");
    assert_eq!(
        words(&unknown.stderr),
        "error: unknown host `codez` (hosts)\nhint: did you mean `codex`\n"
    );
}

#[test]
fn hosts_are_listed() {
    let page = text(&["hosts"], b"");
    // A head, and a line for each.
    assert_eq!(page.lines().count(), 1 + known(), "{page}");
    assert!(page.lines().next().unwrap().starts_with("HOST "), "{page}");
    let list = json(&["hosts", "--json"], b"");
    assert_eq!(list["schema"], "loupe.hosts-list/1");
    assert_eq!(list["hosts"].as_array().unwrap().len(), known());
    let codex = list["hosts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|host| host["id"] == "codex")
        .unwrap();
    assert_eq!(
        (&codex["evidence"], &codex["limits"][0]["max"]),
        (&"observed".into(), &12_000.into())
    );
    assert_eq!(list["problems"], serde_json::json!([]));
}

#[test]
fn a_hosts_text_is_printed_exactly() {
    assert_eq!(
        text(&["show", "-", "--view", "host:zed"], RESULT),
        "Ada, 36"
    );
    assert_eq!(
        text(&["show", "-", "--view", "host:claude-code"], RESULT),
        r#"{"name":"Ada","age":36,"city":"London"}"#
    );
    let codex = text(&["show", "-", "--view", "host:codex"], RESULT);
    assert_eq!(
        codex,
        "Wall time: 0.0000 seconds\nOutput:\n{\"name\":\"Ada\",\"age\":36.0,\"city\":\"London\"}"
    );
    let not_known = run(&["show", "-", "--view", "host:llamaindex"], RESULT);
    assert_eq!(
        (not_known.status.code(), not_known.stdout.is_empty()),
        (Some(2), true)
    );
    assert!(
        words(&not_known.stderr).starts_with("error: the host shows its language's own printing"),
        "{not_known:?}"
    );
    let unknown = run(&["show", "-", "--view", "host:codez"], RESULT);
    assert_eq!(
        words(&unknown.stderr),
        "error: unknown host `codez` (--view)\nhint: did you mean `codex`\n"
    );
}

#[test]
fn reports_hold_every_host() {
    let report = json(&["show", "-", "--json"], RESULT);
    let hosts = report["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), known());
    assert_eq!(
        hosts[0]["media"],
        serde_json::json!({"shown": 0, "asText": 0, "dropped": 0})
    );
    let host = |id: &str| hosts.iter().find(|host| host["id"] == id).unwrap();
    for id in ["codex", "zed", "claude-code", "cline", "copilot-cli"] {
        let printed = text(&["show", "-", "--view", &format!("host:{id}")], RESULT);
        assert_eq!(host(id)["bytes"], printed.len(), "{id}");
    }
    assert_eq!(
        host("zed")["facts"],
        serde_json::json!({"total": 3, "proved": 0, "found": 2, "missing": 1, "differs": 0})
    );
    assert_eq!(
        (&host("zed")["limit"], &host("zed")["truncated"]),
        (&"none".into(), &false.into())
    );
    assert_eq!(
        (
            &host("vscode-copilot")["limit"],
            &host("vscode-copilot")["truncated"]
        ),
        (&"unknown".into(), &Value::Null)
    );
    assert_eq!(
        (
            &host("llamaindex")["computable"],
            &host("llamaindex")["tokens"]
        ),
        (&false.into(), &Value::Null)
    );
}

#[test]
fn the_hosts_of_an_answer_are_compared() {
    let page = text(&["show", "-", "--view", "hosts"], RESULT);
    let headline = format!(
        " of {} hosts lose facts of it. They read the text alone, which misses 1 of 3 facts. Of ",
        known()
    );
    assert!(page.lines().next().unwrap().contains(&headline), "{page}");
    assert!(page.contains("loses /city (1 of 1)"), "{page}");
    let others = text(&["show", "-", "--view", "placements"], RESULT);
    assert!(others.contains("structuredContent alone"), "{others}");
    let none = run(
        &["show", "-", "--view", "placements"],
        br#"{"content":[{"type":"text","text":"hi"}]}"#,
    );
    assert_eq!(none.status.code(), Some(2));
    let nothing = run(
        &["show", "-", "--view", "hosts"],
        br#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
    );
    assert_eq!(nothing.status.code(), Some(5));
}

const OWN: &str = r#"
schema = "loupe.hosts/1"
[[host]]
id = "mine"
name = "Mine"
kind = "cli"
version = "3"
checked = "2026-01-31"
evidence = "documented"
select = "content"
json = "js-compact"
delivery = "string"
[host.block]
text = ["<{text}>"]
[host.client]
name = "mine-client"
version = "3.1"
capabilities = '{"roots":{"listChanged":true}}'
source = "a test"
"#;

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hosts.toml"), text).unwrap();
    folder
}

#[test]
fn a_file_of_ones_own_adds_hosts() {
    let own = folder(OWN);
    let dir = own.path().to_str().unwrap();
    assert_eq!(
        text(
            &["show", "-", "--data-dir", dir, "--view", "host:mine"],
            RESULT
        ),
        "<Ada, 36>"
    );
    let list = json(&["hosts", "--json", "--data-dir", dir], b"");
    assert_eq!(
        (&list["hosts"][0]["id"], &list["hosts"][0]["own"]),
        (&"mine".into(), &true.into())
    );
    let bad = folder(&OWN.replace("\"string\"", "\"parcels\""));
    let output = run(&["hosts", "--data-dir", bad.path().to_str().unwrap()], b"");
    assert!(output.status.success());
    assert_eq!(
        words(&output.stdout).lines().count(),
        42,
        "the built-in hosts stay"
    );
    let place = bad.path().join("hosts.toml");
    let expected = format!(
        "warning: the hosts file is not used: unknown variant `parcels`, expected `string` or `parts` ({}, line 12, `delivery`)\n",
        place.display()
    );
    assert!(
        words(&output.stderr).starts_with(&expected),
        "{}",
        words(&output.stderr)
    );
    let dir = bad.path().to_str().unwrap();
    let output = run(
        &[
            "call",
            "dual_search_companies",
            "--sample",
            "--data-dir",
            dir,
            "--as-host",
            "cline",
            "--view",
            "hosts",
        ],
        b"",
    );
    assert_eq!(
        words(&output.stderr)
            .matches("warning: the hosts file")
            .count(),
        1,
        "{}",
        words(&output.stderr)
    );
}

fn transcript(path: &Path) -> Vec<Value> {
    let lines = fs::read_to_string(path).unwrap();
    let message = |line: &str| serde_json::from_str::<Value>(line).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(message(line)["text"].as_str().unwrap()).unwrap())
        .collect()
}

fn built_in_hosts() -> Vec<toml::Value> {
    let file: toml::Value =
        toml::from_str(include_str!("../../crates/loupe-core/src/host/hosts.toml")).unwrap();
    file["host"].as_array().unwrap().clone()
}

#[test]
fn calls_are_made_as_a_host() {
    let own = folder(OWN);
    let dir = own.path().to_str().unwrap();
    let file = own.path().join("messages.jsonl");
    let call = [
        "call",
        "dual_search_companies",
        "--sample",
        "--data-dir",
        dir,
        "--as-host",
    ];
    let page = text(
        &[&call[..], &["mine", "--transcript", file.to_str().unwrap()]].concat(),
        b"",
    );
    assert!(
        page.contains("note called as Mine: client mine-client 3.1, capabilities {\"roots\":{\"listChanged\":true}}"),
        "{page}"
    );
    let hello = &transcript(&file)[0]["params"];
    assert_eq!(
        hello["clientInfo"],
        serde_json::json!({"name": "mine-client", "version": "3.1"})
    );
    assert_eq!(
        hello["capabilities"],
        serde_json::json!({"roots": {"listChanged": true}})
    );
    let called_as = |host: &str| {
        fs::remove_file(&file).unwrap();
        text(
            &[&call[..6], &[host, "--transcript", file.to_str().unwrap()]].concat(),
            b"",
        )
    };
    assert!(called_as("cline").contains(
        "called as Cline: client @cline/core 0.0.0, capabilities {}, protocol 2024-11-05"
    ));
    assert_eq!(
        transcript(&file)[0]["params"]["protocolVersion"],
        "2024-11-05"
    );
    // Every member of what a host says, those that the SDK does not know as well.
    for host in built_in_hosts() {
        let Some(client) = host.get("client") else {
            continue;
        };
        called_as(host["id"].as_str().unwrap());
        let hello = &transcript(&file)[0]["params"];
        let capabilities: Value =
            serde_json::from_str(client["capabilities"].as_str().unwrap()).unwrap();
        assert_eq!(hello["capabilities"], capabilities, "{client}");
        for (sent, named) in [
            ("name", "name"),
            ("version", "version"),
            ("title", "title"),
            ("description", "description"),
            ("websiteUrl", "website_url"),
        ] {
            assert_eq!(
                hello["clientInfo"].get(sent).and_then(Value::as_str),
                client.get(named).and_then(toml::Value::as_str)
            );
        }
    }
    let unknown = run(
        &[
            "call",
            "dual_search_companies",
            "--sample",
            "--as-host",
            "cursor",
        ],
        b"",
    );
    assert_eq!(unknown.status.code(), Some(2));
    let said = words(&unknown.stderr);
    assert!(
        said.starts_with("error: how Cursor names itself to a server is not known (--as-host)\n"),
        "{said}"
    );
    assert!(
        said.contains(concat!(
            "(client loupe ",
            env!("CARGO_PKG_VERSION"),
            ", capabilities {})"
        )),
        "{said}"
    );
}

/// What a known host would give its model for the probe's tools, as a person pastes it, in a session with a handshake.
fn pasted(host: &str, left_out: &[&str]) -> String {
    pasted_of(&loupe_sample::sample::Probe::answers()[0], host, left_out)
}

fn pasted_of(session: &loupe_core::host::probe::Answers, host: &str, left_out: &[&str]) -> String {
    let mut out = String::new();
    for (tool, response) in session {
        let shown = run(&["show", "-", "--view", &format!("host:{host}")], response);
        if !left_out.contains(tool) && shown.status.code() != Some(2) {
            out += &format!("=== {tool}\n{}\n", words(&shown.stdout));
        }
    }
    out
}

#[test]
fn a_probe_tells_the_rules_of_a_host() {
    let page = text(
        &["hosts", "--from-probe", "-"],
        pasted("codex", &[]).as_bytes(),
    );
    assert!(
        page.contains("exactly what the rules of OpenAI Codex CLI"),
        "{page}"
    );
    assert!(page.contains("# Confidence: high."), "{page}");
    let found = json(
        &["hosts", "--from-probe", "-", "--json"],
        pasted("opencode", &["probe_long_text"]).as_bytes(),
    );
    assert_eq!(
        (&found["schema"], &found["confidence"]),
        (&"loupe.probe/1".into(), &"high".into()),
        "{found}"
    );
    assert!(
        found["fits"]
            .as_array()
            .unwrap()
            .contains(&"opencode".into()),
        "{found}"
    );
    assert_eq!(found["untried"], serde_json::json!(["probe_long_text"]));
    let refused = run(&["hosts", "--from-probe", "-"], b"=== probe_two\nx");
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        words(&refused.stderr)
            .contains("the probe has no tool `probe_two` (standard input, line 1)")
    );
}

/// One that shows the result as it came is known by it in a session of either era, and so is one whose view of the
/// result's `_meta` is not known.
#[test]
fn a_probe_tells_hosts_apart_in_either_era() {
    for session in loupe_sample::sample::Probe::answers() {
        for host in ["cline", "kimi-code"] {
            // Where that is cut, the tool's name stands in it, which a bare answer does not have.
            let text = pasted_of(&session, host, &["probe_long_text"]);
            let found = json(&["hosts", "--from-probe", "-", "--json"], text.as_bytes());
            assert!(
                found["fits"].as_array().unwrap().contains(&host.into()),
                "{found}\n{text}"
            );
        }
    }
}

#[test]
fn the_entry_of_an_unknown_host_is_a_hosts_file() {
    // A host of nobody: its own words around every text, JSON as Python writes it, a cut of its own.
    let long = loupe_sample::sample::Probe::answers()
        .remove(0)
        .into_iter()
        .find(|(tool, _)| *tool == "probe_long_text")
        .unwrap()
        .1;
    let long: Value = serde_json::from_slice(&long).unwrap();
    let long = long["result"]["content"][0]["text"].as_str().unwrap();
    let pasted = format!(
        "=== probe_one_text\n<<LoupeProbe01a>>\n=== probe_several_texts\n<<LoupeProbe02a LoupeProbe02b LoupeProbe02c>>\n\
         === probe_structured_only\n<<{{\"marker\": \"LoupeProbe03a\", \"count\": 2, \"ratio\": 1.0, \"names\": [\"\\u00e9\", \"<b>\"], \"none\": null}}>>\n\
         === probe_text_and_other_structured\n<<LoupeProbe05a>>\n=== probe_link\n<<LoupeProbe09a see probe://link/LoupeProbe09b LoupeProbe09c>>\n\
         === probe_long_text\n<<{}[rest gone]>>\n=== probe_nothing\nnothing came\n",
        &long[..5_000]
    );
    let page = text(&["hosts", "--from-probe", "-"], pasted.as_bytes());
    assert!(page.contains("No known host gives"), "{page}");
    assert!(page.contains("the first 5,000 were left"), "{page}");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("hosts.toml"), &page).unwrap();
    let list = json(
        &[
            "hosts",
            "--json",
            "--data-dir",
            folder.path().to_str().unwrap(),
        ],
        b"",
    );
    assert_eq!(list["problems"], serde_json::json!([]), "{page}");
    assert_eq!(
        (&list["hosts"][0]["id"], &list["hosts"][0]["own"]),
        (&"new-host".into(), &true.into())
    );
    println!("{page}");
}
