//! The field to paste into: whatever people have at hand to reach a server goes here. Enter connects to what was
//! understood and is shown below, Shift Enter makes a line.

use egui::{Id, Key, KeyboardShortcut, Margin, Modifiers, RichText, TextEdit, Ui, vec2};

use super::super::theme;
use super::super::widgets::{self, Tone};
use super::super::{Cx, icons};
use crate::state::{ConnectAction, ImportAction};

pub(super) fn paste_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let importing = &cx.state.importing;
    let mut text = importing.text.clone();
    let width = ui.available_width();
    let rows = text.lines().count().clamp(1, 6);
    let edit = TextEdit::multiline(&mut text)
        .id(Id::unique("connect paste"))
        .font(theme::mono(12.5))
        .hint_text(
            RichText::new(
                "A command, a URL, an mcpServers snippet, an “mcp add” line, curl or a result",
            )
            .color(t.weak),
        )
        .desired_width(width - 18.0)
        .desired_rows(rows)
        .return_key(KeyboardShortcut::new(Modifiers::SHIFT, Key::Enter))
        .margin(Margin::symmetric(8, 5))
        .min_size(vec2(width, theme::INPUT));
    let response = ui
        .add(edit)
        .accessible_name("Paste anything that names a server");
    widgets::focus_opened(ui, "connect", response.id);
    if response.changed() {
        cx.send(ImportAction::SetText(text));
    }
    if response.has_focus()
        && ui.input(|input| input.modifiers.is_none() && input.key_pressed(Key::Enter))
    {
        if importing.is_answer {
            cx.send(ImportAction::OpenAnswer);
        } else if importing
            .understood
            .as_ref()
            .is_some_and(|understood| understood.source().is_ok())
        {
            cx.send(ConnectAction::UseForm);
        }
    }
    if let Some(problem) = &importing.problem {
        widgets::words(ui, problem.message(), theme::small(), t.bad);
        if let Some(hint) = &problem.hint {
            widgets::note_wrapped(ui, hint);
        }
    }
    if importing.is_answer {
        ui.horizontal(|ui| {
            widgets::badge(
                ui,
                Some(icons::JSON),
                "An answer, not a server",
                Tone::Accent,
                false,
            );
            if widgets::button(ui, "Open it").clicked() {
                cx.send(ImportAction::OpenAnswer);
            }
        });
    }
    ui.add_space(8.0);
}
