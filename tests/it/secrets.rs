//! What a session knows to be secret is in nothing that is written, wherever it came from and however it comes back.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::peer::{
    self,
    oauth::{Modes, OAuthPeer},
};
use crate::support::Driver;
use loupe_analysis::fixture::export::ExportChoice;
use loupe_core::source::{Protocol, Source};
use mcp_loupe::state::server_requests::{FieldInput, ServerRequestAction};
use mcp_loupe::state::wire::WireAction;
use mcp_loupe::state::{Action, CallAction, ConnectAction, ExportAction};

const LOUPE: &str = env!("CARGO_BIN_EXE_mcp-loupe");
const PASSWORD: &str = "canary-hunter-2";

/// The program, with no keychain to be found.
fn run(args: &[&str]) -> Output {
    let mut command = Command::new(LOUPE);
    command
        .args(args)
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    command
        .env("LOUPE_CANARY", "canary-of-the-environment")
        .output()
        .unwrap()
}

#[track_caller]
fn said(args: &[&str], status: i32) -> String {
    let output = run(args);
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(output.status.code(), Some(status), "{args:?}\n{text}");
    text
}

/// What every file at or below a path holds.
fn everything(path: &Path) -> String {
    if path.is_dir() {
        let entries = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        return entries.map(|path| everything(&path)).collect();
    }
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// A folder, and names of what is written into it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn file(&self, name: &str, text: &str) -> String {
        fs::write(self.folder.path().join(name), text).unwrap();
        self.path(name)
    }

    /// Writes in every way that the command line has; `source` begins with options.
    fn write_all(&self, tool: &str, source: &[&str]) {
        let [data, fixture, transcript, saved] =
            ["data", "fixture", "t.jsonl", "saved"].map(|name| self.path(name));
        said(
            &[
                &[
                    "call",
                    tool,
                    "--keep",
                    "--data-dir",
                    &data,
                    "--transcript",
                    &transcript,
                ],
                source,
            ]
            .concat(),
            0,
        );
        said(
            &[
                &["fixture", "save", &fixture, tool, "--data-dir", &data],
                source,
            ]
            .concat(),
            0,
        );
        said(
            &["fixture", "save", &saved, "--from", &transcript, "--all"],
            0,
        );
        // Hidden anew it compares as equal.
        said(
            &[
                &["fixture", "verify", &fixture, "--data-dir", &data],
                source,
            ]
            .concat(),
            0,
        );
    }

    #[track_caller]
    fn is_clean(&self, mark: &str) {
        for name in ["data/history", "fixture", "t.jsonl", "saved"] {
            let written = everything(&self.folder.path().join(name));
            for secret in ["canary", "Y2FuYXJ5", "NhbmFye", "jYW5hcn"] {
                assert!(
                    !written.contains(secret),
                    "{secret} is in {name}: {written}"
                );
            }
            assert!(written.contains(mark), "{name} has no {mark}: {written}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_login_brought_is_written_nowhere() {
    let peer = OAuthPeer::start(Modes {
        alone: true,
        echoes: true,
        ..Modes::default()
    })
    .await;
    let (place, url) = (Place::new(), peer.url());
    let token = place.file("token", "canary-workload\n");
    tokio::task::spawn_blocking(move || {
        place.write_all(
            "t",
            &["--url", &url, "--login=workload", "--assertion", &token],
        );
        place.is_clean("[hidden:login-secret]");
    })
    .await
    .unwrap();
}

/// A server that asks for a password and repeats it bare, in Base64 and on its stderr.
const ASKING: &str = r#"while IFS= read -r line; do
id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"asking","version":"1"}}}\n' "$id";;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"ask","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}\n' "$id";;
*'"tools/call"'*) printf '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"who?","requestedSchema":{"type":"object","properties":{"user":{"type":"string"},"password":{"type":"string"}}}}}\n'
IFS= read -r reply
password=$(printf '%s' "$reply" | sed -n 's/.*"password":"\([^"]*\)".*/\1/p')
echo "log $password" >&2
sleep 0.2
printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"it is %s, %s"}]}}\n' "$id" "$password" "$(printf 'me:%s' "$password" | base64)";;
esac; done"#;

