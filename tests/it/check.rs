//! `check` and `rules`: what is found, what fails, and the forms that others read.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use expect_test::expect_file;
use loupe_analysis::finding::{AREAS, Rule, examples};
use serde_json::Value;

/// In a folder of its own, so that no `loupe.toml` of others counts.
fn run_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[track_caller]
fn said(folder: &Path, args: &[&str], status: i32) -> String {
    let output = run_in(folder, args);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{args:?}\n{text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[track_caller]
fn json(folder: &Path, args: &[&str], status: i32) -> Value {
    serde_json::from_str(&said(folder, args, status)).unwrap()
}

fn has<'v>(document: &'v Value, rule: &str, subject: &str) -> Option<&'v Value> {
    let mut findings = document["findings"].as_array().unwrap().iter();
    findings.find(|finding| {
        finding["rule"] == rule && finding["subject"].as_str().unwrap_or_default() == subject
    })
}

#[test]
fn the_page_of_rules_is_written_from_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings.md");
    let written = fs::read_to_string(&path).unwrap();
    let end = written.find("-->\n").unwrap() + "-->\n".len();
    let mut page = written[..end].to_owned();
    for area in AREAS {
        write!(page, "\n## {}\n\n{}.\n", area.id, area.about).unwrap();
        let examples = examples(area).unwrap();
        for rule in area.rules {
            write!(
                page,
                "\n### {}\n\n{}\n\n- Fix: {}\n- {}\n- Source: {}\n",
                rule.id,
                rule.explanation,
                rule.fix,
                levels(rule),
                rule.source
            )
            .unwrap();
            if let Some((limit, unit)) = rule.limit {
                writeln!(page, "- Limit: {limit} {unit}").unwrap();
            }
            for example in examples.iter().filter(|example| example.rule == rule.id) {
                let before = example.before.iter().map(|before| ("before", before));
                let tool = example.tool.iter().map(|tool| ("tool", tool));
                let given = example
                    .arguments
                    .iter()
                    .map(|arguments| ("arguments", arguments));
                page.push('\n');
                for (word, text) in before
                    .chain(tool)
                    .chain(given)
                    .chain([("fires", &example.fires), ("silent", &example.silent)])
                {
                    writeln!(page, "    {word:<9} {text}").unwrap();
                }
            }
        }
    }
    expect_file![path].assert_eq(&page);
}

fn levels(rule: &Rule) -> String {
    let levels: Vec<_> = rule
        .levels()
        .map(|(profile, severity)| format!("{} (`{}`)", severity.name(), profile.name()))
        .collect();
    format!("{}; {}", levels.join(", "), rule.confidence())
}

#[test]
fn faults_of_the_sample_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let call = |set: &str, tool: &str, args: &str, profile: &str| {
        json(
            folder.path(),
            &[
                "check",
                &format!("--sample={set}"),
                "--yes",
                "--quiet",
                "--call",
                tool,
                "--args",
                args,
                "--profile",
                profile,
                "--fail-on",
                "cost",
                "--json",
            ],
            1,
        )
    };
    for (set, tool, args, profile, rules) in [
        (
            "autotask-dual",
            "autotask_search_companies",
            r#"{"pageSize":3}"#,
            "dual-content",
            &[
                "parity/has-more-disagrees",
                "parity/value-reformatted",
                "parity/text-not-json",
                "shape/time-no-zone",
            ][..],
        ),
        (
            "autotask-dual",
            "autotask_get_ticket_details",
            r#"{"ticketID":1001}"#,
            "dual-content",
            &[
                "parity/value-missing-in-text",
                "parity/value-missing-in-structured",
            ],
        ),
        (
            "autotask-dual",
            "autotask_search_companies",
            r#"{"pageSize":-1}"#,
            "dual-content",
            &[
                "size/char-limit",
                "size/host-limit",
                "parity/only-summary-in-text",
            ],
        ),
        (
            "autotask-strict",
            "autotask_search_companies",
            r#"{"pageSize":-1}"#,
            "strict",
            &["size/broken-json", "size/limit-overrun-by-notice"],
        ),
        (
            "autotask-strict,data=hostile",
            "autotask_search_companies",
            r#"{"pageSize":5,"response_format":"markdown"}"#,
            "strict",
            &["markdown/table-broken"],
        ),
        (
            "dial",
            "get_user_by_id",
            r#"{"user_id":9999}"#,
            "code-block",
            &["protocol/error-not-flagged"],
        ),
        (
            "dial",
            "search_user",
            "{}",
            "code-block",
            &["shape/invented-value"],
        ),
        (
            "dial,data=hostile",
            "search_user",
            "{}",
            "code-block",
            &[
                "markdown/fence-broken",
                "markdown/control",
                "markdown/bidi",
                "markdown/special-token",
            ],
        ),
        (
            "delegator,shape=before",
            "_codex_local_status",
            "{}",
            "json-first",
            &[
                "shape/inconsistent-values",
                "shape/emoji-heading",
                "shape/json-first",
            ],
        ),
        (
            "delegator,shape=fenced",
            "_codex_local_status",
            "{}",
            "json-first",
            &["shape/json-in-fence"],
        ),
        (
            "autoreply,shape=input-text",
            "login",
            "{}",
            "compact",
            &["protocol/unknown-content-type"],
        ),
        (
            "autoreply",
            "delete",
            r#"{"uri":"at://x"}"#,
            "compact",
            &["protocol/error-not-flagged"],
        ),
    ] {
        let found = call(set, tool, args, profile);
        for rule in rules {
            assert!(
                has(&found, rule, tool).is_some(),
                "{set} {tool}: {rule} is not in {:#}",
                found["findings"]
            );
        }
    }
}

