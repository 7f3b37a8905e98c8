//! The arguments as JSON text, completed from the tool's schema.

use egui::{Id, Key, Margin, Pos2, Response, Role, ScrollArea, Sense, TextEdit, Ui, pos2, vec2};

use super::fields::invalid_border;
use crate::state::form::{Completion, complete};
use crate::state::{CallAction, Form};
use crate::ui::theme;
use crate::ui::{Cx, widgets};

/// The arguments as JSON text, with what is wrong in it by line and column.
pub(super) fn json_ui(
    ui: &mut Ui,
    cx: &Cx<'_>,
    tool: &str,
    form: &Form,
    lead: impl FnOnce(&mut Ui),
) {
    let t = theme::of(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        lead(ui);
        let width = ui.available_width();
        ui.vertical(|ui| {
            let mut text = form.text.to_string();
            let id = Id::unique(("arguments", tool));
            let completion = completion(ui, form, id);
            if let Some((found, chosen)) = &completion
                && let Some(choice) = taken(ui, id, found, *chosen)
            {
                text = take(ui, cx, id, &text, found, choice);
            }
            let output = ui
                .scope(|ui| {
                    if form.syntax.is_some() {
                        invalid_border(ui, t.bad);
                    }
                    ScrollArea::vertical()
                        .id_salt("arguments")
                        .max_height(132.0)
                        .min_scrolled_height(132.0)
                        .show(ui, |ui| {
                            TextEdit::multiline(&mut text)
                                .id(id)
                                .lock_focus(completion.is_some())
                                .font(theme::mono(12.0))
                                .desired_rows(text_rows(&form.text))
                                .desired_width(width - 18.0)
                                .margin(Margin::symmetric(8, 5))
                                .hint_text("{}")
                                .show(ui)
                        })
                })
                .inner
                .inner;
            if let (Some((found, chosen)), Some(caret)) = (&completion, output.cursor_range) {
                let place = output.galley_pos
                    + output
                        .galley
                        .pos_from_cursor(caret.primary)
                        .left_bottom()
                        .to_vec2();
                if let Some(choice) = choices_ui(ui, id, place, found, *chosen) {
                    take(ui, cx, id, &text, found, choice);
                }
            }
            let response: Response = output
                .response
                .response
                .accessible_name("Arguments as JSON");
            if response.changed() {
                cx.send(CallAction::SetArgumentsText(text));
            }
            if let Some((message, line, column)) = &form.syntax {
                widgets::words(
                    ui,
                    format!("Line {line}, column {column}: {message}"),
                    theme::regular(12.0),
                    t.bad,
                );
            }
        });
    });
}

/// What can be written at the caret, and which of it is chosen; `None` while somebody is elsewhere.
fn completion(ui: &Ui, form: &Form, id: Id) -> Option<(Completion, usize)> {
    if !ui.memory(|memory| memory.has_focus(id)) {
        return None;
    }
    let caret = TextEdit::load_state(ui, id)?
        .cursor
        .char_range()
        .filter(egui::text::CCursorRange::is_empty)?
        .primary
        .index
        .0;
    let byte = form
        .text
        .char_indices()
        .nth(caret)
        .map_or(form.text.len(), |(at, _)| at);
    let found = complete(&form.schemas, &form.text, byte)?;
    let chosen = widgets::recall(ui, id.with("choice"))
        .unwrap_or(0)
        .min(found.choices.len() - 1);
    Some((found, chosen))
}

/// Up and Down choose, Tab takes; where some of it is typed, Enter does too. Otherwise these are the text's.
fn taken<'a>(ui: &Ui, id: Id, found: &'a Completion, chosen: usize) -> Option<&'a str> {
    let pressed = |key| widgets::pressed(ui, key);
    if found.is_begun {
        let last = found.choices.len() - 1;
        let next = if pressed(Key::ArrowDown) {
            (chosen + 1).min(last)
        } else if pressed(Key::ArrowUp) {
            chosen.saturating_sub(1)
        } else {
            chosen
        };
        widgets::remember(ui, id.with("choice"), next);
    }
    (pressed(Key::Tab) || (found.is_begun && pressed(Key::Enter)))
        .then(|| found.choices[chosen].as_str())
}

/// Writes a choice and puts the caret behind it; the text then.
fn take(ui: &Ui, cx: &Cx<'_>, id: Id, text: &str, found: &Completion, choice: &str) -> String {
    let mut after = text.to_owned();
    after.replace_range(found.range.clone(), choice);
    if let Some(mut state) = TextEdit::load_state(ui, id) {
        let caret =
            egui::text::CCursor::new(after[..found.range.start + choice.len()].chars().count());
        state
            .cursor
            .set_char_range(Some(egui::text::CCursorRange::one(caret)));
        state.store(ui, id);
    }
    ui.data_mut(|data| data.remove::<usize>(id.with("choice")));
    ui.memory_mut(|memory| memory.request_focus(id));
    cx.send(CallAction::SetArgumentsText(after.clone()));
    after
}

/// The list at the caret; the choice that was clicked.
fn choices_ui<'a>(
    ui: &Ui,
    id: Id,
    place: Pos2,
    found: &'a Completion,
    chosen: usize,
) -> Option<&'a str> {
    let t = theme::of(ui);
    let mut clicked = None;
    egui::Area::new(id.with("choices"))
        .order(egui::Order::Foreground)
        .fixed_pos(place + vec2(0.0, 4.0))
        .show(ui, |ui| {
            egui::Frame::popup(ui.style())
                .inner_margin(Margin::same(4))
                .show(ui, |ui| {
                    ui.set_width(260.0);
                    ui.spacing_mut().item_spacing.y = 0.0;
                    let from = chosen.saturating_sub(CHOICES - 1);
                    for (at, choice) in found.choices.iter().enumerate().skip(from).take(CHOICES) {
                        let (rect, response) = widgets::full_width(ui, 22.0, Sense::CLICK);
                        let name = choice.trim_end_matches(": ");
                        let count = found.choices.len();
                        widgets::say_selected(
                            &response,
                            Role::ListItem,
                            at == chosen,
                            format!("{name}, {} of {count}", at + 1),
                        );
                        if at == chosen || response.hovered() {
                            ui.painter().rect_filled(
                                rect,
                                theme::RADIUS_BADGE,
                                if at == chosen { t.accent_bg } else { t.hover },
                            );
                        }
                        let left = pos2(rect.left() + 6.0, rect.center().y);
                        let end = widgets::text_at(
                            ui,
                            left,
                            name,
                            theme::mono(12.0),
                            t.strong,
                            rect.width() - 50.0,
                        );
                        if at == chosen && end < rect.right() - 40.0 {
                            widgets::key_cap_at(
                                ui,
                                pos2(rect.right() - 4.0, rect.center().y),
                                "Tab",
                                t.weak,
                                t.line2,
                            );
                        }
                        // The field loses the focus to a click: what counts is the press.
                        if response.is_pointer_button_down_on() {
                            clicked = Some(choice.as_str());
                        }
                    }
                });
        });
    clicked
}

/// So many choices are in sight.
const CHOICES: usize = 8;

fn text_rows(text: &str) -> usize {
    text.lines().count().clamp(3, 7)
}
