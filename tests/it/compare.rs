//! `compare` and `diff` as others see them: what they print, what they call, and what stays when a call fails.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect;
use serde_json::Value;

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");

fn run(args: &[&str]) -> Output {
    Command::new(LOUPE)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Exit status and stderr, so that what a failing test prints says why.
fn refused(args: &[&str]) -> String {
    let output = run(args);
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    format!(
        "status {}\n{}",
        output.status.code().unwrap_or(-1),
        String::from_utf8_lossy(&output.stderr).trim_end()
    )
}

fn page(args: &[&str]) -> (i32, String) {
    let output = run(args);
    (
        output.status.code().unwrap(),
        String::from_utf8(output.stdout).unwrap(),
    )
}

fn json(args: &[&str]) -> (i32, Value) {
    let output = run(args);
    let document = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{args:?}: {error}\n{}",
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (output.status.code().unwrap(), document)
}

/// A server with one tool, `get`, whose `format` argument is a, b or c; `on_c` (a shell fragment) answers the third.
fn server(on_c: &str, annotations: &str) -> String {
    let answer = |text: &str| {
        format!(
            r#"printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}\n' "$id""#
        )
    };
    format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'server/discover'*) printf '%s\n' '{{"jsonrpc":"2.0","id":null,"error":{{"code":-32601,"message":"Method not found"}}}}' ;;
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"peer","version":"1"}}}}}}' ;;
    *'"tools/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"get","inputSchema":{{"type":"object","properties":{{"format":{{"enum":["a","b","c","d"]}}}}}}{annotations}}}]}}}}\n' "$id" ;;
    *'"format":"a"'*) {} ;;
    *'"format":"b"'*) {} ;;
    *'"format":"c"'*) {on_c} ;;
    *'"format":"d"'*) {} ;;
  esac
done"#,
        answer("{\\\\\"n\\\\\":1}"),
        answer("n is 1"),
        answer("last"),
    )
}

const READ_ONLY: &str = r#","annotations":{"readOnlyHint":true}"#;

#[test]
fn the_format_argument_is_found_and_the_verdict_told() {
    let (status, page) = page(&["compare", "strict_search_companies", "--sample"]);
    assert_eq!(status, 0);
    let lines: Vec<&str> = page.lines().collect();
    assert!(
        lines[0].starts_with("strict_search_companies · response_format · 2 calls · "),
        "{page}"
    );
    assert!(
        lines[1].starts_with("json text: ")
            && lines[1].contains(" tokens (o200k_base), same data, proved. "),
        "{page}"
    );
    assert!(
        lines[1].contains(" markdown, cheapest of these answers: ")
            && lines[1].contains(" facts missing (companyType, "),
        "what leaves fields out is no winner: {page}"
    );
    assert!(
        lines[1].contains("city") && !lines[1].contains("lastModifiedDate, cheapest"),
        "{page}"
    );
    assert!(
        lines[1].contains(" JSON, compact, if you changed it: ")
            && lines[1].ends_with("same data, proved, cheapest, proved."),
        "{page}"
    );
    for column in [
        "json text",
        "markdown text",
        "JSON, compact",
        "Markdown table",
    ] {
        assert!(
            lines.iter().any(|line| line.starts_with(column)),
            "{column}: {page}"
        );
    }
}

#[test]
fn the_document_has_the_reports_and_what_differs() {
    let (status, document) = json(&["compare", "strict_search_companies", "--sample", "--json"]);
    assert_eq!(
        (status, &document["schema"], &document["baseline"]),
        (0, &"loupe.compare/1".into(), &"json".into())
    );
    let columns = document["columns"].as_array().unwrap();
    let values: Vec<_> = columns
        .iter()
        .map(|column| column["value"].as_str().unwrap())
        .collect();
    assert_eq!(values, ["json", "markdown"]);
    let tokens = |column: &Value| {
        column["report"]["ledger"]["rows"][0]["tokens"]["o200k_base"]
            .as_i64()
            .unwrap()
    };
    assert_eq!(columns[0]["report"]["schema"], "loupe.report/1");
    let delta = &document["delta"][1];
    assert_eq!(
        delta["tokens"]["content"].as_i64().unwrap(),
        tokens(&columns[1]) - tokens(&columns[0])
    );
    assert_eq!(
        delta["ratio"].as_f64().unwrap(),
        tokens(&columns[1]) as f64 / tokens(&columns[0]) as f64
    );
    assert!(
        delta["missing"]
            .as_array()
            .unwrap()
            .contains(&"/data/*/city".into()),
        "{delta}"
    );
}

