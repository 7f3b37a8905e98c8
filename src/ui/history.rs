//! The history: what earlier runs kept, found by words, opened, called again and removed.

use chrono::{Local, TimeZone};
use egui::{DragValue, Id, Margin, Role, ScrollArea, TextEdit, Ui};

use super::outcome::outcome_look;
use super::theme;
use super::{Cx, icons, undo, widgets};
use crate::history::{Entry, Health};
use crate::state::settings::MEBIBYTE;
use crate::state::{Action, Dialog, HistoryAction, ViewAction};

/// The button next to the captures of this run.
pub(super) fn button_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let history = &cx.state.history;
    let tip = match (&history.folder, history.is_on) {
        (None, _) => "Nothing is saved between sessions here".to_owned(),
        (Some(_), true) => {
            format!(
                "{} saved. Every call is saved, with secrets hidden",
                widgets::number_text(history.entries.len() as u64, "captures")
            )
        }
        (Some(_), false) => "Calls are not being saved".to_owned(),
    };
    let button = widgets::Button::new("History…")
        .icon(icons::HISTORY)
        .tip(&tip)
        .height(22.0)
        .enabled(history.folder.is_some());
    if button.clicked(ui) {
        cx.send(Action::ShowDialog(Dialog::History));
    }
}

/// The dialog, below its title.
pub(super) fn dialog_ui(ui: &mut Ui, cx: &Cx<'_>, height: f32) {
    let t = theme::of(ui);
    let history = &cx.state.history;
    let place = history
        .folder
        .as_ref()
        .map(|folder| folder.display().to_string())
        .unwrap_or_default();
    ui.horizontal(|ui| {
        let mut search = history.search.clone();
        let field = TextEdit::singleline(&mut search)
            .id(Id::unique("history search"))
            .font(theme::base())
            .hint_text("Words, or tool:, server:, args:, text:, is:failed")
            .desired_width(ui.available_width() - 190.0)
            .margin(Margin::symmetric(8, 6));
        let field = ui.add(field).accessible_name("Search the history");
        if field.changed() {
            cx.send(HistoryAction::Search(search));
        }
        widgets::focus_first(ui, field.id);
        // The window's own is out of reach while the dialog is open.
        let undo = widgets::Button::new("Undo")
            .icon(icons::UNDO)
            .tip(undo::NAME)
            .small()
            .enabled(cx.state.undo.is_some());
        if undo.clicked(ui) {
            cx.send(undo::run(ui));
        }
        let button = widgets::Button::new("Settings")
            .small()
            .tip("Whether and how long calls are kept");
        if button.clicked(ui) {
            cx.send(Action::CloseDialog);
            cx.send(ViewAction::ShowSettings);
        }
    });
    let entries = history.earlier();
    if entries.is_empty() {
        let words = match (history.is_searching(), history.search.trim().is_empty()) {
            (true, _) => "Searching the answers…",
            (false, false) => "No saved call matches all of these words",
            (false, true) => "No earlier calls",
        };
        ui.add_space(12.0);
        widgets::note_wrapped(ui, words);
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    let height = (height - 84.0).max(3.0 * theme::CAPTURE_ROW);
    ScrollArea::vertical()
        .id_salt("history")
        .max_height(height)
        .auto_shrink([false, true])
        .show_rows(ui, theme::CAPTURE_ROW, entries.len(), |ui, range| {
            for entry in &entries[range] {
                entry_ui(ui, cx, entry);
            }
        });
    ui.add_space(4.0);
    let searching = match (history.is_searching(), history.is_on) {
        (true, _) => " · searching the answers…",
        (false, true) => "",
        (false, false) => " · calls are not being saved",
    };
    let message = match entries.len() {
        0 => format!("{place}{searching}"),
        many => format!(
            "{}{searching} · {place}",
            widgets::number_text(many as u64, "captures")
        ),
    };
    widgets::truncated(ui, message, theme::small(), t.weak);
}

/// How much is kept. Changed by a button alone, since what is beyond the limits goes at once.
pub(super) fn limits_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let history = &cx.state.history;
    let send = |action| cx.send(Action::History(action));
    let mut keep = history.limits.unwrap_or(history.keep);
    ui.horizontal(|ui| {
        widgets::note(ui, "Kept for");
        let days = DragValue::new(&mut keep.days).range(0..=36_500);
        ui.add(widgets::grouping(days).suffix(" days"))
            .accessible_name("Days that a call is kept");
        widgets::note(ui, "and up to");
        let mut size = keep.bytes / MEBIBYTE;
        let mebibytes = DragValue::new(&mut size).range(0..=1_u64 << 24).speed(16.0);
        ui.add(widgets::grouping(mebibytes).suffix(" MiB"))
            .accessible_name("MiB of all calls together");
        if size != keep.bytes / MEBIBYTE {
            keep.bytes = size * MEBIBYTE;
        }
        widgets::note(ui, "0 means no limit");
        if keep != history.keep {
            let tip = "Calls beyond these limits are deleted at once and cannot be restored";
            if widgets::Button::new("Apply limits")
                .small()
                .tip(tip)
                .clicked(ui)
            {
                send(HistoryAction::SetLimits(keep));
            }
        }
        if keep != history.limits.unwrap_or(history.keep) {
            send(HistoryAction::EditLimits(Some(keep)));
        }
    });
}

