//! The form of the call bar: one control per property of the input schema.
//!
//! Each control shows what will be sent and nothing else: a default is a hint in the empty field, and unset, null and
//! empty are told apart by the hint and by the field's own menu.

use egui::{Color32, Frame, Id, Margin, Popup, PopupCloseBehavior, Response, RichText, ScrollArea, Stroke, TextEdit, Ui, vec2};

use crate::json::decode_string;
use crate::state::{CallAction, Field, FieldKind, Form, FormMode, Value};
use crate::ui::theme::{self, ThemeTokens};
use crate::ui::{Cx, icons, widgets};

/// Rows of fields beyond these scroll.
const MOST_HEIGHT: f32 = 3.0 * 54.0 + 8.0;
const LABEL: f32 = 18.0;

/// The fields, in rows as wide as the room allows. `lead` is painted at the head of the first row.
pub(super) fn form_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &str, form: &Form, lead: impl FnOnce(&mut Ui)) {
    let width = ui.available_width();
    let refused = newly_refused(ui, tool, form);
    ScrollArea::vertical()
        .id_salt("fields")
        .max_height(MOST_HEIGHT)
        .min_scrolled_height(MOST_HEIGHT)
        .auto_shrink([false, true])
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(12.0, 2.0);
            ui.spacing_mut().interact_size.y = LABEL;
            let mut fields = form.fields.iter().enumerate().map(|(index, field)| (index, field_width(form, field))).peekable();
            let mut lead = Some(lead);
            let mut is_first = true;
            while is_first || fields.peek().is_some() {
                is_first = false;
                ui.horizontal_top(|ui| {
                    let mut left = width;
                    if let Some(lead) = lead.take() {
                        let before = ui.available_width();
                        ui.vertical(|ui| {
                            ui.add_space(LABEL + 2.0);
                            lead(ui);
                        });
                        left -= before - ui.available_width();
                    }
                    let mut is_row_empty = left >= width;
                    while let Some((index, wanted)) = fields.next_if(|(_, wanted)| is_row_empty || *wanted + 12.0 <= left) {
                        is_row_empty = false;
                        left -= wanted + 12.0;
                        ui.scope_builder(widgets::region(ui, (tool, index)), |ui| {
                            ui.vertical(|ui| {
                                ui.set_width(wanted.min(width));
                                field_ui(ui, cx, tool, form, index, wanted.min(width));
                                if refused == Some(index) {
                                    ui.scroll_to_rect(ui.min_rect(), None);
                                }
                            });
                        });
                    }
                });
            }
        });
}

/// The first field that a call was just refused for. What is typed next goes there, where it is a field to type in.
fn newly_refused(ui: &Ui, tool: &str, form: &Form) -> Option<usize> {
    let key = Id::unique(("refused", tool));
    let seen = ui.data_mut(|data| data.get_temp::<u32>(key));
    ui.data_mut(|data| data.insert_temp(key, form.tries));
    if form.tries <= seen.unwrap_or(form.tries) {
        return None;
    }
    let (index, field) = form.fields.iter().enumerate().find(|(_, field)| form.problem_of(field).is_some())?;
    if matches!(field.kind, FieldKind::String { .. } | FieldKind::Number { .. } | FieldKind::Json) {
        ui.memory_mut(|memory| memory.request_focus(field_id(tool, field)));
    }
    Some(index)
}

fn field_id(tool: &str, field: &Field) -> Id {
    Id::unique(("field", tool, &field.name))
}

fn field_width(form: &Form, field: &Field) -> f32 {
    let label = 7.4 * (field.name.chars().count() + 2) as f32
        + 6.6 * type_text(field).chars().count() as f32
        + if field.required { 58.0 } else { 0.0 };
    let control = match &field.kind {
        FieldKind::String { multiline: false } => 180.0,
        FieldKind::String { multiline: true } | FieldKind::Json => 260.0,
        // What is taken where nothing is typed stands there whole, as far as a number goes.
        FieldKind::Number { .. } => (7.3 * hint(field).chars().count() as f32 + 20.0).clamp(112.0, 220.0),
        FieldKind::Boolean => 150.0 + if field.nullable { 44.0 } else { 0.0 },
        FieldKind::Enum(choices) if is_short(choices) => {
            enum_choices(field, choices).iter().map(|choice| 7.2 * choice.chars().count() as f32 + 18.0).sum::<f32>() + 4.0
        }
        FieldKind::Enum(_) => 180.0,
        FieldKind::Array(_) => 150.0,
    };
    let control = if form.problem_of(field).is_some() { f32::max(control, 200.0) } else { control };
    control.max(label + if has_menu(field) { 26.0 } else { 0.0 }).ceil()
}

