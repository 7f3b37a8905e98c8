//! The whole program but the window: the app with its engine and the real sample, used as a person uses it, through the
//! accessibility tree alone.

mod comparing;
mod copying;
mod dead_ends;
mod dialogs;
mod exact;
mod findings;
mod fixtures;
mod hosts;
mod identity;
mod lanes;
mod painted;
mod panes;
mod questions;
mod settings;
mod sizes;

use crate::live::{Window, open_sized, until};
use crate::peer::oauth::{Modes, OAuthPeer};
use crate::visit::Visit;
use egui::{Event, Key, Modifiers, OutputCommand};
use egui_kittest::kittest::Queryable;
use loupe_core::host::Hosts;
use loupe_core::source::{Command, Http, Protocol, Source};
use mcp_loupe::state::{Action, CallAction, ConnectAction, Connection, Dialog};

fn open_with(source: Option<Source>) -> Window {
    open_sized(source, [1_280.0, 800.0])
}

#[track_caller]
fn until_label(window: &mut Window, label: &str) {
    until(window, label, |window| {
        window.query_all_by_label_contains(label).next().is_some()
    });
}

#[track_caller]
fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    window.step();
}

fn press(window: &mut Window, key: Key, modifiers: Modifiers) {
    window.event(Event::ModifiersChanged(modifiers));
    window.event(Event::Key {
        key,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers,
    });
    window.step();
    window.event(Event::ModifiersChanged(Modifiers::NONE));
    window.step();
}

/// Does what a person does, with all that follows from it.
fn perform(window: &mut Window, action: impl Into<Action>) {
    let ctx = window.ctx.clone();
    window.state_mut().perform(&ctx, vec![action.into()]);
}

fn on_sample() -> Window {
    on_sample_at([1_280.0, 800.0])
}

fn on_sample_at(size: [f32; 2]) -> Window {
    let mut window = open_sized(None, size);
    until_label(&mut window, "What do you want to know?");
    until(&mut window, "definitions are counted", |window| {
        window.state().state.tools_total().is_some()
    });
    window.step();
    window
}

fn shell(script: &str) -> Source {
    // Scripts that know the handshake alone.
    let protocol = Protocol::Version("2025-11-25");
    Source::Command(Command {
        program: "sh".into(),
        args: vec!["-c".into(), script.into()],
        protocol,
        ..Command::default()
    })
}

#[test]
fn a_dialog_with_a_field_is_typed_into_at_once() {
    let mut window = on_sample();
    let dialog = Dialog::KeepArguments {
        name: String::new(),
    };
    window
        .state_mut()
        .state
        .perform(Action::ShowDialog(dialog), &mut Vec::new());
    until_label(&mut window, "Name of the arguments");
    window.step();
    window.event(Event::Text("evening".into()));
    let is_typed = |window: &Window| {
        window.state().state.dialog
            == Some(Dialog::KeepArguments {
                name: "evening".into(),
            })
    };
    until(&mut window, "it is typed", is_typed);
}

