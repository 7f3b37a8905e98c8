//! Transcripts of real hosts, cut to what is needed, and odd ones.

use super::*;

const NAMES: [&str; 6] = [
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
    "qwen-code",
    "continue-cli",
];

fn data(host: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/transcripts");
    folder.join(host)
}

fn file(host: &str) -> PathBuf {
    let lines = data(host).join("transcript.jsonl");
    if lines.exists() {
        lines
    } else {
        data(host).join("transcript.json")
    }
}

fn span(host: &str) -> TimeSpan {
    let session = crate::sessions::read(&data(host).join("session")).unwrap();
    crate::sessions::time_span(&session)
}

fn read(host: &str) -> HostTranscript {
    let known = host_by_id(host).unwrap();
    known.read(&file(host), span(host)).unwrap()
}

/// What was given, secrets of the test left as they are.
fn text_of(call: &GivenCall) -> String {
    let part = |part: &GivenPart| match part {
        GivenPart::Text(text) => text.clone(),
        GivenPart::Media(mime) => format!("@{mime}"),
    };
    call.parts.iter().map(part).collect::<Vec<_>>().join("|")
}

#[test]
fn each_format_gives_calls_and_texts() {
    for host in NAMES {
        let transcript = read(host);
        let calls = if host == "codex" { 12 } else { 11 };
        assert_eq!(transcript.calls.len(), calls, "{host}");
        let known = host_by_id(host).unwrap();
        assert!(known.knows(&transcript.versions), "{host}");
        assert_eq!(transcript.files, [file(host)]);
    }
    let first = |host: &str| {
        let call = read(host).calls.swap_remove(0);
        let arguments: serde_json::Value = serde_json::from_slice(&call.arguments).unwrap();
        assert_eq!(arguments["name"], "Ada", "{host}");
        (call.name.clone(), text_of(&call))
    };
    let text = "Hello Ada, «grüße» & <b>";
    let named = |name: &str, text: String| (name.to_owned(), text);
    assert_eq!(
        first("claude-code"),
        named("mcp__fast__text_only", text.into())
    );
    assert_eq!(
        first("gemini-cli"),
        named(
            "mcp_fast_text_only",
            format!("<untrusted_context>\n{text}\n</untrusted_context>")
        )
    );
    assert_eq!(first("opencode"), named("fast_text_only", text.into()));
    let content = format!(r#"[{{"type":"text","text":"{text}"}}]"#);
    assert_eq!(first("continue-cli"), named("text_only", content));
    let (name, codex) = first("codex");
    assert_eq!(name, "mcp__fast__text_only");
    assert!(codex.starts_with("Wall time: ") && codex.ends_with(&format!("Output:|{text}")));
}

#[test]
fn errors_media_and_limits_are_read() {
    let claude = read("claude-code").calls;
    assert_eq!(claude[5].is_error, Some(true));
    assert_eq!(claude[0].is_error, Some(false));
    let picture = text_of(&claude[7]);
    assert!(
        picture.starts_with("before|@image/png|[Image: source: "),
        "{picture}"
    );
    for host in ["gemini-cli", "opencode", "qwen-code", "codex"] {
        let picture = read(host).calls.swap_remove(7);
        let media = GivenPart::Media("image/png".into());
        assert!(picture.parts.contains(&media), "{host}: {picture:?}");
    }
    let codex = read("codex").calls;
    assert_eq!(codex[10].limit, Some(3000));
    assert!(text_of(&codex[10]).contains("chars truncated"));
}

#[test]
fn odd_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("odd.jsonl");
    let good = fs::read_to_string(file("claude-code")).unwrap();
    let odd = "{\"tool_use\": \"tool_result\"\n[]\n\"tool_use\"\n{\"type\":\"tool_use\",\"message\":{\"content\":[{\"type\":\"tool_use\"},{\"type\":\"tool_result\"},3]}}\n\0\n";
    // A copy, as in a session that goes on in another file, adds no call; half a line is none.
    let half = &good[..good.len() / 2];
    fs::write(&path, format!("{odd}{good}{good}{half}")).unwrap();
    let host = host_by_id("claude-code").unwrap();
    let read = host.read(&path, span("claude-code")).unwrap();
    assert_eq!(read.calls.len(), 11);
    assert!(
        host.read(&folder.path().join("none"), span("codex"))
            .is_err()
    );
}