/// Few and short: all choices stand side by side.
fn is_short(choices: &[String]) -> bool {
    choices.len() <= 4 && choices.iter().map(String::len).sum::<usize>() <= 40
}

/// What the label says beside the name: the type, or the limits.
fn type_text(field: &Field) -> String {
    let base = kind_text(&field.kind);
    if field.nullable { format!("{base} or null") } else { base }
}

fn kind_text(kind: &FieldKind) -> String {
    match kind {
        FieldKind::String { .. } => "string".into(),
        FieldKind::Number { integer, minimum, maximum } => match (minimum, maximum) {
            (Some(low), Some(high)) => format!("{} to {}", signed(low), signed(high)),
            (Some(low), None) => format!("from {}", signed(low)),
            (None, Some(high)) => format!("up to {}", signed(high)),
            (None, None) => if *integer { "integer" } else { "number" }.into(),
        },
        FieldKind::Boolean => "boolean".into(),
        FieldKind::Enum(_) => "enum".into(),
        FieldKind::Array(item) => format!("list of {}", kind_text(item)),
        FieldKind::Json => "JSON".into(),
    }
}

/// A number with the sign that people write.
fn signed(number: &str) -> String {
    number.strip_prefix('-').map_or_else(|| number.to_owned(), |rest| format!("−{rest}"))
}

/// A JSON text as people read it: strings without their quotes.
pub(super) fn plain(json: &str) -> String {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) => decode_string(inner.as_bytes()).into_owned(),
        None => json.to_owned(),
    }
}

fn has_menu(field: &Field) -> bool {
    menu_values(field).len() > 1
}

/// The values that typing cannot tell apart.
fn menu_values(field: &Field) -> Vec<(&'static str, Value)> {
    let mut values = vec![("Unset: leave it out", Value::Unset)];
    if field.nullable && !matches!(field.kind, FieldKind::Boolean) {
        values.push(("null", Value::Null));
    }
    match field.kind {
        FieldKind::String { .. } => values.push(("Empty text", Value::Text(String::new()))),
        FieldKind::Array(_) => values.push(("Empty list", Value::Items(Vec::new()))),
        _ => {}
    }
    values
}

fn field_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &str, form: &Form, index: usize, width: f32) {
    let field = &form.fields[index];
    let t = ThemeTokens::of(ui);
    let set = |value: Value| cx.send(CallAction::SetField { field: index, value });
    ui.horizontal(|ui| {
        ui.set_height(LABEL);
        ui.spacing_mut().item_spacing.x = 6.0;
        let label = ui.label(RichText::new(&field.name).font(theme::mono(12.0)).color(t.text));
        ui.label(RichText::new(type_text(field)).font(theme::regular(12.0)).color(t.weak));
        if field.required {
            ui.label(RichText::new("required").font(theme::regular(12.0)).color(t.weak));
        }
        if let Some(description) = &field.description {
            label.on_hover_text(description);
        }
        if has_menu(field) {
            let name = format!("Value of {}", field.name);
            let more = widgets::Button::new("")
                .icon(icons::MORE)
                .name(&name)
                .tip("Unset, null or empty")
                .frameless()
                .height(LABEL)
                .show(ui);
            Popup::menu(&more).show(|ui| {
                ui.set_width(180.0);
                for (name, value) in menu_values(field) {
                    let mark = if value == field.value { icons::CHECK } else { " " };
                    if crate::ui::top_bar::menu_item(ui, mark, name, "", true).clicked() {
                        set(value);
                        ui.close();
                    }
                }
            });
        }
    });
    let hint = hint(field);
    let editor = Editor {
        id: field_id(tool, field),
        name: &field.name,
        hint: &hint,
        width,
        is_invalid: form.problem_of(field).is_some(),
        nullable: field.nullable,
        required: field.required,
    };
    if let Some(value) = editor.show(ui, &field.kind, &field.value) {
        set(value);
    }
    if let Some(problem) = form.problem_of(field) {
        let label = ui.add(egui::Label::new(RichText::new(problem).font(theme::regular(12.0)).color(t.bad)).wrap());
        label.accessible_name(format!("{}: {problem}", field.name));
    }
}

