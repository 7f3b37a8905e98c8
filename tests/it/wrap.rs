//! `wrap` and `unwrap`: each client's file with `mcp-loupe tap` in it, and back, byte for byte.

use std::fs;
use std::path::Path;

use crate::live::{Window, open_sized, until};
use egui_kittest::kittest::Queryable;
use loupe_core::problem::ProblemKind;
use loupe_core::source::Source;
use loupe_core::source::import::wrap::{WrapKind, edit, secrets};
use loupe_core::source::import::{self, ImportedServer, ServerAddress};
use mcp_loupe::state::{ConnectAction, Connection, Dialog, ImportAction};
use proptest::collection;
use proptest::prelude::{any, proptest};

const LOUPE: &str = "/opt/loupe/bin/mcp-loupe";

fn change(kind: WrapKind, path: &str, text: &str, name: Option<&str>) -> String {
    let done =
        edit(kind, path, text, name, LOUPE).unwrap_or_else(|why| panic!("{path}: {why}\n{text}"));
    assert!(
        !done.changed.is_empty(),
        "{path} {name:?}: {:?}",
        done.skipped
    );
    done.text
}

fn there_and_back(path: &str, text: &str) -> String {
    let wrapped = change(WrapKind::Wrap, path, text, None);
    assert_ne!(wrapped, text);
    let back = change(WrapKind::Unwrap, path, &wrapped, None);
    assert_eq!(back, text, "{path}\n{wrapped}");
    wrapped
}

fn server(path: &str, text: &str, name: &str) -> ImportedServer {
    import::read(path, text)
        .unwrap()
        .server(Some(name))
        .unwrap()
        .clone()
}

/// The clients' files of the tests, at paths that say whose they are.
fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
    let mut files: Vec<_> = fs::read_dir(root)
        .unwrap()
        .map(|folder| folder.unwrap().path())
        .filter(|folder| !folder.ends_with("registry"))
        .map(|folder| {
            let client = folder.file_name().unwrap().to_str().unwrap();
            let mut files = fs::read_dir(&folder)
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let file = files.find(|path| !path.ends_with("expected.txt")).unwrap();
            let name = file.file_name().unwrap().to_str().unwrap();
            (
                format!("/home/me/.{client}/{name}"),
                fs::read_to_string(&file).unwrap(),
            )
        })
        .collect();
    files.sort();
    assert!(files.len() > 12);
    files
}

#[test]
fn every_client_s_file_comes_back_byte_for_byte() {
    for (path, text) in files() {
        let wrapped = there_and_back(&path, &text);
        let (before, after) = (
            import::read(&path, &text).unwrap(),
            import::read(&path, &wrapped).unwrap(),
        );
        assert_eq!(before.servers.len(), after.servers.len());
        for (before, after) in before.servers.iter().zip(&after.servers) {
            assert_eq!(
                (&before.name, before.disabled),
                (&after.name, after.disabled),
                "{path}"
            );
            let ServerAddress::Command {
                program,
                args,
                env,
                cwd,
            } = &after.reach
            else {
                panic!("{path}: {after:?}");
            };
            assert_eq!(
                (program.as_str(), args[0].as_str(), args[1].as_str()),
                (LOUPE, "tap", "--name")
            );
            match &before.reach {
                ServerAddress::Command {
                    program,
                    args: inner,
                    env: env_before,
                    cwd: cwd_before,
                } => {
                    assert_eq!(args[3], "--", "{path}");
                    assert_eq!((&args[4], &args[5..]), (program, &inner[..]), "{path}");
                    assert_eq!((env, cwd), (env_before, cwd_before), "{path}");
                }
                ServerAddress::Remote { url, headers, .. } => {
                    assert_eq!(
                        (&args[3..4], &args[4]),
                        (&["--url".to_owned()][..], url),
                        "{path}"
                    );
                    assert_eq!(args.len(), 5 + 2 * headers.len(), "{path}");
                    for (at, (name, value)) in headers.iter().enumerate() {
                        assert_eq!(args[5 + 2 * at], "--header-env");
                        let (header, from) = args[6 + 2 * at].split_once('=').unwrap();
                        let (scheme, variable) = from.split_once(' ').unwrap_or(("", from));
                        let (_, passed) = env.iter().find(|(name, _)| name == variable).unwrap();
                        assert_eq!(header, name);
                        assert_eq!(format!("{scheme} {passed}").trim_start(), value, "{path}");
                    }
                }
            }
        }
        // One at a time, in any order.
        let names: Vec<_> = before
            .servers
            .iter()
            .map(|server| server.name.as_str())
            .collect();
        let mut now = text.clone();
        for name in &names {
            now = change(WrapKind::Wrap, &path, &now, Some(name));
        }
        assert_eq!(now, wrapped, "{path}");
        for name in &names {
            now = change(WrapKind::Unwrap, &path, &now, Some(name));
        }
        assert_eq!(now, text, "{path}");
        // A second time changes nothing.
        let again = edit(WrapKind::Wrap, &path, &wrapped, Some(names[0]), LOUPE).unwrap();
        assert_eq!(
            (again.text, again.skipped),
            (wrapped, vec![format!("`{}` is wrapped already", names[0])])
        );
        let foreign = edit(WrapKind::Unwrap, &path, &text, Some(names[0]), LOUPE).unwrap();
        assert_eq!(
            (foreign.text, foreign.skipped),
            (text, vec![format!("`{}` is not wrapped", names[0])])
        );
    }
}

