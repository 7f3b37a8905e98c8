//! Fixtures and the history on the command line: what is saved verifies, holds no secret, and is there whole or not at all.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use mcp_loupe::store::{self, History};
use serde_json::Value;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const CANARY: &str = "CANARY-7f3a9c21-do-not-write";
const TOOL: &str = "dial_get_user_by_id";
const ARGS: &str = r#"{"user_id":"5123456789012345"}"#;

fn run(args: &[&str]) -> Output {
    Command::new(LOUPE).args(args).output().unwrap()
}

#[track_caller]
fn said(args: &[&str], status: i32) -> String {
    let output = run(args);
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{text}");
    text
}

#[track_caller]
fn json(args: &[&str], status: i32) -> Value {
    let output = run(args);
    assert_eq!(
        output.status.code(),
        Some(status),
        "{args:?}\n{}",
        String::from_utf8_lossy(&output.stdout)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What every file below a folder holds.
fn everything(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        all.extend(entry.file_name().to_string_lossy().bytes());
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.extend(fs::read(path).unwrap());
        }
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

#[test]
fn what_is_saved_verifies_until_the_answer_is_another() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder
        .path()
        .join("fixtures/companies")
        .display()
        .to_string();
    let all = folder.path().join("fixtures").display().to_string();
    let tool = "dual_search_companies";
    let budgets = [
        "--budget",
        "json=100000",
        "--budget",
        "host:claude-code=100000",
        "--needed",
        "/items/*/companyName",
    ];
    let saved = said(
        &[&["fixture", "save", &dir, tool, "--sample"][..], &budgets].concat(),
        0,
    );
    assert!(
        saved.contains("byte for byte as sent and received"),
        "{saved}"
    );
    let refused = said(&["fixture", "save", &dir, tool, "--sample"], 2);
    assert!(
        refused.contains("the folder already exists") && refused.contains("--force"),
        "{refused}"
    );
    let passed = said(&["fixture", "verify", &all, "--sample"], 0);
    assert!(
        passed.contains("✓ data: the data is as expected")
            && passed.ends_with("1 of 1 fixtures passed\n"),
        "{passed}"
    );
    assert!(!passed.contains("findings"), "nobody asked: {passed}");
    let cost = passed
        .lines()
        .find(|line| line.starts_with("  as sent: "))
        .unwrap();
    assert!(
        cost.contains(" tokens as before · ") && cost.ends_with(" ms"),
        "{cost}"
    );
    assert!(
        passed.contains("\nanswers as sent, o200k_base: "),
        "{passed}"
    );

    // Another answer of the same tool.
    let junit = folder.path().join("junit.xml").display().to_string();
    let other = "--sample=all,text=v1";
    let failed = said(
        &[
            "fixture", "verify", &all, other, "--junit", &junit, "--github",
        ],
        1,
    );
    assert!(
        failed.contains("✗ text /content/0/text, line ") && failed.contains("::error file="),
        "{failed}"
    );
    assert!(fs::read_to_string(&junit).unwrap().contains("<failure"));
    let document = json(&["fixture", "verify", &all, other, "--json"], 1);
    assert_eq!(
        (&document["schema"], &document["passed"]),
        (&"loupe.verify/1".into(), &false.into())
    );
    let checks = document["fixtures"][0]["checks"].as_array().unwrap();
    assert!(
        checks
            .iter()
            .any(|check| check["check"] == "data" && check["passed"] == true)
    );
    assert!(checks.iter().all(|check| check["check"] != "findings"));
    let (totals, only) = (&document["totals"], &document["fixtures"][0]);
    assert_eq!(
        (&totals["fixtures"], &totals["failed"], &totals["tokens"]),
        (&1.into(), &1.into(), &only["tokens"])
    );
    assert!(
        totals["tokens"]["now"].as_u64() != totals["tokens"]["before"].as_u64()
            && totals["elapsedMs"].is_number()
    );

    // Accepted, it is what is expected; what a person wrote beside it stays.
    let expect = folder.path().join("fixtures/companies/expect.toml");
    let with_comment = format!("# by hand\n{}", fs::read_to_string(&expect).unwrap());
    fs::write(&expect, &with_comment).unwrap();
    let updated = said(&["fixture", "verify", &all, other, "--update"], 0);
    assert!(
        updated.contains("✗ text") && updated.contains("1 updated"),
        "{updated}"
    );
    said(&["fixture", "verify", &all, other], 0);
    assert_eq!(fs::read_to_string(&expect).unwrap(), with_comment);

    // Rules speak where the fixture asks them, and not of what it allows.
    let asked = |allow: &str| {
        fs::write(
            &expect,
            format!("{with_comment}[findings]\nfail_on = \"warning\"\n{allow}"),
        )
        .unwrap()
    };
    asked("");
    let found = said(&["fixture", "verify", &all, "--offline"], 1);
    assert!(
        found.contains("✗ findings") && found.contains("warning parity/has-more-disagrees"),
        "{found}"
    );
    let rules = [
        "parity/has-more-disagrees",
        "parity/value-missing-in-text",
        "parity/value-missing-in-structured",
        "parity/counts-disagree",
        "shape/time-no-zone",
        "size/host-limit",
        "size/no-guidance",
        "size/guidance-unknown-param",
    ];
    asked(&format!(
        "allow = [{}]\n",
        rules
            .map(|rule| format!("{{ rule = \"{rule}\", reason = \"known\" }}"))
            .join(", ")
    ));
    assert!(
        said(&["fixture", "verify", &all, "--offline"], 0)
            .contains("✓ findings: none of severity warning or graver")
    );
    fs::write(&expect, &with_comment).unwrap();

    // Offline, the recorded answer keeps to its budgets, or not.
    let saved = json(&["fixture", "verify", &all, "--offline", "--json"], 0);
    assert!(
        saved["totals"]["tokens"]["before"].is_number()
            && saved["totals"]["tokens"]["now"].is_null()
    );
    fs::write(&expect, with_comment.replace("json = 100000", "json = 10")).unwrap();
    let over = said(&["fixture", "verify", &all, "--offline"], 1);
    assert!(over.contains("✗ budget json: JSON, compact: "), "{over}");
    fs::write(&expect, "schema = \"loupe.expect/1\"\nmatch = \"exact\"\n").unwrap();
    let wrong = said(&["fixture", "verify", &all, "--offline"], 1);
    assert!(
        wrong.contains("unknown match `exact`") && wrong.contains("line 2"),
        "{wrong}"
    );
    assert!(said(&["fixture", "verify", &all], 2).contains("no SOURCE is given"));
}

#[test]
fn fixtures_are_listed_with_the_damaged_ones() {
    let folder = tempfile::tempdir().unwrap();
    let dir = |name: &str| folder.path().join(name).display().to_string();
    for name in ["a", "b", "c"] {
        said(
            &[
                "fixture",
                "save",
                &dir(name),
                TOOL,
                "--args",
                ARGS,
                "--send-anyway",
                "--sample",
                "--quiet",
            ],
            0,
        );
    }
    fs::write(folder.path().join("a/response.json"), "{}").unwrap();
    let manifest = folder.path().join("b/capture.json");
    fs::write(
        &manifest,
        fs::read_to_string(&manifest)
            .unwrap()
            .replace("loupe.capture/1", "loupe.capture/9"),
    )
    .unwrap();
    let document = json(&["fixture", "list", &dir(""), "--json"], 0);
    let listed: Vec<_> = document["fixtures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["name"].as_str().unwrap(),
                one["status"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(listed, [("a", "damaged"), ("b", "newer"), ("c", "ok")]);
    let verified = said(&["fixture", "verify", &dir(""), "--sample"], 1);
    assert!(verified.contains("1 of 3 fixtures passed"), "{verified}");
}

#[test]
fn a_preview_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("result.json");
    fs::write(&from, r#"{"content":[{"type":"text","text":"ann@example.org"}],"structuredContent":{"password":"correct horse 9","at":"2025-01-17"}}"#).unwrap();
    let dir = folder.path().join("f").display().to_string();
    let from = from.display().to_string();
    let page = said(
        &[
            "fixture",
            "save",
            &dir,
            "--from",
            &from,
            "--normalise",
            "dates",
            "--preview",
        ],
        0,
    );
    for part in [
        "expect.toml",
        "response.json",
        "/result/structuredContent/password",
        "email",
        "/structuredContent/at",
        "1 value hidden",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(!page.contains("correct horse") && !Path::new(&dir).exists());
    said(
        &[
            "fixture",
            "save",
            &dir,
            "--from",
            &from,
            "--normalise",
            "dates",
            "--hide",
            "email",
        ],
        0,
    );
    let written = everything(Path::new(&dir));
    assert!(
        !holds(&written, "correct horse")
            && !holds(&written, "ann@")
            && holds(&written, "2000-01-01")
    );
    said(
        &[
            "fixture",
            "save",
            &dir,
            "--from",
            &from,
            "--no-redact",
            "--force",
        ],
        0,
    );
    assert!(holds(&everything(Path::new(&dir)), "correct horse 9"));
}

/// A server that says what it was given: a variable and the arguments, as they are and escaped.
#[cfg(unix)]
const ECHO: &str = r#"while IFS= read -r line; do
id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"},"instructions":"use %s"}}\n' "$id" "$KEY";;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"password":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}}\n' "$id";;
*'"tools/call"'*) echo "log $KEY" >&2; printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"key %s said"}],"structuredContent":{"key":"%s","password":"%s","token":"%s-%s","n":1}}}\n' "$id" "$KEY" "$KEY" "$SECOND" "$id" "$SECOND";;
*'"id"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}\n' "$id";;
esac; done"#;

