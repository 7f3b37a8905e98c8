//! Clients' configuration files as data: what is understood of each, and what it becomes.
//!
//! `tests/data/import/CLIENT/` holds one file of the client's shape and `expected.txt`.
//! `UPDATE_EXPECT=1 cargo test --test it import` writes the expectations anew; read the difference before it is kept.

use std::fs;
use std::path::Path;

use loupe_core::problem::ProblemKind;
use loupe_core::source::import::{self, Import, PLACES, Placeholder};
use loupe_core::source::{Command, Http, Source, Transport};

/// An environment in which everything but `TEAM` is set.
fn value(placeholder: &Placeholder) -> Option<String> {
    match placeholder {
        Placeholder::Variable { name, .. } if name == "TEAM" || name == "DB_DSN" => None,
        Placeholder::Variable { name, .. } => Some(format!("<{name}>")),
        Placeholder::Input(id) if id == "region" => None,
        Placeholder::Input(id) => Some(format!("<input {id}>")),
        Placeholder::WorkspaceFolder => Some("/project".into()),
        Placeholder::UserHome => Some("/home/me".into()),
        Placeholder::PathSeparator => Some("/".into()),
    }
}

fn describe(import: &Import) -> String {
    let mut out = String::new();
    for entry in &import.servers {
        out += &format!(
            "{}{}\n  {entry}\n",
            entry.name,
            if entry.disabled { " (off)" } else { "" }
        );
        let asks: Vec<_> = entry
            .placeholders()
            .iter()
            .map(ToString::to_string)
            .collect();
        for (what, list) in [
            ("asks for", asks.join(", ")),
            ("secret", entry.secrets().join(", ")),
            ("notes", entry.notes.join("; ")),
        ] {
            if !list.is_empty() {
                out += &format!("  {what}: {list}\n");
            }
        }
        for input in &entry.inputs {
            out += &format!(
                "  input {}: {} secret={} default={:?} {:?}\n",
                input.id, input.about, input.is_secret, input.default, input.options
            );
        }
        out += &match entry.resolve(value) {
            Ok(Source::Command(command)) => format!(
                "  = {} env={:?} cwd={:?}\n",
                command.line(),
                command.env,
                command.cwd
            ),
            Ok(Source::Http(http)) => format!("  = {} headers={:?}\n", http.url, http.headers),
            Ok(other) => panic!("{other:?}"),
            Err(problem) => format!("  ! {}\n", problem.message()),
        };
    }
    for note in &import.notes {
        out += &format!("note: {note}\n");
    }
    out
}