/// What stands in the field while nothing is typed: what is sent then, and what the server takes for it.
fn hint(field: &Field) -> String {
    match (&field.value, &field.default) {
        (Value::Null, _) => "null".into(),
        (Value::Text(_), _) => "empty text".into(),
        (_, Some(default)) => format!("unset, default {}", plain(default)),
        _ => "unset".into(),
    }
}

/// The control of one value.
struct Editor<'a> {
    id: Id,
    name: &'a str,
    hint: &'a str,
    width: f32,
    is_invalid: bool,
    nullable: bool,
    required: bool,
}

impl Editor<'_> {
    /// The new value, where a person changed it.
    fn show(&self, ui: &mut Ui, kind: &FieldKind, value: &Value) -> Option<Value> {
        match kind {
            FieldKind::String { multiline } => {
                let text = match value {
                    Value::Text(text) => text.as_str(),
                    _ => "",
                };
                self.text(ui, text, *multiline, false).map(Value::Text)
            }
            FieldKind::Number { .. } => self.text(ui, json_text(value), false, true).map(json_value),
            FieldKind::Json => self.text(ui, json_text(value), true, true).map(json_value),
            FieldKind::Boolean => {
                let mut choices =
                    vec![("unset", Value::Unset), ("true", Value::Json("true".into())), ("false", Value::Json("false".into()))];
                if self.nullable {
                    choices.push(("null", Value::Null));
                }
                self.choose(ui, choices, value)
            }
            FieldKind::Enum(options) => {
                let mut choices: Vec<(String, Value)> = Vec::new();
                if !self.required || *value == Value::Unset {
                    choices.push(("unset".into(), Value::Unset));
                }
                choices.extend(options.iter().map(|option| (plain(option), Value::Json(option.clone()))));
                if is_short(options) { self.choose(ui, choices, value) } else { self.combo(ui, choices, value) }
            }
            FieldKind::Array(item) => self.list(ui, item, value),
        }
    }

    fn text(&self, ui: &mut Ui, text: &str, multiline: bool, is_code: bool) -> Option<String> {
        let t = ThemeTokens::of(ui);
        let mut edited = text.to_owned();
        let edit = if multiline { TextEdit::multiline(&mut edited).desired_rows(2) } else { TextEdit::singleline(&mut edited) };
        let font = if is_code { theme::mono(12.0) } else { theme::base() };
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

    fn choose<S: AsRef<str>>(&self, ui: &mut Ui, choices: Vec<(S, Value)>, value: &Value) -> Option<Value> {
        let labels: Vec<&str> = choices.iter().map(|(label, _)| label.as_ref()).collect();
        let selected = choices.iter().position(|(_, choice)| choice == value).unwrap_or(usize::MAX);
        let clicked = ui.push_id(self.id, |ui| widgets::segmented(ui, self.name, &labels, selected)).inner?;
        choices.into_iter().nth(clicked).map(|(_, value)| value)
    }

    fn combo(&self, ui: &mut Ui, choices: Vec<(String, Value)>, value: &Value) -> Option<Value> {
        let t = ThemeTokens::of(ui);
        let selected = choices
            .iter()
            .find(|(_, choice)| choice == value)
            .map_or_else(|| plain(json_text(value)), |(label, _)| label.clone());
        let color = if *value == Value::Unset { t.weak } else { t.text };
        let mut chosen = None;
        let combo = egui::ComboBox::from_id_salt(self.id)
            .width(self.width)
            .truncate()
            .selected_text(RichText::new(&selected).font(theme::mono(12.0)).color(color))
            .show_ui(ui, |ui| {
                for (label, choice) in choices {
                    let is_selected = choice == *value;
                    if ui.selectable_label(is_selected, RichText::new(label).font(theme::mono(12.0))).clicked() {
                        chosen = Some(choice);
                    }
                }
            });
        combo.response.accessible_name(format!("{}: {selected}", self.name));
        chosen
    }

    /// A list is one button that says how many items there are; the items are edited in a popup.
    fn list(&self, ui: &mut Ui, item: &FieldKind, value: &Value) -> Option<Value> {
        let t = ThemeTokens::of(ui);
        let items: &[Value] = match value {
            Value::Items(items) => items,
            _ => &[],
        };
        let words = match value {
            Value::Items(items) if items.len() == 1 => "1 item".to_owned(),
            Value::Items(items) if items.is_empty() => "empty list".into(),
            Value::Items(items) => format!("{} items", items.len()),
            Value::Null => "null".into(),
            _ => self.hint.to_owned(),
        };
        let name = format!("{}: {words}", self.name);
        let button = widgets::Button::new(&words).name(&name).menu().height(theme::INPUT).show(ui);
        if self.is_invalid {
            ui.painter().rect_stroke(button.rect, theme::RADIUS_CONTROL, Stroke::new(1.0, t.bad), egui::StrokeKind::Inside);
        }
        let mut changed: Option<Vec<Value>> = None;
        Popup::from_toggle_button_response(&button).width(320.0).close_behavior(PopupCloseBehavior::CloseOnClickOutside).show(
            |ui| {
                ui.label(RichText::new(self.name).font(theme::mono_semibold(12.0)));
                ScrollArea::vertical().max_height(260.0).auto_shrink([false, true]).show(ui, |ui| {
                    for (index, value) in items.iter().enumerate() {
                        let name = format!("{} {}", self.name, index + 1);
                        ui.horizontal(|ui| {
                            let editor = Editor {
                                id: self.id.with(index),
                                name: &name,
                                hint: "empty",
                                width: 260.0,
                                is_invalid: false,
                                nullable: false,
                                required: true,
                            };
                            if let Some(new) = editor.show(ui, item, value) {
                                changed.get_or_insert_with(|| items.to_vec())[index] = new;
                            }
                            if widgets::icon_button(ui, icons::REMOVE, &format!("Remove {name}")).clicked() {
                                changed.get_or_insert_with(|| items.to_vec()).remove(index);
                            }
                        });
                    }
                });
                if widgets::Button::new("Add item")
                    .icon(icons::ADD)
                    .name(&format!("Add item to {}", self.name))
                    .small()
                    .show(ui)
                    .clicked()
                {
                    changed.get_or_insert_with(|| items.to_vec()).push(first_value(item));
                }
            },
        );
        changed.map(Value::Items)
    }
}

