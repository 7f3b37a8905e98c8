//! The controls of one value: a text, and a choice of several.

use egui::{Color32, Id, Margin, RichText, ScrollArea, Stroke, TextEdit, Ui, vec2};

use super::Entry;
use crate::state::form::plain;
use crate::state::{FieldKind, Value};
use crate::ui::theme;
use crate::ui::widgets;

/// The control of one value.
pub(super) struct Editor<'a> {
    pub id: Id,
    pub name: &'a str,
    /// What is there while nothing is typed or chosen.
    pub hint: &'a str,
    pub width: f32,
    pub is_invalid: bool,
}

impl Editor<'_> {
    pub(super) fn text(
        &self,
        ui: &mut Ui,
        text: &str,
        multiline: bool,
        is_code: bool,
    ) -> Option<String> {
        let t = theme::of(ui);
        let mut edited = text.to_owned();
        let edit = if multiline {
            TextEdit::multiline(&mut edited).desired_rows(2)
        } else {
            TextEdit::singleline(&mut edited)
        };
        let font = if is_code {
            theme::mono(12.0)
        } else {
            theme::base()
        };
        let edit = edit
            .id(self.id)
            .font(font)
            .hint_text(RichText::new(self.hint).color(t.weak))
            .desired_width(self.width - 18.0)
            .min_size(vec2(self.width, theme::INPUT))
            .margin(Margin::symmetric(8, 5))
            .align(egui::Align2::LEFT_CENTER);
        let response = ui.scope(|ui| {
            if self.is_invalid {
                invalid_border(ui, t.bad);
            }
            if multiline {
                ScrollArea::vertical()
                    .id_salt(self.id)
                    .max_height(64.0)
                    .min_scrolled_height(64.0)
                    .show(ui, |ui| ui.add(edit))
                    .inner
            } else {
                ui.add(edit)
            }
        });
        let response = response.inner.accessible_name(self.name);
        response.changed().then_some(edited)
    }

    /// The value of the choice that was clicked.
    pub(super) fn choose(
        &self,
        ui: &mut Ui,
        choices: Vec<(String, Value)>,
        value: &Value,
    ) -> Option<Value> {
        let titles: Vec<&str> = choices.iter().map(|(title, _)| title.as_str()).collect();
        let clicked = match choices.iter().position(|(_, choice)| choice == value) {
            None => Editor {
                hint: &plain(json_text(value)),
                ..*self
            }
            .one_of(ui, &titles, None),
            chosen => self.one_of(ui, &titles, chosen),
        }?;
        choices.into_iter().nth(clicked).map(|(_, value)| value)
    }

    /// One of several: side by side where they are few and short, else in a menu. Gives the place of the one that was clicked.
    pub(super) fn one_of(
        &self,
        ui: &mut Ui,
        titles: &[&str],
        chosen: Option<usize>,
    ) -> Option<usize> {
        if is_short(titles) {
            return ui
                .push_id(self.id, |ui| {
                    widgets::segmented(ui, self.name, titles, chosen.unwrap_or(usize::MAX))
                })
                .inner;
        }
        let t = theme::of(ui);
        let selected = chosen
            .and_then(|at| titles.get(at))
            .copied()
            .unwrap_or(self.hint);
        let color = if selected == UNSET { t.weak } else { t.text };
        let mut clicked = None;
        let text = |title: &str| RichText::new(title).font(theme::mono(12.0));
        let combo = egui::ComboBox::from_id_salt(self.id)
            .width(self.width)
            .truncate()
            .selected_text(text(selected).color(color))
            .show_ui(ui, |ui| {
                for (at, title) in titles.iter().enumerate() {
                    if ui
                        .selectable_label(chosen == Some(at), text(title))
                        .clicked()
                    {
                        clicked = Some(at);
                    }
                }
            });
        combo
            .response
            .accessible_name(format!("{}: {selected}", self.name));
        clicked
    }
}

/// What the choice of nothing is called.
pub(super) const UNSET: &str = "unset";

/// Few and short: all choices stand side by side.
pub(super) fn is_short(labels: &[impl AsRef<str>]) -> bool {
    labels.len() <= 5
        && labels
            .iter()
            .map(|label| label.as_ref().len())
            .sum::<usize>()
            <= 40
}

/// The values of an enumeration with what they are called.
pub(super) fn enum_choices(kind: &FieldKind, entry: &Entry<'_>) -> Vec<(String, Value)> {
    let FieldKind::Enum(choices) = kind else {
        return Vec::new();
    };
    let unset =
        (!entry.required || *entry.value == Value::Unset).then(|| (UNSET.to_owned(), Value::Unset));
    let named = choices.iter().map(|choice| {
        (
            choice.title.clone().unwrap_or_else(|| plain(&choice.json)),
            Value::Json(choice.json.clone()),
        )
    });
    unset.into_iter().chain(named).collect()
}

pub(super) fn json_text(value: &Value) -> &str {
    match value {
        Value::Json(text) => text,
        _ => "",
    }
}

/// Nothing typed is nothing sent.
pub(super) fn json_value(text: String) -> Value {
    if text.trim().is_empty() {
        Value::Unset
    } else {
        Value::Json(text)
    }
}

pub(in crate::ui::call_bar) fn invalid_border(ui: &mut Ui, color: Color32) {
    let widgets = &mut ui.visuals_mut().widgets;
    for visuals in [
        &mut widgets.inactive,
        &mut widgets.hovered,
        &mut widgets.active,
        &mut widgets.noninteractive,
    ] {
        visuals.bg_stroke = Stroke::new(1.0, color);
    }
    ui.visuals_mut().selection.stroke = Stroke::new(1.5, color);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emptied_number_is_unset() {
        assert_eq!(json_value("  ".into()), Value::Unset);
        assert_eq!(json_value("1e3".into()), Value::Json("1e3".into()));
        assert_eq!(plain(r#""a\"b""#), "a\"b");
        assert_eq!(plain("12"), "12");
    }
}