#[cfg(unix)]
#[test]
fn secrets_are_nowhere_and_a_fixture_verifies_without_them() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("fixtures/echo").display().to_string();
    let data = folder.path().join("data").display().to_string();
    let keys = |key: &str, second: &str| [format!("KEY={key}"), format!("SECOND={second}")];
    let [key, second] = keys(CANARY, "SECOND-CANARY-55d1");
    let source = |key: &'static str, second: &'static str| {
        vec!["--env", key, "--env", second, "--", "sh", "-c", ECHO]
    };
    let (key, second): (&'static str, &'static str) = (key.leak(), second.leak());
    let arguments = format!(r#"{{"password":"argument-CANARY-1","say":"{CANARY}"}}"#);
    said(
        &[
            vec!["fixture", "save", &dir, "echo", "--args", &arguments],
            source(key, second),
        ]
        .concat(),
        0,
    );
    said(
        &[
            vec![
                "call",
                "echo",
                "--args",
                &arguments,
                "--keep",
                "--data-dir",
                &data,
            ],
            source(key, second),
        ]
        .concat(),
        0,
    );
    let written = everything(folder.path());
    for secret in [CANARY, "SECOND-CANARY-55d1", "argument-CANARY-1"] {
        assert!(!holds(&written, secret), "{secret} was written");
    }
    assert!(holds(&written, "[hidden:env-KEY]"));
    // An argument that was hidden under its name is given again; one that is a variable's value is known.
    let hidden = said(
        &[vec!["fixture", "verify", &dir], source(key, second)].concat(),
        1,
    );
    assert!(
        hidden.contains("an argument is hidden in the fixture (/password)"),
        "{hidden}"
    );
    let verify = vec![
        "fixture",
        "verify",
        &dir,
        "--fill",
        "/password=argument-CANARY-1",
    ];
    said(&[verify.clone(), source(key, second)].concat(), 0);
    // Other keys, the same server.
    let [key, second] = keys("another-key-91", "another-second-17");
    said(&[verify, source(key.leak(), second.leak())].concat(), 0);
    let kept = History::at(Path::new(&data)).list().unwrap();
    assert_eq!(
        (kept.entries.len(), kept.entries[0].tool.as_str()),
        (1, "echo")
    );
}

