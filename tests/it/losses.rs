//! `losses` and `check --host` on the command line: pages over a real exchange, one host in full, tables, files.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn loupe(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(arguments)
        .env("HOME", std::env::temp_dir())
        .output()
        .unwrap()
}

#[track_caller]
fn text(arguments: &[&str]) -> String {
    let output = loupe(arguments);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

/// A server in shell that lists two pages, with a description over every cap and instructions.
#[cfg(unix)]
fn paged(folder: &Path) -> String {
    let long = "word ".repeat(1_000);
    let script = format!(
        r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"paged","version":"1"}},"instructions":"Ask for the date first."}}}}\n' "$id";;
    *'"cursor"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"late","description":"On page two.","inputSchema":{{"type":"object"}}}}]}}}}\n' "$id";;
    *'"tools/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"long","description":"{long}","inputSchema":{{"type":"object"}}}}],"nextCursor":"2"}}}}\n' "$id";;
    *'"id"'*) printf '{{"jsonrpc":"2.0","id":%s,"error":{{"code":-32601,"message":"Method not found"}}}}\n' "$id";;
  esac
done
"#
    );
    let path = folder.join("paged.sh");
    fs::write(&path, script).unwrap();
    path.to_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn what_hosts_lose_of_a_server_is_told_by_host() {
    let folder = tempfile::tempdir().unwrap();
    let script = paged(folder.path());
    let server = ["--", "sh", &script];
    let json = |more: &[&str]| -> Value {
        let all = [&["losses", "--json"], more, &server].concat();
        serde_json::from_str(&text(&all)).unwrap()
    };
    let report = json(&[]);
    assert_eq!(report["schema"], "loupe.losses/1");
    assert_eq!(
        (&report["tools"], &report["firstPage"]),
        (&2.into(), &1.into())
    );
    let host = |id: &str| -> Value {
        let hosts = report["hosts"].as_array().unwrap();
        hosts.iter().find(|host| host["id"] == id).unwrap().clone()
    };
    let kinds = |host: &Value| -> Vec<String> {
        let losses = host["losses"].as_array().unwrap().iter();
        losses
            .map(|loss| loss["kind"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(kinds(&host("cline")), ["pages", "instructions"]);
    let claude = host("claude-code");
    assert_eq!(kinds(&claude), ["description"]);
    let exact = claude["losses"][0]["exact"].as_array().unwrap();
    let of = |what: &str| {
        let part = exact.iter().find(|part| part["what"] == what).unwrap();
        part["text"].as_str().unwrap().to_owned()
    };
    assert!(of("description").ends_with("… [truncated]"));
    assert_eq!(of("removed").len(), 5_000 - 4_096);
    // Names alone are in the prompt of a host that loads tools on demand.
    let tokens = |name: &str| claude["cost"][name]["o200k_base"].as_u64().unwrap();
    assert!(tokens("listed") > tokens("passedOn") && tokens("passedOn") > tokens("atStart"));
    // What a host that reads one page lists is that page.
    assert!(
        host("cline")["cost"]["listed"]["o200k_base"]
            .as_u64()
            .unwrap()
            < tokens("listed")
    );
    assert_eq!(host("codex")["outcome"], "nothing");

    let one = text(&[&["losses", "--host", "claude-code"], &server[..]].concat());
    for said in [
        "1 description cut at 4,096 (long)",
        "known: observed, 2026-",
        "fix: Shorten the description",
        "… [truncated]",
    ] {
        assert!(one.contains(said), "{said} is not in {one}");
    }
    let csv = text(
        &[
            &["losses", "--as", "csv", "--host", "cline,codex"],
            &server[..],
        ]
        .concat(),
    );
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(csv.starts_with("host,outcome,tools,definitions,results,listed,passed_on,at_start\n"));

    // A check of one host fails on what that host loses, and on nothing else.
    let check = |host: &str| {
        let output = loupe(&[&["check", "--host", host], &server[..]].concat());
        let page = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), page)
    };
    let (status, page) = check("cline");
    assert!(
        status == Some(1) && page.contains("1 of 2: after page 1, in Cline"),
        "{page}"
    );
    let (status, page) = check("codex");
    assert!(status == Some(0) && !page.contains("host/"), "{page}");
}

#[test]
fn results_and_files_count_too() {
    let report = text(&[
        "losses",
        "--sample",
        "--call",
        "dual_search_companies",
        "--args",
        r#"{"pageSize":5}"#,
        "--host",
        "gemini-cli",
        "--yes",
    ]);
    assert!(
        report.contains("dual_search_companies: ") && report.contains(" facts missing"),
        "{report}"
    );
    let folder = tempfile::tempdir().unwrap();
    let tools = folder.path().join("tools.json");
    fs::write(&tools, text(&["tools", "--sample", "--json"])).unwrap();
    let table = text(&["losses", tools.to_str().unwrap(), "--as", "markdown"]);
    assert!(
        table.starts_with("| Host | Loses tools |") && table.lines().count() > 40,
        "{table}"
    );
    let output = loupe(&["losses"]);
    assert_eq!(output.status.code(), Some(2));
    let output = loupe(&["losses", "--sample", "--host", "claude-cod"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("claude-code"), "{error}");
    let failed = loupe(&[
        "check",
        "--sample",
        "--call",
        "dual_search_companies",
        "--args",
        r#"{"pageSize":5}"#,
        "--yes",
        "--host",
        "gemini-cli",
    ]);
    let page = String::from_utf8(failed.stdout).unwrap();
    assert!(
        failed.status.code() == Some(1) && page.contains("host/result"),
        "{page}"
    );
}
