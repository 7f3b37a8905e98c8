//! What Loupe exports, taken by what it is for: tests by pytest and vitest, the ledger by DuckDB and Polars, a replay and
//! the server for agents by the official inspector.
//!
//! Names that would be code are taken by Python, Node and rustc for what they are; by `sh` in the unit tests.
//!
//! Not part of plain `cargo test`: `.ci/run` installs these and runs this with `LOUPE_PEERS` naming the folder they are in.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use loupe_core::quote;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const ARGUMENTS: &str = r#"{"searchTerm":"north","pageSize":2}"#;

fn peers() -> PathBuf {
    PathBuf::from(
        std::env::var_os("LOUPE_PEERS")
            .expect("LOUPE_PEERS names the folder of the installed programs"),
    )
}

#[track_caller]
fn ok(command: &mut Command) -> Vec<u8> {
    let Output {
        status,
        stdout,
        stderr,
    } = command.stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(
        status.success(),
        "{command:?}: {status}\n{}\n{said}",
        String::from_utf8_lossy(&stdout)
    );
    stdout
}

/// A fixture of the sample, in `fixtures/companies` of a folder.
fn fixture(folder: &Path) -> String {
    let dir = folder
        .join("fixtures/companies")
        .to_string_lossy()
        .into_owned();
    let messages = folder.join("messages.jsonl");
    let path = messages.to_string_lossy().into_owned();
    let call = [
        "call",
        "dual_search_companies",
        "--args",
        ARGUMENTS,
        "--view",
        "wire",
        "--transcript",
        &path,
        "--sample",
    ];
    ok(Command::new(LOUPE).args(call));
    ok(Command::new(LOUPE).args(["fixture", "export", &path, "--out", &dir]));
    dir
}

fn export(dir: &str, kind: &str, out: &Path) {
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    ok(Command::new(LOUPE)
        .args(["fixture", "export", dir, "--as", kind, "--out"])
        .arg(out));
}

/// Makes the recorded answer another one, so that a test that compares with it has to fail.
fn spoil(test: &Path) {
    let text = std::fs::read_to_string(test).unwrap();
    let spoilt = text.replace(
        "\"replay\", \"--quiet\"",
        "\"replay\", \"--quiet\", \"--variant\", \"content-only\"",
    );
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
        command
            .args(["-q", "-p", "no:cacheprovider"])
            .arg(&test)
            .env("MCP_LOUPE", LOUPE);
        command
    };
    ok(&mut pytest());
    spoil(&test);
    assert!(
        !pytest().output().unwrap().status.success(),
        "another answer passed"
    );
}

#[test]
fn vitest_runs_the_exported_test() {
    let folder = tempfile::tempdir_in(peers()).unwrap();
    let dir = fixture(folder.path());
    let test = folder.path().join("tests/companies.test.ts");
    export(&dir, "vitest", &test);
    let vitest = || {
        let mut command = Command::new(peers().join("node_modules/.bin/vitest"));
        command
            .args(["run", "--root"])
            .arg(folder.path())
            .env("MCP_LOUPE", LOUPE)
            .stdin(Stdio::null());
        command
    };
    ok(&mut vitest());
    spoil(&test);
    assert!(
        !vitest().output().unwrap().status.success(),
        "another answer passed"
    );
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
    ok(Command::new(peers().join("python/bin/python"))
        .args(["-c", program])
        .arg(&lines)
        .arg(&csv));
}

#[test]
fn the_official_inspector_reads_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let dir = fixture(folder.path());
    // The inspector prints a result after reading it, so what can be compared is the value with its order of members.
    let shown = ok(Command::new(peers().join("node_modules/.bin/node"))
        .arg(peers().join("node_modules/.bin/mcp-inspector"))
        .args([
            "--cli",
            LOUPE,
            "replay",
            &dir,
            "--method",
            "tools/call",
            "--tool-name",
            "dual_search_companies",
        ])
        .args(["--tool-arg", "searchTerm=north", "--tool-arg", "pageSize=2"]));
    let shown: serde_json::Value = serde_json::from_slice(&shown).unwrap();
    let recorded =
        ok(Command::new(LOUPE).args(["fixture", "export", &dir, "--as", "result", "--out", "-"]));
    assert_eq!(shown.to_string(), String::from_utf8(recorded).unwrap());
}