/// A file system that is full once a file has this many KiB: writing more fails as it does where there is no space.
#[cfg(target_os = "linux")]
fn with_room(kib: u32, args: &[&str]) -> Output {
    let line = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$@\"");
    Command::new("bash")
        .args(["-c", &line, "bash", LOUPE])
        .args(args)
        .output()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_costs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let large = [
        "dual_search_companies",
        "--args",
        "{\"pageSize\":100}",
        "--sample",
    ];
    let small = [
        "dual_search_companies",
        "--args",
        "{\"pageSize\":1}",
        "--sample",
    ];
    let keep = |call: &[&str], kib| {
        with_room(
            kib,
            &[&["call"], call, &["--keep", "--data-dir", &data]].concat(),
        )
    };
    let stderr = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(keep(&small, 16).status.code(), Some(0));
    let full = keep(&large, 16);
    assert_eq!(full.status.code(), Some(2), "{}", stderr(&full));
    assert!(
        String::from_utf8_lossy(&full.stdout).contains("json"),
        "the answer is printed all the same"
    );
    assert!(
        stderr(&full).contains("error: cannot write: File too large"),
        "{}",
        stderr(&full)
    );
    assert!(!stderr(&full).contains(".loupe-"), "{}", stderr(&full));
    // What was kept is still there, nothing half-written is, and the next one is kept.
    assert_eq!(keep(&small, 16).status.code(), Some(0));
    let history = History::at(Path::new(&data));
    assert_eq!(history.list().unwrap().entries.len(), 2);
    assert_eq!(
        fs::read_dir(history.root().join("captures"))
            .unwrap()
            .count(),
        2
    );
    // So with a fixture, an export and a transcript.
    let dir = folder.path().join("fixture").display().to_string();
    let saved = with_room(16, &[&["fixture", "save", &dir], &large[..]].concat());
    assert_eq!(saved.status.code(), Some(2), "{}", stderr(&saved));
    assert!(
        stderr(&saved).contains(&format!("({dir}/response.json)")),
        "{}",
        stderr(&saved)
    );
    said(&[&["fixture", "save", &dir], &large[..]].concat(), 0);
    let before = everything(Path::new(&dir));
    let over = with_room(
        16,
        &[&["fixture", "save", &dir, "--force"], &large[..]].concat(),
    );
    assert_eq!(
        (over.status.code(), everything(Path::new(&dir)) == before),
        (Some(2), true),
        "{}",
        stderr(&over)
    );
    let out = folder.path().join("report.html").display().to_string();
    let exported = with_room(
        16,
        &["fixture", "export", &dir, "--as", "html", "--out", &out],
    );
    assert_eq!(
        (exported.status.code(), Path::new(&out).exists()),
        (Some(2), false),
        "{}",
        stderr(&exported)
    );
    let transcript = folder.path().join("t.jsonl").display().to_string();
    let called = with_room(
        16,
        &[&["call"], &large[..], &["--transcript", &transcript]].concat(),
    );
    assert_eq!(called.status.code(), Some(2), "{}", stderr(&called));
    assert!(
        String::from_utf8_lossy(&called.stdout).contains("json"),
        "the answer is printed all the same"
    );
    let mut left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    left.sort();
    assert_eq!(left, ["data", "fixture", "t.jsonl"]);
}