#[test]
fn a_tool_that_may_write_is_called_with_consent_alone() {
    let folder = tempfile::tempdir().unwrap();
    let output = run_in(
        folder.path(),
        &[
            "check",
            "--sample=dial",
            "--call",
            "delete_user",
            "--args",
            r#"{"user_id":1}"#,
            "--quiet",
        ],
    );
    let refused = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        (output.status.code(), refused.as_str()),
        (
            Some(2),
            "error: not declared read-only, and nothing was called (delete_user)\nhint: `--yes` calls it all the same\n"
        )
    );
    // Each `--args` belongs to the call before it.
    let twice = [
        "check",
        "--sample=dial",
        "--yes",
        "--quiet",
        "--call",
        "get_user_by_id",
        "--args",
        r#"{"user_id":1}"#,
        "--call",
        "search_user",
        "--json",
    ];
    let answers = json(folder.path(), &twice, 0);
    let of = |name: &str| {
        answers["tools"]
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == name)
            .unwrap()["results"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(
        (of("get_user_by_id"), of("search_user"), of("create_user")),
        (1, 1, 0)
    );
    let output = run_in(
        folder.path(),
        &[
            "check",
            "--sample=dial",
            "--call",
            "search_user",
            "--args",
            "{}",
            "--args",
            "{}",
        ],
    );
    assert_eq!(
        output.status.code(),
        Some(2),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_baseline_leaves_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let tools = |text: &str| fs::write(folder.path().join("tools.json"), text).unwrap();
    let old = r#"{"tools":[{"name":"find","description":"Finds users by their name.","inputSchema":{"type":"object","properties":{"q":{"type":"string"}}}}]}"#;
    tools(old);
    let check = [
        "check",
        "tools.json",
        "--baseline",
        "base.json",
        "--fail-on",
        "info",
    ];
    said(
        folder.path(),
        &[&check[..], &["--update", "--quiet"]].concat(),
        0,
    );
    let same = said(folder.path(), &check, 0);
    assert!(
        same.ends_with("passed: no findings; 2 already in the baseline\n"),
        "{same}"
    );
    tools(&old.replace(r#""properties""#, r#""required":["q"],"properties""#));
    let changed = json(folder.path(), &[&check[..], &["--json"]].concat(), 1);
    let drift = has(&changed, "drift/breaking", "find").unwrap();
    assert_eq!(
        (&drift["message"], &drift["new"], &drift["severity"]),
        (&"`q` is required now".into(), &true.into(), &"error".into())
    );
    assert_eq!(
        has(&changed, "annotations/missing", "find").unwrap()["new"],
        false
    );
    let grown = json(
        folder.path(),
        &[
            "check",
            "tools.json",
            "--baseline",
            "base.json",
            "--max-increase",
            "0",
            "--budget",
            "find=1",
            "--budget",
            "total=9999",
            "--json",
        ],
        1,
    );
    assert_eq!(
        (
            &grown["baseline"]["passed"],
            &grown["budget"][0]["passed"],
            &grown["budget"][1]["passed"]
        ),
        (&false.into(), &false.into(), &true.into())
    );
}

#[test]
fn saving_a_baseline_fails_no_finding_and_keeps_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let tools = r#"{"tools":[{"name":"find","inputSchema":null}]}"#;
    fs::write(folder.path().join("tools.json"), tools).unwrap();
    fs::write(
        folder.path().join("a.json"),
        r#"{"content":[{"type":"text","text":"a\u202eb"}]}"#,
    )
    .unwrap();
    let check = |path: &str, more: &[&str], status| {
        said(
            folder.path(),
            &[&["check", path, "--baseline", "b.json"], more].concat(),
            status,
        )
    };
    // Nothing failed where the state that is there was saved.
    let saved = check("tools.json", &["--update", "--quiet"], 0);
    assert!(
        saved.contains("error schema/invalid")
            && saved.contains("\nsaved: 1 error")
            && !saved.contains("FAILED"),
        "{saved}"
    );
    // Answers alone say nothing of tools.
    check("a.json", &["--update", "--quiet"], 0);
    let again = check("tools.json", &["--quiet"], 1);
    assert!(!again.contains("drift/"), "{again}");
    fs::remove_file(folder.path().join("b.json")).unwrap();
    check("a.json", &["--update", "--quiet"], 0);
    let first = check("tools.json", &["--quiet"], 1);
    assert!(!first.contains("is new"), "{first}");
    // A budget counts all the same.
    check(
        "tools.json",
        &["--update", "--quiet", "--budget", "find=1"],
        1,
    );
}

#[test]
fn answers_have_budgets_too() {
    let folder = tempfile::tempdir().unwrap();
    let answer = |text: &str| {
        fs::write(
            folder.path().join("a.json"),
            format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#),
        )
        .unwrap()
    };
    answer("one two three four");
    let budgets = [
        "check",
        "a.json",
        "--json",
        "--budget",
        "content=4",
        "--budget",
        "host:claude-code=3",
        "--budget",
        "structured=9",
    ];
    let found = json(folder.path(), &budgets, 1);
    let of = |at: usize, member: &str| found["budget"][at][member].clone();
    assert_eq!(
        (of(0, "of"), of(0, "tokens"), of(0, "passed")),
        ("content".into(), 4.into(), true.into())
    );
    assert_eq!(
        (of(1, "of"), of(1, "passed")),
        ("host:claude-code".into(), false.into())
    );
    // What is not there keeps no budget.
    assert_eq!(
        (of(2, "tokens"), of(2, "passed")),
        (Value::Null, false.into())
    );
    let output = run_in(folder.path(), &["check", "a.json", "--budget", "nobody=3"]);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("`nobody` is not a tool, a format or a known host")
    );
    // And may cost only so much more than when they were saved.
    let check = [
        "check",
        "a.json",
        "--baseline",
        "b.json",
        "--max-increase",
        "50",
    ];
    said(
        folder.path(),
        &[&check[..], &["--update", "--quiet"]].concat(),
        0,
    );
    answer("one two three four five six seven eight nine");
    let grown = said(folder.path(), &check, 1);
    assert!(
        grown.contains("results 4 → 9 tokens (+5), at most +50%: OVER"),
        "{grown}"
    );
}

#[test]
fn a_badge_says_what_an_answer_costs() {
    let folder = tempfile::tempdir().unwrap();
    let answer =
        r#"{"content":[{"type":"text","text":"{\"n\":71}"}],"structuredContent":{"n":71}}"#;
    fs::write(folder.path().join("a.json"), answer).unwrap();
    let badge = said(folder.path(), &["check", "a.json", "--as", "badge"], 0);
    let parsed = words_of(&badge);
    assert!(
        parsed.contains("tok · 0 facts missing in ") && badge.starts_with("<svg xmlns="),
        "{badge}"
    );
}

/// What an SVG says, as far as it is well-formed.
fn words_of(svg: &str) -> String {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut said = String::new();
    loop {
        match reader.read_event().unwrap() {
            quick_xml::events::Event::Text(text) => said.push_str(&text.decode().unwrap()),
            quick_xml::events::Event::Eof => return said,
            _ => {}
        }
    }
}

#[cfg(unix)]
/// A server of one tool that gives another number each time.
const COUNTER: &str = r#"
n=0
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case "$line" in
    *'"server/discover"'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown"}}\n' "$id" ;;
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"counter","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"next","description":"Gives the next number of a row.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"tools/call"'*) n=$((n+1)); printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"{\\"n\\":%s}"}]}}\n' "$id" "$n" ;;
  esac
done
"#;

#[cfg(unix)]
#[test]
fn a_probe_calls_twice_and_once_oddly() {
    let folder = tempfile::tempdir().unwrap();
    let probe = |set: &str, tool: &str, args: &str, more: &[&str], status| {
        let base = [
            "check",
            set,
            "--quiet",
            "--call",
            tool,
            "--args",
            args,
            "--probe",
            "--profile",
            "strict",
            "--json",
        ];
        json(folder.path(), &[&base[..], more].concat(), status)
    };
    // A reading tool is asked oddly too; this one refuses what it does not know, and answers the same twice.
    let read = probe(
        "--sample=autotask-strict",
        "autotask_search_companies",
        r#"{"pageSize":3}"#,
        &[],
        1,
    );
    for rule in ["annotations/answers-differ", "schema/strict-not-enforced"] {
        assert!(
            has(&read, rule, "autotask_search_companies").is_none(),
            "{rule}"
        );
    }
    // A server whose answers count up, and which takes anything.
    let mut counter = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut counter, COUNTER.as_bytes()).unwrap();
    let path = counter.path().display().to_string();
    let base = [
        "check",
        "--quiet",
        "--call",
        "next",
        "--probe",
        "--profile",
        "strict",
        "--json",
        "--",
        "sh",
        &path,
    ];
    let counted = json(folder.path(), &base, 0);
    let differs = has(&counted, "annotations/answers-differ", "next").unwrap();
    assert_eq!(
        differs["message"],
        "declared read-only, and a second call differs at `/n`: 1 became 2"
    );
    assert!(
        has(&counted, "schema/strict-not-enforced", "next").is_some(),
        "{:#}",
        counted["findings"]
    );
    let answers = read["tools"]
        .as_array()
        .unwrap()
        .iter()
        .find(|tool| tool["name"] == "autotask_search_companies")
        .unwrap();
    assert_eq!(
        answers["results"].as_array().unwrap().len(),
        1,
        "the answer to check is one"
    );
    // Any other is called with a yes to both calls alone.
    let output = run_in(
        folder.path(),
        &[
            "check",
            "--sample=dial",
            "--call",
            "delete_user",
            "--args",
            r#"{"user_id":1}"#,
            "--probe",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn other_programs_read_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let answer = r#"{"content":[{"type":"text","text":"a\u202eb\n::error::x | y"}]}"#;
    fs::write(folder.path().join("my answer.json"), answer).unwrap();
    let sarif = json(
        folder.path(),
        &["check", "my answer.json", "--as", "sarif"],
        1,
    );
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&sarif["version"], &result["ruleId"], &result["level"]),
        (&"2.1.0".into(), &"markdown/bidi".into(), &"error".into())
    );
    assert_eq!(
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
        "my%20answer.json"
    );
    assert_eq!(
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        "content/0/text"
    );
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(
        sarif["runs"][0]["tool"]["driver"]["rules"][index]["id"],
        "markdown/bidi"
    );
    assert_eq!(
        result["partialFingerprints"]["loupe/v1"]
            .as_str()
            .unwrap()
            .len(),
        64
    );
    let github = said(
        folder.path(),
        &["check", "my answer.json", "--as", "github"],
        1,
    );
    assert!(
        github.starts_with("::error file=my answer.json,title=markdown/bidi::turns the direction"),
        "{github}"
    );
    let junit = said(
        folder.path(),
        &["check", "my answer.json", "--as", "junit"],
        1,
    );
    assert!(
        junit.contains("<failure message=\"turns the direction"),
        "{junit}"
    );
    let markdown = said(
        folder.path(),
        &["check", "my answer.json", "--as", "markdown"],
        1,
    );
    assert!(
        markdown
            .contains("| error | `turns the direction of the text, U+202E` | `markdown/bidi` |"),
        "{markdown}"
    );
}