#[test]
fn the_entry_alone_changes() {
    let text = "\u{feff}{\r\n  // mine\r\n  \"mcpServers\": {\r\n    \"a\": {\r\n      \"command\": \"npx\", /* é */\r\n      \"env\": {\"K\": \"v\",},\r\n    },\r\n    \"b\": {\"url\": \"https://h/\"},\r\n  },\r\n}";
    let wrapped = change(WrapKind::Wrap, "x.json", text, Some("a"));
    assert_eq!(
        wrapped,
        text.replace(
            "\"npx\"",
            "\"/opt/loupe/bin/mcp-loupe\",\r\n      \"args\": [ \"tap\", \"--name\", \"a\", \"--\", \"npx\" ]"
        )
    );
    assert_eq!(
        change(WrapKind::Unwrap, "x.json", &wrapped, Some("a")),
        text
    );
    there_and_back("x.json", text);
    let toml = "# mine\r\n[mcp_servers.a]\r\ncommand = 'C:\\x.exe' # c\r\n\r\n[mcp_servers.a.env]\r\nK = \"v\"\r\n";
    let wrapped = there_and_back("x.toml", toml);
    assert!(
        wrapped.contains("command = \"/opt/loupe/bin/mcp-loupe\"\r\nargs = [ \"tap\", \"--name\", \"a\", \"--\", 'C:\\x.exe' ] # c\r\n\r\n[mcp_servers.a.env]"),
        "{wrapped}"
    );
}

