//! Savings as code: a server of each SDK with and without the change. Without it the rule speaks up, with it no more; fewer
//! tokens are sent, and the data is the same wherever the change keeps its shape.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use loupe_analysis::finding::code_fix::{Sdk, rules_with_code};
use serde_json::Value;

fn peers() -> PathBuf {
    PathBuf::from(std::env::var_os("LOUPE_PEERS").expect("LOUPE_PEERS names the folder"))
}

/// The program of an SDK, and how its files end.
fn program(sdk: Sdk) -> (PathBuf, &'static str) {
    match sdk {
        Sdk::FastMcp | Sdk::Python => (peers().join("python/bin/python"), "py"),
        Sdk::TypeScript => (peers().join("node_modules/.bin/node"), "mjs"),
    }
}

fn loupe(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(arguments)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{arguments:?}: {error}"))
}

#[test]
fn each_change_saves_what_its_rule_says() {
    // Beside the packages, where Node looks for them.
    let folder = tempfile::tempdir_in(peers()).unwrap();
    for (rule, fixes) in rules_with_code() {
        for fix in fixes {
            let what = format!("{rule} {:?}", fix.sdk);
            let (program, ending) = program(fix.sdk);
            let program = program.to_str().unwrap();
            let name = format!("{}-{:?}", rule.replace('/', "-"), fix.sdk);
            let result = |is_changed: bool| {
                let script = folder.path().join(format!("{name}-{is_changed}.{ending}"));
                fs::write(&script, fix.server(is_changed)).unwrap();
                let script = script.to_str().unwrap();
                loupe(&["call", "list_orders", "--json", "--", program, script])
            };
            let (before, after) = (result(false), result(true));
            let speaks = |report: &Value| {
                let findings = report["findings"].as_array().unwrap();
                findings.iter().any(|finding| finding["rule"] == rule)
            };
            assert!(speaks(&before), "{what} is silent without the change");
            assert!(!speaks(&after), "{what} speaks up with the change");
            let tokens = |report: &Value| {
                let rows = report["ledger"]["rows"].as_array().unwrap();
                let row = |id: &str| rows.iter().find(|row| row["format"] == id).cloned();
                let sent = ["both", "content", "structured"]
                    .into_iter()
                    .filter_map(row);
                let mut sent = sent.filter(|row| row["available"] == true);
                sent.next().unwrap()["tokens"]["o200k_base"]
                    .as_u64()
                    .unwrap()
            };
            let (before_tokens, after_tokens) = (tokens(&before), tokens(&after));
            assert!(
                after_tokens < before_tokens,
                "{what}: {before_tokens} to {after_tokens}"
            );
            let keeps_shape = !matches!(rule, "shape/repeated-keys" | "shape/empty-section");
            if keeps_shape && rule != "parity/wrapped-duplicate" {
                assert_eq!(data(&before), data(&after), "{what}");
            }
        }
    }
}

/// The data of a result: `structuredContent`, else what its texts are as JSON, without the member that an SDK wraps it in.
fn data(report: &Value) -> Value {
    let result = &report["result"];
    let texts = result["content"].as_array().into_iter().flatten();
    let texts: Vec<Value> = texts
        .filter_map(|block| serde_json::from_str(block["text"].as_str()?).ok())
        .collect();
    let value = match (&result["structuredContent"], &texts[..]) {
        (Value::Null, [one]) => one.clone(),
        (Value::Null, several) => Value::Array(several.to_vec()),
        (structured, _) => structured.clone(),
    };
    match value.as_object() {
        Some(members) if members.len() == 1 && members.contains_key("result") => {
            members["result"].clone()
        }
        _ => value,
    }
}
