//! A server's questions and the protocol log in the window, by the accessibility tree, with the real engine and sample.

use crate::live::{Window, open_sized, until};
use egui_kittest::kittest::Queryable;
use loupe_core::capture::Outcome;
use loupe_core::source::{Command, SampleSpec, Source};
use mcp_loupe::state::library::{LibraryAction, LibraryEntry};
use mcp_loupe::state::media::MediaAction;
use mcp_loupe::state::server_requests::{FieldInput, ServerRequestAction};
use mcp_loupe::state::{Action, CallAction, ConnectAction, Screen, SidebarTab, ViewAction};

const PASSWORD: &str = "abcd-efgh-canary";

fn open(spec: &str) -> Window {
    open_on(Source::Sample(SampleSpec::parse(spec).unwrap()))
}

fn open_on(source: Source) -> Window {
    let mut window = open_sized(Some(source), [1_280.0, 800.0]);
    until(&mut window, "connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    window
}

fn perform(window: &mut Window, action: impl Into<Action>) {
    let ctx = window.ctx.clone();
    window.state_mut().perform(&ctx, vec![action.into()]);
    window.step();
}

#[test]
fn a_login_is_asked_for_answered_and_forgotten() {
    let mut window = open("autoreply");
    perform(&mut window, CallAction::SelectTool("login".into()));
    perform(&mut window, CallAction::Call { send_anyway: false });
    until(&mut window, "the question", |window| {
        window
            .query_by_label("loupe-sample asks for input")
            .is_some()
    });
    // What is required is said once it was tried.
    window.get_by_label("Send").click();
    window.step();
    window.step();
    assert!(
        window
            .query_all_by_label_contains("required")
            .next()
            .is_some()
    );
    let give = |field, text: &str| {
        Action::Answer(ServerRequestAction::Give {
            field,
            given: FieldInput::Text(text.into()),
        })
    };
    perform(&mut window, give(0, "@carol.art"));
    perform(&mut window, give(1, PASSWORD));
    assert!(
        window
            .query_all_by_label_contains("looks like a secret: password")
            .next()
            .is_some()
    );
    window.step();
    window.get_by_label("Send").click();
    until(&mut window, "the answer", |window| {
        window.state().state.captures.len() == 1
    });
    let state = &window.state().state;
    assert_eq!(state.captures[0].outcome, Outcome::Result);
    assert!(
        String::from_utf8_lossy(state.captures[0].response.as_deref().unwrap())
            .contains("Logged in as @carol.art")
    );
    assert!(
        !format!("{:?}", state.captures).contains("canary"),
        "kept in the capture"
    );
    // The protocol log has the question and the masked answer, in pairs.
    perform(
        &mut window,
        Action::Wire(mcp_loupe::state::wire::WireAction::Show),
    );
    until(&mut window, "the log", |window| {
        window
            .query_all_by_label_contains("answer to elicitation/create")
            .next()
            .is_some()
    });
    let state = &window.state().state;
    assert_eq!(state.view.screen, Screen::Wire);
    assert!(
        !format!("{:?}", state.session().wire.log).contains("canary"),
        "kept in the log"
    );
    let row = state
        .session()
        .wire
        .log
        .numbered()
        .find(|(_, line)| line.method.as_deref() == Some("elicitation/create"))
        .unwrap()
        .0;
    perform(
        &mut window,
        Action::Wire(mcp_loupe::state::wire::WireAction::Select(Some(row))),
    );
    window.get_by_label("Its answer").click();
    window.step();
    window.step();
    assert!(window.query_all_by_label_contains("•••").next().is_some());
}

#[test]
fn escape_cancels_a_question_and_the_call_ends() {
    let mut window = open("autoreply");
    perform(&mut window, CallAction::SelectTool("login".into()));
    perform(&mut window, CallAction::Call { send_anyway: false });
    until(&mut window, "the question", |window| {
        !window
            .state()
            .state
            .session()
            .server_requests
            .open
            .is_empty()
    });
    window.step();
    window.key_press(egui::Key::Escape);
    until(&mut window, "the answer", |window| {
        window.state().state.captures.len() == 1
    });
    let state = &window.state().state;
    assert!(
        String::from_utf8_lossy(state.captures[0].response.as_deref().unwrap())
            .contains("Login cancelled")
    );
    assert!(state.session().server_requests.open.is_empty());
}

#[test]
fn a_resource_and_a_prompt_open_in_the_panes() {
    let mut window = open("autoreply");
    window
        .get_by_role_and_label(egui::accesskit::Role::Tab, "Resources")
        .click();
    until(&mut window, "the lists", |window| {
        window.state().state.session().library.entries.is_some()
    });
    assert_eq!(window.state().state.view.sidebar, SidebarTab::Resources);
    let entries = window
        .state()
        .state
        .session()
        .library
        .entries
        .clone()
        .unwrap();
    let at = |wanted: fn(&LibraryEntry) -> bool| entries.iter().position(wanted).unwrap();
    perform(
        &mut window,
        Action::Library(LibraryAction::Select(at(|entry| {
            matches!(entry, LibraryEntry::Resource(_))
        }))),
    );
    window.step();
    window.get_by_label("Read").click();
    until(&mut window, "the resource", |window| {
        window.state().state.captures.len() == 1
    });
    let state = &window.state().state;
    assert_eq!(
        (state.captures[0].outcome, state.view.screen),
        (Outcome::Result, Screen::Answer)
    );
    assert_eq!(state.captures[0].tool.name, "resources/read");
    // A template is completed by the server and filled in.
    perform(&mut window, ViewAction::ShowTab(SidebarTab::Resources));
    let template = at(|entry| matches!(entry, LibraryEntry::Template(_)));
    perform(
        &mut window,
        Action::Library(LibraryAction::Select(template)),
    );
    let (name, ..) = entries[template].places().remove(0);
    perform(
        &mut window,
        Action::Library(LibraryAction::Set {
            name: name.clone(),
            value: "a".into(),
        }),
    );
    until(&mut window, "suggestions", |window| {
        window
            .state()
            .state
            .session()
            .library
            .suggestions
            .as_ref()
            .is_some_and(|(_, values)| !values.is_empty())
    });
    let value = window
        .state()
        .state
        .session()
        .library
        .suggestions
        .as_ref()
        .unwrap()
        .1[0]
        .clone();
    perform(
        &mut window,
        Action::Library(LibraryAction::Set { name, value }),
    );
    window.step();
    window.get_by_label("Read").click();
    until(&mut window, "the filled in template", |window| {
        window.state().state.captures.len() == 2
    });
    assert_eq!(window.state().state.captures[1].outcome, Outcome::Result);
}

#[test]
fn a_picture_is_shown_on_a_click_and_saved() {
    let mut window = open("autoreply");
    perform(
        &mut window,
        Action::Media(MediaAction::Read("sample://logo.png".into())),
    );
    until(&mut window, "the picture's controls", |window| {
        window.query_by_label("Show picture content[0]").is_some()
    });
    let drawn = |window: &Window| window.query_by_label("content[0], 16 × 16 px").is_some();
    assert!(!drawn(&window), "decoded before anybody asked");
    window.get_by_label("Show picture content[0]").click();
    until(&mut window, "the picture", drawn);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("logo.png");
    perform(
        &mut window,
        Action::Media(MediaAction::Save {
            block: 0,
            path: Some(path.clone()),
        }),
    );
    until(&mut window, "the file", |_| path.exists());
    assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG\r\n"));
    window.step();
    window.get_by_label("Hide picture content[0]").click();
    window.step();
    window.step();
    assert!(!drawn(&window));
}

#[test]
fn a_link_is_read_through_its_session_or_says_why_not() {
    let program = env!("CARGO_BIN_EXE_mcp-loupe").to_owned();
    let mut window = open_on(Source::Command(Command {
        program,
        args: vec!["sample-server".into(), "--probe".into()],
        ..Command::default()
    }));
    perform(&mut window, CallAction::SelectTool("probe_link".into()));
    perform(&mut window, CallAction::Call { send_anyway: false });
    const READ: &str = "Read probe://link/LoupeProbe09b";
    until(&mut window, "the link", |window| {
        window.query_by_label(READ).is_some()
    });
    let answer = window.state().state.view.capture.clone().unwrap();
    window.get_by_label(READ).click();
    until(&mut window, "an answer of its own", |window| {
        window.state().state.captures.len() == 2
    });
    assert_eq!(window.state().state.captures[1].tool.name, "resources/read");
    until(&mut window, "its end", |window| {
        window.state().state.running.is_none()
    });
    perform(&mut window, ConnectAction::Disconnect);
    until(&mut window, "the end of the session", |window| {
        !window.state().state.session().connection.is_connected()
    });
    perform(&mut window, ViewAction::SelectCapture(answer));
    until(&mut window, "the reason", |window| {
        window
            .query_all_by_label_contains("Session ended")
            .next()
            .is_some()
    });
}