#[test]
fn tools_are_filtered_and_arguments_typed() {
    let mut window = on_sample();
    let before = window
        .query_all_by_label_contains("read-only declared")
        .count();
    assert!(before > 2);
    press(&mut window, Key::Slash, Modifiers::NONE);
    assert!(window.get_by_label("Filter tools").is_focused());
    window.event(Event::Text("dial_get".into()));
    window.step();
    until(&mut window, "the others are gone", |window| {
        window
            .query_all_by_label_contains("strict_search_tickets")
            .next()
            .is_none()
            && window
                .query_all_by_label_contains("dial_get_user_by_id")
                .next()
                .is_some()
    });
    window
        .get_by_label_contains("dial_get_user_by_id, ")
        .click();
    until(&mut window, "it is selected", |window| {
        window.state().state.session().selected_tool.as_deref() == Some("dial_get_user_by_id")
    });
    window.step();
    window
        .get_by_role_and_label(egui::accesskit::Role::TextInput, "user_id")
        .focus();
    window.step();
    window.event(Event::Text("7".into()));
    window.step();
    until(&mut window, "it is typed", |window| {
        window
            .state()
            .state
            .form()
            .is_some_and(|form| &*form.text == r#"{"user_id":7}"#)
    });
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until_label(&mut window, "User ID: 7");
}

#[test]
fn what_breaks_the_schema_is_said_and_sent_only_on_demand() {
    let mut window = on_sample();
    perform(
        &mut window,
        CallAction::SetArgumentsText(r#"{"pageSize":9999}"#.into()),
    );
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    assert!(window.state().state.running.is_none() && window.state().state.capture().is_none());
    click(&mut window, "Send anyway");
    until_label(&mut window, "strict_search_companies failed, isError");
}

#[test]
fn the_theme_is_switched_and_a_pane_copied() {
    let mut window = on_sample();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    until(&mut window, "the panes are filled", |window| {
        window.state().state.query_results.working() == 0
    });
    let before = window.state().state.settings.theme;
    press(&mut window, Key::T, Modifiers::COMMAND | Modifiers::SHIFT);
    assert_ne!(window.state().state.settings.theme, before);
    let text = window
        .state()
        .state
        .capture()
        .and_then(|capture| loupe_core::capture::ParsedResponse::new(capture).content_text());
    window.event(Event::Key {
        key: Key::C,
        physical_key: None,
        pressed: true,
        repeat: false,
        modifiers: Modifiers::COMMAND | Modifiers::SHIFT,
    });
    let mut copied = None;
    for _ in 0..4 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let OutputCommand::CopyText(text) = command {
                copied = Some(text.clone());
            }
        }
    }
    assert_eq!(copied, text, "the exact text, not what is drawn");
}

#[test]
fn a_call_is_cancelled() {
    // Answers the handshake and the list, then nothing for ever.
    let script = r#"answer() { printf '%s' "$1" | sed "s/\"id\":0/$(printf '%s' "$2" | grep -o '"id":[^,}]*' | head -n 1)/"; echo; }
read a; answer '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"silent","version":"1"}}}' "$a"
read b; read c; answer '{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}}' "$c"
cat > /dev/null"#;
    let mut window = open_with(Some(shell(script)));
    until(&mut window, "it is connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "it runs", |window| {
        window.state().state.running.is_some()
    });
    until_label(&mut window, "Cancel");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until(&mut window, "it is cancelled", |window| {
        window.state().state.running.is_none()
    });
    until_label(&mut window, "ancelled");
    assert!(
        window.state().state.session().connection.is_connected(),
        "the session goes on"
    );
}

#[test]
fn a_server_that_dies_is_said_with_its_last_words() {
    let mut window = open_with(Some(shell("echo 'cannot find the database' >&2; exit 3")));
    until(&mut window, "it failed", |window| {
        matches!(
            window.state().state.session().connection,
            Connection::Failed { .. }
        )
    });
    until_label(&mut window, "cannot find the database");
    until_label(&mut window, "Try again");
}

