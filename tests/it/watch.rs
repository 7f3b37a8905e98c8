//! The loop of somebody who writes a server: edit, save, and the answer is there with its difference to the one before.

use std::fs;
use std::path::Path;

use egui_kittest::kittest::Queryable;
use loupe_core::capture::{Capture, Outcome};
use loupe_core::source::{Command, Protocol, Source, Watch};
use mcp_loupe::state::{
    AllowedTools, CallAction, ConnectAction, Connection, Dialog, ServersAction, SettingsAction,
    WatchAction,
};

use crate::live::{open_sized, until};
use crate::support::Driver;

/// A server that sends its arguments back beside `text`; its one tool declares nothing.
fn server(description: &str, text: &str) -> String {
    format!(
        r#"while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) printf '%s\n' '{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"peer","version":"1"}}}}}}' ;;
    *'"tools/list"'*) printf '{{"jsonrpc":"2.0","id":%s,"result":{{"tools":[{{"name":"find","description":"{description}","inputSchema":{{"type":"object","properties":{{"where":{{"type":"object"}}}}}}}}]}}}}\n' "$id" ;;
    *'"tools/call"'*)
      echo "asked" >&2
      case "$line" in *'"city":"Bonn"'*) ;; *) exit 9 ;; esac
      printf '{{"jsonrpc":"2.0","id":%s,"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}\n' "$id" ;;
  esac
done
"#
    )
}

const ARGUMENTS: &str = r#"{"where":{"city":"Bonn","tags":["a",{"deep":[1]}]}}"#;
const ONE: &str = r"name: Ann\\ncity: Bonn";
const TWO: &str = r"name: Ann\\ncity: Bonn\\nage: 5";

fn source(script: &Path) -> Source {
    let protocol = Protocol::Version("2025-11-25");
    Source::Command(Command {
        program: "sh".into(),
        args: vec![script.display().to_string()],
        protocol,
        ..Command::default()
    })
}

fn text(capture: &Capture) -> String {
    String::from_utf8_lossy(capture.response.as_ref().expect("an answer")).into_owned()
}

#[test]
fn what_is_saved_is_called_again_and_compared_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    fs::write(&script, server("finds", ONE)).unwrap();
    let mut window = open_sized(Some(source(&script)), [1_600.0, 1_000.0]);
    let ctx = window.ctx.clone();
    until(&mut window, "tools are listed", |window| {
        window.state().state.session().tools.len() == 1
    });
    window.state_mut().perform(
        &ctx,
        vec![CallAction::SetArgumentsText(ARGUMENTS.into()).into()],
    );
    window
        .state_mut()
        .perform(&ctx, vec![CallAction::Call { send_anyway: false }.into()]);
    until(&mut window, "it is asked", |window| {
        window.query_by_label("Always allow this tool").is_some()
    });
    window.get_by_label("Always allow this tool").click();
    until(&mut window, "the answer is there", |window| {
        window.state().state.captures.len() == 1
    });
    // What is offered is the script's folder.
    window.get_by_label("Watch the server’s files…").click();
    until(&mut window, "the dialog is there", |window| {
        window.query_by_label("What is watched").is_some()
    });
    let Some(Dialog::Watch(Watch { places, .. })) = &window.state().state.dialog else {
        panic!("asked")
    };
    assert_eq!(*places, folder.path().join("**/*.sh").display().to_string());
    window.get_by_label("Watch").click();
    until(&mut window, "one file is watched", |window| {
        window.query_by_label("Watching 1 file").is_some()
    });
    // From here on no key and no click.
    fs::write(&script, server("finds", TWO)).unwrap();
    until(&mut window, "the changed answer is there", |window| {
        window.state().state.captures.len() == 2
    });
    let spoken = "1 line changed";
    until(&mut window, spoken, |window| {
        window
            .query_all_by_label_contains("Since the call before: +")
            .any(|chip| format!("{chip:?}").contains(spoken))
    });
    let captures = &window.state().state.captures;
    assert!(text(&captures[0]).contains("city: Bonn\"") && text(&captures[1]).contains("age: 5"));
    assert_eq!(captures[1].arguments, ARGUMENTS, "nested as they were");
}

/// Connected to the script, called once, and watched.
fn watched(script: &Path, build: &str) -> Driver {
    let mut driver = Driver::new();
    driver.perform(ServersAction::StartIn(script.parent().unwrap().to_owned()));
    driver.perform(ConnectAction::Connect(Box::new(source(script))));
    driver.until("tools are listed", |state| state.session().tools.len() == 1);
    driver.perform(CallAction::SetArgumentsText(ARGUMENTS.into()));
    driver.perform(CallAction::Call { send_anyway: false });
    driver.perform(CallAction::ConfirmAlways(AllowedTools::This));
    driver.until("an answer is there", |state| state.captures.len() == 1);
    driver.perform(WatchAction::Set(Watch {
        is_on: true,
        places: "*.sh".into(),
        build: build.into(),
    }));
    driver.until("it is watched", |state| state.watching.files == Some(1));
    driver
}

