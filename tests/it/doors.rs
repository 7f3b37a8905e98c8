//! What leaves the command line leaves by one door: nothing known to be secret passes it, in whatever form, and nothing that
//! a server says commands a terminal or a log.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");

/// A server that says given words wherever a server has words, with the folder that it stands in.
struct Canned {
    folder: tempfile::TempDir,
}

impl Canned {
    fn new(words: &str) -> Self {
        let server = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(server.folder.path().join("out")).unwrap();
        let schema = json!({"type": "object", "properties": {"q": {"type": "string", "description": words, "enum": ["a", "b"]}, "password": {"type": "string"}}});
        let result = json!({
            "content": [{"type": "text", "text": words}, {"type": "text", "text": json!({"a": words}).to_string()}],
            "structuredContent": {"text": words, "rows": [{"n": 1, "k": words}, {"n": 2, "k": "x"}], words: 1},
        });
        let answers = [
            (
                "initialize",
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "resources": {}, "prompts": {}}, "instructions": words,
                "serverInfo": {"name": words, "version": words}}),
            ),
            (
                "tools/list",
                json!({"tools": [
                    {"name": "say", "title": words, "description": words, "inputSchema": schema, "annotations": {"readOnlyHint": true}, "odd": {"x": words}},
                    {"name": "fail", "description": 7, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
                    {"name": "refuse", "inputSchema": {"type": "object", "required": words}, "annotations": {"readOnlyHint": true}},
                ]}),
            ),
            (
                "resources/list",
                json!({"resources": [{"uri": "x://a", "name": words, "title": words}]}),
            ),
            (
                "resources/templates/list",
                json!({"resourceTemplates": [{"uriTemplate": "x://{a}", "name": words}]}),
            ),
            (
                "prompts/list",
                json!({"prompts": [{"name": "p", "description": words, "arguments": [{"name": words}]}]}),
            ),
            (
                "resources/read",
                json!({"contents": [{"uri": "x://a", "text": words}]}),
            ),
            (
                "prompts/get",
                json!({"messages": [{"role": "user", "content": {"type": "text", "text": words}}]}),
            ),
            ("tools/call say", result),
            (
                "tools/call fail",
                json!({"isError": true, "content": [{"type": "text", "text": words}]}),
            ),
        ];
        let mut script = "read_id() { printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p'; }\ncat stderr >&2\nwhile IFS= read -r line; do printf '%s\\n' \"$line\" >>heard\nid=$(read_id)\ncase \"$line\" in\n".to_owned();
        for (method, result) in answers {
            let (method, tool) = method.split_once(' ').unwrap_or((method, ""));
            let file = format!("{}{tool}", method.replace('/', "-"));
            server.file(
                &file,
                &json!({"jsonrpc": "2.0", "id": "ID", "result": result}).to_string(),
            );
            let tool = if tool.is_empty() {
                String::new()
            } else {
                format!("*'\"name\":\"{tool}\"'")
            };
            script +=
                &format!("*'\"{method}\"'{tool}*) sed \"s/\\\"ID\\\"/$id/\" {file}; echo;;\n");
        }
        server.file(
            "refused",
            &json!({"jsonrpc": "2.0", "id": "ID", "error": {"code": -32602, "message": words, "data": {"why": words}}})
                .to_string(),
        );
        script += "*'\"tools/call\"'*) sed \"s/\\\"ID\\\"/$id/\" refused; echo;;\nesac; done\n";
        server.file("stderr", &format!("{words}\nlog {words}\n"));
        server.file("server.sh", &script);
        server
    }

    fn file(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    fn run(&self, words: &[&str]) -> Output {
        let mut command = Command::new(LOUPE);
        command
            .current_dir(self.folder.path())
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        command.args(words).output().unwrap()
    }

    /// Runs every subcommand that prints or writes what a server said; gives each with what it printed.
    fn run_all(&self, given: &[&str]) -> Vec<(String, Output)> {
        let mut said = Vec::new();
        let source = [
            &["--protocol", "2025-06-18"],
            given,
            &["--", "sh", "server.sh"],
        ]
        .concat();
        for command in ONLINE {
            let words: Vec<&str> = command.split(' ').collect();
            said.push((
                (*command).to_owned(),
                self.run(&[&words[..], &["--data-dir", "out/data"], &source[..]].concat()),
            ));
        }
        for client in [
            "claude-desktop",
            "claude-code",
            "vscode",
            "cursor",
            "codex",
            "gemini-cli",
            "zed",
            "cline",
        ] {
            said.push((
                format!("configuration {client}"),
                self.run(&[&["configuration", client], &source[..]].concat()),
            ));
        }
        for command in OFFLINE {
            said.push((
                (*command).to_owned(),
                self.run(&command.split(' ').collect::<Vec<_>>()),
            ));
        }
        for (command, output) in &said {
            assert!(
                output.status.code().is_some_and(|code| code <= 5),
                "{command}: {:?} {}",
                output.status,
                text(output)
            );
            assert!(
                !output.stdout.is_empty() || !output.stderr.is_empty(),
                "{command} says nothing"
            );
        }
        said
    }

    /// Every file that was written, by name.
    fn written(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut left = vec![self.folder.path().join("out")];
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(
                    fs::read_dir(&path)
                        .unwrap()
                        .map(|entry| entry.unwrap().path()),
                );
            } else {
                found.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
        found
    }
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// With a server. Some of them write into the folder `out`.
const ONLINE: &[&str] = &[
    "tools",
    "tools --json",
    "doctor --verbose",
    "doctor --json",
    "doctor --as markdown --call say",
    "resources",
    "resources --json",
    "prompts",
    "prompts --json",
    "read x://a",
    "read x://a --json",
    "prompt p",
    "prompt p --json",
    "call say",
    "call say --json",
    "call say --view rendered",
    "call say --view tree",
    "call say --view hosts",
    "call say --view definition",
    "call say --view findings",
    "call say --view all",
    "call say --view content",
    "call say --view structured",
    "call say --view json",
    "call say --view yaml",
    "call say --view xml",
    "call say --view host:codex",
    "call say --as markdown",
    "call say --as csv",
    "call fail",
    "call fail --json",
    "call refuse --send-anyway",
    "call refuse --send-anyway --json",
    "call nothing",
    "call nothing --json",
    "call say --keep --transcript out/t.jsonl",
    "compare say --vary q",
    "compare say --vary q --json",
    "compare say --vary q --as markdown",
    "compare say --vary q --as csv",
    "check --call say --probe",
    "check --call say --json",
    "check --call say --as markdown",
    "check --call say --as sarif",
    "check --call say --as github",
    "check --call say --as junit",
    "check --call say --as badge",
    "check --call say --baseline out/baseline.json --update",
    "check --call say --baseline out/baseline.json",
    "fixture save out/fixture say --preview",
    "fixture save out/fixture say",
    "fixture save out/fixture say --force --json",
    "fixture verify out/fixture --json",
    "fixture verify out/fixture --github --junit out/junit.xml",
    "fixture verify out/fixture --update",
];

/// On what was written by then.
const OFFLINE: &[&str] = &[
    "fixture save out/all --from out/t.jsonl --all",
    "fixture verify out/all --offline --json",
    "show out/fixture",
    "show out/fixture --json",
    "diff out/fixture out/all/say",
    "diff out/fixture out/all/say --json",
    "fixture list out",
    "fixture list out --json",
    "fixture export out/fixture --as pytest --out out/e1",
    "fixture export out/fixture --as html --out out/e2",
    "fixture export out/fixture --as vitest --out out/e3",
    "fixture export out/fixture --as transcript --out out/e4",
    "fixture export out/fixture --as content --out out/e5",
    "fixture export out/fixture --as curl --out -",
    "fixture export out/fixture --as fixture --out out/e6",
];

const CANARY: &str = "Canary-7f3a9Q-do-not-write";

/// The canary in every form that is looked for.
fn forms() -> Vec<String> {
    let hex: String = CANARY.bytes().map(|byte| format!("{byte:02x}")).collect();
    vec![
        CANARY.to_owned(),
        CANARY.to_uppercase(),
        CANARY.to_lowercase(),
        hex.to_uppercase(),
        hex,
        BASE64_STANDARD.encode(CANARY),
        BASE64_STANDARD.encode(format!("me:{CANARY}")),
        CANARY.replace('-', "%2D"),
        CANARY.replace('-', "\\-"),
        CANARY.replace('-', "&#45;"),
        CANARY
            .chars()
            .map(|char| format!("{char}\u{200b}"))
            .collect(),
    ]
}

#[track_caller]
fn is_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes)
        .replace("\\u200b", "")
        .replace("⟨U+200B⟩", "")
        .replace('\u{200b}', "")
        .to_lowercase();
    for form in forms() {
        let form = form.replace('\u{200b}', "").to_lowercase();
        let at = text
            .find(&form)
            .or_else(|| text.find(&form.replace('\\', "\\\\")));
        if let Some(at) = at {
            let context = text.get(at.saturating_sub(60)..).unwrap_or(&text[at..]);
            panic!(
                "{what} has {form}: …{}",
                context.chars().take(200).collect::<String>()
            );
        }
    }
}