#[test]
fn only_the_time_of_the_session_counts() {
    let host = host_by_id("claude-code").unwrap();
    let span = span("claude-code");
    let to = span.to.unwrap();
    let later = TimeSpan {
        from: to + Duration::from_secs(3600),
        to: None,
    };
    let earlier = TimeSpan {
        from: span.from - Duration::from_secs(7200),
        to: Some(span.from - Duration::from_secs(3600)),
    };
    for other in [later, earlier] {
        assert_eq!(
            host.read(&file("claude-code"), other).unwrap().calls.len(),
            0
        );
    }
    // A folder's files that were not changed since are not opened.
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let copy = project.join("session.jsonl");
    fs::copy(file("claude-code"), &copy).unwrap();
    fs::write(project.join("notes.txt"), "no transcript").unwrap();
    let read = host.read(folder.path(), span).unwrap();
    assert_eq!((read.calls.len(), read.files.len()), (11, 1));
    let changed = File::options().write(true).open(&copy).unwrap();
    changed
        .set_modified(SystemTime::from(span.from) - Duration::from_secs(600))
        .unwrap();
    assert_eq!(host.read(folder.path(), span).unwrap().files.len(), 0);
}

#[test]
fn another_version_is_not_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.jsonl");
    let text = fs::read_to_string(file("claude-code")).unwrap();
    fs::write(&path, text.replace("\"2.1.332\"", "\"9.9.9\"")).unwrap();
    let host = host_by_id("claude-code").unwrap();
    let read = host.read(&path, span("claude-code")).unwrap();
    assert_eq!(read.versions.iter().collect::<Vec<_>>(), ["9.9.9"]);
    assert!(!host.knows(&read.versions));
}

#[test]
fn hosts_and_folders_are_found() {
    let id = |client: &str| host_of(client).map(|host| host.id);
    assert_eq!(id("claude-code"), Some("claude-code"));
    assert_eq!(id("codex-mcp-client"), Some("codex"));
    assert_eq!(id("qwen-cli-mcp-client-github"), Some("qwen-code"));
    assert_eq!([id(""), id("mcp"), id("claude-code-2")], [None; 3]);
    if cfg!(windows) {
        return;
    }
    let folder = |id: &str, variables: &[(&str, &str)]| {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(OsString::from(found.1))
        };
        let folder = host_by_id(id).unwrap().folder_in(&variable)?;
        Some(folder.display().to_string())
    };
    let home = ("HOME", "/home/ada");
    let own = [
        (
            "claude-code",
            "CLAUDE_CONFIG_DIR",
            ".claude/projects",
            "projects",
        ),
        ("codex", "CODEX_HOME", ".codex/sessions", "sessions"),
        (
            "gemini-cli",
            "GEMINI_CLI_HOME",
            ".gemini/tmp",
            ".gemini/tmp",
        ),
        ("qwen-code", "QWEN_HOME", ".qwen/projects", "projects"),
        (
            "continue-cli",
            "CONTINUE_GLOBAL_DIR",
            ".continue/sessions",
            "sessions",
        ),
    ];
    for (id, variable, at_home, below) in own {
        assert_eq!(folder(id, &[home]), Some(format!("/home/ada/{at_home}")));
        let moved = folder(id, &[home, (variable, "/data/x")]);
        assert_eq!(moved, Some(format!("/data/x/{below}")));
        assert_eq!(folder(id, &[]), None);
        assert_eq!(
            folder(id, &[home, (variable, "not/absolute")]),
            folder(id, &[home])
        );
    }
    assert_eq!(folder("opencode", &[home]), None);
}

#[test]
fn a_line_that_is_too_long_is_passed_over() {
    let text = b"short\nlong line\nend";
    let mut file = BufReader::new(&text[..]);
    let mut lines = Vec::new();
    while let Some(line) = next_line(&mut file, 8).unwrap() {
        lines.push(String::from_utf8(line).unwrap());
    }
    assert_eq!(lines, ["short\n", "", "end"]);
}