#[test]
fn every_client_s_file_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
    let mut folders: Vec<_> = fs::read_dir(&root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    assert!(folders.len() >= PLACES.len());
    let mut failures = String::new();
    for folder in folders {
        let client = folder.file_name().unwrap().to_str().unwrap();
        let mut files = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let file = files.find(|path| !path.ends_with("expected.txt")).unwrap();
        let path = format!(
            "/home/me/.{client}/{}",
            file.file_name().unwrap().to_str().unwrap()
        );
        let actual = describe(&import::read(&path, &fs::read_to_string(&file).unwrap()).unwrap());
        let expected = folder.join("expected.txt");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(expected, actual).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != actual {
            failures += &format!("{}:\n{actual}\n", expected.display());
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn values_of_secrets_are_not_shown() {
    let text = r#"{"mcpServers":{"a":{"command":"x","env":{"API_KEY":"s3cret"}},"b":{"url":"https://x","headers":{"Cookie":"s3cret"}}}}"#;
    let import = import::read("x.json", text).unwrap();
    assert!(!format!("{import:?}").contains("s3cret"));
    assert_eq!(import.servers[0].secrets(), ["API_KEY"]);
    assert_eq!(import.servers[1].secrets(), ["Cookie"]);
}

#[test]
fn what_is_no_configuration_is_said() {
    let problem = |path: &str, text: &str| import::read(path, text).unwrap_err();
    for (path, text, kind, what) in [
        ("x.json", "{", ProblemKind::Usage, "not JSON: "),
        ("x.toml", "a = ", ProblemKind::Usage, "not TOML at line 1: "),
        (
            "x.json",
            "{}",
            ProblemKind::NotFound,
            "no list of MCP servers",
        ),
        (
            "x.json",
            "[]",
            ProblemKind::NotFound,
            "no list of MCP servers",
        ),
        (
            "x.json",
            r#"{"mcpServers":[]}"#,
            ProblemKind::NotFound,
            "no list of MCP servers",
        ),
        (
            "x.json",
            r#"{"servers":7,"projects":[1]}"#,
            ProblemKind::NotFound,
            "no list of MCP servers",
        ),
    ] {
        let problem = problem(path, text);
        assert_eq!(
            (problem.kind, problem.what.starts_with(what)),
            (kind, true),
            "{text}: {problem}"
        );
    }
    let deep = format!(
        "{{\"mcpServers\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(problem("x.json", &deep).kind, ProblemKind::Usage);
    let odd = import::read(
        "x.json",
        r#"{"mcpServers":{"a":7,"b":{},"c":{"command":""},"d":{"command":"x","args":[1,true],"env":{"N":1}}}}"#,
    )
    .unwrap();
    assert_eq!((odd.servers.len(), odd.notes.len()), (1, 3));
    assert_eq!(odd.servers[0].to_string(), "--env N=… -- x 1 true");
}

#[test]
fn a_server_is_chosen_by_name() {
    let import = import::read(
        "x.json",
        r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#,
    )
    .unwrap();
    assert_eq!(import.server(Some("b")).unwrap().to_string(), "-- y");
    assert_eq!(
        import.server(None).unwrap_err().hint.unwrap(),
        "one of a, b"
    );
    assert_eq!(
        import.server(Some("c")).unwrap_err().what,
        "no server `c` in the file"
    );
    let mut one = import::read(
        "x.json",
        r#"{"mcpServers":{"a":{"command":"x","env":{"A":"${MISSING}"}}}}"#,
    )
    .unwrap();
    assert_eq!(one.server(None).unwrap().name, "a");
    assert_eq!(
        one.servers[0].resolve(|_| None).unwrap_err().what,
        "no value for ${MISSING}"
    );
    one.servers[0].set_env("A", "$HOME");
    let Ok(Source::Command(command)) = one.servers[0].resolve(|_| None) else {
        panic!()
    };
    assert_eq!(command.env, [("A".to_owned(), "$HOME".to_owned())]);
}

/// Where the file of a client lies, as far as the reader asks.
fn path_of(client: &str) -> &'static str {
    match client {
        "Codex" => "/home/me/.codex/config.toml",
        "Gemini CLI" => "/home/me/.gemini/settings.json",
        _ => "/home/me/mcp.json",
    }
}

#[test]
fn what_is_written_for_a_client_is_read_back_and_holds_no_secret() {
    let pairs = |pairs: &[(&str, &str)]| {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<Vec<_>>()
    };
    let command = Command {
        program: "/opt/my server".into(),
        args: [
            "--api-key",
            "s3cret-arg",
            "--db=https://me:s3cret-pw@h/x",
            "a\"b",
        ]
        .map(str::to_owned)
        .to_vec(),
        env: pairs(&[("API_TOKEN", "s3cret-env"), ("LANG", "C")]),
        cwd: Some("/srv/it".into()),
        ..Command::default()
    };
    let url = "https://h/mcp?api_key=s3cret-url".to_owned();
    let headers = pairs(&[
        ("Authorization", "Bearer s3cret-bearer"),
        ("X-Api-Key", "s3cret-header"),
        ("X-Team", "core"),
    ]);
    let http = Http {
        url,
        headers,
        ..Http::default()
    };
    let sse = Http {
        transport: Transport::Sse,
        ..http.clone()
    };
    let given = [
        ("API_KEY", "s3cret-arg"),
        ("PASSWORD_OF_H", "s3cret-pw"),
        ("API_TOKEN", "s3cret-env"),
        ("API_KEY_OF_H", "s3cret-url"),
        ("AUTHORIZATION", "s3cret-bearer"),
        ("X_API_KEY", "s3cret-header"),
    ];
    let value = |hole: &Placeholder| {
        given
            .iter()
            .find(|(name, _)| hole.name() == Some(name))
            .map(|(_, value)| (*value).to_owned())
    };
    let clients: Vec<_> = import::clients().collect();
    let placed: Vec<_> = PLACES
        .iter()
        .map(|place| place.client)
        .filter(|client| *client != "Registry")
        .collect();
    assert_eq!(clients, placed, "every client that is read can be written");
    for (name, typed) in [
        ("Claude Code", "claude-code"),
        ("VS Code", "vscode"),
        ("LM Studio", "lm_studio"),
    ] {
        let source = Source::Command(command.clone());
        assert_eq!(
            import::write(name, "mine", &source),
            import::write(typed, "mine", &source),
            "{typed}"
        );
    }
    for client in clients {
        for source in [
            Source::Command(command.clone()),
            Source::Http(http.clone()),
            Source::Http(sse.clone()),
        ] {
            let written = match import::write(client, "mine", &source) {
                Ok(written) => written,
                Err(problem) => {
                    let takes_none = matches!(&source, Source::Http(http) if client == "Claude Desktop" || http.transport == Transport::Sse);
                    assert!(takes_none && problem.hint.is_some(), "{client}: {problem}");
                    continue;
                }
            };
            assert!(
                !written.text.contains("s3cret"),
                "{client}: {}",
                written.text
            );
            let import = import::read(path_of(client), &written.text).unwrap();
            assert!(
                import.notes.is_empty() && import.servers[0].notes.is_empty(),
                "{client}: {:?}",
                import.servers[0].notes
            );
            let read = import.server(Some("mine")).unwrap().resolve(value).unwrap();
            match (read, source) {
                (Source::Command(read), Source::Command(source)) => {
                    let sorted = |command: &Command| {
                        command
                            .env
                            .iter()
                            .cloned()
                            .collect::<std::collections::BTreeMap<_, _>>()
                    };
                    assert_eq!(sorted(&read), sorted(&source), "{client}");
                    assert_eq!(
                        (read.program, read.args, read.cwd),
                        (source.program, source.args, source.cwd),
                        "{client}"
                    );
                }
                (Source::Http(read), Source::Http(source)) => {
                    let sorted = |http: &Http| {
                        http.headers
                            .iter()
                            .cloned()
                            .collect::<std::collections::BTreeMap<_, _>>()
                    };
                    assert_eq!(
                        (&read.url, sorted(&read)),
                        (&source.url, sorted(&source)),
                        "{client}"
                    );
                    // These find out themselves.
                    if !matches!(client, "Cursor" | "Windsurf") {
                        assert_eq!(read.transport, source.transport, "{client}");
                    }
                }
                (read, _) => panic!("{client}: {read}"),
            }
            let by_hand = matches!(
                client,
                "Claude Desktop" | "Zed" | "LM Studio" | "Cline" | "Codex"
            );
            assert_eq!(
                by_hand,
                written.notes.iter().any(|note| note.contains("by hand")),
                "{client}: {:?}",
                written.notes
            );
        }
    }
    let dollar = Command {
        program: "x".into(),
        args: vec!["$HOME".into()],
        ..Command::default()
    };
    let notes = |client| {
        import::write(client, "mine", &Source::Command(dollar.clone()))
            .unwrap()
            .notes
    };
    assert_eq!(
        (notes("Gemini CLI"), notes("Cursor")),
        (
            vec!["Gemini CLI reads ${HOME} as a variable.".to_owned()],
            Vec::new()
        )
    );
    let sample = import::write("claude code", "demo", &Source::sample()).unwrap();
    assert!(sample.text.contains("sample-server"), "{}", sample.text);
    assert_eq!(
        import::write("Emacs", "mine", &Source::sample())
            .unwrap_err()
            .kind,
        ProblemKind::Usage
    );
}

#[test]
fn what_cannot_be_read_is_said_with_line_member_and_why() {
    let why = |path: &str, text: &str| match import::read(path, text)
        .and_then(|import| import.server(Some("a")).cloned())
    {
        Ok(entry) => panic!("{entry:?}"),
        Err(problem) => {
            assert_eq!(problem.kind.exit_status(), 2);
            problem.message()
        }
    };
    let entry = |entry: &str| {
        format!(
            "{{\n  \"mcpServers\": {{\n    \"b\": {{\"url\": \"http://h\"}},\n    \"a\": {entry}\n  }}\n}}"
        )
    };
    for (members, expected) in [
        (
            "{\n\"transport\": {\"type\": \"http\", \"url\": \"http://h\"}}",
            "(line 5): `transport`: it is an object, not a text; `command` or `url`",
        ),
        (
            "{\"args\": []}",
            "(line 4): it has neither a command nor a URL",
        ),
        (
            "{\n\n\"url\": 7}",
            "(line 6): `url`: it is a number, not a text",
        ),
        (
            "{\"command\": [\"npx\"]}",
            "(line 4): `command`: it is a list, not a text",
        ),
        (
            "{\"url\": \"http://h\", \"bearer_token\": \"s3cret\"}",
            "(line 4): `bearer_token`: it is read by no client any more",
        ),
        ("7", "(line 4): it is a number, not an object"),
    ] {
        let said = why("x.json", &entry(members));
        assert!(
            said.starts_with("`a` is left out ")
                && said.contains(expected)
                && !said.contains("s3cret"),
            "{said}"
        );
    }
    let toml = why(
        "x.toml",
        "[mcp_servers.b]\nurl = 'http://h'\n[mcp_servers.a]\nurl = 7\n",
    );
    assert!(
        toml.contains("`a` is left out (line 4): `url`: it is a number"),
        "{toml}"
    );
    let json = why("x.json", "{\n\"mcpServers\": {x}}");
    assert!(
        json.contains("not JSON: ") && json.contains("line 2"),
        "{json}"
    );
    assert!(why("x.toml", "a = 1\nb = \n").contains("not TOML at line 2"));
    // The only entry of a file.
    let only = import::read("x.json", r#"{"mcpServers":{"x":{"url":1}}}"#)
        .unwrap()
        .server(None)
        .unwrap_err();
    assert!(
        only.message().contains("`x` is left out (line 1): `url`"),
        "{}",
        only.message()
    );
}

#[test]
fn a_file_of_windows_is_read() {
    let text = "{\"mcpServers\":{\"a\":{\"command\":\"é\"}}}";
    let units = |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}"
            .encode_utf16()
            .chain(text.encode_utf16())
            .flat_map(bytes)
            .collect()
    };
    for bytes in [
        text.as_bytes().to_vec(),
        format!("\u{feff}{text}").into_bytes(),
        units(u16::to_le_bytes),
        units(u16::to_be_bytes),
    ] {
        let read = import::read("x.json", &import::decode(&bytes).unwrap()).unwrap();
        assert_eq!(read.servers[0].to_string(), "-- 'é'");
    }
    assert_eq!(
        import::decode(b"a\nb\xff").unwrap_err(),
        "it is not UTF-8 at line 2"
    );
}

#[test]
fn an_entry_s_own_variables_fill_it() {
    let read = |text: &str| import::read("x.json", text).unwrap().servers[0].resolve(|_| None);
    let command = read(
        r#"{"mcpServers":{"a":{"command":"x","args":["--header","Authorization:${AUTH}"],"env":{"AUTH":"Bearer s"}}}}"#,
    );
    assert!(
        matches!(command, Ok(Source::Command(command)) if command.args[1] == "Authorization:Bearer s")
    );
    let remote = read(
        r#"{"mcpServers":{"a":{"url":"http://h","headers":{"Authorization":"${AUTH}"},"env":{"AUTH":"Bearer s"}}}}"#,
    );
    assert!(matches!(remote, Ok(Source::Http(http)) if http.headers[0].1 == "Bearer s"));
    assert!(read(r#"{"mcpServers":{"a":{"command":"x","env":{"AUTH":"${AUTH}"}}}}"#).is_err());
}