/// A file of three calls of one tool, a resource, and a call without an answer.
fn calls(folder: &Path) -> String {
    let asked = |id: u32, method: &str, params: Value| serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    let answer =
        |id: u32, result: Value| serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result});
    let call = |id: u32| {
        asked(
            id,
            "tools/call",
            serde_json::json!({"name": "get", "arguments": {"n": id}}),
        )
    };
    let mut lines = vec![asked(
        9,
        "resources/read",
        serde_json::json!({"uri": "a://b"}),
    )];
    lines.push(answer(9, serde_json::json!({"contents": []})));
    for id in 1..=3 {
        lines.extend([
            call(id),
            answer(
                id,
                serde_json::json!({"content": [{"type": "text", "text": "called"}]}),
            ),
        ]);
    }
    lines.push(call(4));
    let file = folder.join("session.jsonl");
    fs::write(
        &file,
        lines
            .iter()
            .map(|line| line.to_string() + "\n")
            .collect::<String>(),
    )
    .unwrap();
    file.display().to_string()
}

#[test]
fn every_call_of_a_file_becomes_a_fixture() {
    let folder = tempfile::tempdir().unwrap();
    let (file, all) = (
        calls(folder.path()),
        folder.path().join("fixtures").display().to_string(),
    );
    let save = ["fixture", "save", &all, "--from", &file, "--all"];
    let page = said(&[&save[..], &["--preview"]].concat(), 0);
    assert!(
        page.contains("get-3: would be written") && !Path::new(&all).exists(),
        "{page}"
    );
    let saved = said(&save, 0);
    assert!(
        saved.contains("note: left out: 2 captures without a call of a tool and its answer"),
        "{saved}"
    );
    let document = json(&["fixture", "list", &all, "--json"], 0);
    let names: Vec<_> = document["fixtures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["get", "get-2", "get-3"]);
    // What is there stays, all of it, and is replaced where that is said.
    fs::remove_dir_all(Path::new(&all).join("get")).unwrap();
    assert!(
        said(&save, 2).contains("the folder already exists")
            && !Path::new(&all).join("get").exists()
    );
    let document = json(
        &[&save[..], &["--force", "--budget", "content=5", "--json"]].concat(),
        0,
    );
    assert_eq!(document["fixtures"].as_array().unwrap().len(), 3);
    let offline = said(&["fixture", "verify", &all, "--offline"], 0);
    assert!(
        offline.ends_with("answers as sent, o200k_base: 3 tokens\n3 of 3 fixtures passed\n"),
        "{offline}"
    );
    // One answer is still wanted where nobody says `--all`.
    assert!(
        said(&["fixture", "save", &all, "--from", &file, "--force"], 2).contains("holds 5 answers")
    );
}

/// A server that says when it is called for the third time, and answers no more.
#[cfg(unix)]
const STUCK: &str = r#"n=0; while IFS= read -r line; do
id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"stuck","version":"1"}}}\n' "$id";;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"get","inputSchema":{"type":"object"}}]}}\n' "$id";;
*'"tools/call"'*) n=$((n+1)); if [ $n = 3 ]; then echo third >&2; else printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"called"}]}}\n' "$id"; fi;;
esac; done"#;