#[test]
fn what_a_person_answered_is_written_nowhere() {
    let place = Place::new();
    let answer = format!(r#"{{"user":"me","password":"{PASSWORD}"}}"#);
    place.write_all(
        "ask",
        &[
            "--elicit",
            &answer,
            "--protocol",
            "2025-06-18",
            "--",
            "sh",
            "-c",
            ASKING,
        ],
    );
    place.is_clean("[hidden:answer-password]");
}

#[test]
fn what_a_person_typed_into_the_window_is_written_nowhere() {
    let (place, mut driver) = (Place::new(), Driver::new());
    driver.engine.execute(mcp_loupe::state::Effect::UseHistory(
        place.folder.path().join("data"),
    ));
    let Source::Command(command) = peer::sh(ASKING) else {
        unreachable!()
    };
    let source = Source::Command(command).with_protocol(Protocol::Version("2025-06-18"));
    driver.perform(ConnectAction::Connect(Box::new(source)));
    driver.until("the tools", |state| !state.session().tools.is_empty());
    driver.perform(CallAction::Call { send_anyway: false });
    driver.until("the question", |state| {
        !state.session().server_requests.open.is_empty()
    });
    for (field, text) in ["me", PASSWORD].into_iter().enumerate() {
        driver.perform(Action::Answer(ServerRequestAction::Give {
            field,
            given: FieldInput::Text(text.into()),
        }));
    }
    driver.perform(Action::Answer(ServerRequestAction::Accept));
    driver.until("the answer", |state| state.captures.len() == 1);
    let capture = driver.state.capture().unwrap();
    assert!(
        String::from_utf8_lossy(capture.response.as_deref().unwrap()).contains(PASSWORD),
        "the answer is shown as it came"
    );
    let [log, fixture] = ["t.jsonl", "fixture"].map(|name| place.folder.path().join(name));
    driver.perform(Action::Wire(WireAction::Save(Some(log.clone()))));
    driver.perform(Action::ExportAs(ExportAction::Save {
        kind: ExportChoice::FOLDER,
        path: Some(fixture.clone()),
    }));
    driver.until("both are written", |_| log.exists() && fixture.exists());
    drop(driver);
    for path in [&log, &fixture] {
        let written = everything(path);
        assert!(
            written.contains("[hidden:answer-password]") && !written.contains(PASSWORD),
            "{written}"
        );
    }
}

/// A server that says what of its environment it was given.
const TELLING: &str = r#"env >&2; while IFS= read -r line; do
id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
case "$line" in
*'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"telling","version":"1"}}}\n' "$id";;
*'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"tell","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}\n' "$id";;
*'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s \\u0063%s"}]}}\n' "$id" "$KEY" "${KEY#?}";;
esac; done"#;

#[test]
fn a_variable_is_in_no_transcript_and_what_is_not_secret_is_there_byte_for_byte() {
    let place = Place::new();
    let file = place.file("env", "# for the server\n\nKEY=canary-key-7f3a\n");
    place.write_all(
        "tell",
        &[
            "--env-file",
            &file,
            "--clean-env",
            "--protocol",
            "2025-06-18",
            "--",
            "sh",
            "-c",
            TELLING,
        ],
    );
    place.is_clean("[hidden:env-KEY]");
    let transcript = everything(&place.folder.path().join("t.jsonl"));
    let list = r#"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"tell\",\"inputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":true}}]}}"#;
    assert!(transcript.contains(list), "{transcript}");
    assert!(
        transcript.contains(r#"\"text\":\"[hidden:env-KEY] [hidden:env-KEY]\""#),
        "{transcript}"
    );
    assert!(
        transcript.contains(r#""dir":"stderr","text":"KEY=[hidden:env-KEY]""#),
        "{transcript}"
    );
}

#[test]
fn a_child_gets_what_it_needs_and_what_it_was_given() {
    let place = Place::new();
    let file = place.file("env", "FROM_FILE=one\nTWICE=fil\n");
    let given = |more: &[&str]| {
        let source = [
            "--protocol",
            "2025-06-18",
            "--env",
            "TWICE=giv",
            "--env-file",
            &file,
            "--",
            "sh",
            "-c",
            TELLING,
        ];
        said(&[&["tools"], more, &source[..]].concat(), 0)
    };
    let clean = given(&["--clean-env"]);
    assert!(
        clean.contains("server: FROM_FILE=one\n") && clean.contains("server: TWICE=giv\n"),
        "{clean}"
    );
    assert!(
        clean.contains("server: PATH=")
            && clean.contains("server: HOME=")
            && !clean.contains("LOUPE_CANARY"),
        "{clean}"
    );
    assert!(
        given(&[]).contains("server: LOUPE_CANARY="),
        "without the option all of it is inherited"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn headers_of_a_file_are_sent_and_hidden() {
    let peer = OAuthPeer::start(Modes {
        alone: true,
        echoes: true,
        ..Modes::default()
    })
    .await;
    let (place, url) = (Place::new(), peer.url());
    // A token that counts, by a login beside this.
    let token = place.file("token", "canary-workload");
    tokio::task::spawn_blocking(move || {
        let data = place.path("other");
        said(
            &[
                "tools",
                "--url",
                &url,
                "--login=workload",
                "--assertion",
                &token,
                "--data-dir",
                &data,
            ],
            0,
        );
        let header = place.file(
            "headers",
            "# of the server\nAuthorization: Bearer canary-access-1\n",
        );
        let [fixture, log] = ["fixture", "t.jsonl"].map(|name| place.path(name));
        let save = [
            "fixture",
            "save",
            &fixture,
            "t",
            "--url",
            &url,
            "--header-file",
            &header,
            "--transcript",
            &log,
        ];
        said(&save, 0);
        let written = everything(Path::new(&fixture)) + &everything(Path::new(&log));
        assert!(
            written.contains("[hidden:header-Authorization]") && !written.contains("canary-access"),
            "{written}"
        );
        said(
            &[
                "fixture",
                "verify",
                &fixture,
                "--url",
                &url,
                "--header-file",
                &header,
            ],
            0,
        );
        let wrong = place.file("wrong", "canary-no-header");
        let said = said(&["tools", "--url", &url, "--header-file", &wrong], 2);
        assert!(
            said.contains("a line of --header-file is 'K: V'") && !said.contains("canary"),
            "{said}"
        );
    })
    .await
    .unwrap();
}

#[test]
fn no_failure_repeats_the_password_or_the_keys_of_an_address() {
    for url in [
        "http://me:canary-1@127.0.0.1:1/mcp?api_key=canary-2",
        "ftp://me:canary-1@h",
        "http://me:canary-1@[bad/?token=canary-2",
    ] {
        for more in [&[][..], &["--json"], &["--login"], &["--transport", "sse"]] {
            let output = run(&[&["tools", "--url", url], more].concat());
            let text = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(
                !output.status.success() && text.contains("me:…@") && !text.contains("canary"),
                "{text}"
            );
        }
    }
    let output = run(&[
        "logout",
        "http://me:canary-1@h/?key=canary-2",
        "--data-dir",
        &Place::new().path("data"),
    ]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("canary"));
}

#[test]
fn the_history_is_its_owners_alone() {
    let place = Place::new();
    let data = place.path("data");
    said(
        &[
            "call",
            "dial_search_user",
            "--args",
            r#"{"name":"a"}"#,
            "--keep",
            "--data-dir",
            &data,
            "--sample",
        ],
        0,
    );
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let captures = Path::new(&data).join("history/captures");
    let capture = fs::read_dir(&captures)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    assert_eq!(
        [
            mode(&captures),
            mode(&capture),
            mode(&capture.join("response.json"))
        ],
        [0o700, 0o700, 0o600]
    );
}
