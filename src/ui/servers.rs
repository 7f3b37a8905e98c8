//! What is remembered of servers, as it is seen: tools that need no question, values that are asked for, the servers used
//! before.

use egui::{Key, Ui};

use super::theme;
use super::widgets::{self, Button, LineEdit};
use super::{Cx, icons, shortcuts};
use crate::state::{
    Action, AllowedTools, CallAction, Dialog, ImportAction, MissingValues, OpenServersAction,
    ServerSession, ServersAction, ValuesAction,
};
use loupe_core::capture::Tool;
use loupe_core::source::{LEFT_OUT, Recent, distinct_label};

/// Rows of servers used before that a menu or the start page has.
pub const FEW: usize = 5;

/// Offers never to ask again; a click sends the call as well.
pub fn allow_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &Tool) {
    let button = |words| Button::new(words).small();
    let send = |which| cx.send(CallAction::ConfirmAlways(which));
    ui.horizontal_wrapped(|ui| {
        let tip = "Call now; ask again if the definition changes";
        if button("Always allow this tool").tip(tip).clicked(ui) {
            send(AllowedTools::This);
        }
        let tip = "Calls it now, and from now on every tool that is not declared destructive without a question; a tool that is new or changed asks again";
        if !tool.is_declared_destructive() && button("Always allow every tool of this server").tip(tip).clicked(ui) {
            send(AllowedTools::All);
        }
    });
}

/// Opens the list of tools that are called without a question.
pub fn show_allowed_tools(cx: &Cx<'_>) -> Option<Action> {
    cx.state
        .can_remember()
        .then_some(Action::ShowDialog(Dialog::AllowedTools))
}

/// The tools that are called without a question; each can be taken back.
pub fn allowed_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = theme::of(ui);
    widgets::title(ui, cx, "Always-allowed tools");
    let allowed = cx.state.allowed_tools();
    if allowed.is_empty() {
        widgets::paragraph(
            ui,
            "Only those that are declared read-only. Others ask before each call.",
        );
        return;
    }
    let words = "Besides tools declared read-only. Applies only to exactly this command or address, and only until a tool’s definition changes.";
    widgets::note_wrapped(ui, words);
    let ask_again = |tool: Option<&str>| cx.send(ServersAction::AskAgain(tool.map(str::to_owned)));
    widgets::scroll_within("allowed", height).show(ui, |ui| {
        for (name, is_changed) in &allowed {
            ui.horizontal(|ui| {
                widgets::words(ui, *name, theme::mono(12.5), t.strong);
                if *is_changed {
                    widgets::words(ui, "changed since: asks again", theme::small(), t.warn);
                }
                widgets::at_right(ui, theme::ICON_BUTTON, |ui| {
                    if Button::new("Ask again")
                        .small()
                        .name(&format!("Ask again before {name}"))
                        .clicked(ui)
                    {
                        ask_again(Some(name));
                    }
                });
            });
        }
    });
    widgets::at_right(ui, theme::BUTTON, |ui| {
        if widgets::button(ui, "Ask again before all of them").clicked() {
            ask_again(None);
        }
    });
}

/// Asks for the values that were not kept, by name.
pub fn values_ui(ui: &mut Ui, cx: &Cx<'_>, missing: &MissingValues) {
    let t = theme::of(ui);
    widgets::title(ui, cx, &format!("Values for {}", missing.server()));
    widgets::paragraph(ui, "Enter secrets to connect. Never saved to a file");
    let mut is_first = true;
    for name in &missing.names {
        widgets::words(ui, name, theme::mono(12.0), t.text);
        let mut value = missing.typed.get(name).cloned().unwrap_or_default();
        let field = LineEdit {
            name,
            hint: "",
            width: ui.available_width(),
            is_secret: true,
        };
        if field.show(ui, "missing value", &mut value) {
            cx.send(ValuesAction::Type {
                name: name.clone(),
                value,
            });
        }
        if std::mem::take(&mut is_first) && ui.memory(egui::Memory::focused).is_none() {
            ui.memory_mut(|memory| {
                memory.request_focus(egui::Id::unique(("missing value", name.as_str())))
            });
        }
    }
    match &missing.no_keychain {
        Some(why) => {
            let words = format!(
                "They are used for this run only: the system’s keychain is unavailable ({why})."
            );
            widgets::note_wrapped(ui, words);
        }
        None => {
            let mut keeps = missing.keeps;
            if ui
                .checkbox(&mut keeps, "Keep them in the system’s keychain")
                .changed()
            {
                cx.send(ValuesAction::Keep(keeps));
            }
        }
    }
    widgets::at_right(ui, theme::BUTTON, |ui| {
        let connect = Button::new("Connect")
            .icon(icons::PLUG)
            .primary()
            .enabled(missing.is_complete())
            .show(ui);
        let cancel = widgets::button(ui, "Cancel");
        let is_entered = ui.input(|input| input.key_pressed(Key::Enter)) && !cancel.has_focus();
        if cancel.clicked() {
            cx.send(Action::CloseDialog);
        } else if connect.clicked() || (is_entered && missing.is_complete()) {
            cx.send(ValuesAction::Connect);
        }
    });
}