#[cfg(unix)]
#[test]
fn an_interrupt_prints_what_came_and_updates_nothing() {
    use std::io::Read;
    let folder = tempfile::tempdir().unwrap();
    let (file, all) = (
        calls(folder.path()),
        folder.path().join("fixtures").display().to_string(),
    );
    said(&["fixture", "save", &all, "--from", &file, "--all"], 0);
    let before = everything(Path::new(&all));
    let source = ["--protocol", "2025-06-18", "--", "sh", "-c", STUCK];
    let mut child = Command::new(LOUPE)
        .args(["fixture", "verify", &all, "--json", "--update"])
        .args(source)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut stderr, mut said, mut byte) = (child.stderr.take().unwrap(), Vec::new(), [0]);
    while !String::from_utf8_lossy(&said).contains("third\n") {
        assert_eq!(
            stderr.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.push(byte[0]);
    }
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(child.id().cast_signed()),
        nix::sys::signal::Signal::SIGINT,
    )
    .unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    stderr.read_to_end(&mut said).unwrap();
    assert_eq!(
        child.wait().unwrap().code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&said)
    );
    let document: Value = serde_json::from_str(&out).unwrap();
    let passed: Vec<_> = document["fixtures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["passed"].as_bool())
        .collect();
    assert_eq!(
        (document["passed"].as_bool(), passed),
        (Some(false), vec![Some(true), Some(true), Some(false)]),
        "{document}"
    );
    assert_eq!(
        document["fixtures"][2]["checks"][0]["message"],
        "not called"
    );
    assert_eq!(
        document["totals"]["tokens"],
        serde_json::json!({"before": 2, "now": 2}),
        "{document}"
    );
    assert!(String::from_utf8_lossy(&said).ends_with("error: interrupted\n"));
    assert!(everything(Path::new(&all)) == before);
}

