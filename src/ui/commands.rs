//! What the keyboard and the palette do: one table of commands, read by the keys, the palette and the list of shortcuts.
//!
//! A bare key works only while no text field has the focus. Longer chords are consumed first, because egui ignores
//! extra Shift when it compares. Esc leaves the innermost thing that is open.

use egui::{Key, KeyboardShortcut, Modifiers, Popup, Ui};

use super::drawer_opening;
use super::region::next_region;
use super::shortcuts::{BARE, CTRL, CTRL_SHIFT, keys};
use super::{
    Cx, call_bar, compare, drawer, fixture, live, panes, result_strip, server_requests, servers,
    settings, shortcuts, sidebar, sizes, undo, watch,
};
use crate::state::diff::DiffAction;
use crate::state::server_diff::ServerDiffAction;
use crate::state::wire::WireAction;
use crate::state::{
    Action, CallAction, ConnectAction, Connection, Dialog, DrawerTab, ExportAction, FixtureAction,
    HostsAction, HostsTab, ImportAction, LoginAction, Screen, SettingsAction, SidebarTab,
    TokensAction, ViewAction,
};
use loupe_analysis::fixture::export::ExportChoice;
use loupe_core::source::{Protocol, Source};

/// One thing that a key or the palette does.
pub struct UiCommand {
    /// As the palette and the list of shortcuts name it.
    pub name: &'static str,
    /// None where the palette alone does it: a screen or dialog that is not opened often.
    pub shortcut: Option<KeyboardShortcut>,
    run: fn(&Ui, &Cx<'_>) -> Option<Action>,
}

impl UiCommand {
    const fn new(
        shortcut: KeyboardShortcut,
        name: &'static str,
        run: fn(&Ui, &Cx<'_>) -> Option<Action>,
    ) -> Self {
        Self {
            name,
            shortcut: Some(shortcut),
            run,
        }
    }

    const fn without_keys(name: &'static str, run: fn(&Ui, &Cx<'_>) -> Option<Action>) -> Self {
        Self {
            name,
            shortcut: None,
            run,
        }
    }

    /// Does it: what follows for the state, if anything.
    pub fn run(&self, ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
        (self.run)(ui, cx)
    }

