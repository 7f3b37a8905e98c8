//! The palette against the lists that its entries come from: what is added to one of them cannot be forgotten here.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use super::commands::{COMMANDS, PALETTE_NAME};
use super::{Cx, palette, theme, window};
use crate::state::{
    Action, CallAction, ConnectAction, Dialog, DrawerTab, Event, ImportAction, Screen,
    ServersAction, SessionUpdate, SidebarTab, State, ViewAction,
};
use loupe_analysis::fixture::export::{EXPORTS, ExportForm};
use loupe_core::capture::{Capture, CaptureId, Outcome, Server, Tool};
use loupe_core::format::FORMATS;
use loupe_core::source::{Command, Http, Login, Recent, Source};

/// Paints a state that never changes, and keeps what the palette and a click would send.
struct Window {
    state: State,
    sent: Vec<Action>,
    palette: Vec<(String, String, Vec<Action>)>,
}

impl eframe::App for Window {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let cx = Cx::new(&self.state);
        window(ui, &cx);
        if self.palette.is_empty() {
            self.palette = palette::list_entries(ui, &cx);
        }
        self.sent.extend(
            cx.into_actions()
                .into_iter()
                .filter(|action| !matches!(action, Action::Want(_))),
        );
    }
}

fn opened(state: State) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size([1_600.0, 1_000.0])
        .build_eframe(|cc| {
            theme::install(&cc.egui_ctx);
            Window {
                state,
                sent: Vec::new(),
                palette: Vec::new(),
            }
        });
    harness.run_ok();
    harness
}

/// Connected to a server that things are remembered of, with three tools and two results of two of them.
fn state() -> State {
    let mut state = State::default();
    let recent = ["one", "two", "three"].map(|program| {
        Recent::new(
            &Source::Command(Command {
                program: program.into(),
                ..Command::default()
            }),
            None,
        )
        .unwrap()
    });
    state.importing.recent = recent.into();
    state.perform(ServersAction::StartIn("/projects".into()), &mut Vec::new());
    let login = Some(Login::default());
    let source = Source::Http(Http {
        url: "https://example.org/mcp".into(),
        login,
        ..Http::default()
    });
    state.perform(ConnectAction::Connect(Box::new(source)), &mut Vec::new());
    let session = state.session().id;
    let tool = |name: &str| {
        let schema = r#"{"type":"object","properties":{"format":{"enum":["json","markdown"]}}}"#;
        Tool::read(Bytes::from(format!(
            r#"{{"name":"{name}","inputSchema":{schema},"annotations":{{"readOnlyHint":true}}}}"#
        )))
    };
    let reached = state
        .session()
        .connection
        .source()
        .map(ToString::to_string)
        .unwrap_or_default();
    let server = Server {
        protocol_version: "2025-11-25".into(),
        source: reached,
        ..Server::default()
    };
    let tools = vec![tool("search"), tool("read"), tool("never_called")];
    for update in [
        SessionUpdate::Connected(server.clone()),
        SessionUpdate::Tools { tools, note: None },
    ] {
        state.apply(Event::Session { session, update }, &mut Vec::new());
    }
    let called: Vec<_> = state.session().tools[..2]
        .iter()
        .map(|listed| Arc::clone(&listed.tool))
        .collect();
    for (at, tool) in called.iter().chain(&called).enumerate() {
        state.captures.push(Arc::new(Capture {
            tool: Tool::clone(tool),
            outcome: Outcome::Result,
            arguments: Bytes::from_static(b"{}"),
            request: Bytes::from_static(b"{}"),
            response: Some(Bytes::from_static(
                br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
            )),
            ..Capture::empty(CaptureId(format!("capture {at}").into()), server.clone())
        }));
    }
    state.history.folder = Some("/data".into());
    state.view.capture = state.captures.last().map(|capture| capture.id.clone());
    state.perform(CallAction::SelectTool("read".into()), &mut Vec::new());
    state.view.screen = Screen::Answer;
    state
}

fn names(window: &Window) -> BTreeSet<&str> {
    window
        .palette
        .iter()
        .map(|(name, ..)| name.as_str())
        .collect()
}

fn sends(window: &Window, action: &Action) -> bool {
    window
        .palette
        .iter()
        .any(|(.., sent)| sent.contains(action))
}

#[test]
fn every_tool_capture_server_format_and_export_is_an_entry() {
    let harness = opened(state());
    let window = harness.state();
    let names = names(window);
    for listed in &window.state.session().tools {
        assert!(
            names.contains(listed.tool.name.as_str()),
            "{}",
            listed.tool.name
        );
    }
    for capture in &window.state.captures {
        let action = Action::from(ViewAction::SelectCapture(capture.id.clone()));
        assert!(sends(window, &action), "{:?}", capture.id);
    }
    for at in 0..window.state.importing.recent.len() {
        let action = Action::Import(ImportAction::ConnectRecent(at));
        assert!(sends(window, &action), "the server at {at}");
    }
    for format in FORMATS {
        assert!(names.contains(format.title()), "{}", format.title());
    }
    for export in EXPORTS
        .iter()
        .filter(|export| !matches!(export.form, ExportForm::Folder))
    {
        assert!(
            names
                .iter()
                .any(|name| name.ends_with(&format!(": {}", export.title))),
            "{}",
            export.title
        );
    }
    for host in window.state.hosts.iter() {
        assert!(
            names
                .iter()
                .any(|name| name.ends_with(&format!(": {}", host.name))),
            "{}",
            host.name
        );
    }
}

