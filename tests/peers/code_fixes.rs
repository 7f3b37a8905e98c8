//! Savings as code: a server of each SDK with and without the change. Without it the rule speaks up, with it no more; fewer
//! tokens are sent, and the data is the same wherever the change keeps its shape.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use loupe_analysis::finding::code_fix::{CodeFix, Sdk, rules_with_code};
use serde_json::Value;

fn peers() -> PathBuf {
    PathBuf::from(std::env::var_os("LOUPE_PEERS").expect("LOUPE_PEERS names the folder"))
}

/// The name of a server's file.
fn server_name(rule: &str, sdk: Sdk, is_changed: bool) -> String {
    let side = if is_changed { "after" } else { "before" };
    format!("{}-{sdk:?}-{side}", rule.replace('/', "-")).to_lowercase()
}

/// The command that starts a server; a script is written into the folder.
fn command(folder: &Path, rule: &str, fix: &CodeFix, is_changed: bool) -> Vec<String> {
    let name = server_name(rule, fix.sdk, is_changed);
    let (program, ending) = match fix.sdk {
        Sdk::FastMcp | Sdk::Python => (peers().join("python/bin/python"), "py"),
        Sdk::TypeScript => (peers().join("node_modules/.bin/node"), "mjs"),
        Sdk::Rust => {
            let program = peers().join("rust/target/debug").join(name);
            return vec![program.display().to_string()];
        }
    };
    let script = folder.join(format!("{name}.{ending}"));
    fs::write(&script, fix.server(is_changed)).unwrap();
    [program, script]
        .map(|path| path.display().to_string())
        .into()
}

/// Builds the servers of the Rust SDK as one package, from the versions in Loupe's own lock file. The SDK stays built in the
/// folder of the peers.
fn build_rust_servers() {
    let package = peers().join("rust");
    let programs = package.join("src/bin");
    fs::remove_dir_all(&programs).ok();
    fs::create_dir_all(&programs).unwrap();
    for (rule, fixes) in rules_with_code() {
        for fix in fixes.iter().filter(|fix| fix.sdk == Sdk::Rust) {
            for is_changed in [false, true] {
                let name = format!("{}.rs", server_name(rule, fix.sdk, is_changed));
                fs::write(programs.join(name), fix.server(is_changed)).unwrap();
            }
        }
    }
    let version = Sdk::Rust.title().trim_start_matches("rmcp ");
    let manifest = format!(
        r#"[package]
name = "servers"
edition = "2024"

[dependencies]
rmcp = {{ version = "~{version}", features = ["transport-io"] }}
schemars = "1"
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tokio = {{ version = "1", features = ["macros", "rt-multi-thread"] }}

[profile.dev]
debug = false

[workspace]
"#
    );
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock");
    fs::copy(lock, package.join("Cargo.lock")).unwrap();
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--target-dir", "target"])
        .current_dir(&package)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
}

fn call(command: &[String]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(["call", "list_orders", "--json", "--"])
        .args(command)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{command:?}: {error}"))
}

#[test]
fn each_change_saves_what_its_rule_says() {
    build_rust_servers();
    // Beside the packages, where Node looks for them.
    let folder = tempfile::tempdir_in(peers()).unwrap();
    for (rule, fixes) in rules_with_code() {
        for fix in fixes {
            let what = format!("{rule} {:?}", fix.sdk);
            let result = |is_changed: bool| call(&command(folder.path(), rule, fix, is_changed));
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