fn enum_choices(field: &Field, choices: &[String]) -> Vec<String> {
    let unset = (!field.required || field.value == Value::Unset).then(|| "unset".to_owned());
    unset.into_iter().chain(choices.iter().map(|choice| plain(choice))).collect()
}

/// What a new item of a list begins as.
fn first_value(kind: &FieldKind) -> Value {
    match kind {
        FieldKind::String { .. } => Value::Text(String::new()),
        FieldKind::Enum(choices) => choices.first().cloned().map_or(Value::Null, Value::Json),
        FieldKind::Boolean => Value::Json("false".into()),
        FieldKind::Array(_) => Value::Items(Vec::new()),
        FieldKind::Number { .. } => Value::Json("0".into()),
        FieldKind::Json => Value::Json("{}".into()),
    }
}

fn json_text(value: &Value) -> &str {
    match value {
        Value::Json(text) => text,
        _ => "",
    }
}

/// Nothing typed is nothing sent.
fn json_value(text: String) -> Value {
    if text.trim().is_empty() { Value::Unset } else { Value::Json(text) }
}

fn invalid_border(ui: &mut Ui, color: Color32) {
    let widgets = &mut ui.visuals_mut().widgets;
    for visuals in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active, &mut widgets.noninteractive] {
        visuals.bg_stroke = Stroke::new(1.0, color);
    }
    ui.visuals_mut().selection.stroke = Stroke::new(1.5, color);
}

