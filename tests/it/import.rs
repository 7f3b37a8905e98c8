//! Clients' configuration files as data: what is understood of each, and what it becomes.
//!
//! `tests/data/import/CLIENT/` holds one file of the client's shape and `expected.txt`.
//! `UPDATE_EXPECT=1 cargo test --test it import` writes the expectations anew; read the difference before it is kept.

use std::fs;
use std::path::Path;

use mcp_loupe::problem::ProblemKind;
use mcp_loupe::source::Source;
use mcp_loupe::source::import::{self, Import, PLACES, Placeholder};

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
        out += &format!("{}{}\n  {entry}\n", entry.name, if entry.disabled { " (off)" } else { "" });
        let asks: Vec<_> = entry.placeholders().iter().map(ToString::to_string).collect();
        for (what, list) in
            [("asks for", asks.join(", ")), ("secret", entry.secrets().join(", ")), ("notes", entry.notes.join("; "))]
        {
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
            Ok(Source::Command(command)) => format!("  = {} env={:?} cwd={:?}\n", command.line(), command.env, command.cwd),
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
    let mut folders: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= PLACES.len());
    let mut failures = String::new();
    for folder in folders {
        let client = folder.file_name().unwrap().to_str().unwrap();
        let mut files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let file = files.find(|path| !path.ends_with("expected.txt")).unwrap();
        let path = format!("/home/me/.{client}/{}", file.file_name().unwrap().to_str().unwrap());
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
        ("x.json", "{", ProblemKind::Malformed, "not JSON: "),
        ("x.toml", "a = ", ProblemKind::Malformed, "not TOML: "),
        ("x.json", "{}", ProblemKind::NotFound, "no list of MCP servers"),
        ("x.json", "[]", ProblemKind::NotFound, "no list of MCP servers"),
        ("x.json", r#"{"mcpServers":[]}"#, ProblemKind::NotFound, "no list of MCP servers"),
        ("x.json", r#"{"servers":7,"projects":[1]}"#, ProblemKind::NotFound, "no list of MCP servers"),
    ] {
        let problem = problem(path, text);
        assert_eq!((problem.kind, problem.what.starts_with(what)), (kind, true), "{text}: {problem}");
    }
    let deep = format!("{{\"mcpServers\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(problem("x.json", &deep).kind, ProblemKind::Malformed);
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
    let import = import::read("x.json", r#"{"mcpServers":{"a":{"command":"x"},"b":{"command":"y"}}}"#).unwrap();
    assert_eq!(import.server(Some("b")).unwrap().to_string(), "-- y");
    assert_eq!(import.server(None).unwrap_err().hint.unwrap(), "one of a, b");
    assert_eq!(import.server(Some("c")).unwrap_err().what, "no server `c` in the file");
    let mut one = import::read("x.json", r#"{"mcpServers":{"a":{"command":"x","env":{"A":"${MISSING}"}}}}"#).unwrap();
    assert_eq!(one.server(None).unwrap().name, "a");
    assert_eq!(one.servers[0].resolve(|_| None).unwrap_err().what, "no value for ${MISSING}");
    one.servers[0].set_env("A", "$HOME");
    let Ok(Source::Command(command)) = one.servers[0].resolve(|_| None) else { panic!() };
    assert_eq!(command.env, [("A".to_owned(), "$HOME".to_owned())]);
}