/// A command about a server that is open next to the one in use.
pub struct OpenCommand {
    pub glyph: &'static str,
    pub name: String,
    pub action: OpenServersAction,
}

/// What can be done with the servers that are open next to the one in use.
pub fn open_commands(cx: &Cx<'_>) -> Vec<OpenCommand> {
    let mut commands = Vec::new();
    let shown = cx
        .state
        .capture()
        .filter(|capture| !capture.request.is_empty());
    let has_tool =
        |open: &&ServerSession| shown.is_some_and(|shown| open.has_tool(&shown.tool.name));
    for open in cx.state.sessions.others() {
        let (session, label) = (open.id, cx.state.session_label(open));
        let waits = if !open.server_requests.open.is_empty() {
            ", which asks something"
        } else {
            ""
        };
        let switch = format!("Switch to {label}{waits}");
        commands.push(OpenCommand {
            glyph: icons::SWAP,
            name: switch,
            action: OpenServersAction::Switch(session),
        });
        if has_tool(&open) {
            let name = format!("Make this call at {label} and compare");
            commands.push(OpenCommand {
                glyph: icons::DIFF,
                name,
                action: OpenServersAction::CallAt(session),
            });
        }
        let name = format!("Close {label}");
        commands.push(OpenCommand {
            glyph: icons::DISCONNECT,
            name,
            action: OpenServersAction::Close(session),
        });
    }
    // With one other alone the difference says more.
    if cx.state.sessions.others().filter(has_tool).count() > 1 {
        let name = "Make this call at all open servers and compare".to_owned();
        commands.push(OpenCommand {
            glyph: icons::COMPARE,
            name,
            action: OpenServersAction::CallAtAll,
        });
    }
    if cx.state.session().connection.is_connected() {
        let name = "Open a server beside this one…".to_owned();
        commands.push(OpenCommand {
            glyph: icons::PLUG,
            name,
            action: OpenServersAction::Add,
        });
    }
    commands
}

/// The same, in a menu.
pub fn open_menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    for command in open_commands(cx) {
        if widgets::choose_item(ui, command.glyph, &command.name, "", true) {
            cx.send(command.action);
        }
    }
}

/// As the palette and the list of shortcuts name it.
pub const CONNECT: &str = "Connect to the first server used before, or to a new one";

/// The servers used before but for the one that is connected, with their places in the list.
pub fn others<'a>(cx: &Cx<'a>) -> Vec<(usize, &'a Recent)> {
    let now = cx
        .state
        .session()
        .connection
        .source()
        .filter(|_| cx.state.session().connection.is_connected());
    let now = now.and_then(|source| Some(Recent::new(source, cx.state.servers.here())?.source));
    cx.state
        .importing
        .recent
        .iter()
        .enumerate()
        .filter(|(_, recent)| Some(&recent.source) != now.as_ref())
        .collect()
}

/// The servers used before as they are called, distinguished, and where each is; in the order of the list.
pub fn names(cx: &Cx<'_>) -> Vec<(String, String)> {
    let labels: Vec<_> = cx
        .state
        .importing
        .recent
        .iter()
        .map(Recent::label)
        .collect();
    let distinct: Vec<String> = (0..labels.len())
        .map(|at| distinct_label(&labels, at))
        .collect();
    distinct
        .into_iter()
        .zip(labels)
        .map(|(label, (_, place))| (label, place))
        .collect()
}

/// Servers used before, in a menu: a click connects.
pub fn recent_menu_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let names = names(cx);
    for (row, (at, _)) in others(cx).into_iter().take(FEW).enumerate() {
        let (name, place) = &names[at];
        let keys = if row == 0 {
            shortcuts::text(&shortcuts::CONNECT_OTHER)
        } else {
            String::new()
        };
        let row = widgets::menu_item(
            ui,
            icons::HISTORY,
            &format!("Connect to {name}"),
            &keys,
            true,
        )
        .on_hover_text(spoken(place));
        if row.clicked() {
            cx.send(ImportAction::ConnectRecent(at));
            ui.close();
        }
    }
}

/// Where a server is, for people who wonder about a mark.
pub fn spoken(place: &str) -> String {
    if place.contains(LEFT_OUT) {
        format!("{place}\n… is secret: from the keychain, or asked for")
    } else {
        place.to_owned()
    }
}
