//! What the keyboard and the palette do: one table of commands, read by the keys, the palette and the list of shortcuts.
//!
//! A bare key works only while no text field has the focus. Longer chords are consumed first, because egui ignores
//! extra Shift when it compares. Esc leaves the innermost thing that is open.

use egui::{Id, Key, KeyboardShortcut, Modifiers, Popup, Rect, Response, Ui};

use super::{
    Cx, call_bar, compare, drawer, palette, panes, server_requests, servers, settings, sizes, strip, theme, top_bar, undo, watch,
};
use crate::analysis::{BytesQuery, HostsQuery, ParsedCaptureQuery, TextQuery};
use crate::fixture::export::ExportChoice;
use crate::format::TableForm;
use crate::settings::Theme;
use crate::source::Source;
use crate::state::diff::DiffAction;
use crate::state::server_diff::ServerDiffAction;
use crate::state::wire::WireAction;
use crate::state::{
    Action, CallAction, CollectionAction, ConnectAction, Connection, Dialog, DrawerTab, ExportAction, FixtureAction, HostsAction,
    ImportAction, PaneView, ProbeAction, Screen, SettingsAction, SidebarTab, TokensAction, ViewAction,
};

/// One thing that a key or the palette does.
pub struct UiCommand {
    /// As the palette and the list of shortcuts name it.
    pub name: &'static str,
    /// None where the palette alone does it: a screen or dialog that is not opened often.
    pub shortcut: Option<KeyboardShortcut>,
    run: fn(&Ui, &Cx<'_>) -> Option<Action>,
}

impl UiCommand {
    const fn new(modifiers: Modifiers, key: Key, name: &'static str, run: fn(&Ui, &Cx<'_>) -> Option<Action>) -> Self {
        Self { name, shortcut: Some(KeyboardShortcut::new(modifiers, key)), run }
    }

    const fn without_keys(name: &'static str, run: fn(&Ui, &Cx<'_>) -> Option<Action>) -> Self {
        Self { name, shortcut: None, run }
    }

    /// Does it: what follows for the state, if anything.
    pub fn run(&self, ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
        (self.run)(ui, cx)
    }

    /// The keys in words: `Ctrl Shift M`. Empty where there are none.
    pub fn keys(&self) -> String {
        self.shortcut.as_ref().map(keys_text).unwrap_or_default()
    }
}

