//! `sessions ID --transcript`: recorded sessions of real hosts against the transcripts that these kept. The data is cut
//! from real runs; only paths and names of the machine were changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn data(host: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/loupe-tap/tests/data");
    folder.join("transcripts").join(host)
}

fn transcript(host: &str) -> PathBuf {
    let lines = data(host).join("transcript.jsonl");
    if lines.exists() {
        lines
    } else {
        data(host).join("transcript.json")
    }
}

fn loupe(arguments: &[&str], own: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(arguments)
        .arg("--data-dir")
        .arg(own)
        .env("HOME", own)
        .env_remove("CLAUDE_CONFIG_DIR")
        .output()
        .unwrap()
}

fn compare(host: &str, transcript: &Path, own: &Path) -> (Value, Option<i32>) {
    let session = data(host).join("session");
    let (session, transcript) = (session.to_str().unwrap(), transcript.to_str().unwrap());
    let output = loupe(
        &["sessions", session, "--transcript", transcript, "--json"],
        own,
    );
    let read = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (read, output.status.code())
}

#[test]
fn six_hosts_gave_what_their_rules_say() {
    let own = tempfile::tempdir().unwrap();
    for (host, calls, version) in [
        ("claude-code", 11, Some("2.1.332")),
        ("codex", 12, Some("0.171.0")),
        ("gemini-cli", 11, Some("0.61.0")),
        ("opencode", 11, Some("1.18.33")),
        ("qwen-code", 11, Some("0.24.4")),
        ("continue-cli", 11, None),
    ] {
        let (read, status) = compare(host, &transcript(host), own.path());
        let odd: Vec<_> = read["calls"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|call| call["outcome"] != "same")
            .collect();
        assert!(odd.is_empty(), "{host}: {odd:#?}");
        assert_eq!(
            (&read["same"], &read["host"], status),
            (&calls.into(), &host.into(), Some(0))
        );
        assert_eq!(read["confirmed"]["version"].as_str(), version, "{host}");
        let listed = loupe(&["hosts", host, "--json"], own.path());
        let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
        assert_eq!(listed["hosts"][0]["confirmed"][0]["calls"], calls, "{host}");
    }
    let page = loupe(&["hosts", "claude-code"], own.path());
    let page = String::from_utf8(page.stdout).unwrap();
    assert!(page.contains("confirmed 11 of 11, "), "{page}");
}

#[test]
fn a_difference_is_shown_and_fails() {
    let own = tempfile::tempdir().unwrap();
    let changed = own.path().join("changed.jsonl");
    let text = fs::read_to_string(transcript("claude-code")).unwrap();
    fs::write(&changed, text.replace("Hello Ada, ", "Hello Bob, ")).unwrap();
    let (read, status) = compare("claude-code", &changed, own.path());
    assert_eq!(
        (&read["differs"], &read["same"], status),
        (&2.into(), &9.into(), Some(1))
    );
    assert!(read["confirmed"].is_null() && read["change"].is_null());
    assert_eq!(read["calls"][0]["at"], serde_json::json!([6, 6]));
    assert!(!own.path().join("confirmed.json").exists());

    let session = data("claude-code").join("session");
    let page = loupe(
        &[
            "sessions",
            session.to_str().unwrap(),
            "--transcript",
            changed.to_str().unwrap(),
        ],
        own.path(),
    );
    let shown = String::from_utf8(page.stdout).unwrap();
    assert!(
        shown.contains("Call 1, text_only: first difference at byte 6 of 28"),
        "{shown}"
    );
    assert!(shown.contains(r#"rule        "Hello Ada, "#), "{shown}");
    assert!(shown.contains(r#"transcript  "Hello Bob, "#), "{shown}");
}

#[test]
fn the_hosts_own_folder_is_read_and_named() {
    let own = tempfile::tempdir().unwrap();
    let session = data("claude-code").join("session");
    let arguments = ["sessions", session.to_str().unwrap(), "--transcript"];
    let missing = loupe(&arguments, own.path());
    assert!(!missing.status.success(), "{missing:?}");
    let project = own.path().join(".claude/projects/-home-ada-work");
    fs::create_dir_all(&project).unwrap();
    fs::copy(transcript("claude-code"), project.join("one.jsonl")).unwrap();
    let read = loupe(&arguments, own.path());
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(
        said.contains("reads ") && said.contains(".claude/projects"),
        "{said}"
    );
    let page = String::from_utf8_lossy(&read.stdout);
    assert!(page.contains("confirmed 11 of 11"), "{page}");

    // A host that keeps a database says how to get a file.
    let session = data("opencode").join("session");
    let read = loupe(
        &["sessions", session.to_str().unwrap(), "--transcript"],
        own.path(),
    );
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(said.contains("opencode export SESSION > FILE"), "{said}");
}