#[test]
fn the_official_inspector_asks_the_server_for_agents() {
    let folder = tempfile::tempdir().unwrap();
    let dir = fixture(folder.path());
    let name = Path::new(&dir)
        .strip_prefix(folder.path())
        .unwrap()
        .to_str()
        .unwrap();
    let ask = |args: &[&str]| {
        let mut inspector = Command::new(peers().join("node_modules/.bin/node"));
        inspector
            .arg(peers().join("node_modules/.bin/mcp-inspector"))
            .current_dir(folder.path());
        let server = [
            "--cli",
            LOUPE,
            "mcp",
            "--quiet",
            "--allow-calls",
            "--allow-source",
            "demo=--sample",
        ];
        serde_json::from_slice::<serde_json::Value>(&ok(inspector.args(server).args(args))).unwrap()
    };
    let listed = ask(&["--method", "tools/list"]);
    let names: Vec<_> = listed["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["show", "hosts", "check", "diff", "compare", "call"]);
    let call = |tool: &str, args: &[&str]| {
        let given = args.iter().flat_map(|arg| ["--tool-arg", arg]);
        ask(&["--method", "tools/call", "--tool-name", tool]
            .into_iter()
            .chain(given)
            .collect::<Vec<_>>())
    };
    // It refuses what does not fit the output schema.
    let result = format!("result={name}");
    for tool in ["show", "hosts", "check"] {
        assert_ne!(
            call(tool, &[&result])["structuredContent"]["summary"],
            serde_json::Value::Null,
            "{tool}"
        );
    }
    assert_eq!(
        call("diff", &[&format!("a={name}"), &format!("b={name}")])["structuredContent"]["equal"],
        true
    );
    let compared = call("compare", &["source=demo", "tool=strict_search_companies"]);
    assert_eq!(
        compared["structuredContent"]["varies"], "response_format",
        "{compared}"
    );
    let called = call(
        "call",
        &[
            "source=demo",
            "tool=strict_search_companies",
            r#"arguments={"pageSize":2}"#,
        ],
    );
    assert_eq!(called["structuredContent"]["result"], "call:1", "{called}");
}

/// Texts that end a literal, a line or a program in one language or another, and all pairs of them.
fn hostile() -> Vec<String> {
    #[rustfmt::skip]
    let pieces = [
        "'", "\"", "`", "\\", "${process.exit(9)}", "{import os}", "\"\"\"", "'''", "\n", "\r", "\r\n", "\t", "#", "\"#", "\"##", "*/", "//",
        "@TEXT@", "@NAME@", "\\u0041", "\\x41", "\\N{DASH}", "%s", "{}", "\u{0}", "\u{1b}[2J", "\u{7f}", "\u{85}", "\u{2028}", "\u{2029}",
        "\u{200e}", "\u{202e}", "\u{2066}", "\u{feff}", "\u{e000}", "é", "👩\u{200d}💻", "</script>", "\"); panic!(); (\"",
    ];
    let pairs = pieces
        .iter()
        .flat_map(|a| pieces.iter().map(move |b| format!("{a}{b}")));
    pairs.chain([format!("\"{}", "#".repeat(300))]).collect()
}

/// The texts as a program prints them: the bytes of each in hexadecimal, one a line.
#[track_caller]
fn check_texts(said: &[u8], texts: &[String]) {
    let said: Vec<&str> = std::str::from_utf8(said).unwrap().lines().collect();
    assert_eq!(said.len(), texts.len());
    for (said, text) in said.iter().zip(texts) {
        let bytes: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(*said, bytes, "{text:?}");
    }
}

#[test]
fn python_node_and_rustc_read_every_literal() {
    let folder = tempfile::tempdir().unwrap();
    let texts = hostile();
    let list = texts
        .iter()
        .map(|text| quote::string(text))
        .collect::<Vec<_>>()
        .join(",\n");
    let python = folder.path().join("a.py");
    std::fs::write(
        &python,
        format!("for text in [{list}]:\n    print(text.encode('utf-8').hex())\n"),
    )
    .unwrap();
    check_texts(
        &ok(Command::new(peers().join("python/bin/python")).arg(&python)),
        &texts,
    );
    let node = folder.path().join("a.mjs");
    let print = "console.log(Buffer.from(text, 'utf8').toString('hex'))";
    std::fs::write(&node, format!("for (const text of [{list}]) {print};\n")).unwrap();
    check_texts(
        &ok(Command::new(peers().join("node_modules/.bin/node")).arg(&node)),
        &texts,
    );
    let (rust, program) = (folder.path().join("a.rs"), folder.path().join("a"));
    let list = texts
        .iter()
        .map(|text| quote::rust(text))
        .collect::<Vec<_>>()
        .join(",\n");
    let print = "text.bytes().for_each(|byte| print!(\"{byte:02x}\")); println!();";
    std::fs::write(
        &rust,
        format!("fn main() {{ for text in [{list}] {{ {print} }} }}\n"),
    )
    .unwrap();
    ok(Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .arg(&program)
        .arg(&rust));
    check_texts(&ok(&mut Command::new(&program)), &texts);
}

#[test]
fn a_tool_whose_name_would_be_code_is_called_by_it() {
    let folder = tempfile::tempdir_in(peers()).unwrap();
    let tool = "@TEXT@ \"); import os; os._exit(9) # ${process.exit(9)} `'\\\n\u{202e}";
    let lines = [
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {}}}),
        serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "\"#); panic!(); //"}]}}),
    ];
    let messages = folder.path().join("hostile.jsonl");
    std::fs::write(
        &messages,
        lines.map(|line| line.to_string() + "\n").concat(),
    )
    .unwrap();
    let dir = folder
        .path()
        .join("it's ${a} \"b\"")
        .to_string_lossy()
        .into_owned();
    ok(Command::new(LOUPE)
        .args(["fixture", "export"])
        .arg(&messages)
        .args(["--out", &dir]));
    let test = folder.path().join("hostile_test.py");
    export(&dir, "pytest", &test);
    let mut pytest = Command::new(peers().join("python/bin/pytest"));
    ok(pytest
        .args(["-q", "-p", "no:cacheprovider"])
        .arg(&test)
        .env("MCP_LOUPE", LOUPE));
    let test = folder.path().join("hostile.test.ts");
    export(&dir, "vitest", &test);
    let mut vitest = Command::new(peers().join("node_modules/.bin/vitest"));
    ok(vitest
        .args(["run", "--root"])
        .arg(folder.path())
        .env("MCP_LOUPE", LOUPE));
}
