//! What Loupe exports, taken by what it is for: tests by pytest and vitest, the ledger by DuckDB and Polars, a replay by
//! the official inspector.
//!
//! Not part of plain `cargo test`: `.ci/run` installs these and runs this with `LOUPE_PEERS` naming the folder they are in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const ARGUMENTS: &str = r#"{"searchTerm":"north","pageSize":2}"#;

fn peers() -> PathBuf {
    PathBuf::from(std::env::var_os("LOUPE_PEERS").expect("LOUPE_PEERS names the folder of the installed programs"))
}

#[track_caller]
fn ok(command: &mut Command) -> Vec<u8> {
    let Output { status, stdout, stderr } = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(status.success(), "{command:?}: {status}\n{}\n{said}", String::from_utf8_lossy(&stdout));
    stdout
}

/// A fixture of the sample, in `fixtures/companies` of a folder.
fn fixture(folder: &Path) -> String {
    let dir = folder.join("fixtures/companies").to_string_lossy().into_owned();
    let messages = folder.join("messages.jsonl");
    let path = messages.to_string_lossy().into_owned();
    let call = ["call", "dual_search_companies", "--args", ARGUMENTS, "--view", "wire", "--transcript", &path, "--sample"];
    ok(Command::new(LOUPE).args(call));
    ok(Command::new(LOUPE).args(["fixture", "export", &path, "--out", &dir]));
    dir
}

fn export(dir: &str, kind: &str, out: &Path) {
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    ok(Command::new(LOUPE).args(["fixture", "export", dir, "--as", kind, "--out"]).arg(out));
}

/// Makes the recorded answer another one, so that a test that compares with it has to fail.
fn spoil(test: &Path) {
    let text = std::fs::read_to_string(test).unwrap();
    let spoilt = text.replace("\"replay\", \"--quiet\"", "\"replay\", \"--quiet\", \"--variant\", \"content-only\"");
    assert_ne!(spoilt, text);
    std::fs::write(test, spoilt).unwrap();
}

#[test]
fn pytest_runs_the_exported_test() {
    let folder = tempfile::tempdir().unwrap();
    let dir = fixture(folder.path());
    let test = folder.path().join("tests/companies_test.py");
    export(&dir, "pytest", &test);
    let pytest = || {
        let mut command = Command::new(peers().join("python/bin/pytest"));
        command.args(["-q", "-p", "no:cacheprovider"]).arg(&test).env("MCP_LOUPE", LOUPE);
        command
    };
    ok(&mut pytest());
    spoil(&test);
    assert!(!pytest().output().unwrap().status.success(), "another answer passed");
}

#[test]
fn vitest_runs_the_exported_test() {
    let folder = tempfile::tempdir_in(peers()).unwrap();
    let dir = fixture(folder.path());
    let test = folder.path().join("tests/companies.test.ts");
    export(&dir, "vitest", &test);
    let vitest = || {
        let mut command = Command::new(peers().join("node_modules/.bin/vitest"));
        command.args(["run", "--root"]).arg(folder.path()).env("MCP_LOUPE", LOUPE).stdin(Stdio::null());
        command
    };
    ok(&mut vitest());
    spoil(&test);
    assert!(!vitest().output().unwrap().status.success(), "another answer passed");
}

#[test]
fn duckdb_and_polars_read_the_ledger_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let dir = fixture(folder.path());
    let (lines, csv) = (folder.path().join("l.jsonl"), folder.path().join("l.csv"));
    export(&dir, "ledger-jsonl", &lines);
    export(&dir, "ledger-csv", &csv);
    let program = "import sys, duckdb, polars\n\
        lines, table = sys.argv[1:]\n\
        sums = [duckdb.sql(f\"select sum(o200k_base) from read_json_auto('{lines}')\").fetchall()[0][0],\n\
        duckdb.sql(f\"select sum(o200k_base) from read_csv_auto('{table}')\").fetchall()[0][0],\n\
        polars.read_ndjson(lines)['o200k_base'].sum(), polars.read_csv(table)['o200k_base'].sum()]\n\
        assert len(set(int(s) for s in sums)) == 1 and sums[0] > 0, sums\n";
    ok(Command::new(peers().join("python/bin/python")).args(["-c", program]).arg(&lines).arg(&csv));
}

#[test]
fn the_official_inspector_reads_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let dir = fixture(folder.path());
    // The inspector prints a result after reading it, so what can be compared is the value with its order of members.
    let shown = ok(Command::new(peers().join("node_modules/.bin/node"))
        .arg(peers().join("node_modules/.bin/mcp-inspector"))
        .args(["--cli", LOUPE, "replay", &dir, "--method", "tools/call", "--tool-name", "dual_search_companies"])
        .args(["--tool-arg", "searchTerm=north", "--tool-arg", "pageSize=2"]));
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    let recorded = ok(Command::new(LOUPE).args(["fixture", "export", &dir, "--as", "result", "--out", "-"]));
    assert_eq!(shown.to_string(), String::from_utf8(recorded).unwrap());
}