#[test]
fn odd_forms_come_back() {
    let entries = [
        r#"{"command":"x"}"#,
        r#"{"command":"x","args":[]}"#,
        r#"{"args":[ ],"command":"x"}"#,
        r#"{"args" : [ "a" , "b" , ] , "command" : "x" , }"#,
        "{\"command\":\"x\",\"args\":[\n// first\n\"a\", // last\n]\n}",
        r#"{"args":[/* none */],"command":"\u0078\"\\"}"#,
        r#"{"command":"old","command":"x","args":["--","tap"]}"#,
        r#"{"command":{"path":"x"}}"#,
        r#"{"command":{"args":["a"],"path":"x","env":{}},"env":{"A":"b"}}"#,
        r#"{"url":"https://h"}"#,
        r#"{"headers":{},"url":"https://h","env":{}}"#,
        r#"{"headers":{"A":"b","a":"\"<LOUPE","N":1},"type":"sse",/* c */"url":"https://h","env":{"X":"y"},}"#,
        "{\n\"url\": \"https://h\", // c\n\n\"headers\": {\n\"Authorization\": \"Bearer s\", },\n\"x\": 1\n}",
        r#"{"headers":{"A":"b"},"http_headers":{"B":"c"},"url":"https://h"}"#,
        r#"{"url":"https://h","headers":{"A":"b"},"http_headers":{"B":"c"}}"#,
    ];
    for list in ["mcpServers", "servers", "context_servers", "mcp.servers"] {
        for entry in entries {
            for text in [
                format!("{{\"{list}\":{{\"é\\\"\":{entry}}}}}\n"),
                format!(
                    "// c\n{{\"x\":[1,{{}}],\n\"{list}\": {{\n\t\"other\": {{\"command\": \"y\", }},\n\t\"a\": {entry} ,\n}}, }}"
                ),
                format!(
                    "{{\r\n\"{list}\":{{\"a\":{}}}}}\r\n",
                    entry.replace('\n', "\r\n")
                ),
            ] {
                there_and_back("x.json", &text);
            }
        }
    }
    let tables = [
        "[mcp_servers.a]\ncommand = \"x\"",
        "[mcp_servers.a]\n  args = [\n    \"a\", # first\n    'b',\n  ]\n  command = \"x\"\n",
        "mcp_servers.a.command = \"x\"\nmcp_servers.a.args = []\n",
        "[mcp_servers]\na = { command = \"\"\"x\"\"\" }\nb = { url = \"https://h\", http_headers = { A = \"b\" } }\n",
        "[mcp_servers.\"a b\"]\nhttp_headers = { A = \"b\", \"X-Y\" = 'c' }\nurl = 'https://h' # c\nstartup_timeout_sec = 3\n\n[mcp_servers.\"a b\".tools.t]\non = true\n\n[other]\nk = 1\n",
        "[mcp_servers.a]\nurl = \"https://h\"\nbearer_token_env_var = \"T\"",
        "mcp_servers.a.url = \"https://h\"\nmcp_servers.a.bearer_token_env_var = \"T\"\nz = 1\n",
    ];
    for text in tables {
        there_and_back("x.toml", text);
        there_and_back("x.toml", &text.replace('\n', "\r\n"));
    }
}

#[test]
fn what_is_not_edited_says_what_to_write() {
    let refused =
        |path: &str, text: &str| edit(WrapKind::Wrap, path, text, Some("a"), LOUPE).unwrap_err();
    for (path, text, what) in [
        (
            "x.yaml",
            "mcpServers:\n  a: {command: x}\n",
            "YAML is not edited",
        ),
        (
            "x.toml",
            "[mcp_servers.a]\nurl = 'https://h'\n[mcp_servers.a.http_headers]\nA = 'b'\n",
            "`http_headers` stand in a form",
        ),
        (
            "x.toml",
            "[[mcp_servers.a]]\ncommand = 'x'\n",
            "not an object",
        ),
        (
            "x.json",
            r#"{"mcpServers":{"b":{"command":"x"}}}"#,
            "no server `a` in the file",
        ),
        (
            "x.json",
            r#"{"mcpServers":{"a":{}}}"#,
            "neither a command nor a URL",
        ),
    ] {
        let problem = refused(path, text);
        assert!(problem.what.contains(what), "{problem:?}");
        assert!(
            problem.hint.is_some() && problem.kind.exit_status() == 2,
            "{problem:?}"
        );
    }
    let registry =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/import/registry/server.json");
    let all = edit(
        WrapKind::Wrap,
        "server.json",
        &fs::read_to_string(registry).unwrap(),
        None,
        LOUPE,
    )
    .unwrap();
    assert!(
        all.changed.is_empty() && all.skipped[0].contains("described for others"),
        "{:?}",
        all.skipped
    );
    let gone = r#"{"mcpServers":{"a":{"command":"mcp-loupe","args":["tap","--url","https://h"]}}}"#;
    let problem = edit(WrapKind::Unwrap, "x.json", gone, Some("a"), LOUPE).unwrap_err();
    assert_eq!(
        (problem.kind, problem.what.contains("after `--`")),
        (ProblemKind::Usage, true),
        "{problem:?}"
    );
}