const BARE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// Every command. Chords with Shift stand before the same key without it.
pub const COMMANDS: &[UiCommand] = &[
    UiCommand::new(CTRL_SHIFT, Key::Enter, "Compare the tool's formats", |_, cx| compare::by_key(cx)),
    UiCommand::new(CTRL, Key::Enter, "Call the tool, or connect", |_, cx| call_or_connect(cx)),
    UiCommand::new(BARE, Key::Escape, "Cancel, close or go back", escape),
    UiCommand::new(CTRL, Key::K, palette::COMMAND, |_, cx| {
        let is_open = matches!(cx.state.dialog, Some(Dialog::Palette { .. }));
        Some(if is_open { Action::CloseDialog } else { palette::open() })
    }),
    UiCommand::new(BARE, Key::Slash, "Filter tools", focus_filter),
    UiCommand::new(CTRL, Key::F, "Find in all panes", |_, cx| {
        has_answer(cx).then(|| ViewAction::SetSearch(Some(cx.state.view.search.clone().unwrap_or_default())).into())
    }),
    UiCommand::new(Modifiers::ALT, Key::Num1, "Open the answer as sent", |ui, cx| open_cell(ui, cx, 0)),
    UiCommand::new(Modifiers::ALT, Key::Num2, "Open the second format of the answer", |ui, cx| open_cell(ui, cx, 1)),
    UiCommand::new(Modifiers::ALT, Key::Num3, "Open the third format of the answer", |ui, cx| open_cell(ui, cx, 2)),
    UiCommand::new(BARE, Key::W, "Why it is cheaper", |ui, cx| {
        if has_answer(cx) {
            strip::why(ui, cx);
        } else if has_comparison(cx) {
            compare::why(ui, cx);
        }
        None
    }),
    UiCommand::new(Modifiers::SHIFT, Key::V, "Copy as picture", |_, cx| has_answer(cx).then(strip::copy_picture)),
    UiCommand::new(BARE, Key::V, "Copy the verdict", |_, cx| {
        (has_answer(cx) || has_comparison(cx) || cx.state.view.screen == Screen::Hosts).then_some(Action::CopyVerdict)
    }),
    UiCommand::new(CTRL, Key::Num1, "First pane", |_, cx| focus_pane(cx, 0)),
    UiCommand::new(CTRL, Key::Num2, "Second pane", |_, cx| focus_pane(cx, 1)),
    UiCommand::new(CTRL, Key::Num3, "Third pane", |_, cx| focus_pane(cx, 2)),
    UiCommand::new(CTRL, Key::Num4, "Token cost", |ui, cx| drawer_tab(ui, cx, DrawerTab::Cost)),
    UiCommand::new(CTRL, Key::Num5, "Hosts", |ui, cx| drawer_tab(ui, cx, DrawerTab::Hosts)),
    UiCommand::new(CTRL, Key::Num6, "Where tokens go", |ui, cx| drawer_tab(ui, cx, DrawerTab::Tokens)),
    UiCommand::new(CTRL, Key::B, "Show or hide the sidebar", |_, _| Some(SettingsAction::ToggleSidebar.into())),
    UiCommand::new(CTRL, Key::J, "Show or hide the drawer", drawer::toggle),
    UiCommand::new(CTRL_SHIFT, Key::R, compare::EQUAL, |_, cx| compare::equal_by_key(cx)),
    UiCommand::new(CTRL, Key::R, "Reconnect", |_, cx| {
        cx.state.connection.source().is_some().then_some(ConnectAction::Reconnect.into())
    }),
    UiCommand::new(CTRL, Key::E, "Export the capture folder", |_, cx| {
        cx.state.capture().map(|_| Action::ExportAs(ExportAction::save(ExportChoice::FOLDER)))
    }),
    UiCommand::new(CTRL, Key::S, "Save the answer as a fixture", |_, cx| {
        cx.state.capture().map(|_| Action::Fixture(FixtureAction::Show { then: None }))
    }),
    UiCommand::new(CTRL_SHIFT, Key::F, "Verify fixtures", |_, _| Some(Action::Fixture(FixtureAction::ShowVerify))),
    UiCommand::new(CTRL_SHIFT, Key::O, "Run a collection of calls", |_, _| Some(Action::Collection(CollectionAction::Show))),
    UiCommand::new(CTRL_SHIFT, Key::C, "Copy the whole pane", |_, cx| copy_pane(cx)),
    UiCommand::new(CTRL_SHIFT, Key::M, "Maximise or restore the pane", |_, cx| {
        has_answer(cx).then_some(ViewAction::ToggleMaximised(cx.state.view.focus).into())
    }),
    UiCommand::new(CTRL, Key::W, "Close the pane", |_, cx| {
        let view = &cx.state.view;
        (has_answer(cx) && view.open.get(view.focus) == Some(&true)).then_some(ViewAction::TogglePane(view.focus).into())
    }),
    UiCommand::new(CTRL_SHIFT, Key::S, "Start the sample server", |_, cx| {
        let is_choosing = cx.state.view.screen == Screen::Connect && cx.state.versus.is_choosing;
        let source = Source::sample();
        Some(if is_choosing {
            Action::ServerDiff(ServerDiffAction::List(Box::new(source)))
        } else {
            ConnectAction::Connect(Box::new(source)).into()
        })
    }),
    UiCommand::new(CTRL_SHIFT, Key::T, "Theme: system, dark, light", |_, cx| {
        Some(SettingsAction::SetTheme(next_theme(cx.state.settings.theme)).into())
    }),
    UiCommand::new(CTRL_SHIFT, Key::L, "Protocol log", |_, cx| {
        Some(if cx.state.view.screen == Screen::Wire { ViewAction::ShowAnswer.into() } else { Action::Wire(WireAction::Show) })
    }),
    UiCommand::new(CTRL, Key::L, servers::CONNECT, |_, cx| {
        servers::others(cx).first().map(|(at, _)| Action::Import(ImportAction::ConnectRecent(*at)))
    }),
    UiCommand::new(BARE, Key::F1, "Shortcuts", |_, cx| {
        Some(if cx.state.dialog == Some(Dialog::Shortcuts) { Action::CloseDialog } else { Action::ShowDialog(Dialog::Shortcuts) })
    }),
    UiCommand::new(BARE, Key::F6, "Next region", |ui, _| next_region(ui)),
    UiCommand::new(CTRL, Key::D, "Compare with the answer before", |_, cx| {
        cx.state.capture().map(|_| Action::Diff(DiffAction::OpenLast))
    }),
    UiCommand::new(Modifiers::SHIFT, Key::F8, "Previous finding, difference or cut", |ui, cx| step(ui, cx, false)),
    UiCommand::new(BARE, Key::F8, "Next finding, difference or cut", |ui, cx| step(ui, cx, true)),
    UiCommand::new(CTRL, Key::Z, undo::NAME, |ui, cx| cx.state.undo.as_ref().map(|_| undo::run(ui))),
    UiCommand::without_keys("Findings", |ui, cx| drawer_tab(ui, cx, DrawerTab::Findings)),
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
    UiCommand::without_keys("History…", |_, cx| cx.state.history.folder.as_ref().map(|_| Action::ShowDialog(Dialog::History))),
    UiCommand::without_keys("Resources and prompts", |_, cx| {
        cx.state.connection.is_connected().then_some(ViewAction::ShowTab(SidebarTab::Resources).into())
    }),
    UiCommand::without_keys("Tokens of the whole server", |_, cx| {
        cx.state.connection.is_connected().then_some(Action::Tokens(TokensAction::ShowServer))
    }),
    UiCommand::without_keys("What each host's model sees", |_, cx| {
        cx.state.capture().map(|_| Action::Hosts(HostsAction::Show(None)))
    }),
    UiCommand::without_keys("Probe a host…", |_, _| Some(Action::Probe(ProbeAction::Show))),
    UiCommand::new(CTRL, Key::Comma, settings::NAME, |_, _| Some(ViewAction::ShowSettings.into())),
    UiCommand::without_keys(watch::NAME, |_, cx| watch::open(cx)),
    UiCommand::without_keys("Tools called without a question…", |_, cx| servers::allowed(cx)),
    UiCommand::without_keys("Save these arguments…", |_, cx| call_bar::saved::keep(cx)),
    UiCommand::without_keys("Variables of this server…", |_, cx| call_bar::saved::variables(cx)),
    UiCommand::without_keys("Folders for servers (roots)…", |_, cx| Some(server_requests::roots_dialog(cx))),
    UiCommand::without_keys("Forget the login", |_, cx| top_bar::forget_login(cx)),
    UiCommand::without_keys("How it connected", |_, cx| {
        (!cx.state.steps.is_empty()).then_some(Action::ShowDialog(Dialog::Steps))
    }),
    UiCommand::without_keys("Show stderr", |_, cx| cx.state.connection.source().map(|_| Action::ShowDialog(Dialog::Stderr))),
    UiCommand::without_keys("Disconnect", |_, cx| {
        matches!(cx.state.connection, Connection::Connected { .. }).then_some(ConnectAction::Disconnect.into())
    }),
];