#[test]
fn every_command_is_an_entry_that_says_its_keys() {
    let harness = opened(state());
    let listed = &harness.state().palette;
    for command in COMMANDS
        .iter()
        .filter(|command| command.name != PALETTE_NAME)
    {
        assert!(
            listed
                .iter()
                .any(|(name, keys, _)| *name == command.name && *keys == command.keys()),
            "{}",
            command.name
        );
    }
}

#[test]
fn every_item_of_the_servers_menu_and_of_the_calls_is_an_entry() {
    // Each is clicked in a window of its own: what it sends, an entry sends.
    for menu in ["Server example.org", "Export", "More"] {
        let find = |harness: &Harness<'_, Window>| {
            let buttons = harness.query_all_by_role(Role::Button);
            buttons
                .filter(|node| {
                    node.accesskit_node()
                        .label()
                        .is_some_and(|label| label.starts_with(menu))
                })
                .count()
        };
        let open = || {
            let mut harness = opened(state());
            assert!(find(&harness) > 0, "{menu}");
            harness
                .query_all_by_role(Role::Button)
                .find(|node| {
                    node.accesskit_node()
                        .label()
                        .is_some_and(|label| label.starts_with(menu))
                })
                .unwrap()
                .click();
            harness.run_ok();
            harness
        };
        let items: Vec<String> = open()
            .query_all_by_role(Role::MenuItem)
            .filter(|node| !node.accesskit_node().is_disabled())
            .filter_map(|node| node.accesskit_node().label())
            .collect();
        assert!(!items.is_empty(), "{menu}");
        for item in items {
            let mut harness = open();
            harness.state_mut().sent.clear();
            harness
                .query_all_by_role(Role::MenuItem)
                .find(|node| node.accesskit_node().label() == Some(item.clone()))
                .unwrap()
                .click();
            harness.run_ok();
            let window = harness.state();
            let to_palette =
                |action: &&Action| matches!(action, Action::ShowDialog(Dialog::Palette { .. }));
            for action in window.sent.iter().filter(|action| !to_palette(action)) {
                assert!(sends(window, action), "{menu}: {item} sends {action:?}");
            }
        }
    }
}

#[test]
fn every_screen_and_tab_is_one_choice_away() {
    fn next(screen: Screen) -> Option<Screen> {
        Some(match screen {
            Screen::Start => Screen::Tool,
            Screen::Tool => Screen::Connect,
            Screen::Connect => Screen::Doctor,
            Screen::Doctor => Screen::Answer,
            Screen::Answer => Screen::Server,
            Screen::Server => Screen::Diff,
            Screen::Diff => Screen::ServerDiff,
            Screen::ServerDiff => Screen::Hosts,
            Screen::Hosts => Screen::Compare,
            Screen::Compare => Screen::Wire,
            Screen::Wire => Screen::Library,
            Screen::Library => Screen::Live,
            Screen::Live => Screen::Verify,
            Screen::Verify => Screen::Settings,
            Screen::Settings => return None,
        })
    }
    let harness = opened(state());
    let mut reached = Vec::new();
    let mut tabs = Vec::new();
    for action in harness.state().palette.iter().flat_map(|(.., sent)| sent) {
        if let Action::View(ViewAction::ShowDrawer(tab)) = action {
            tabs.push(*tab);
        }
        let mut state = state();
        state.perform(action.clone(), &mut Vec::new());
        reached.push((state.view.screen, state.view.sidebar));
    }
    let mut screen = Some(Screen::Start);
    while let Some(wanted) = screen {
        // The tools of another server are listed before they are compared, which begins where one connects; resources are
        // chosen in the sidebar.
        let is_next = matches!(wanted, Screen::ServerDiff | Screen::Library);
        let is_there = is_next || reached.iter().any(|(screen, _)| *screen == wanted);
        assert!(is_there, "{wanted:?}");
        screen = next(wanted);
    }
    for tab in [
        DrawerTab::Cost,
        DrawerTab::Hosts,
        DrawerTab::Tokens,
        DrawerTab::Findings,
    ] {
        assert!(tabs.contains(&tab), "{tab:?}");
    }
    for tab in [SidebarTab::Tools, SidebarTab::Resources] {
        assert!(reached.iter().any(|(_, shown)| *shown == tab), "{tab:?}");
    }
}