#[test]
fn what_was_allowed_typed_and_watched_is_known_to_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    fs::write(&script, server("finds", ONE)).unwrap();
    let kept = folder.path().join("kept");
    let run = || {
        let mut driver = Driver::new();
        driver.perform(SettingsAction::UseFolder(kept.clone()));
        driver.until("the folder is read", |state| state.servers.is_kept());
        driver.perform(ConnectAction::Connect(Box::new(source(&script))));
        driver.until("tools are listed", |state| state.session().tools.len() == 1);
        driver
    };
    let mut first = run();
    first.perform(CallAction::SetArgumentsText(ARGUMENTS.into()));
    first.perform(CallAction::Call { send_anyway: false });
    first.perform(CallAction::ConfirmAlways(AllowedTools::This));
    first.until("an answer is there", |state| state.captures.len() == 1);
    let places = script.display().to_string();
    first.perform(WatchAction::Set(Watch {
        is_on: true,
        places,
        build: String::new(),
    }));
    first.until("it is watched", |state| state.watching.files == Some(1));
    drop(first);
    let mut next = run();
    next.until("it is watched again", |state| {
        state.watching.files == Some(1)
    });
    assert_eq!(next.state.form().map(|form| &*form.text), Some(ARGUMENTS));
    next.perform(CallAction::Call { send_anyway: false });
    assert_eq!(next.state.dialog, None, "nobody is asked");
    next.until("an answer is there", |state| state.captures.len() == 1);
    // Another folder to start in is another server.
    let mut elsewhere = Driver::new();
    elsewhere.perform(SettingsAction::UseFolder(kept.clone()));
    elsewhere.until("the folder is read", |state| state.servers.is_kept());
    elsewhere.perform(ServersAction::StartIn("/".into()));
    elsewhere.perform(ConnectAction::Connect(Box::new(source(&script))));
    elsewhere.until("tools are listed", |state| state.session().tools.len() == 1);
    elsewhere.perform(CallAction::Call { send_anyway: false });
    assert!(matches!(
        elsewhere.state.dialog,
        Some(Dialog::ConfirmCall { .. })
    ));
}

#[test]
fn a_server_that_breaks_is_back_once_it_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    fs::write(&script, server("finds", ONE)).unwrap();
    let mut driver = watched(&script, "");
    fs::write(&script, "echo 'line 7: syntax error' >&2\nexit 3\n").unwrap();
    driver.until("it cannot be started", |state| {
        matches!(state.session().connection, Connection::Failed { .. })
    });
    let Connection::Failed { problem, .. } = &driver.state.session().connection else {
        panic!("failed")
    };
    assert!(
        problem.what.contains("status 3") && problem.what.contains("syntax error"),
        "{problem}"
    );
    // It starts, and breaks in the call.
    fs::write(&script, server("finds", ONE).replace("Bonn", "Rome")).unwrap();
    driver.until("the call broke", |state| {
        state.captures.len() == 2
            && matches!(state.session().connection, Connection::Disconnected { .. })
    });
    assert_eq!(driver.state.captures[1].outcome, Outcome::Disconnected);
    driver.until("its stderr is told", |state| {
        state
            .stderr_of_call()
            .is_some_and(|lines| lines == &["asked"])
    });
    let Connection::Disconnected { problem, .. } = &driver.state.session().connection else {
        panic!("gone")
    };
    assert!(problem.what.contains("status 9"), "{problem}");
    fs::write(&script, server("finds", TWO)).unwrap();
    driver.until("it is mended", |state| state.captures.len() == 3);
    assert!(text(&driver.state.captures[2]).contains("age: 5"));
    let (now, before) = driver.state.session().reconnect.pair.clone().unwrap();
    assert_eq!(
        (&now, &before),
        (&driver.state.captures[2].id, &driver.state.captures[0].id),
        "compared with the last answer"
    );
    // Another definition is another tool: nobody said yes to that.
    fs::write(&script, server("finds more", TWO)).unwrap();
    driver.until("it is asked", |state| {
        matches!(state.dialog, Some(Dialog::ConfirmCall { .. }))
    });
    assert_eq!(driver.state.captures.len(), 3);
    // Nobody watches what was left.
    driver.perform(ConnectAction::Disconnect);
    assert_eq!(driver.state.watching.files, None);
}

#[test]
fn a_build_runs_first_and_its_failure_leaves_the_server_alone() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("server.sh");
    fs::write(&script, server("finds", ONE)).unwrap();
    let mut driver = watched(
        &script,
        "sh -c 'echo built >> log; cat verdict; test ! -s verdict'",
    );
    fs::write(folder.path().join("verdict"), "error: no such name\n").unwrap();
    let session = driver.state.session().id;
    fs::write(&script, server("finds", TWO)).unwrap();
    driver.until("the build failed", |state| state.watching.problem.is_some());
    assert_eq!(
        (
            driver.state.watching.output.as_slice(),
            driver.state.session().id
        ),
        (&["error: no such name".to_owned()][..], session)
    );
    assert!(driver.state.session().connection.is_connected());
    fs::write(folder.path().join("verdict"), "").unwrap();
    fs::write(&script, server("finds", &format!("{TWO}!"))).unwrap();
    driver.until("it was built and called", |state| state.captures.len() == 2);
    assert!(driver.state.watching.problem.is_none());
    assert_eq!(
        fs::read_to_string(folder.path().join("log")).unwrap(),
        "built\nbuilt\n"
    );
}