/// The command with this name, for buttons that show its keys.
pub fn keys_of(name: &str) -> String {
    COMMANDS.iter().find(|command| command.name == name).map(UiCommand::keys).unwrap_or_default()
}

/// Shortcuts as the table spells them.
pub fn keys_text(shortcut: &KeyboardShortcut) -> String {
    let control = if cfg!(target_os = "macos") { "Cmd" } else { "Ctrl" };
    let mut parts = Vec::new();
    if shortcut.modifiers.command || shortcut.modifiers.ctrl {
        parts.push(control);
    }
    if shortcut.modifiers.alt {
        parts.push("Alt");
    }
    if shortcut.modifiers.shift {
        parts.push("Shift");
    }
    parts.push(match shortcut.logical_key {
        Key::Escape => "Esc",
        Key::Slash => "/",
        key => key.name(),
    });
    parts.join(" ")
}

/// Looks at the keys of this frame; called before anything is painted, so that fields do not see what is consumed here.
pub fn keys(ui: &Ui, cx: &Cx<'_>) {
    let in_text = ui.text_edit_focused();
    let dialog = cx.state.dialog.as_ref();
    let in_dialog = dialog.is_some() || !cx.state.server_requests.open.is_empty();
    for command in COMMANDS {
        let Some(shortcut) = &command.shortcut else { continue };
        let key = shortcut.logical_key;
        // A dialog keeps the keyboard, and closes itself; an open menu closes itself too.
        let toggles = key == Key::F1 || (key == Key::K && matches!(dialog, Some(Dialog::Palette { .. })));
        // A field undoes what was typed into it.
        let is_theirs = (in_dialog && !toggles) || (key == Key::Z && in_text) || (key == Key::Escape && Popup::is_any_open(ui));
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
            egui::Event::Key { key, pressed: true, modifiers, .. } => {
                !(*key == shortcut.logical_key && modifiers.matches_exact(shortcut.modifiers))
            }
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
    if cx.state.view.screen == Screen::Hosts {
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
    if has_comparison(cx) { compare::open(ui, cx, at) } else { strip::open(cx, at) }
}

fn call_or_connect(cx: &Cx<'_>) -> Option<Action> {
    let state = cx.state;
    if state.view.screen == Screen::Connect {
        return (!matches!(state.connection, Connection::Connecting { .. })).then_some(ConnectAction::UseForm.into());
    }
    // What is in the way is said by the call itself.
    (state.view.screen.has_call_bar() && state.running.is_none()).then_some(CallAction::Call { send_anyway: false }.into())
}

/// Whether *Call* does anything now.
pub fn can_call(cx: &Cx<'_>) -> bool {
    let state = cx.state;
    state.running.is_none()
        && state.connection.is_connected()
        && state.tool().is_some()
        && (state.view.screen != Screen::Answer || state.foreign_capture().is_none())
        && state.form().is_none_or(|form| form.syntax.is_none())
}

/// Turns to a tab of the drawer, which opens for it.
pub fn drawer_tab(ui: &Ui, cx: &Cx<'_>, tab: DrawerTab) -> Option<Action> {
    focus_region(ui, Region::Drawer);
    drawer::open_by_hand(ui);
    if !cx.state.settings.drawer_open {
        cx.send(SettingsAction::ToggleDrawer);
    }
    Some(ViewAction::ShowDrawer(tab).into())
}

fn focus_pane(cx: &Cx<'_>, pane: usize) -> Option<Action> {
    has_answer(cx).then_some(ViewAction::FocusPane(pane).into())
}

/// Where *Back* leads from the connect screen: to what was looked at before.
pub fn back(cx: &Cx<'_>) -> Action {
    let state = cx.state;
    match (&state.view.capture, &state.selected_tool) {
        (Some(capture), _) => ViewAction::SelectCapture(capture.clone()).into(),
        (None, Some(tool)) if state.connection.is_connected() => CallAction::SelectTool(tool.clone()).into(),
        _ => ViewAction::ShowStart.into(),
    }
}

fn escape(ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
    let view = &cx.state.view;
    if view.search.is_some() && view.screen == Screen::Answer {
        Some(ViewAction::SetSearch(None).into())
    } else if cx.state.running.is_some() {
        Some(CallAction::Cancel.into())
    } else if view.screen == Screen::Hosts && super::hosts::is_over(ui, cx) {
        Some(Action::Hosts(HostsAction::ShowLanes))
    } else if view.screen == Screen::Connect && cx.state.versus.is_choosing {
        Some(Action::ServerDiff(if cx.state.versus.is_listing() { ServerDiffAction::Cancel } else { ServerDiffAction::Leave }))
    } else if view.screen == Screen::Connect {
        Some(match cx.state.connection {
            Connection::Connecting { .. } => ConnectAction::Cancel.into(),
            _ => back(cx),
        })
    } else if matches!(
        view.screen,
        Screen::Hosts
            | Screen::Server
            | Screen::Diff
            | Screen::ServerDiff
            | Screen::Compare
            | Screen::Wire
            | Screen::Library
            | Screen::Probe
            | Screen::Verify
            | Screen::Collection
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

/// Where the filter field is; the sidebar uses it.
pub fn filter_id() -> Id {
    Id::unique("filter tools")
}

/// The popup that stands in for the sidebar in a narrow window.
pub fn rail_tools_id() -> Id {
    Id::unique("rail tools")
}

fn focus_filter(ui: &Ui, cx: &Cx<'_>) -> Option<Action> {
    if ui.content_rect().width() < theme::MEDIUM {
        Popup::open_id(ui, rail_tools_id());
    }
    ui.memory_mut(|memory| memory.request_focus(filter_id()));
    (!cx.state.settings.sidebar_open).then_some(SettingsAction::ToggleSidebar.into())
}

/// System, dark, light, and round again.
pub fn next_theme(theme: Theme) -> Theme {
    match theme {
        Theme::System => Theme::Dark,
        Theme::Dark => Theme::Light,
        Theme::Light => Theme::System,
    }
}

/// The exact text that the focused pane stands for: a format's bytes, or the payload's.
fn copy_pane(cx: &Cx<'_>) -> Option<Action> {
    if !has_answer(cx) {
        return None;
    }
    match cx.state.view.shows(cx.state.view.focus) {
        PaneView::Rendered(format) | PaneView::Text(format) => Some(Action::Copy(cx.ready(TextQuery(format))?.text.to_string())),
        PaneView::Host(host) => Some(Action::Copy(cx.ready(HostsQuery)?.row(host)?.view.text.to_string())),
        PaneView::Hex(format) => Some(Action::Copy(panes::hex_text(cx.ready(BytesQuery(format))?))),
        PaneView::Table => panes::copy_table(cx, TableForm::Csv),
        PaneView::Tree => {
            let payload = cx.ready(ParsedCaptureQuery)?.payload.as_ref()?;
            Some(Action::Copy(String::from_utf8_lossy(&payload.root().raw_bytes()).into_owned()))
        }
    }
}

/// The regions that F6 goes through, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    TopBar,
    Sidebar,
    CallBar,
    Panes,
    Drawer,
    /// The message that something went wrong.
    Problems,
    StatusBar,
}

impl Region {
    const ALL: [Region; 7] =
        [Region::TopBar, Region::Sidebar, Region::CallBar, Region::Panes, Region::Drawer, Region::Problems, Region::StatusBar];

    fn key(self) -> Id {
        Id::unique(("region", self as u8))
    }
}

/// Where a region stood when it was last painted, and the control that takes the focus in it.
#[derive(Clone, Copy)]
struct Place {
    rect: Rect,
    first: Id,
    pass: u64,
}

/// Says where a region is and which control takes the focus when F6 comes to it. Called by the region each frame.
pub fn region(ui: &Ui, region: Region, rect: Rect, first: &Response) {
    let place = Place { rect, first: first.id, pass: ui.cumulative_pass_nr() };
    ui.data_mut(|data| data.insert_temp(region.key(), place));
}

fn place(ui: &Ui, region: Region) -> Option<Place> {
    let place: Place = ui.data(|data| data.get_temp(region.key()))?;
    // Keys are looked at before this pass paints: what the last one painted counts.
    (place.pass + 1 >= ui.cumulative_pass_nr()).then_some(place)
}

fn focus_region(ui: &Ui, region: Region) {
    if let Some(place) = place(ui, region) {
        ui.memory_mut(|memory| memory.request_focus(place.first));
    }
}

fn next_region(ui: &Ui) -> Option<Action> {
    let focused = ui.memory(egui::Memory::focused).and_then(|id| ui.read_response(id)).map(|response| response.rect.center());
    let current = Region::ALL
        .iter()
        .position(|&region| focused.is_some_and(|at| place(ui, region).is_some_and(|place| place.rect.contains(at))));
    let count = Region::ALL.len();
    let start = current.map_or(0, |index| index + 1);
    let next = (0..count).map(|step| Region::ALL[(start + step) % count]).find(|&region| place(ui, region).is_some())?;
    focus_region(ui, next);
    None
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
        let is_alt_gr = |keys: KeyboardShortcut| keys.modifiers.alt && (keys.modifiers.command || keys.modifiers.ctrl);
        assert!(!COMMANDS.iter().filter_map(|command| command.shortcut).any(is_alt_gr));
    }

    #[test]
    fn bare_keys_that_write_are_few() {
        let writing: Vec<_> =
            COMMANDS.iter().filter(|c| c.shortcut.is_some_and(|keys| keys.modifiers.is_none())).map(UiCommand::keys).collect();
        assert_eq!(writing, ["Esc", "/", "W", "V", "F1", "F6", "F8"]);
    }
}