#[cfg(unix)]
#[test]
fn a_save_that_is_killed_leaves_the_whole_folder_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("data.json");
    let records: Vec<String> = (0..2_000)
        .map(|n| format!("{{\"id\":{n},\"name\":\"record {n}\"}}"))
        .collect();
    fs::write(&from, format!("[{}]", records.join(","))).unwrap();
    let save = |dir: &Path| {
        let mut command = Command::new(LOUPE);
        command
            .args(["fixture", "save", "--no-redact", "--quiet", "--from"])
            .arg(&from)
            .arg(dir);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let began = Instant::now();
    let whole = folder.path().join("whole");
    assert!(save(&whole).wait().unwrap().success());
    let long = began.elapsed();
    let expected = store::read_folder(&whole).unwrap();
    let (mut random, mut wholes) = (0x2545_f491_u64, 0);
    for number in 0..200 {
        // Numerical Recipes' generator: the points of time are the same in every run, as far as the system lets them.
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let after = long.mul_f64((random >> 33) as f64 / f64::from(1_u32 << 31) * 1.2);
        let dir = folder.path().join(format!("f{number}"));
        let mut child = save(&dir);
        std::thread::sleep(after.min(Duration::from_secs(2)));
        child.kill().unwrap();
        child.wait().unwrap();
        if dir.exists() {
            assert_eq!(
                store::read_folder(&dir).unwrap(),
                expected,
                "killed after {after:?}"
            );
            assert!(dir.join("expect.toml").exists());
            wholes += 1;
            fs::remove_dir_all(&dir).unwrap();
        }
    }
    eprintln!("{wholes} of 200 were whole");
    // What they left half-written goes with the next command that looks there, which says so.
    let left = || {
        let names = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(".loupe-")).count()
    };
    let before = left();
    let output = run(&["fixture", "list", folder.path().to_str().unwrap()]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (left(), said.matches("cleared away").count()),
        (0, before),
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_fixture_that_is_a_link_is_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (answer, fixture, link) = (path("a.json"), path("kept/fixture"), path("link"));
    fs::write(&answer, r#"{"content":[{"type":"text","text":"before"}]}"#).unwrap();
    said(&["fixture", "save", &fixture, "--from", &answer], 0);
    std::os::unix::fs::symlink("kept/fixture", &link).unwrap();
    fs::write(&answer, r#"{"content":[{"type":"text","text":"after"}]}"#).unwrap();
    let said = said(&["fixture", "save", &link, "--from", &answer, "--force"], 2);
    assert!(
        said.contains("a symbolic link, through which nothing is written"),
        "{said}"
    );
    assert!(Path::new(&link).is_symlink());
    assert!(
        fs::read_to_string(Path::new(&fixture).join("response.json"))
            .unwrap()
            .contains("before")
    );
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names.len(), 3, "nothing stays behind: {names:?}");
}

/// A fixture of one answer, out of a file with a call in it.
fn recorded(folder: &Path, name: &str, value: u32) -> String {
    let result = serde_json::json!({"content": [], "structuredContent": {"k\n::error::x\r##[error]y": value}});
    let lines = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {}}}),
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": result}),
    ];
    let messages = folder.join(format!("{name}.jsonl"));
    fs::write(
        &messages,
        lines.map(|line| line.to_string() + "\n").concat(),
    )
    .unwrap();
    let dir = folder.join(name).display().to_string();
    said(
        &[
            "fixture",
            "export",
            messages.to_str().unwrap(),
            "--out",
            &dir,
        ],
        0,
    );
    dir
}

#[test]
fn a_key_of_a_server_is_no_command_in_the_log_of_github() {
    let folder = tempfile::tempdir().unwrap();
    let (before, now) = (
        recorded(folder.path(), "before", 1),
        recorded(folder.path(), "now", 2),
    );
    let said = said(
        &["fixture", "verify", &before, "--fixture", &now, "--github"],
        1,
    );
    let (commands, plain): (Vec<&str>, Vec<&str>) = said
        .split(['\n', '\r'])
        .partition(|line| line.trim_start().starts_with("::"));
    assert!(
        !commands.is_empty()
            && commands
                .iter()
                .all(|line| line.starts_with("::error file=")),
        "{said}"
    );
    assert!(
        plain.iter().any(|line| line.contains("k⏎::error::x")),
        "{said}"
    );
    assert!(!plain.iter().any(|line| line.contains("##[")), "{said}");
}