fn entry_ui(ui: &mut Ui, cx: &Cx<'_>, entry: &Entry) {
    let t = theme::of(ui);
    let row = widgets::ListRow::new(ui, theme::CAPTURE_ROW);
    let (glyph, color, words) = match &entry.health {
        Health::Whole => outcome_look(entry.outcome, t),
        Health::Damaged(_) => (icons::WARNING, t.bad, "damaged"),
        Health::Newer(_) => (icons::WARNING, t.warn, "of a newer version"),
    };
    let name = if entry.tool.is_empty() {
        entry.id.to_string()
    } else {
        entry.tool.clone()
    };
    let at = Local
        .timestamp_opt(entry.started_at.unix_timestamp(), 0)
        .single();
    let when = at.map_or_else(String::new, |at| at.format("%Y-%m-%d %H:%M:%S").to_string());
    let line = format!("{when} · {words} · {} · {}", entry.server, entry.arguments);
    row.say(Role::ListItem, format!("{name}, {line}"));
    row.ground_round(false, theme::RADIUS_CONTROL);
    row.icon_fill(row.inset_left(17.0), glyph, 14.0, color);
    let size = widgets::bytes(entry.wire_bytes);
    let right = row.number(row.inset_right(8.0), size, theme::mono(12.0), t.text) - 10.0;
    let (left, first) = (row.inset_left(32.0), row.line(13.0));
    first.text(left, right, name, theme::mono(12.0), t.strong);
    let second = row.line(theme::CAPTURE_ROW - 12.0);
    second.text(left, right, line, theme::regular(12.0), t.weak);
    let send = |action| cx.send(Action::History(action));
    if row.response.clicked() {
        send(HistoryAction::Open(entry.id.clone()));
        cx.send(Action::CloseDialog);
    }
    widgets::context_menu(&row.response, Some(&row.response), |ui| {
        let mut item = |glyph: &str, name: &str, enabled: bool| {
            let is_clicked = widgets::menu_item(ui, glyph, name, "", enabled).clicked();
            if is_clicked {
                ui.close();
            }
            is_clicked
        };
        let is_whole = entry.health == Health::Whole;
        if item(
            icons::CALL,
            "Open, with its arguments in the form",
            is_whole,
        ) {
            send(HistoryAction::Again(entry.id.clone()));
            cx.send(Action::CloseDialog);
        }
        if item(icons::TRASH, "Remove", true) {
            send(HistoryAction::Remove(entry.id.clone()));
        }
    });
}