#[test]
fn values_are_typed_and_leave_in_their_place() {
    let (_, document) = json(&[
        "compare",
        "strict_search_companies",
        "--vary",
        "pageSize=1,2",
        "--args",
        r#"{ "isActive" :true}"#,
        "--sample",
        "--json",
    ]);
    let arguments = |at: usize| {
        serde_json::to_string(&document["columns"][at]["report"]["capture"]["arguments"]).unwrap()
    };
    assert_eq!(document["columns"][1]["value"], 2);
    assert_eq!(arguments(1), r#"{"isActive":true,"pageSize":2}"#);
    let (_, page) = page(&[
        "compare",
        "strict_search_companies",
        "--vary",
        "pageSize=5,20,500",
        "--sample",
    ]);
    assert!(
        page.contains("not used for these figures: 500 (no whole JSON"),
        "{page}"
    );
    assert!(
        page.contains("\nWithin 25,000 tokens there is room for ")
            && page.contains(" as compact JSON; measured up to 20."),
        "{page}"
    );
    assert!(page.contains("holds 5 of 20 records"), "{page}");
}

#[test]
fn without_a_format_argument_the_ways_are_named() {
    expect![[r#"
        status 2
        error: no argument of this tool chooses a format (dual_search_companies)
        hint: vary another: `--vary isActive` or `--vary pageSize=5,50,200`"#]]
    .assert_eq(&refused(&["compare", "dual_search_companies", "--sample"]));
    expect![[r#"
        status 2
        error: the tool has no such argument (pagesize)
        hint: did you mean `pageSize`"#]]
    .assert_eq(&refused(&[
        "compare",
        "strict_search_companies",
        "--vary",
        "pagesize=5",
        "--sample",
    ]));
    expect![[r#"
        status 2
        error: the tool's schema lists no values for this argument (searchTerm)
        hint: name them: `searchTerm=a,b`"#]]
    .assert_eq(&refused(&[
        "compare",
        "strict_search_companies",
        "--vary",
        "searchTerm",
        "--sample",
    ]));
}

#[test]
fn a_tool_that_may_write_is_called_only_on_demand() {
    let call = [
        "compare",
        "get",
        "--vary",
        "format=a,b",
        "--args",
        r#"{"x":1}"#,
    ];
    let script = server("true", "");
    let source = ["--", "sh", "-c", &script];
    expect![[r#"
        status 2
        error: not declared read-only, and not called: 2 calls would be made (get)
        hint: `--yes` makes these calls: get {"x":1,"format":"a"} · get {"x":1,"format":"b"}"#]]
    .assert_eq(&refused(&[&call[..], &source].concat()));
    let (status, document) = json(&[&call[..], &["--json"], &source].concat());
    assert_eq!((status, &document["error"]["kind"]), (2, &"consent".into()));
    let (status, document) = json(&[&call[..], &["--yes", "--json"], &source].concat());
    assert_eq!(
        (status, document["columns"].as_array().unwrap().len()),
        (0, 2)
    );
}

#[test]
fn values_that_the_schema_refuses_keep_all_calls_back() {
    expect![[r#"
        status 2
        error: with pageSize=600 the arguments do not fit the schema: 600 is greater than the maximum of 500 (/pageSize)
        hint: nothing was called; leave that value out, or fix the arguments"#]]
    .assert_eq(&refused(&["compare", "strict_search_companies", "--vary", "pageSize=5,600", "--sample"]));
}

#[test]
fn a_call_that_hangs_is_one_column_and_the_rest_is_there() {
    let script = server("true", READ_ONLY);
    let source = ["--", "sh", "-c", &script];
    let (status, document) =
        json(&[&["compare", "get", "--timeout", "2", "--json"][..], &source].concat());
    let outcomes: Vec<_> = document["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["report"]["capture"]["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(
        (status, outcomes.as_slice()),
        (4, &["result", "result", "timeout", "result"][..])
    );
    assert_eq!(
        (
            &document["error"]["kind"],
            document["delta"].as_array().unwrap().len()
        ),
        (&"timeout".into(), 3)
    );
    let (status, page) = page(&[&["compare", "get", "--timeout", "2"][..], &source].concat());
    assert_eq!(status, 4);
    assert!(page.contains("Not compared: c (no answer "), "{page}");
}

#[test]
fn a_server_that_goes_away_leaves_what_came() {
    let script = server("exit 1", READ_ONLY);
    let (status, document) = json(&["compare", "get", "--json", "--", "sh", "-c", &script]);
    let columns = document["columns"].as_array().unwrap();
    assert_eq!((status, columns.len()), (3, 4));
    assert_eq!(columns[2]["report"]["capture"]["outcome"], "disconnected");
    assert!(
        columns[3]["report"].is_null(),
        "the fourth was never called"
    );
    let script = server(
        r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"no"}],"isError":true}}\n' "$id""#,
        READ_ONLY,
    );
    let (status, page) = page(&["compare", "get", "--", "sh", "-c", &script]);
    assert_eq!(status, 1);
    assert!(
        page.contains("tool-error: the tool answered with `isError`"),
        "{page}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_prints_what_came() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    let script = server("echo third >&2", READ_ONLY);
    let mut child = Command::new(LOUPE)
        .args(["compare", "get", "--json", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The server says so when it is asked for the third time, and then says nothing more.
    let mut stderr = child.stderr.take().unwrap();
    let mut said = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&said).contains("third\n") {
        assert_eq!(
            stderr.read(&mut byte).unwrap(),
            1,
            "{}",
            String::from_utf8_lossy(&said)
        );
        said.push(byte[0]);
    }
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGINT).unwrap();
    let mut out = String::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut out)
        .unwrap();
    stderr.read_to_end(&mut said).unwrap();
    let document: Value = serde_json::from_str(&out)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&said)));
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let columns = document["columns"].as_array().unwrap();
    assert_eq!(columns[1]["report"]["capture"]["outcome"], "result");
    assert_eq!(columns[2]["report"]["capture"]["outcome"], "cancelled");
    assert!(columns[3]["report"].is_null());
    assert_eq!(document["error"]["kind"], "cancelled");
}

fn files(texts: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in texts {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn differences_are_status_1_and_told_by_path_and_line() {
    let folder = files(&[
        (
            "a",
            r#"{"content":[{"type":"text","text":"one\ntwo words"}],"structuredContent":{"items":[{"id":1,"n":1.0},{"id":2}]}}"#,
        ),
        (
            "b",
            r#"{"content":[{"type":"text","text":"one\ntwo things"}],"structuredContent":{"items":[{"id":2},{"n":2,"id":1}]}}"#,
        ),
        (
            "same",
            r#"{"structuredContent":{"items":[{"n":1,"id":1},{"id":2}]},"content":[{"type":"text","text":"one\ntwo words"}]}"#,
        ),
    ]);
    let (a, b, same) = (
        path(folder.path(), "a"),
        path(folder.path(), "b"),
        path(folder.path(), "same"),
    );
    let (status, document) = json(&["diff", &a, &b, "--json"]);
    assert_eq!(
        (status, &document["schema"], &document["equal"]),
        (1, &"loupe.diff/1".into(), &false.into())
    );
    expect![[r#"[{"op":"move","path":"/items/1","from":"/items/0","before":null,"after":null},{"op":"change","path":"/items/1/n","from":"/items/0/n","before":1.0,"after":2}]"#]].assert_eq(&document["data"].to_string());
    expect![[r#"[{"a":{"line":1,"lines":2},"b":{"line":1,"lines":2},"lines":[{"op":"equal","text":"one","words":[]},{"op":"remove","text":"two words","words":[[4,9]]},{"op":"add","text":"two things","words":[[4,10]]}]}]"#]].assert_eq(&document["text"].to_string());
    assert!(document["tokens"]["a"]["o200k_base"].as_u64().unwrap() > 0);
    let (status, printed) = page(&["diff", &a, &b]);
    assert_eq!(status, 1);
    for line in [
        "  > /items/1 from /items/0",
        "  ~ /items/1/n 1.0 → 2",
        "-two words",
        "+two things",
    ] {
        assert!(
            printed.lines().any(|found| found == line),
            "{line}: {printed}"
        );
    }
    let (status, document) = json(&["diff", &a, &same, "--json"]);
    assert_eq!(
        (status, &document["equal"], &document["data"]),
        (0, &true.into(), &serde_json::json!([]))
    );
}

#[test]
fn a_result_that_lost_its_structured_content_differs() {
    let with =
        r#"{"content":[{"type":"text","text":"Acme"}],"structuredContent":{"id":1,"phone":"555"}}"#;
    let without = r#"{"content":[{"type":"text","text":"Acme"}]}"#;
    let message = |result: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let (with_message, without_message) = (message(with), message(without));
    let folder = files(&[
        ("with", with),
        ("without", without),
        ("with.m", &with_message),
        ("without.m", &without_message),
    ]);
    for (with, without) in [
        ("with", "without"),
        ("with.m", "without.m"),
        ("with", "without.m"),
        ("with.m", "without"),
    ] {
        let (with, without) = (path(folder.path(), with), path(folder.path(), without));
        for (a, b, side, sign) in [(&with, &without, "A", '−'), (&without, &with, "B", '+')] {
            let (status, document) = json(&["diff", a, b, "--json"]);
            assert_eq!(
                (status, &document["equal"]),
                (1, &false.into()),
                "{document}"
            );
            assert_eq!(document["rest"][0]["path"], "/structuredContent");
            let (status, printed) = page(&["diff", a, b]);
            assert_eq!(status, 1);
            assert!(printed.contains("\nthey differ\n"), "{printed}");
            assert!(
                printed.contains(&format!("note data: structuredContent only in {side}\n")),
                "{printed}"
            );
            assert!(
                printed.contains(&format!("  {sign} /structuredContent ")),
                "{printed}"
            );
        }
    }
}

#[test]
fn what_one_side_cannot_have_is_named() {
    let folder = files(&[
        (
            "result",
            r#"{"content":[{"type":"text","text":"hi"}],"structuredContent":{"a":1}}"#,
        ),
        ("data", r#"{"a":1}"#),
        ("cut", "{\"jsonrpc\":\"2.0\",\"id\":1}"),
    ]);
    let (result, data, cut) = (
        path(folder.path(), "result"),
        path(folder.path(), "data"),
        path(folder.path(), "cut"),
    );
    let (status, document) = json(&["diff", &result, &data, "--json"]);
    assert_eq!(
        (status, &document["leftOut"], &document["text"]),
        (0, &serde_json::json!(["text: B has none"]), &Value::Null)
    );
    assert_eq!(
        document["equal"],
        Value::Null,
        "not everything was compared"
    );
    assert!(
        page(&["diff", &result, &data])
            .1
            .contains("\nno differences in what was compared\n")
    );
    let (status, page) = page(&["diff", &result, &cut]);
    assert_eq!(status, 1);
    assert!(
        page.contains("outcome result → malformed\n")
            && page.contains("note B cannot be read as an answer: "),
        "{page}"
    );
    expect![[r#"
        status 2
        error: cannot read: No such file or directory (os error 2) (/no/such/file)"#]]
    .assert_eq(&refused(&["diff", "/no/such/file", &result]));
}

#[test]
fn two_lists_of_tools_are_compared() {
    let (_, mut tools) = json(&["tools", "--sample=dial", "--json"]);
    let old = tools.to_string();
    let raw = &mut tools["tools"][0]["raw"];
    raw["annotations"]["readOnlyHint"] = Value::Bool(raw["annotations"]["readOnlyHint"] != true);
    raw["inputSchema"]["properties"]["more"] = serde_json::json!({"type": "string"});
    tools["tools"].as_array_mut().unwrap().pop();
    let folder = files(&[("old", &old), ("new", &tools.to_string())]);
    let (old, new) = (path(folder.path(), "old"), path(folder.path(), "new"));
    let (status, document) = json(&["diff", &old, &new, "--json"]);
    let tools = &document["tools"];
    assert_eq!(
        (
            status,
            tools["removed"].as_array().unwrap().len(),
            tools["added"].as_array().unwrap().len()
        ),
        (1, 1, 0)
    );
    assert_eq!(
        (
            &tools["changed"][0]["hints"],
            &tools["changed"][0]["schema"]
        ),
        (&serde_json::json!(["readOnlyHint"]), &true.into())
    );
    let (status, page) = page(&["diff", &old, &new]);
    assert!(
        status == 1 && page.contains("  + /inputSchema/properties/more {\"type\":\"string\"}"),
        "{page}"
    );
    assert_eq!(json(&["diff", &old, &old, "--json"]).0, 0);
}

#[test]
fn a_comparison_is_printed_as_a_table() {
    let call = [
        "compare",
        "strict_search_companies",
        "--quiet",
        "--args",
        r#"{"searchTerm":"north"}"#,
        "--sample",
    ];
    let (status, text) = page(&[&call[..], &["--as", "markdown"]].concat());
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(status, 0);
    assert!(
        lines[0].starts_with("| response_format | Tokens (o200k_base) | Against json text |"),
        "{text}"
    );
    assert_eq!(lines.len(), 7, "{text}");
    assert!(
        lines[3].starts_with("| markdown text |") && lines[3].contains("`/data/*/city`"),
        "{text}"
    );
    let (_, text) = page(&[&call[..], &["--as", "csv"]].concat());
    assert!(
        text.starts_with("column,value,derived,outcome,format,bytes,") && text.lines().count() == 6,
        "{text}"
    );
    let refused = refused(&[&call[..], &["--as", "html"]].concat());
    assert!(
        refused.starts_with("status 2") && refused.contains("one of markdown, csv"),
        "{refused}"
    );
}