#[test]
fn nothing_that_is_known_leaves_by_any_command() {
    let server = Canned::new(&forms().join(" | "));
    let argument = format!(r#"{{"q":"a","password":"{CANARY}"}}"#);
    let key = format!("KEY={CANARY}");
    let mut all = server.run_all(&["--env", &key]);
    all.push((
        "call --args".to_owned(),
        server.run(&[
            "call",
            "say",
            "--args",
            &argument,
            "--transcript",
            "out/t2.jsonl",
            "--protocol",
            "2025-06-18",
            "--",
            "sh",
            "server.sh",
        ]),
    ));
    all.push((
        "argument of the command".to_owned(),
        server.run(&[
            "call",
            "say",
            "--json",
            "--protocol",
            "2025-06-18",
            "--",
            "sh",
            "server.sh",
            "--api-key",
            CANARY,
        ]),
    ));
    let mut hidden = 0;
    for (command, output) in &all {
        is_clean(&format!("stdout of {command}"), &output.stdout);
        is_clean(&format!("stderr of {command}"), &output.stderr);
        hidden += text(output).matches("[hidden:").count();
        if command.contains("--json") && !command.contains("export") {
            let document: Result<Value, _> = serde_json::from_slice(&output.stdout);
            assert!(
                document.is_ok(),
                "{command}: {document:?} {}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
    }
    assert!(hidden > 500, "the server was heard: {hidden}");
    let written = server.written();
    for name in [
        "t.jsonl",
        "t2.jsonl",
        "baseline.json",
        "junit.xml",
        "fixture/response.json",
        "all/say/capture.json",
        "e1",
        "e2",
        "e3",
        "e4",
        "e5",
        "e6/response.json",
    ] {
        assert!(
            written.contains_key(&server.folder.path().join("out").join(name)),
            "{name} is written"
        );
    }
    assert!(
        written
            .keys()
            .any(|path| path.starts_with(server.folder.path().join("out/data/history")))
    );
    for (path, bytes) in &written {
        is_clean(&path.display().to_string(), bytes);
        let mode = fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", path.display());
    }
}

#[test]
fn nothing_that_a_server_says_is_obeyed() {
    let words = "a ##[error]b ##vso[task.setvariable]c\n::error::d\r\n  ::set-output name=x::e\r::f:: \u{1b}[2J\u{9b}1A \u{7f} \u{202e}g\u{200b}\u{2060} \u{e0041}\u{ad}";
    let server = Canned::new(words);
    for (command, output) in server.run_all(&[]) {
        // Bytes that were asked for by name.
        if [
            "content",
            "structured",
            "view json",
            "yaml",
            "xml",
            "host:codex",
            "export",
            "configuration",
        ]
        .iter()
        .any(|exact| command.contains(exact))
        {
            continue;
        }
        let said = text(&output);
        let odd = said.chars().find(|char| {
            char.is_control() && !"\n\t".contains(*char) || loupe_core::quote::is_without_ink(*char)
        });
        assert!(odd.is_none(), "{command} has {odd:?}: {said:?}");
        assert!(
            !said.contains("##[") && !said.contains("##vso["),
            "{command}: {said}"
        );
        let ours = ["::error file=", "::warning file=", "::notice file="];
        let obeyed = said.lines().find(|line| {
            line.trim_start().starts_with("::") && !ours.iter().any(|head| line.starts_with(head))
        });
        assert!(obeyed.is_none(), "{command}: {obeyed:?}");
    }
}

#[cfg(feature = "gui")]
#[test]
fn a_picture_of_somebodys_server_calls_nothing_unnamed_and_sends_nothing_ungiven() {
    let server = Canned::new("x");
    let picture = |words: &[&str]| {
        server.run(
            &[
                &["screenshot", "--out", "p.png", "--size", "600x400"],
                words,
                &["--protocol", "2025-06-18", "--", "sh", "server.sh"],
            ]
            .concat(),
        )
    };
    let calls = || {
        let heard = fs::read_to_string(server.folder.path().join("heard")).unwrap();
        heard
            .lines()
            .filter(|line| line.contains("tools/call"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(picture(&[]).status.success());
    for screen in ["hosts", "findings", "loading", "compare", "verify"] {
        let output = picture(&["--screen", screen]);
        assert!(
            !output.status.success() && text(&output).contains("none is named"),
            "{screen}: {}",
            text(&output)
        );
    }
    assert!(calls().is_empty(), "{:?}", calls());
    let output = picture(&["--screen", "hosts", "--tool", "say"]);
    assert!(output.status.success(), "{}", text(&output));
    assert!(
        matches!(calls().as_slice(), [call] if call.contains(r#""arguments":{}"#)),
        "{:?}",
        calls()
    );
}

/// What may print or write at all in the command line, beside what reads.
#[test]
fn the_command_line_has_two_doors() {
    fn walk(path: &Path, found: &mut Vec<PathBuf>) {
        for path in fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
        {
            if path.is_dir() {
                walk(&path, found)
            } else {
                found.push(path)
            }
        }
    }
    let mut files = Vec::new();
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli"),
        &mut files,
    );
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        let code = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        let (prints, writes) = (
            ["println!", "print!(", "io::stdout()", "io::stderr().lock()"],
            [
                "store::write",
                "store::replace",
                "store::create",
                " File::create",
                "fs::write",
            ],
        );
        let is = |names: &[&str]| names.iter().any(|name| path.ends_with(name));
        let offence = prints
            .iter()
            .find(|word| code.contains(**word) && !is(&["output.rs"]));
        let offence = offence.or_else(|| {
            writes
                .iter()
                .find(|word| code.contains(**word) && !is(&["save_args.rs"]))
        });
        assert!(
            offence.is_none(),
            "{} has {}",
            path.display(),
            offence.unwrap_or(&"")
        );
    }
}