#[test]
fn what_changed_meanwhile_stays() {
    let text = r#"{"mcpServers":{"a":{"type":"http","url":"https://h","headers":{"Authorization":"Bearer old"},"disabled":false,"x":1}}}"#;
    let wrapped = change(WrapKind::Wrap, "x.json", text, Some("a"));
    let edited = wrapped.replace("Bearer old", "Bearer new").replace(
        "\"disabled\":false,\"x\":1",
        "\"disabled\":true,\"alwaysAllow\":[\"t\"]",
    );
    assert_eq!(
        change(WrapKind::Unwrap, "x.json", &edited, Some("a")),
        r#"{"mcpServers":{"a":{"type":"http","url":"https://h","headers":{"Authorization":"Bearer new"},"disabled":true, "alwaysAllow": ["t"]}}}"#
    );
    // A command that a person wrapped, with options of their own, and a formatter's lines.
    let by_hand = "{\"mcpServers\":{\"a\":{\"command\":\"mcp-loupe\",\"args\":[\n\"tap\",\n\"--quiet\",\n\"--\",\n\"x\",\n\"y\"\n]}}}";
    let ServerAddress::Command { program, args, .. } = server(
        "x.json",
        &change(WrapKind::Unwrap, "x.json", by_hand, None),
        "a",
    )
    .reach
    else {
        panic!()
    };
    assert_eq!((program.as_str(), args), ("x", vec!["y".to_owned()]));
}

proptest! {
    /// Blanks and comments of any kind between the tokens, commas behind the last ones.
    #[test]
    fn odd_blanks_come_back(fill in collection::vec(0_usize..8, 64), commas in any::<bool>(), entry in 0_usize..4) {
        const FILL: [&str; 8] = ["", " ", "\n", "\r\n\t", "/* \"é{ */", "// ],\n", "\n  // c\r\n  ", "  "];
        const ENTRIES: [&str; 4] = [
            "{ \"command\" : \"x\" , \"args\" : [ \"a\" , \"//\" , ] , }",
            "{ \"args\" : [ ] , \"env\" : { \"K\" : \"/*\" , } , \"command\" : \"x\" , }",
            "{ \"type\" : \"http\" , \"headers\" : { \"A\" : \"b\" , } , \"url\" : \"https://h\" , \"on\" : true , }",
            "{ \"env\" : { } , \"command\" : { \"path\" : \"x\" , } , \"z\" : [ 1 , { } , ] , }",
        ];
        let text = format!("{{ \"servers\" : {{ \"o\" : {{ \"command\" : \"y\" , }} , \"a\" : {} , }} , }} ", ENTRIES[entry]);
        let text = if commas { text } else { text.replace(", }", "}").replace(", ]", "]") };
        let text: String = text.split(' ').zip(fill.iter().cycle()).flat_map(|(token, at)| [token, FILL[*at]]).collect();
        there_and_back("x.json", &text);
    }
}

/// Runs the program in a home folder of its own; gives the exit status, what it printed and what it said.
fn run(home: &Path, args: &[&str]) -> (i32, String, String) {
    let out = std::process::Command::new(env!("CARGO_BIN_EXE_mcp-loupe"))
        .args(args)
        .current_dir(home)
        .env("HOME", home)
        .env_remove("XDG_CONFIG_HOME")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        out.status.code().unwrap(),
        text(out.stdout),
        text(out.stderr),
    )
}

const CONFIG: &str = "{\n  \"mcpServers\": {\n    \"docs\": {\n      \"command\": \"npx\",\n      \"args\": [\"--token\", \"s3cret-argument\"],\n      \"env\": { \"API_KEY\": \"s3cret-variable\", \"MODE\": \"plain\" }\n    },\n    \"far\": { \"url\": \"https://h/mcp?api_key=s3cret-address\", \"headers\": { \"Authorization\": \"Bearer s3cret-header\" } }\n  }\n}\n";