/// The arguments as JSON text, with what is wrong in it by line and column.
pub(super) fn json_ui(ui: &mut Ui, cx: &Cx<'_>, tool: &str, form: &Form, lead: impl FnOnce(&mut Ui)) {
    let t = ThemeTokens::of(ui);
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = 12.0;
        lead(ui);
        let width = ui.available_width();
        ui.vertical(|ui| {
            let mut text = form.text.to_string();
            let response = ui
                .scope(|ui| {
                    if form.syntax.is_some() {
                        invalid_border(ui, t.bad);
                    }
                    ScrollArea::vertical().id_salt("arguments").max_height(132.0).min_scrolled_height(132.0).show(ui, |ui| {
                        ui.add(
                            TextEdit::multiline(&mut text)
                                .id(Id::unique(("arguments", tool)))
                                .font(theme::mono(12.0))
                                .desired_rows(text_rows(&form.text))
                                .desired_width(width - 18.0)
                                .margin(Margin::symmetric(8, 5))
                                .hint_text("{}"),
                        )
                    })
                })
                .inner
                .inner;
            let response: Response = response.accessible_name("Arguments as JSON");
            if response.changed() {
                cx.send(CallAction::SetArgumentsText(text));
            }
            if let Some((message, line, column)) = &form.syntax {
                ui.label(
                    RichText::new(format!("Line {line}, column {column}: {message}")).font(theme::regular(12.0)).color(t.bad),
                );
            }
        });
    });
}

fn text_rows(text: &str) -> usize {
    text.lines().count().clamp(3, 7)
}

/// What the schema says against the arguments, by place.
pub(super) fn problems_ui(ui: &mut Ui, form: &Form) {
    let t = ThemeTokens::of(ui);
    // In the form each field says its own.
    let at_field = |pointer: &str| {
        let name = pointer.trim_start_matches('/').split('/').next().unwrap_or_default();
        form.mode == FormMode::Form && form.fields.iter().any(|field| field.name == name && field.problem.is_some())
    };
    let rest: Vec<_> = form.problems.iter().filter(|(pointer, _)| !at_field(pointer)).collect();
    if rest.is_empty() && form.unchecked.is_none() {
        return;
    }
    Frame::new().inner_margin(Margin { top: 2, ..Margin::ZERO }).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (pointer, message) in rest.iter().take(3) {
            let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
            ui.add(egui::Label::new(RichText::new(format!("{place}{message}")).font(theme::regular(12.0)).color(t.bad)).wrap());
        }
        if rest.len() > 3 {
            ui.label(RichText::new(format!("and {} more", rest.len() - 3)).font(theme::regular(12.0)).color(t.bad));
        }
        if let Some(why) = &form.unchecked {
            let text = format!("The arguments cannot be checked: {why}");
            ui.add(egui::Label::new(RichText::new(text).font(theme::regular(12.0)).color(t.warn)).wrap());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind, value: Value) -> Field {
        Field {
            name: "f".into(),
            kind,
            required: false,
            nullable: true,
            default: Some("\"json\"".into()),
            description: None,
            value,
            problem: None,
        }
    }

    #[test]
    fn unset_null_and_empty_look_different() {
        let text = FieldKind::String { multiline: false };
        let hints = [Value::Unset, Value::Null, Value::Text(String::new())].map(|value| hint(&field(text.clone(), value)));
        assert_eq!(hints, ["unset, default json", "null", "empty text"]);
        let names: Vec<_> = menu_values(&field(text, Value::Unset)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["Unset: leave it out", "null", "Empty text"]);
    }

    #[test]
    fn labels_tell_type_and_limits() {
        let number = |minimum: Option<&str>, maximum: Option<&str>| {
            kind_text(&FieldKind::Number { integer: true, minimum: minimum.map(Into::into), maximum: maximum.map(Into::into) })
        };
        assert_eq!(
            [number(Some("1"), Some("500")), number(Some("1"), None), number(None, None)],
            ["1 to 500", "from 1", "integer"]
        );
        assert_eq!(number(Some("-1"), Some("500")), "−1 to 500");
        assert_eq!(kind_text(&FieldKind::Array(Box::new(FieldKind::Boolean))), "list of boolean");
    }

    #[test]
    fn an_emptied_number_is_unset() {
        assert_eq!(json_value("  ".into()), Value::Unset);
        assert_eq!(json_value("1e3".into()), Value::Json("1e3".into()));
        assert_eq!(plain(r#""a\"b""#), "a\"b");
        assert_eq!(plain("12"), "12");
    }
}
