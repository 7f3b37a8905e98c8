//! The command line as others see it: exit status, stdout and stderr of the program, and its page in `docs`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use expect_test::expect;
use serde_json::{Value, json as value};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");

fn run(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(LOUPE)
        .args(args)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that ends without reading its input is no failure of the test.
    child.stdin.take().unwrap().write_all(stdin).ok();
    child.wait_with_output().unwrap()
}

/// Exit status, stdout and stderr on one page, so that what a failing test prints says it all.
fn page(args: &[&str], stdin: &[u8]) -> String {
    let output = run(args, stdin);
    let mut page = format!("status {}\n", output.status.code().unwrap_or(-1));
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            page.push_str(&format!(
                "-- {name}\n{}\n",
                String::from_utf8_lossy(bytes).trim_end_matches('\n')
            ));
        }
    }
    page
}

fn loupe(args: &[&str]) -> String {
    page(args, b"")
}

fn json(args: &[&str], stdin: &[u8]) -> (i32, Value) {
    let output = run(args, stdin);
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{args:?}: {error}\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (output.status.code().unwrap(), value)
}

/// Stdout of a command that has to succeed.
fn text(args: &[&str], stdin: &[u8]) -> Vec<u8> {
    let output = run(args, stdin);
    assert!(
        output.status.success(),
        "{args:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    output.stdout
}

#[test]
fn wrong_usage_is_status_2_with_a_hint() {
    expect![[r"
    status 2
    -- stderr
    error: unknown command `tols`
    hint: did you mean `tools`
    "]]
    .assert_eq(&loupe(&["tols"]));
    expect![[r"
    status 2
    -- stderr
    error: no SOURCE is given
    hint: add --sample, --url URL, --config FILE, --fixture DIR or -- COMMAND [ARG…]
    "]]
    .assert_eq(&loupe(&["tools"]));
    expect![[r"
    status 2
    -- stderr
    error: the following required arguments were not provided: <TOOL>
    hint: `mcp-loupe call --help` lists what it takes
    "]]
    .assert_eq(&loupe(&["call", "--sample"]));
    expect![[r"
    status 2
    -- stderr
    error: unknown option `--sampel`
    hint: did you mean `--sample`
    "]]
    .assert_eq(&loupe(&["tools", "--sampel"]));
    expect![[r"
    status 2
    -- stderr
    error: unknown sample set `nosuch` (--sample)
    hint: one of all, autotask-dual, autotask-strict, dial, delegator, autoreply
    "]]
    .assert_eq(&loupe(&["tools", "--sample=nosuch"]));
    expect![[r"
    status 2
    -- stderr
    error: unknown view `yml` (--view)
    hint: did you mean `xml` or `yaml`
    "]]
    .assert_eq(&loupe(&["call", "x", "--sample", "--view", "yml"]));
    expect![[r"
    status 2
    -- stderr
    error: unknown tokenizer `p50k`, and no such file (--tokenizer)
    hint: did you mean `p50k_base`
    "]]
    .assert_eq(&loupe(&["call", "x", "--sample", "--tokenizer", "p50k"]));
}

#[test]
fn limits_are_checked_before_anything_starts() {
    for (given, what) in [
        ("pages", "`pages` is not NAME=VALUE"),
        ("page=1", "there is no limit `page`"),
        ("pages=0", "cannot be `0`"),
    ] {
        let output = run(&["tools", "--sample", "--limit", given], b"");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains(what)
                && said.contains("message, pages, beside, log, stderr") != given.contains('0'),
            "{said}"
        );
    }
    assert!(
        loupe(&[
            "tools",
            "--sample",
            "--limit",
            "message=64MiB",
            "--limit",
            "log=1MiB"
        ])
        .contains("strict_search_companies")
    );
}

#[test]
fn a_named_tokenizer_counts_beside_the_two() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/crates/loupe-core/tests/data/token/tokenizer.json"
    );
    let row = |tokenizer: &str| {
        let (status, report) = json(
            &[
                "call",
                "dual_search_companies",
                "--sample",
                "--json",
                "--tokenizer",
                tokenizer,
            ],
            b"",
        );
        assert_eq!(status, 0);
        let row = report["ledger"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["format"] == "json")
            .unwrap()
            .clone();
        (
            report["ledger"].clone(),
            report["capture"]["tool"]["definition"]["tokens"].clone(),
            row,
        )
    };
    let (ledger, definition, claude) = row("claude");
    let exact = claude["tokens"]["o200k_base"].as_u64().unwrap();
    assert_eq!(ledger["tokenizer"], "claude");
    assert_eq!(
        claude["tokens"]["claude"]["low"].as_u64().unwrap(),
        exact * 110 / 100
    );
    assert_eq!(
        claude["tokens"]["claude"]["high"].as_u64().unwrap(),
        (exact * 195).div_ceil(100)
    );
    assert!(definition["claude"]["high"].as_u64() > definition["o200k_base"].as_u64());
    let (ledger, _, older) = row("p50k_base");
    assert!(older["tokens"]["p50k_base"].is_u64() && ledger["tokenizerFile"].is_null());
    let (ledger, _, own) = row(file);
    assert_eq!(ledger["tokenizerFile"]["kind"], "tokenizer.json");
    assert_eq!(
        ledger["tokenizerFile"]["sha256"].as_str().unwrap().len(),
        64
    );
    assert!(own["tokens"]["tokenizer.json"].is_u64());
    // The default and its alias have no third member.
    assert_eq!(
        row("o200k_harmony").2["tokens"].as_object().unwrap().len(),
        2
    );
    let no_tokenizer = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let said = loupe(&[
        "call",
        "dual_search_companies",
        "--sample",
        "--tokenizer",
        no_tokenizer,
    ]);
    assert!(
        said.starts_with("status 2\n-- stderr\nerror: not a tokenizer file: read as SentencePiece"),
        "{said}"
    );
}

#[test]
fn usage_errors_are_json_too() {
    let (status, document) = json(&["tools", "--json"], b"");
    assert_eq!(
        (status, &document["schema"], &document["error"]["kind"]),
        (2, &"loupe.error/1".into(), &"usage".into())
    );
    let (status, document) = json(&["call", "--json", "--nope"], b"");
    assert_eq!(
        (status, &document["error"]["message"]),
        (2, &"unknown option `--nope`".into())
    );
}

#[test]
fn a_tool_that_is_not_listed_is_named_with_its_neighbours() {
    expect![[r"
    status 2
    -- stderr
    error: the server lists no such tool (dual_serch_companies)
    hint: did you mean `dual_search_companies` or `strict_search_companies`
    "]]
    .assert_eq(&loupe(&["call", "dual_serch_companies", "--sample"]));
}

#[test]
fn arguments_are_checked_before_they_leave() {
    let call =
        |args: &'static str| loupe(&["call", "dual_search_companies", "--args", args, "--sample"]);
    expect![[r"
    status 2
    -- stderr
    error: arguments do not fit the schema: 600 is greater than the maximum of 500 (/pageSize)
    hint: `--args JSON` gives them, `tools --json` shows the schema, and `--send-anyway` sends them all the same
    "]]
    .assert_eq(&call(r#"{"pageSize":600}"#));
    expect![[r"
    status 2
    -- stderr
    error: arguments are not JSON: expected a value (line 1, column 13)
    hint: a JSON object, @FILE or -; in a shell, put it in single quotes
    "]]
    .assert_eq(&call(r#"{"pageSize":}"#));
    expect![[r"
    status 2
    -- stderr
    error: cannot read the arguments: No such file or directory (os error 2) (/no/such/file)
    hint: `--args` takes a JSON object, @FILE or - for standard input
    "]]
    .assert_eq(&call("@/no/such/file"));
}

#[test]
fn refused_arguments_are_sent_on_demand() {
    let args = [
        "call",
        "strict_search_companies",
        "--args",
        r#"{"pageSize":600}"#,
        "--sample",
        "--send-anyway",
        "--view",
        "content",
    ];
    let output = run(&args, b"");
    assert_eq!(output.status.code(), Some(1), "an answer with isError");
    assert!(String::from_utf8_lossy(&output.stdout).contains("VALIDATION_ERROR"));
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "note: the tool answered with `isError`\n"
    );
}

/// A server whose one tool has this input schema.
fn server_with(schema: &str) -> String {
    let hello = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
    let tool =
        format!(r#"{{"name":"t","inputSchema":{schema},"annotations":{{"readOnlyHint":true}}}}"#);
    format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *initialize\"*) result='{hello}' ;;
    *tools/list*) result='{{"tools":[{tool}]}}' ;;
    *tools/call*) result='{{"content":[{{"type":"text","text":"called"}}]}}' ;;
    *) continue ;;
  esac
  printf '{{"jsonrpc":"2.0","id":%s,"result":%s}}\n' "$id" "$result"
done"#
    )
}

#[cfg(unix)]
#[test]
fn a_schema_that_cannot_be_used_keeps_nothing_from_being_called() {
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("saved");
    let saved = saved.to_str().unwrap();
    for (schema, why) in [
        ("null", "the schema is null, not an object"),
        ("[]", "the schema is an array, not an object"),
        (r#"{"type":7}"#, "the schema cannot be used"),
    ] {
        let script = server_with(schema);
        let server = ["--protocol", "2025-11-25", "--", "sh", "-c", &script];
        for words in [
            &["call", "t", "--view", "content"][..],
            &["compare", "t", "--vary", "n=1,2"],
            &["fixture", "save", saved, "t", "--force"],
        ] {
            let output = run(&[words, &server].concat(), b"");
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{schema} {words:?}: {said}");
            let warning = format!("warning: the arguments of `t` could not be checked: {why}");
            assert_eq!(
                said.matches(&warning).count(),
                1,
                "{schema} {words:?}: {said}"
            );
        }
    }
}

#[test]
fn arguments_leave_as_written() {
    let arguments = r#"{ "pageSize" :1e1,	"searchTerm":"a\u0062" }"#;
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("messages.jsonl");
    for given in [arguments, "-"] {
        let transcript = transcript.to_str().unwrap();
        let command = [
            "call",
            "dual_search_companies",
            "--sample",
            "--view",
            "wire",
            "--args",
            given,
            "--transcript",
            transcript,
        ];
        let answer = text(&command, arguments.as_bytes());
        let lines = std::fs::read_to_string(transcript).unwrap();
        let messages: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let said = |direction: &str, word: &str| {
            messages
                .iter()
                .filter(|message| message["dir"] == direction)
                .filter_map(|message| message["text"].as_str())
                .filter(|message| message.contains(word))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let calls = said("out", "tools/call");
        assert!(
            calls.len() == 1 && calls[0].contains(arguments),
            "{calls:?}"
        );
        assert!(
            said("in", "\"content\"").contains(&String::from_utf8(answer).unwrap()),
            "the transcript has the answer"
        );
    }
}

#[test]
fn formats_are_printed_exactly() {
    let call = [
        "call",
        "dial_get_user_by_id",
        "--args",
        r#"{"user_id":42}"#,
        "--sample",
        "--view",
    ];
    let content = text(&[&call[..], &["content"]].concat(), b"");
    assert!(
        content.starts_with(b"```\nUser ID: 42\n") && content.ends_with(b"```"),
        "no line end is added"
    );
    let wire = text(&[&call[..], &["wire"]].concat(), b"");
    let message: Value = serde_json::from_slice(&wire).unwrap();
    assert_eq!(
        message["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .as_bytes(),
        content
    );
    expect![[r"
    status 2
    -- stderr
    error: no structuredContent in this answer (structuredContent)
    "]]
    .assert_eq(&loupe(&[&call[..], &["structured"]].concat()));
}

#[test]
fn the_report_has_every_member() {
    let (status, report) = json(
        &["call", "dual_search_companies", "--sample", "--json"],
        b"",
    );
    assert_eq!(status, 0);
    let members = |value: &Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
            .join(" ")
    };
    expect!["loupe schema capture sent ledger hosts findings"].assert_eq(&members(&report));
    expect!["id server tool arguments startedAt elapsedMs outcome wire result raw rpcError blocks data notifications"]
        .assert_eq(&members(&report["capture"]));
    expect![["index type known bytes tokens mimeType audience priority faults"]]
        .assert_eq(&members(&report["capture"]["blocks"][0]));
    expect!["format available bytes chars utf16 tokens ratio roundTrip lossless losses facts claim extraText why"]
        .assert_eq(&members(&report["ledger"]["rows"][0]));
    assert_eq!(report["schema"], "loupe.report/1");
    expect!["rule severity profiles message subject path places source confidence count saves fix"]
        .assert_eq(&members(&report["findings"][0]));
    expect!["id version evidence computable why bytes tokens truncated limit facts media mediaOutcome definitionTokens"]
        .assert_eq(&members(&report["hosts"][0]));
    let rows = report["ledger"]["rows"].as_array().unwrap();
    let formats: Vec<_> = rows
        .iter()
        .map(|row| row["format"].as_str().unwrap())
        .collect();
    expect![["content structured both wire json json-pretty json-fenced json-table yaml toon csv markdown-table markdown-list code-block xml"]].assert_eq(&formats.join(" "));
}

#[test]
fn a_saving_is_the_difference_of_the_counts_in_each_tokenizer() {
    let text = serde_json::to_string_pretty(&value!({"ids": [101, 102, 103], "ok": true})).unwrap();
    let result = value!({"content": [{"type": "text", "text": text}]}).to_string();
    let report = |tokenizer| {
        let show = ["show", "-", "--json", "--tokenizer", tokenizer];
        json(&show, result.as_bytes()).1
    };
    let all = report("claude");
    let saves = |report: &Value| {
        let findings = report["findings"].as_array().unwrap();
        let pretty = findings
            .iter()
            .find(|finding| finding["rule"] == "shape/pretty-json");
        pretty.unwrap()["saves"]["tokens"].clone()
    };
    let rows = all["ledger"]["rows"].as_array().unwrap();
    let tokens = |format: &str, encoding: &str| {
        let row = rows.iter().find(|row| row["format"] == format).unwrap();
        row["tokens"][encoding].as_u64().unwrap()
    };
    let saved = |encoding| tokens("content", encoding) - tokens("json", encoding);
    let exact = saved("o200k_base");
    assert_eq!(
        saves(&all),
        value!({
            "o200k_base": exact,
            "cl100k_base": saved("cl100k_base"),
            "claude": {"low": exact * 110 / 100, "high": (exact * 195).div_ceil(100)},
        })
    );
    // Which texts are left is not known here.
    assert_eq!(saves(&report("p50k_base"))["p50k_base"], Value::Null);
}

#[test]
fn numbers_are_those_of_the_bytes_printed() {
    let call = [
        "call",
        "strict_search_companies",
        "--args",
        r#"{"response_format":"json","pageSize":3}"#,
        "--sample",
    ];
    let (_, report) = json(&[&call[..], &["--json"]].concat(), b"");
    for row in report["ledger"]["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["available"] == true)
    {
        let bytes = text(
            &[&call[..], &["--view", row["format"].as_str().unwrap()]].concat(),
            b"",
        );
        assert_eq!(row["bytes"], bytes.len(), "{row}");
        assert_eq!(
            row["chars"],
            String::from_utf8(bytes).unwrap().chars().count(),
            "{row}"
        );
    }
}

#[test]
fn round_trips_stand_in_the_report() {
    let data = br#"[{"zip":"02108","n":"90210","yes":1e3},{"zip":"","n":"x","yes":2}]"#;
    let (_, report) = json(&["show", "-", "--json"], data);
    let row = |id: &str| {
        report["ledger"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["format"] == id)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&row("json")["roundTrip"], &row("json")["losses"]),
        (&"exact".into(), &serde_json::json!([]))
    );
    let toon = row("toon");
    assert_eq!(
        (&toon["roundTrip"], &toon["lossless"]),
        (&"equal".into(), &true.into())
    );
    assert_eq!(
        toon["losses"],
        serde_json::json!([{"path": "/0/yes", "kind": "number", "before": "1e3", "after": "1000"}])
    );
    let csv = row("csv");
    assert_eq!(
        (&csv["roundTrip"], &csv["lossless"]),
        (&"lossy".into(), &false.into())
    );
    assert_eq!(
        csv["losses"][0],
        serde_json::json!({"path": "/0/n", "kind": "type", "before": "\"90210\"", "after": "90210"})
    );
    assert_eq!(csv["losses"][1]["kind"], "empty-null");
    assert!(
        row("yaml")["why"]
            .as_str()
            .unwrap()
            .contains("1.1 readers re-type 4 values"),
        "two keys, each twice"
    );
    for unproved in ["wire", "both", "content"] {
        assert!(
            row(unproved)["roundTrip"].is_null() && row(unproved)["losses"].is_null(),
            "{unproved}"
        );
    }
    assert_eq!(row("structured")["roundTrip"], "exact");
    let page = String::from_utf8(text(&["show", "-"], data)).unwrap();
    assert!(
        page.contains("ROUND TRIP") && page.contains("lossy (2)"),
        "{page}"
    );
    assert!(
        page.contains("csv: 2 values differ (first /0/n: type, \"90210\" → 90210)"),
        "{page}"
    );
}

#[test]
fn the_ledger_is_a_table_for_others() {
    let data = br#"[{"a":"1","b":"x"}]"#;
    let markdown = String::from_utf8(text(&["show", "-", "--as", "markdown"], data)).unwrap();
    assert!(
        markdown.starts_with(
            "| Format | Tokens | Against JSON, compact | Bytes | Facts | Round trip |\n|---|"
        ),
        "{markdown}"
    );
    assert!(
        markdown.contains("| CSV | ") && markdown.contains("| 2 found | lossy |\n"),
        "{markdown}"
    );
    let older = text(
        &["show", "-", "--as", "markdown", "--tokenizer", "p50k_base"],
        data,
    );
    assert_ne!(String::from_utf8(older).unwrap(), markdown);
    let csv = String::from_utf8(text(
        &["show", "-", "--as", "csv", "--baseline", "csv"],
        data,
    ))
    .unwrap();
    let row = csv.lines().find(|line| line.starts_with("csv,")).unwrap();
    assert!(
        row.starts_with("csv,true,8,8,8,") && row.contains(",1.0000,2,0,2,0,lossy,1,"),
        "{row}"
    );
    assert!(
        csv.contains("content,false,,,,,,,,,,,,,no text block in this answer\n"),
        "{csv}"
    );
    let ranges = String::from_utf8(text(
        &["show", "-", "--as", "csv", "--tokenizer", "claude"],
        data,
    ))
    .unwrap();
    let mut lines = ranges
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    assert_eq!(
        lines.next().unwrap()[14..],
        ["tokenizer", "tokens_low", "tokens_high", "why"]
    );
    let json = lines.find(|cells| cells[0] == "json").unwrap();
    assert!(
        json[14] == "claude" && json[15].parse::<u64>().unwrap() < json[16].parse().unwrap(),
        "{json:?}"
    );
    expect![[r"
    status 2
    -- stderr
    error: unknown kind of table `html` (--as)
    hint: one of markdown, csv
    "]]
    .assert_eq(&loupe(&["show", "-", "--as", "html"]));
}

#[test]
fn every_format_is_a_view_and_a_baseline() {
    let (_, listed) = json(&["formats", "--json"], b"");
    let data = br#"[{"a":1},{"a":2}]"#;
    for format in listed["formats"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|format| format["asSent"] == false)
    {
        let id = format["id"].as_str().unwrap();
        assert!(!text(&["show", "-", "--view", id], data).is_empty(), "{id}");
        let (_, report) = json(&["show", "-", "--json", "--baseline", id], data);
        let row = report["ledger"]["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["format"] == id)
            .unwrap()
            .clone();
        assert_eq!(
            (&report["ledger"]["baseline"], &row["ratio"]),
            (&id.into(), &1.0.into())
        );
    }
}

#[test]
fn results_stand_in_the_report_byte_for_byte() {
    let result = r#"{"content":[{"type":"text","text":"é\u00e9"}],"structuredContent":{"b":1e3,"a":12345678901234567890123,"a":1.0}}"#;
    let output = String::from_utf8(text(&["show", "-", "--json"], result.as_bytes())).unwrap();
    assert!(
        output.contains(&format!("\"result\": {result},")),
        "{output}"
    );
    let cut = b"{\"jsonrpc\":\"2.0\",\"result\":{\"content\":[\xff\n";
    let (status, report) = json(&["show", "-", "--json", "--read-as", "message"], cut);
    assert_eq!(
        (
            status,
            &report["capture"]["outcome"],
            &report["error"]["kind"]
        ),
        (5, &"malformed".into(), &"malformed".into())
    );
    assert!(report["capture"]["result"].is_null());
    assert_eq!(
        report["capture"]["raw"]["base64"],
        "eyJqc29ucnBjIjoiMi4wIiwicmVzdWx0Ijp7ImNvbnRlbnQiOlv/"
    );
    let deep = format!(
        "{{\"content\":[],\"structuredContent\":{}{}}}",
        "[".repeat(1_000),
        "]".repeat(1_000)
    );
    assert!(
        run(&["show", "-", "--json"], deep.as_bytes())
            .status
            .success()
    );
}

#[test]
fn files_are_shown_by_what_they_hold() {
    let shown = |stdin: &'static [u8]| {
        let (status, report) = json(&["show", "-", "--json"], stdin);
        let rows = report["ledger"]["rows"].as_array().unwrap();
        let available: Vec<_> = rows
            .iter()
            .filter(|row| row["available"] == true)
            .map(|row| row["format"].as_str().unwrap())
            .collect();
        let capture = &report["capture"];
        format!(
            "{status} {} wire:{} {}",
            capture["outcome"].as_str().unwrap(),
            capture["wire"]["bytes"],
            available.join(" ")
        )
    };
    expect![["1 tool-error wire:null content"]].assert_eq(&shown(
        br#"{"content":[{"type":"text","text":"hi"}],"isError":true}"#,
    ));
    expect![["0 result wire:48 wire"]].assert_eq(&shown(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[]}}\r\n",
    ));
    expect![["5 protocol-error wire:63 wire"]].assert_eq(&shown(
        br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}"#,
    ));
    expect![["0 result wire:null structured json json-pretty json-fenced json-table yaml toon csv markdown-table markdown-list code-block xml"]].assert_eq(&shown(b"[{\"a\":1,\"b\":2}]"));
    expect![["0 result wire:null content"]].assert_eq(&shown(b"# Title"));
}

#[test]
fn a_json_rpc_error_is_status_5() {
    let message = br#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown\ntool"}}"#;
    expect![[r"
    status 5
    -- stderr
    error: the server answered with error -32602: Unknown tool
    "]]
    .assert_eq(&page(&["show", "-", "--view", "content"], message));
    assert_eq!(
        run(&["show", "-", "--view", "wire"], message).stdout,
        message
    );
}

#[test]
fn files_that_cannot_be_read_are_status_2() {
    expect![[r"
    status 2
    -- stderr
    error: cannot read: No such file or directory (os error 2) (/no/such/file)
    "]]
    .assert_eq(&loupe(&["show", "/no/such/file"]));
    expect![[r"
    status 2
    -- stderr
    error: not JSON, so no result: expected a value at byte 0 (stdin)
    hint: `--read-as text` shows it as it is
    "]]
    .assert_eq(&page(&["show", "-", "--read-as", "result"], b"<html>"));
    let folder = tempfile::tempdir().unwrap();
    let output = run(&["show", folder.path().to_str().unwrap()], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .starts_with("error: not a capture folder: there is no capture.json")
    );
}

#[test]
fn servers_that_are_none_fail_by_their_kind() {
    let (status, document) = json(&["tools", "--json", "--", "/no/such/command"], b"");
    assert_eq!((status, &document["error"]["kind"]), (3, &"spawn".into()));
    let (status, document) = json(&["tools", "--json", "--url", "http://127.0.0.1:9/mcp"], b"");
    assert_eq!((status, &document["error"]["kind"]), (3, &"connect".into()));
    let (status, document) = json(
        &["tools", "--json", "--timeout", "0.2", "--", "sleep", "60"],
        b"",
    );
    assert_eq!((status, &document["error"]["kind"]), (4, &"timeout".into()));
    let output = run(&["tools", "--timeout", "1e18", "--", "true"], b"");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("at most 86400 seconds (a day)"));
}

#[test]
fn the_sample_is_the_same_over_stdio() {
    let call = [
        "call",
        "dual_search_companies",
        "--args",
        r#"{"searchTerm":"dental"}"#,
        "--view",
        "content",
    ];
    let inside = text(&[&call[..], &["--sample"]].concat(), b"");
    let outside = text(&[&call[..], &["--", LOUPE, "sample-server"]].concat(), b"");
    assert_eq!(inside, outside);
}

#[test]
fn without_a_display_the_comparison_comes_in_the_terminal() {
    let output = run(&[], b"");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.starts_with("note: ") && stderr.ends_with("so here it is in the terminal\n"),
        "{stderr}"
    );
    assert!(
        stdout.contains("dual_search_companies") && stdout.contains("markdown-table"),
        "{stdout}"
    );
    let tools = run(&["--sample=dial"], b"");
    assert!(String::from_utf8_lossy(&tools.stdout).contains("get_user_by_id"));
}

#[test]
fn every_view_prints_something() {
    for view in [
        "ledger",
        "rendered",
        "tree",
        "hosts",
        "placements",
        "definition",
        "all",
    ] {
        assert!(
            !text(
                &["call", "dual_search_companies", "--sample", "--view", view],
                b""
            )
            .is_empty(),
            "{view}"
        );
    }
}

#[test]
fn a_server_cannot_command_the_terminal() {
    let result = b"{\"content\":[{\"type\":\"text\",\"text\":\"a\\u001b[2Jb\"}],\"structuredContent\":{\"k\":\"\\u001b[2J\"}}";
    for view in ["ledger", "rendered", "tree"] {
        let page = text(&["show", "-", "--view", view], result);
        assert!(!page.contains(&0x1b), "{view}");
    }
    assert!(
        text(&["show", "-", "--view", "content"], result).contains(&0x1b),
        "a format is exactly its bytes"
    );
}

#[test]
fn tools_are_listed() {
    let (status, document) = json(&["tools", "--sample", "--json"], b"");
    assert_eq!((status, &document["schema"]), (0, &"loupe.tools/1".into()));
    let tools = document["tools"].as_array().unwrap();
    let sum: u64 = tools
        .iter()
        .map(|tool| tool["definition"]["tokens"]["o200k_base"].as_u64().unwrap())
        .sum();
    assert_eq!(document["total"]["tokens"]["o200k_base"], sum);
    assert!(tools.iter().all(|tool| tool["raw"]["name"] == tool["name"]));
    let page = String::from_utf8(text(&["tools", "--sample"], b"")).unwrap();
    assert!(
        tools
            .iter()
            .all(|tool| page.contains(tool["name"].as_str().unwrap()))
    );
}

#[test]
fn formats_are_listed() {
    expect![[r"
    status 0
    -- stdout
    FORMAT          TITLE                   WRITTEN BY
    content         Text                    the server
    structured      structuredContent       the server
    both            Both                    the server
    wire            On the wire             the server
    json            JSON, compact           Loupe, from the data
    json-pretty     JSON, pretty            Loupe, from the data
    json-fenced     JSON in a fence         Loupe, from the data
    json-table      JSON, columns and rows  Loupe, from the data
    yaml            YAML                    Loupe, from the data
    toon            TOON                    Loupe, from the data
    csv             CSV                     Loupe, from the data
    markdown-table  Markdown table          Loupe, from the data
    markdown-list   Markdown list           Loupe, from the data
    code-block      Code block              Loupe, from the data
    xml             XML                     Loupe, from the data
    "]]
    .assert_eq(&loupe(&["formats"]));
    let (_, document) = json(&["formats", "--json"], b"");
    assert_eq!(
        document["formats"][3],
        serde_json::json!({"id": "wire", "title": "On the wire", "asSent": true})
    );
}

#[test]
fn completions_are_printed_for_every_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        assert!(
            String::from_utf8(text(&["completions", shell], b""))
                .unwrap()
                .contains("sample-server"),
            "{shell}"
        );
    }
    expect![[r"
    status 2
    -- stderr
    error: invalid value `tcsh` for `<SHELL>`
    hint: one of bash, elvish, fish, powershell, zsh
    "]]
    .assert_eq(&loupe(&["completions", "tcsh"]));
}

/// Whether the program listens for an interrupt: bit 1 of the signals that it catches is SIGINT.
#[cfg(target_os = "linux")]
fn listens(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    caught
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 2 != 0)
}

/// Of what takes long is printed what there is by then.
#[test]
#[cfg(target_os = "linux")]
fn an_interrupt_prints_what_is_there() {
    use nix::sys::signal::{Signal, kill};
    let members: Vec<_> = (0..10_000)
        .map(|at| format!(r#""key {at}":"value {at}""#))
        .collect();
    let answer = format!(
        r#"{{"content":[],"structuredContent":{{{}}}}}"#,
        members.join(",")
    );
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("result.json");
    std::fs::write(&file, answer).unwrap();
    for options in [&["--json"][..], &[], &["--view", "all"]] {
        let child = Command::new(LOUPE)
            .arg("show")
            .arg(&file)
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        while !listens(child.id()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
        kill(
            nix::unistd::Pid::from_raw(child.id().cast_signed()),
            Signal::SIGINT,
        )
        .unwrap();
        let output = child.wait_with_output().unwrap();
        let (printed, said) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(output.status.code(), Some(130), "{options:?}: {said}");
        assert_eq!(said, "error: interrupted\n");
        if options.is_empty() || options.len() == 2 {
            assert!(
                printed.contains(": interrupted before it was computed\n"),
                "{printed}"
            );
            // What was not measured might be cheaper.
            assert!(!printed.contains("same data"), "{printed}");
            continue;
        }
        let report: Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(report["error"]["kind"], "cancelled");
        assert_eq!(
            report["capture"]["result"]["structuredContent"]["key 9999"],
            "value 9999"
        );
        let broken_off = |rows: &Value, is_there: &str| {
            let rows = rows.as_array().unwrap().clone();
            let of = rows.len();
            (
                rows.into_iter()
                    .filter(|row| {
                        row[is_there] == false && row["why"] == "interrupted before it was computed"
                    })
                    .count(),
                of,
            )
        };
        let (formats, hosts) = (
            broken_off(&report["ledger"]["rows"], "available"),
            broken_off(&report["hosts"], "computable"),
        );
        assert!(formats.0 > 0 && formats.1 > 10, "{formats:?}");
        assert!(hosts.0 > 0 && hosts.1 == 41, "{hosts:?}");
    }
}

#[test]
fn a_closed_pipe_is_quiet() {
    let mut child = Command::new(LOUPE)
        .args([
            "call",
            "dual_search_companies",
            "--args",
            r#"{"pageSize":-1}"#,
            "--sample",
            "--view",
            "wire",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).as_ref()
        ),
        (Some(0), "")
    );
}

#[test]
fn a_server_of_a_client_s_configuration_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".mcp.json");
    let servers = serde_json::json!({"mcpServers": { // Two, so that a name is needed.
        "sample": {"command": LOUPE, "args": ["sample-server", "--set", "${SET:-dial},size=1"]},
        "remote": {"type": "sse", "url": "http://127.0.0.1:1/sse", "headers": {"X": "${NOT_SET_ANYWHERE}"}},
    }});
    std::fs::write(&file, servers.to_string()).unwrap();
    let file = file.to_str().unwrap();
    let call = [
        "call",
        "get_user_by_id",
        "--args",
        r#"{"user_id":1}"#,
        "--view",
        "content",
        "--config",
        file,
        "--server",
        "sample",
    ];
    assert!(
        String::from_utf8(text(&call, b""))
            .unwrap()
            .contains("User ID: 1\n")
    );
    let tools = [
        "tools",
        "--config",
        file,
        "--server",
        "sample",
        "--env",
        "SET=delegator",
    ];
    assert!(
        String::from_utf8(text(&tools, b""))
            .unwrap()
            .contains("_codex_local_status")
    );
    let refused = |args: &[&str]| {
        let output = run(&[&["tools", "--config", file][..], args].concat(), b"");
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    assert_eq!(
        refused(&[]),
        (
            Some(2),
            "error: which server of the file is not said (--server)\nhint: one of sample, remote\n"
                .to_owned()
        )
    );
    let (status, message) = refused(&["--server", "remote"]);
    assert!(
        status == Some(2)
            && message.starts_with("error: no value for ${NOT_SET_ANYWHERE} (remote)\nhint: "),
        "{message}"
    );
    let (status, message) = refused(&["--server", "remote", "--env", "NOT_SET_ANYWHERE=1"]);
    assert!(
        status == Some(3)
            && message.contains("error: connection refused (http://127.0.0.1:1/sse)\n"),
        "{message}"
    );
}

/// Long options named in a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '-'));
    words
        .filter(|word| word.starts_with("--") && !word.starts_with("---") && word.len() > 2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_help_and_its_page_agree() {
    let docs =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/cli.md")).unwrap();
    let help = String::from_utf8(text(&["--help"], b"")).unwrap();
    let commands = listed(&help);
    let mut in_help = options(&help);
    for command in &commands {
        assert!(
            docs.contains(&format!("mcp-loupe {command}")),
            "docs/cli.md lacks the command `{command}`"
        );
        let help = String::from_utf8(text(&[command, "--help"], b"")).unwrap();
        in_help.extend(options(&help));
        for inner in listed(&help) {
            in_help.extend(options(
                &String::from_utf8(text(&[command, &inner, "--help"], b"")).unwrap(),
            ));
        }
    }
    for line in docs
        .lines()
        .filter_map(|line| line.strip_prefix("    mcp-loupe "))
    {
        let word = line.split_whitespace().next().unwrap();
        assert!(
            word.starts_with('[') || commands.iter().any(|command| command == word),
            "docs/cli.md promises the command `{word}`"
        );
    }
    assert_eq!(options(&docs), in_help);
}

/// The commands that a help lists.
fn listed(help: &str) -> Vec<String> {
    let list = help
        .split("Commands:\n")
        .nth(1)
        .map_or("", |list| list.split("\n\n").next().unwrap_or_default());
    list.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_command_takes_the_general_options() {
    let general = ["--quiet", "--data-dir", "somewhere", "--limit", "pages=3"];
    let help =
        |command: &[&str]| String::from_utf8(text(&[command, &["--help"]].concat(), b"")).unwrap();
    let mut count = 0;
    for command in listed(&help(&[])) {
        let inner = listed(&help(&[&command]));
        let leaves = if inner.is_empty() {
            vec![vec![command.as_str()]]
        } else {
            inner.iter().map(|inner| vec![&*command, inner]).collect()
        };
        for leaf in leaves {
            // What is not taken is refused before help is given.
            let page = loupe(&[&leaf[..], &general, &["--help"]].concat());
            assert!(page.starts_with("status 0\n"), "{leaf:?}: {page}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
    assert!(
        loupe(&[&general[..], &["--help"]].concat()).starts_with("status 0\n"),
        "the window"
    );
    // Also where they come to something.
    let folder = tempfile::tempdir().unwrap();
    let (answer, fixture) = (folder.path().join("a.json"), folder.path().join("f"));
    let (answer, fixture) = (answer.to_str().unwrap(), fixture.to_str().unwrap());
    std::fs::write(answer, r#"{"content":[{"type":"text","text":"a"}]}"#).unwrap();
    let out = folder.path().join("out.json");
    for command in [
        &["formats"][..],
        &["hosts", "codex"],
        &["completions", "bash"],
        &["diff", answer, answer],
        &["show", answer],
        &["fixture", "save", fixture, "--from", answer],
        &["fixture", "list", fixture],
        &["fixture", "verify", fixture, "--offline"],
        &[
            "fixture",
            "export",
            fixture,
            "--as",
            "result",
            "--out",
            out.to_str().unwrap(),
        ],
        &["screenshot", "--list"],
        &["sample-server"],
    ] {
        text(&[command, &general].concat(), b"");
    }
    // They are listed where they do something.
    assert!(!help(&["formats"]).contains("--limit") && help(&["call"]).contains("--limit"));
}

#[cfg(unix)]
#[test]
fn a_transcript_is_there_when_connecting_fails() {
    let folder = tempfile::tempdir().unwrap();
    let transcript = folder.path().join("messages.jsonl");
    let path = transcript.to_str().unwrap();
    let output = run(
        &[
            "tools",
            "--transcript",
            path,
            "--",
            "sh",
            "-c",
            "echo not MCP; echo last words >&2; exit 3",
        ],
        b"",
    );
    assert_eq!(output.status.code(), Some(3));
    let lines = std::fs::read_to_string(&transcript).unwrap();
    let messages: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let said = |direction: &str, text: &str| {
        messages
            .iter()
            .any(|message| message["dir"] == direction && message["text"] == text)
    };
    assert!(
        said("in", "not MCP") && said("stderr", "last words"),
        "{messages:?}"
    );
}

#[test]
fn resources_are_listed_and_read_like_answers() {
    let listed: Value =
        serde_json::from_slice(&text(&["resources", "--sample", "--json"], b"")).unwrap();
    assert_eq!(listed["schema"], "loupe.resources/1");
    let uris: Vec<_> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["uri"].as_str().unwrap())
        .collect();
    assert!(uris.contains(&"sample://about"), "{uris:?}");
    let first = &listed["resources"][0];
    assert_eq!(first["definition"]["bytes"], first["raw"].to_string().len());
    assert!(!listed["templates"].as_array().unwrap().is_empty());
    let read: Value = serde_json::from_slice(&text(
        &["read", "sample://about", "--sample", "--json"],
        b"",
    ))
    .unwrap();
    let content = text(
        &["read", "sample://about", "--sample", "--view", "content"],
        b"",
    );
    assert_eq!(
        read["capture"]["result"]["contents"][0]["text"],
        String::from_utf8(content).unwrap()
    );
    assert_eq!(read["capture"]["tool"]["name"], "resources/read");
    let output = run(&["read", "sample://nowhere", "--sample"], b"");
    assert_eq!(
        output.status.code(),
        Some(5),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn prompts_are_listed_and_filled_in() {
    let listed: Value =
        serde_json::from_slice(&text(&["prompts", "--sample", "--json"], b"")).unwrap();
    assert_eq!(listed["schema"], "loupe.prompts/1");
    let prompt = listed["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .find(|prompt| prompt["name"] == "which_format")
        .unwrap();
    let name = prompt["name"].as_str().unwrap();
    let arguments: serde_json::Map<String, Value> = prompt["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| {
            (
                argument["name"].as_str().unwrap().to_owned(),
                Value::from("dual_search_companies"),
            )
        })
        .collect();
    let arguments = Value::from(arguments).to_string();
    let output = run(
        &["prompt", name, "--args", &arguments, "--sample", "--json"],
        b"",
    );
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["capture"]["outcome"], "result", "{report}");
    assert!(
        report["capture"]["result"]["messages"][0]["content"]["text"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    );
    let wrong = run(&["prompt", "nosuch", "--sample"], b"");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        String::from_utf8_lossy(&wrong.stderr).contains("the server lists no such prompt (nosuch)")
    );
}

#[test]
fn blocks_that_are_no_text_are_listed_where_they_stand() {
    let result = r#"{"content":[{"type":"text","text":"one"},{"type":"image","data":"aGk=","mimeType":"image/png"},
        {"type":"resource_link","uri":"a://b","name":"b"},{"type":"resource","resource":{"uri":"a://c","text":"inside"}}]}"#;
    let page = String::from_utf8(text(
        &["show", "-", "--view", "rendered"],
        result.as_bytes(),
    ))
    .unwrap();
    let expected = "[block 0]\none\n[block 1]\nimage · image/png · 2 bytes, not shown\n[block 2]\nresource_link · b · a://b\n\
                    [block 3]\nresource · a://c\ninside\n";
    assert_eq!(page, expected);
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_is_not_made_of_arguments_that_break_the_schema() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("x.png");
    let arguments = r#"{"pageSize":9999}"#;
    let output = run(
        &[
            "screenshot",
            "--out",
            out.to_str().unwrap(),
            "--tool",
            "strict_search_companies",
            "--args",
            arguments,
        ],
        b"",
    );
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(!out.exists());
}

#[cfg(unix)]
#[test]
fn a_device_or_a_pipe_is_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe").display().to_string();
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(data.join("hosts.toml"))
            .status()
            .unwrap()
            .success()
    );
    for path in [pipe.as_str(), "/dev/zero"] {
        let at = format!("@{path}");
        for args in [
            &["show", path][..],
            &["diff", path, path],
            &["call", "t", "--args", &at, "--sample"],
            &["tools", "--config", path],
            &["tools", "--tokenizer", path, "--sample"],
            &["fixture", "save", "x", "--from", path, "--all"],
            &["hosts", "--from-probe", path],
            &["fixture", "export", path, "--out", "-", "--as", "result"],
        ] {
            let page = loupe(args);
            assert!(
                page.starts_with("status 2\n") && page.contains("not a file"),
                "{args:?}\n{page}"
            );
        }
    }
    let hosts = loupe(&["hosts", "--data-dir", data.to_str().unwrap()]);
    assert!(
        hosts.contains("the hosts file cannot be read: not a file"),
        "{hosts}"
    );
    assert!(loupe(&["tools", "--fixture", &pipe]).starts_with("status 2\n"));
}

#[cfg(unix)]
#[test]
fn what_a_server_writes_to_stderr_keeps_its_indentation() {
    let page = loupe(&[
        "tools",
        "--",
        "sh",
        "-c",
        r"printf '    indented\n\ttab\n\033[31mred\n' >&2",
    ]);
    assert!(
        page.contains("server:     indented\nserver: \ttab\nserver: ␛[31mred\n"),
        "{page}"
    );
}