#[test]
fn a_file_is_written_only_on_a_yes() {
    let home = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(home.path()).unwrap();
    let file = home.join(".claude.json");
    fs::write(&file, CONFIG).unwrap();
    let read = || fs::read_to_string(&file).unwrap();

    let (status, shown, said) = run(&home, &["wrap", "docs"]);
    assert_eq!((status, read().as_str()), (2, CONFIG), "{said}");
    assert!(
        said.contains("nobody can be asked") && said.contains("--yes"),
        "{said}"
    );
    assert!(
        shown.contains("-      \"command\": \"npx\",\n")
            && shown.contains("\"tap\", \"--name\", \"docs\", \"--\", \"npx\", "),
        "{shown}"
    );
    assert!(
        !shown.contains("s3cret")
            && shown.contains("[hidden:config-API_KEY]")
            && shown.contains("\"plain\""),
        "{shown}"
    );
    assert_eq!(fs::read_dir(&home).unwrap().count(), 1);

    let (status, shown, said) = run(&home, &["wrap", "docs", "--yes"]);
    let backup = home.join(".claude.json.before-loupe");
    assert_eq!(status, 0, "{said}");
    assert!(
        shown.contains("Wrapped: docs\n") && shown.contains(&backup.display().to_string()),
        "{shown}"
    );
    assert!(
        said.contains("restart the client") && !said.contains("version control"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&backup).unwrap(), CONFIG);
    let program = env!("CARGO_BIN_EXE_mcp-loupe");
    let entry = server(".claude.json", &read(), "docs");
    assert_eq!(
        entry.to_string(),
        format!(
            "--env API_KEY=… --env MODE=… -- {program} tap --name docs -- npx --token s3cret-argument"
        )
    );

    let wrapped = read();
    let (status, shown, _) = run(&home, &["wrap", "docs", "--yes"]);
    assert_eq!(
        (status, shown.as_str(), read()),
        (0, "`docs` is wrapped already\n", wrapped.clone())
    );
    let (status, shown, _) = run(&home, &["unwrap", "far", "--yes"]);
    assert_eq!(
        (status, shown.as_str(), read()),
        (0, "`far` is not wrapped\n", wrapped)
    );

    fs::create_dir(home.join(".git")).unwrap();
    let all = ["--all", "--config", ".claude.json", "--yes"];
    let (status, shown, said) = run(&home, &[&["wrap"], &all[..]].concat());
    assert_eq!(status, 0, "{said}");
    assert!(
        shown.contains("Wrapped: far\n") && !shown.contains("s3cret"),
        "{shown}"
    );
    for words in [
        "`docs` is wrapped already",
        "version control",
        "login that the client did itself",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let (status, shown, said) = run(&home, &[&["unwrap"], &all[..]].concat());
    assert_eq!((status, read().as_str()), (0, CONFIG), "{said}");
    assert!(
        shown.contains("Unwrapped: docs, far\n") && !shown.contains("s3cret"),
        "{shown}"
    );
    // The first backup is as it was.
    assert_eq!(fs::read_to_string(&backup).unwrap(), CONFIG);
    assert_ne!(
        fs::read_to_string(home.join(".claude.json.before-loupe-2")).unwrap(),
        CONFIG
    );
}

#[test]
fn a_name_is_looked_for_on_this_computer() {
    let home = tempfile::tempdir().unwrap();
    let home = fs::canonicalize(home.path()).unwrap();
    let said = |args: &[&str]| {
        let (status, _, said) = run(&home, args);
        assert_eq!(status, 2, "{said}");
        said
    };
    assert!(
        said(&["wrap", "docs"])
            .contains("no client's configuration on this computer has a server `docs`")
    );
    fs::write(home.join(".claude.json"), CONFIG).unwrap();
    fs::create_dir(home.join(".cursor")).unwrap();
    fs::write(home.join(".cursor/mcp.json"), CONFIG).unwrap();
    let both = said(&["wrap", "docs"]);
    assert!(
        both.contains("`docs` is in 2 files")
            && both.contains("/.claude.json, ")
            && both.contains("/.cursor/mcp.json"),
        "{both}"
    );
    assert!(said(&["wrap", "--all"]).contains("--config"));
    assert!(said(&["wrap"]).contains("NAME"));
    assert!(
        said(&["wrap", "gone", "--config", ".claude.json"])
            .contains("no server `gone` in the file")
    );
}

#[test]
fn secrets_of_a_file_are_known_in_every_form_and_names_of_variables_are_not() {
    for (path, text) in files() {
        let wrapped = change(WrapKind::Wrap, &path, &text, None);
        for (name, value) in [text.as_str(), &wrapped]
            .iter()
            .flat_map(|text| secrets(&path, text))
        {
            assert!(
                !["REMOTE_TOKEN", "REMOTE_KEY", "Bearer REMOTE_TOKEN"].contains(&value.as_str()),
                "{name}"
            );
        }
    }
    let text = r#"{"mcpServers":{"a":{"url":"https://h","auth":{"client_secret":"a\"b"},"headers":{"Cookie":"c\"d"}}}}"#;
    let wrapped = change(WrapKind::Wrap, "x.json", text, None);
    let found: Vec<_> = secrets("x.json", &wrapped)
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    for form in ["c\"d", r#"c\"d"#] {
        assert!(found.contains(&form.to_owned()), "{form}: {found:?}");
    }
    let found: Vec<_> = secrets("x.json", text)
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    assert!(
        wrapped.contains(r#"a\\\"b"#) && found.contains(&r#"a\\\"b"#.to_owned()),
        "{wrapped} {found:?}"
    );
}

#[test]
fn the_window_shows_the_change_and_writes_it_on_a_click() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("mcp.json");
    fs::write(&file, CONFIG).unwrap();
    let mut window = open_sized(Some(Source::sample()), [1_280.0, 800.0]);
    let click = |window: &mut Window, label: &str| {
        until(window, label, |window| {
            window.query_by_label(label).is_some()
        });
        window.get_by_label(label).click();
        window.step();
    };
    let shows = |window: &mut Window, words: &str| {
        until(window, words, |window| {
            window.query_all_by_label_contains(words).next().is_some()
        });
    };
    until(&mut window, "connected", |window| {
        let connection = &window.state().state.session().connection;
        matches!(connection, Connection::Connected { .. })
    });
    let ctx = window.ctx.clone();
    let read = ImportAction::Read(file.clone());
    let actions = vec![ConnectAction::Show.into(), read.into()];
    window.state_mut().perform(&ctx, actions);
    click(&mut window, "Show the server docs");
    click(&mut window, "Record…");
    shows(&mut window, "Record docs");
    shows(&mut window, "mcp.json.before-loupe");
    shows(&mut window, "\"tap\", \"--name\", \"docs\"");
    let Some(Dialog::Wrap(prepared)) = &window.state().state.dialog else {
        panic!("{:?}", window.state().state.dialog);
    };
    assert!(!prepared.difference.concat().contains("s3cret"));
    click(&mut window, "Cancel");
    assert_eq!(fs::read_to_string(&file).unwrap(), CONFIG);

    click(&mut window, "Record…");
    click(&mut window, "Write the configuration");
    shows(&mut window, "docs is recorded once its client is restarted");
    let wrapped = fs::read_to_string(&file).unwrap();
    assert!(wrapped.contains("\"tap\""), "{wrapped}");

    // Others changed it while the difference was shown.
    click(&mut window, "Show the server far");
    click(&mut window, "Record…");
    shows(&mut window, "Record far");
    fs::write(&file, CONFIG).unwrap();
    click(&mut window, "Write the configuration");
    shows(&mut window, "the file changed since it was shown");
    assert_eq!(fs::read_to_string(&file).unwrap(), CONFIG);
}