#[test]
fn loupe_toml_switches_rules_off_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("a.json"),
        r#"{"content":[{"type":"text","text":"a\u202eb"}]}"#,
    )
    .unwrap();
    let inner = folder.path().join("inner");
    fs::create_dir(&inner).unwrap();
    let show = [
        "show",
        "../a.json",
        "--view",
        "findings",
        "--fail-on",
        "error",
    ];
    assert!(said(&inner, &show, 1).starts_with(
        "error markdown/bidi\n  turns the direction of the text, U+202E · content/0/text 1–4\n"
    ));
    fs::write(
        folder.path().join("loupe.toml"),
        "[rules.\"markdown/bidi\"]\noff = true\nreason = \"we test it\"\n",
    )
    .unwrap();
    let rules = AREAS.iter().map(|area| area.rules.len()).sum::<usize>();
    assert_eq!(
        said(&inner, &show, 0),
        format!("no findings in {rules} checks\n")
    );
    fs::write(
        folder.path().join("loupe.toml"),
        "[rules.\"markdown/bidi\"]\noff = true\n",
    )
    .unwrap();
    let output = run_in(&inner, &show);
    assert!(
        String::from_utf8_lossy(&output.stderr)
            .contains("`markdown/bidi` is changed without a reason")
    );
}

#[test]
fn a_rule_explains_itself() {
    let folder = tempfile::tempdir().unwrap();
    let page = said(folder.path(), &["rules", "parity/text-empty"], 0);
    assert!(
        page.starts_with("parity/text-empty · certain\n")
            && page.contains("\nFix: ")
            && page.contains("\nFires:\n  {\"content\":[]"),
        "{page}"
    );
    let output = run_in(folder.path(), &["rules", "parity/text-emtpy"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `parity/text-empty`"));
}
