//! What stands where the result will: the tool as the server lists it, and what it was called with before.

use egui::{Label, Ui};

use super::theme;
use super::{Cx, definition, icons, widgets};
use crate::state::{ServersAction, ViewAction};

/// Widest that lines are read without losing the next.
const WIDTH: f32 = 860.0;
/// The page scrolls, not the definition in it.
const WHOLE: f32 = 50_000.0;
/// No more characters of arguments are shown: the form has them whole.
const MOST: usize = 2_000;

pub fn tool_page_ui(ui: &mut Ui, cx: &Cx<'_>) {
    let t = theme::of(ui);
    let Some(listed) = cx.state.tool() else {
        if widgets::empty_ui(
            ui,
            "The server no longer lists this tool.",
            Some("Start page"),
        ) {
            cx.send(ViewAction::ShowStart);
        }
        return;
    };
    let tool = &listed.tool;
    widgets::scroll(("tool page", &tool.name)).show(ui, |ui| {
        let width = (ui.available_width() - 48.0).clamp(280.0, WIDTH);
        let side = ((ui.available_width() - width) / 2.0).max(0.0);
        ui.add_space(16.0);
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            ui.add_space(side);
            ui.vertical(|ui| {
                ui.set_width(width);
                ui.spacing_mut().item_spacing.y = 6.0;
                if widgets::Button::new("Start page")
                    .icon(icons::ARROW_LEFT)
                    .small()
                    .frameless()
                    .clicked(ui)
                {
                    cx.send(ViewAction::ShowStart);
                }
                let title = tool.title.as_deref().unwrap_or(&tool.name);
                widgets::words(ui, title, theme::page_title(), t.strong);
                let words = "Not called in this window yet. The answer will stand here.";
                widgets::wrapped(ui, words, theme::base(), t.weak);
                ui.add_space(8.0);
                if let Some(last) = cx
                    .state
                    .tool_arguments()
                    .and_then(|known| known.last.as_deref())
                {
                    arguments_ui(ui, cx, last);
                }
                definition::definition_parts(ui, cx, tool, listed.tokens, WHOLE);
                ui.add_space(16.0);
            });
        });
    });
}

/// The arguments of the last call, which may be one of an earlier run.
fn arguments_ui(ui: &mut Ui, cx: &Cx<'_>, last: &str) {
    let t = theme::of(ui);
    let is_there = cx.state.form().is_some_and(|form| *form.text == *last);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 8.0;
        let words = if is_there {
            "Arguments of the last call, in the form above"
        } else {
            "Arguments of the last call"
        };
        widgets::note(ui, words);
        if !is_there && widgets::Button::new("Use them").small().clicked(ui) {
            cx.send(ServersAction::UseArguments(None));
        }
    });
    let end = last
        .char_indices()
        .nth(MOST)
        .map_or(last.len(), |(end, _)| end);
    let more = if end < last.len() { "…" } else { "" };
    let text = widgets::styled(format!("{}{more}", &last[..end]), theme::code(), t.text);
    ui.add(Label::new(text).wrap().selectable(true));
    ui.add_space(8.0);
}