    /// The keys in words: `Ctrl Shift M`. Empty where there are none.
    pub fn keys(&self) -> String {
        self.shortcut
            .as_ref()
            .map(shortcuts::text)
            .unwrap_or_default()
    }
}

/// The palette, as its box, the shortcuts and the accessibility tree name it.
pub const PALETTE_NAME: &str = "Search tools, captures, commands";

/// Every command. Chords with Shift stand before the same key without it.
pub const COMMANDS: &[UiCommand] = &[
    UiCommand::new(
        keys(CTRL_SHIFT, Key::Enter),
        "Compare the tool's formats",
        |_, cx| compare::by_key(cx),
    ),
    UiCommand::new(
        keys(CTRL, Key::Enter),
        "Call the tool, or connect",
        |_, cx| call_or_connect(cx),
    ),
    UiCommand::new(keys(BARE, Key::Escape), "Cancel, close or go back", escape),
    UiCommand::new(shortcuts::PALETTE, PALETTE_NAME, |_, cx| {
        let is_open = matches!(cx.state.dialog, Some(Dialog::Palette { .. }));
        Some(if is_open {
            Action::CloseDialog
        } else {
            open_palette()
        })
    }),
    UiCommand::new(
        keys(BARE, Key::Slash),
        "Filter tools",
        sidebar::focus_filter,
    ),
    UiCommand::new(keys(CTRL, Key::F), "Find in all panes", |_, cx| {
        has_answer(cx).then(|| {
            ViewAction::SetSearch(Some(cx.state.view.search.clone().unwrap_or_default())).into()
        })
    }),
    UiCommand::new(
        keys(Modifiers::ALT, Key::Num1),
        "Open the answer as sent",
        |ui, cx| open_cell(ui, cx, 0),
    ),
    UiCommand::new(
        keys(Modifiers::ALT, Key::Num2),
        "Open the second format of the answer",
        |ui, cx| open_cell(ui, cx, 1),
    ),
    UiCommand::new(
        keys(Modifiers::ALT, Key::Num3),
        "Open the third format of the answer",
        |ui, cx| open_cell(ui, cx, 2),
    ),
    UiCommand::new(keys(BARE, Key::W), "Explain the saving", |ui, cx| {
        if has_answer(cx) {
            result_strip::why(ui, cx);
        } else if has_comparison(cx) {
            compare::why(ui, cx);
        }
        None
    }),
    UiCommand::new(
        keys(Modifiers::SHIFT, Key::V),
        "Copy as picture",
        |_, cx| has_answer(cx).then(result_strip::copy_picture),
    ),
    UiCommand::new(shortcuts::COPY_VERDICT, "Copy the summary", |_, cx| {
        (has_answer(cx) || has_comparison(cx) || cx.state.view.screen == Screen::Hosts)
            .then_some(Action::CopySummary)
    }),
    UiCommand::new(keys(CTRL, Key::Num1), "First pane", |_, cx| {
        focus_pane(cx, 0)
    }),
    UiCommand::new(keys(CTRL, Key::Num2), "Second pane", |_, cx| {
        focus_pane(cx, 1)
    }),
    UiCommand::new(keys(CTRL, Key::Num3), "Third pane", |_, cx| {
        focus_pane(cx, 2)
    }),
    UiCommand::new(keys(CTRL, Key::Num4), "Token cost", |ui, cx| {
        drawer_opening::show_tab(ui, cx, DrawerTab::Cost)
    }),
    UiCommand::new(keys(CTRL, Key::Num5), "Hosts", |ui, cx| {
        drawer_opening::show_tab(ui, cx, DrawerTab::Hosts)
    }),
    UiCommand::new(keys(CTRL, Key::Num6), "Where tokens go", |ui, cx| {
        drawer_opening::show_tab(ui, cx, DrawerTab::Tokens)
    }),
    UiCommand::new(keys(CTRL, Key::Num7), "Inspect", |_, cx| {
        (cx.state.view.screen == Screen::Live).then_some(ViewAction::ShowAnswer.into())
    }),
    UiCommand::new(keys(CTRL, Key::Num8), "Live: recorded sessions", |_, cx| {
        live::show(cx)
    }),
    UiCommand::new(keys(CTRL, Key::B), "Show or hide the sidebar", |_, _| {
        Some(SettingsAction::ToggleSidebar.into())
    }),
    UiCommand::new(
        keys(CTRL, Key::J),
        "Show or hide the drawer",
        drawer::toggle,
    ),
    UiCommand::new(shortcuts::EQUAL_CALLS, compare::EQUAL, |_, cx| {
        compare::equal_by_key(cx)
    }),
    UiCommand::new(shortcuts::RECONNECT, "Reconnect", |_, cx| {
        cx.state
            .session()
            .connection
            .source()
            .is_some()
            .then_some(ConnectAction::Reconnect.into())
    }),
    UiCommand::new(
        shortcuts::EXPORT_FOLDER,
        "Export the capture folder",
        |_, cx| {
            cx.state
                .capture()
                .map(|_| Action::ExportAs(ExportAction::save(ExportChoice::FOLDER)))
        },
    ),
    UiCommand::new(
        shortcuts::SAVE_FIXTURE,
        "Save the answer as a fixture",
        |_, cx| {
            cx.state
                .capture()
                .map(|_| Action::Fixture(FixtureAction::Show { then: None }))
        },
    ),
    UiCommand::without_keys(fixture::SAVE_RUN, |_, cx| {
        let mut captures = cx.state.captures.iter();
        captures
            .any(|capture| cx.state.is_call_of_run(capture))
            .then_some(Action::Fixture(FixtureAction::ShowRun))
    }),
    UiCommand::new(keys(CTRL_SHIFT, Key::F), "Verify fixtures", |_, _| {
        Some(Action::Fixture(FixtureAction::ShowVerify))
    }),
    UiCommand::new(keys(CTRL_SHIFT, Key::C), "Copy the whole pane", |_, cx| {
        copy_pane(cx)
    }),
    UiCommand::new(
        keys(CTRL_SHIFT, Key::M),
        "Maximise or restore the pane",
        |_, cx| has_answer(cx).then_some(ViewAction::ToggleMaximised(cx.state.view.focus).into()),
    ),
    UiCommand::new(keys(CTRL, Key::W), "Close the pane", |_, cx| {
        let view = &cx.state.view;
        (has_answer(cx) && view.open.get(view.focus) == Some(&true))
            .then_some(ViewAction::TogglePane(view.focus).into())
    }),
    UiCommand::new(
        shortcuts::START_SAMPLE,
        "Start the sample server",
        |_, cx| {
            let is_choosing =
                cx.state.view.screen == Screen::Connect && cx.state.server_diff.is_choosing;
            let source = Source::sample();
            Some(if is_choosing {
                Action::ServerDiff(ServerDiffAction::List(Box::new(source)))
            } else {
                ConnectAction::Connect(Box::new(source)).into()
            })
        },
    ),
    UiCommand::new(shortcuts::THEME, "Theme: system, dark, light", |_, cx| {
        Some(SettingsAction::SetTheme(cx.state.settings.theme.next()).into())
    }),
    UiCommand::new(shortcuts::PROTOCOL_LOG, "Protocol log", |_, cx| {
        Some(if cx.state.view.screen == Screen::Wire {
            ViewAction::ShowAnswer.into()
        } else {
            Action::Wire(WireAction::Show)
        })
    }),
    UiCommand::new(shortcuts::CONNECT_OTHER, servers::CONNECT, |_, cx| {
        let first = servers::others(cx)
            .first()
            .map(|(at, _)| Action::Import(ImportAction::ConnectRecent(*at)));
        Some(first.unwrap_or(ConnectAction::Show.into()))
    }),
    UiCommand::new(keys(BARE, Key::F1), "Shortcuts", |_, cx| {
        Some(if cx.state.dialog == Some(Dialog::Shortcuts) {
            Action::CloseDialog
        } else {
            Action::ShowDialog(Dialog::Shortcuts)
        })
    }),
    UiCommand::new(keys(BARE, Key::F6), "Next region", |ui, _| {
        next_region(ui);
        None
    }),
    UiCommand::new(
        shortcuts::COMPARE_BEFORE,
        "Compare with the answer before",
        |_, cx| {
            cx.state
                .capture()
                .map(|_| Action::Diff(DiffAction::OpenLast))
        },
    ),
    UiCommand::new(
        keys(Modifiers::SHIFT, Key::F8),
        "Previous finding, difference or cut",
        |ui, cx| step(ui, cx, false),
    ),
    UiCommand::new(
        keys(BARE, Key::F8),
        "Next finding, difference or cut",
        |ui, cx| step(ui, cx, true),
    ),
    UiCommand::new(shortcuts::UNDO, undo::NAME, |ui, cx| {
        cx.state.undo.as_ref().map(|_| undo::run(ui))
    }),
    UiCommand::without_keys("Findings", |ui, cx| {
        drawer_opening::show_tab(ui, cx, DrawerTab::Findings)
    }),
    UiCommand::without_keys("Show or hide where tokens begin", |_, cx| {
        has_answer(cx).then_some(ViewAction::ToggleTokenBounds.into())
    }),
    UiCommand::without_keys("Clear the arguments", |_, cx| {
        let has_some = cx.state.form().is_some_and(|form| *form.text != *"{}");
        has_some.then_some(CallAction::ClearArguments.into())
    }),
    UiCommand::without_keys("Reset the layout", |ui, _| {
        sizes::forget(ui);
        Some(SettingsAction::ResetLayout.into())
    }),
    UiCommand::without_keys("Use my server…", |_, _| Some(ConnectAction::Show.into())),
    UiCommand::without_keys("Open file…", |_, _| Some(Action::OpenPath(None))),
    UiCommand::without_keys("Start page", |_, _| Some(ViewAction::ShowStart.into())),
    UiCommand::without_keys("History…", |_, cx| {
        cx.state
            .history
            .folder
            .as_ref()
            .map(|_| Action::ShowDialog(Dialog::History))
    }),
    UiCommand::without_keys("Resources and prompts", |_, cx| {
        cx.state
            .session()
            .connection
            .is_connected()
            .then_some(ViewAction::ShowTab(SidebarTab::Resources).into())
    }),
    UiCommand::without_keys("Tokens of the whole server", |_, cx| {
        cx.state
            .session()
            .connection
            .is_connected()
            .then_some(Action::Tokens(TokensAction::ShowServer))
    }),
    UiCommand::without_keys("What each host's model sees", |_, cx| {
        cx.state
            .capture()
            .map(|_| Action::Hosts(HostsAction::Show(None)))
    }),
    UiCommand::without_keys("What hosts lose of this server", |_, cx| {
        let has_tools = !cx.state.session().tools.is_empty();
        has_tools.then_some(Action::Hosts(HostsAction::Tab(HostsTab::Server)))
    }),
    UiCommand::new(keys(CTRL, Key::Comma), settings::NAME, |_, _| {
        Some(ViewAction::ShowSettings.into())
    }),
    UiCommand::without_keys(watch::NAME, |_, cx| watch::open(cx)),
    UiCommand::without_keys("Always-allowed tools…", |_, cx| {
        servers::show_allowed_tools(cx)
    }),
    UiCommand::without_keys("Save these arguments…", |_, cx| call_bar::saved::keep(cx)),
    UiCommand::without_keys("Variables of this server…", |_, cx| {
        call_bar::saved::variables(cx)
    }),
    UiCommand::without_keys("Roots…", |_, cx| Some(server_requests::roots_dialog(cx))),
    UiCommand::without_keys("Forget the login", |_, cx| forget_login(cx)),
    UiCommand::without_keys("Check this server", |_, cx| {
        cx.state
            .session()
            .connection
            .source()
            .map(|_| Action::Doctor(crate::state::DoctorAction::Examine))
    }),
    UiCommand::without_keys("Show stderr", |_, cx| {
        cx.state
            .session()
            .connection
            .source()
            .map(|_| Action::ShowDialog(Dialog::Stderr))
    }),
    UiCommand::without_keys("Disconnect", |_, cx| {
        matches!(cx.state.session().connection, Connection::Connected { .. })
            .then_some(ConnectAction::Disconnect.into())
    }),
];

/// Looks at the keys of this frame; called before anything is painted, so that fields do not see what is consumed here.
pub fn follow_keys(ui: &Ui, cx: &Cx<'_>) {
    let in_text = ui.text_edit_focused();
    let dialog = cx.state.dialog.as_ref();
    let in_dialog = dialog.is_some() || !cx.state.session().server_requests.open.is_empty();
    for command in COMMANDS {
        let Some(shortcut) = &command.shortcut else {
            continue;
        };
        let key = shortcut.logical_key;
        // A dialog keeps the keyboard, and closes itself; an open menu closes itself too.
        let toggles =
            key == Key::F1 || (key == Key::K && matches!(dialog, Some(Dialog::Palette { .. })));
        // A field undoes what was typed into it.
        let is_theirs = (in_dialog && !toggles)
            || (key == Key::Z && in_text)
            || (key == Key::Escape && Popup::is_any_open(ui));
        // On the connect screen a slash begins a path, and there are no tools to look for.
        let is_bare = shortcut.modifiers.is_none() && matches!(key, Key::Slash | Key::W | Key::V);
        let is_typing = (in_text || cx.state.view.screen == Screen::Connect) && is_bare;
        if is_theirs || is_typing || !pressed(ui, shortcut) {
            continue;
        }
        if let Some(action) = command.run(ui, cx) {
            cx.send(action);
        }
    }
}

/// Consumes the keys exactly: `Ctrl Shift E` is not `Ctrl E`. The slash is found by its text too, since on many
/// keyboards it is on another key with Shift.
fn pressed(ui: &Ui, shortcut: &KeyboardShortcut) -> bool {
    ui.input_mut(|input| {
        let is_slash = shortcut.logical_key == Key::Slash;
        let before = input.events.len();
        input.events.retain(|event| match event {
            egui::Event::Key {
                key,
                pressed: true,
                modifiers,
                ..
            } => !(*key == shortcut.logical_key && modifiers.matches_exact(shortcut.modifiers)),
            egui::Event::Text(text) => !(is_slash && text == "/"),
            _ => true,
        });
        input.events.len() != before
    })
}

fn has_answer(cx: &Cx<'_>) -> bool {
    cx.state.view.screen == Screen::Answer && cx.state.capture().is_some()
}

fn has_comparison(cx: &Cx<'_>) -> bool {
    cx.state.view.screen == Screen::Compare && cx.state.comparisons.current.is_some()
}

fn step(ui: &Ui, cx: &Cx<'_>, is_next: bool) -> Option<Action> {
    if cx.state.view.screen == Screen::Hosts && super::hosts::tab(cx) == HostsTab::Server {
        super::hosts::next_host(ui, cx, is_next)
    } else if cx.state.view.screen == Screen::Hosts {
        super::hosts::next_cut(ui, cx, is_next)
    } else if has_answer(cx) {
        drawer::findings::step(ui, cx, is_next)
    } else if has_comparison(cx) {
        cx.state.step_difference(is_next)
    } else {
        super::diff::step(cx, is_next)
    }
}

/// What a cell of the strip stands for.
fn open_cell(ui: &Ui, cx: &Cx<'_>, at: usize) -> Option<Action> {
    if has_comparison(cx) {
        compare::open(ui, cx, at)
    } else {
        result_strip::open(cx, at)
    }
}

fn call_or_connect(cx: &Cx<'_>) -> Option<Action> {
    let state = cx.state;
    if state.view.screen == Screen::Connect {
        return (!matches!(state.session().connection, Connection::Connecting { .. }))
            .then_some(ConnectAction::UseForm.into());
    }
    // What is in the way is said by the call itself.
    (state.view.screen.has_call_bar() && state.running.is_none())
        .then_some(CallAction::Call { send_anyway: false }.into())
}

/// Opens the palette, empty.
pub fn open_palette() -> Action {
    Action::ShowDialog(Dialog::Palette {
        text: String::new(),
        chosen: 0,
    })
}

/// Connects anew the way that the server in use was not connected, and what that is called.
pub fn other_protocol(cx: &Cx<'_>) -> Option<(&'static str, Action)> {
    let connection = &cx.state.session().connection;
    let server = connection.server().filter(|_| connection.is_connected())?;
    let (version, words) = if Protocol::is_stateless(&server.protocol_version) {
        ("2025-11-25", "Compare with a handshake (2025-11-25)")
    } else {
        ("2026-07-28", "Compare with protocol 2026-07-28")
    };
    Some((
        words,
        ConnectAction::ReconnectIn(Protocol::Version(version)).into(),
    ))
}

/// Forgets the login of the server in use, where it has one.
pub fn forget_login(cx: &Cx<'_>) -> Option<Action> {
    let Some(Source::Http(http)) = cx.state.session().connection.source() else {
        return None;
    };
    let client_id = http.login.as_ref()?.client_id.clone();
    Some(Action::Login(LoginAction::Forget {
        url: http.url.clone(),
        client_id,
    }))
}

fn focus_pane(cx: &Cx<'_>, pane: usize) -> Option<Action> {
    has_answer(cx).then_some(ViewAction::FocusPane(pane).into())
}

fn escape(ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
    let view = &cx.state.view;
    if view.search.is_some() && view.screen == Screen::Answer {
        Some(ViewAction::SetSearch(None).into())
    } else if cx.state.running.is_some() {
        Some(CallAction::Cancel.into())
    } else if view.screen == Screen::Hosts && super::hosts::is_over(ui, cx) {
        Some(Action::Hosts(HostsAction::ShowLanes))
    } else if view.screen == Screen::Connect && cx.state.server_diff.is_choosing {
        Some(Action::ServerDiff(if cx.state.server_diff.is_listing() {
            ServerDiffAction::Cancel
        } else {
            ServerDiffAction::Leave
        }))
    } else if view.screen == Screen::Connect {
        Some(match cx.state.session().connection {
            Connection::Connecting { .. } => ConnectAction::Cancel.into(),
            _ => cx.state.back(),
        })
    } else if matches!(
        view.screen,
        Screen::Hosts
            | Screen::Doctor
            | Screen::Server
            | Screen::Diff
            | Screen::ServerDiff
            | Screen::Compare
            | Screen::Wire
            | Screen::Library
            | Screen::Verify
            | Screen::Settings
    ) {
        Some(ViewAction::ShowAnswer.into())
    } else if view.screen == Screen::Tool {
        Some(ViewAction::ShowStart.into())
    } else if view.peek.is_some() {
        Some(ViewAction::Peek(None).into())
    } else if let Some(pane) = view.maximised {
        Some(ViewAction::ToggleMaximised(pane).into())
    } else if view.record.is_some() {
        Some(ViewAction::SelectRecord(None).into())
    } else {
        ui.memory_mut(egui::Memory::stop_text_input);
        None
    }
}

/// The exact text that the focused pane stands for: a format's bytes, or the data's.
fn copy_pane(cx: &Cx<'_>) -> Option<Action> {
    if !has_answer(cx) {
        return None;
    }
    panes::copy_action(cx, cx.state.view.shows(cx.state.view.focus)).map(|copying| copying())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_commands_share_keys_or_names() {
        for (index, command) in COMMANDS.iter().enumerate() {
            for other in &COMMANDS[index + 1..] {
                let is_shared = command.shortcut.is_some() && command.shortcut == other.shortcut;
                assert!(!is_shared, "{} and {}", command.name, other.name);
                assert_ne!(command.name, other.name);
            }
        }
    }

    #[test]
    fn no_command_needs_control_and_alt() {
        // AltGr is Ctrl Alt on many keyboards and writes characters.
        let is_alt_gr = |keys: KeyboardShortcut| {
            keys.modifiers.alt && (keys.modifiers.command || keys.modifiers.ctrl)
        };
        assert!(
            !COMMANDS
                .iter()
                .filter_map(|command| command.shortcut)
                .any(is_alt_gr)
        );
    }

    #[test]
    fn bare_keys_that_write_are_few() {
        let writing: Vec<_> = COMMANDS
            .iter()
            .filter(|c| c.shortcut.is_some_and(|keys| keys.modifiers.is_none()))
            .map(UiCommand::keys)
            .collect();
        assert_eq!(writing, ["Esc", "/", "W", "V", "F1", "F6", "F8"]);
    }
}