fn called(size: [f32; 2], tool: &str) -> Window {
    let mut window = open_sized(None, size);
    until(&mut window, "it is connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    window.step();
    perform(&mut window, CallAction::SelectTool(tool.into()));
    window.step();
    press(&mut window, Key::Enter, Modifiers::COMMAND);
    until(&mut window, "the answer is there", |window| {
        window.state().state.capture().is_some()
    });
    until_label(&mut window, "Text, what ");
    window
}

fn copied(window: &Window) -> Vec<String> {
    let commands = &window.output().platform_output.commands;
    commands
        .iter()
        .filter_map(|command| {
            if let OutputCommand::CopyText(text) = command {
                Some(text.clone())
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn the_whole_server_opens_from_the_sum_of_its_definitions() {
    let mut window = on_sample();
    let sum = window
        .query_all_by_label_contains("definitions ·")
        .next()
        .unwrap_or_else(|| panic!("no sum"));
    sum.click();
    window.step();
    until_label(&mut window, "before the first call");
    click(&mut window, "Sort by Tool, not sorted by");
    until_label(&mut window, "Sort by Tool, sorted");
    press(&mut window, Key::Escape, Modifiers::NONE);
    until_label(&mut window, "What do you want to know?");
}

#[test]
fn the_sample_is_chosen_on_the_connect_screen() {
    let mut window = on_sample();
    window
        .get_all_by_label("Use my server…")
        .next()
        .unwrap_or_else(|| panic!("no way to the connect screen"))
        .click();
    window.step();
    until_label(&mut window, "Connect to an MCP server");
    click(&mut window, "Options of the sample");
    until_label(&mut window, "Sample set Code blocks");
    let set = window
        .query_all_by_label_contains("Sample set Code blocks")
        .next()
        .unwrap_or_else(|| panic!("no such set"));
    set.click_accesskit();
    until_label(&mut window, "shape: blocks (default)");
    for label in ["shape: blocks (default)", "json-model"] {
        until_label(&mut window, label);
        window.get_by_label(label).click_accesskit();
        window.step();
    }
    until_label(&mut window, "mcp-loupe --sample=dial,shape=json-model");
    click(&mut window, "Start sample server");
    until(
        &mut window,
        "the set is connected",
        |window| matches!(&window.state().state.session().connection, Connection::Connected { source, .. } if source.to_string() == "--sample=dial,shape=json-model"),
    );
}

#[test]
fn a_server_that_wants_a_login_gets_one_after_the_address_was_shown() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let peer = runtime.block_on(OAuthPeer::start(Modes::default()));
    let mut window = open_with(Some(Source::Http(Http {
        url: peer.url(),
        ..Http::default()
    })));
    until_label(&mut window, "This server requires a login");
    click(&mut window, "Log in");
    until_label(&mut window, "Log in with your browser");
    until_label(&mut window, "Login, step by step");
    window.get_by_label("Open in the browser").click();
    window.step();
    let (url, ..) = window
        .state()
        .state
        .session()
        .login
        .open
        .clone()
        .unwrap_or_else(|| panic!("no address"));
    assert!(window.state().state.session().login.is_opened);
    runtime.block_on(async { Visit::new().go(url) });
    until(&mut window, "it is connected", |window| {
        !window.state().state.session().tools.is_empty()
    });
    let log = window.state().state.session().login.lines.join("\n");
    assert!(
        log.contains("logged in with the scopes read") && !log.contains("canary-"),
        "{log}"
    );
}

#[test]
fn what_is_pasted_becomes_the_form() {
    let mut window = on_sample();
    window
        .state_mut()
        .state
        .perform(ConnectAction::Show, &mut Vec::new());
    until_label(&mut window, "Connect to an MCP server");
    let field = window.get_by_label("Paste anything that names a server");
    assert!(field.is_focused(), "typing goes into the field at once");
    field.type_text("KEY=s3cret npx -y my-server --port 1");
    until_label(&mut window, "Understood: a command line");
    click(&mut window, "Edit");
    until_label(&mut window, "$ npx -y my-server --port 1");
    until_label(&mut window, "Runs on your computer, as you");
    until_label(&mut window, "Working folder");
    assert!(
        window
            .query_all_by_label_contains("s3cret")
            .next()
            .is_none()
    );
}

/// What is never cut: losses, gains, units, roles. Names may be, with the whole on hover.
const WHOLE: &[&str] = &[
    " tok",
    "facts missing",
    "drops",
    "is lost",
    "lose facts",
    "differ",
    "needed",
    "plain choice",
    "if you changed",
    "cheapest",
    "same data",
    "proved",
    "baseline",
    "sent twice",
    "waiting",
    "Cancel",
];

#[test]
fn the_server_is_copied_as_the_configuration_of_a_client() {
    let mut window = on_sample();
    window.get_by_label_contains("Server Sample").click();
    until_label(&mut window, "Copy as configuration for…");
    window.get_by_label("Copy as configuration for…").click();
    until_label(&mut window, "Copy as configuration for Gemini CLI");
    window
        .get_by_label_contains("Copy as configuration for Gemini CLI")
        .click();
    until(&mut window, "the configuration is copied", |window| {
        !copied(window).is_empty()
    });
    let text = copied(&window).concat();
    let import = loupe_core::source::import::read("settings.json", &text).unwrap();
    assert_eq!(
        import.server(None).unwrap().to_string(),
        "-- mcp-loupe sample-server --set all",
        "{text}"
    );
}
